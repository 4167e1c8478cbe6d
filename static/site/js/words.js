// What scripts say, in the page's language: docsite/pages/words.py has it in each.

export const words = JSON.parse(document.getElementById("words").textContent);

/** A sentence with its `{names}` filled in. @param {string} sentence @param {Record<string, unknown>} values */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** A time to wait as a sentence has it: `1 second`, `41 minutes`. @param {string | null} given seconds, as `Retry-After` has them */
export function wait(given) {
  const seconds = Math.max(1, Number(given));
  const [unit, count] = seconds > 90 ? ["minute", Math.ceil(seconds / 60)] : ["second", seconds];
  return new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit, unitDisplay: "long" }).format(count);
}

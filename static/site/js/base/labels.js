// What scripts say, in the page's language: docsite/pages/words.py has it in each.

export const words = JSON.parse(document.getElementById("words").textContent);

/** A sentence with its `{names}` filled in. @param {string} sentence @param {Record<string, unknown>} values */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** A time to wait as a sentence has it: `1 second`, `41 minutes`, `15 hours`. @param {string | null} given seconds, as `Retry-After` has them */
export function wait(given) {
  const seconds = Math.max(1, Number(given));
  const [length, unit] = seconds > 5400 ? [3600, "hour"] : seconds > 90 ? [60, "minute"] : [1, "second"];
  const count = Math.ceil(seconds / length);
  return new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit, unitDisplay: "long" }).format(
    count,
  );
}

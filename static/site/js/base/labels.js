// The sentences of the scripts, in the page's language. docsite/site/interface_texts.py has them for each language.

/** @type {Record<string, string> & { widget?: DocsAssistant.Options }} */
export const labels = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

/**
 * Fills in the `{names}` of a sentence.
 * @param {string} sentence
 * @param {Record<string, unknown>} values
 */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/**
 * A time to wait in words: `1 second`, `41 minutes`, `15 hours`.
 * @param {string | null} retryAfter seconds, as the header `Retry-After` has them
 */
export function formatWait(retryAfter) {
  const seconds = Math.max(1, Number(retryAfter));
  const [length, unit] = seconds > 5400 ? [3600, "hour"] : seconds > 90 ? [60, "minute"] : [1, "second"];
  const format = new Intl.NumberFormat(document.documentElement.lang, {
    style: "unit",
    unit: String(unit),
    unitDisplay: "long",
  });
  return format.format(Math.ceil(seconds / Number(length)));
}

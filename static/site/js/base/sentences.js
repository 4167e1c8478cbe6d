// Fills in sentences. These functions work on every page, also on other sites.

/** The language of the page, such as `en`: without a region, and English if the page names none. */
export const pageLanguage = () => /^[a-z]{2,3}\b/i.exec(document.documentElement.lang)?.[0].toLowerCase() ?? "en";

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
  const format = new Intl.NumberFormat(pageLanguage(), { style: "unit", unit: String(unit), unitDisplay: "long" });
  return format.format(Math.ceil(seconds / Number(length)));
}

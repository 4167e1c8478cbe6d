/** What the owner of the docs offers for a start. */

/**
 * Questions to show in an empty conversation. None when they cannot be had: nobody misses what was never there.
 * A page that may not use the widget is told why, in its console.
 * @param {string} script address of the loader; the service is on the same host
 * @param {string} domain
 * @returns {Promise<string[]>}
 */
export async function starters(script, domain) {
  try {
    const url = new URL(`/discovery/v1/widget/${encodeURIComponent(domain)}`, script);
    const answer = await fetch(url, { credentials: "omit" });
    const { enabled, reason, starterQuestions } = await answer.json();
    if (enabled === false) console.warn(`Docs assistant: ${reason}`);
    return starterQuestions ?? [];
  } catch {
    return [];
  }
}

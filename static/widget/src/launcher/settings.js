/** What the owner of the docs set in the admin, and what else this tab remembers from page to page. */

/**
 * @typedef {object} Settings as the service answers
 * @property {boolean} enabled
 * @property {string} [reason] why it is not
 * @property {Record<string, unknown>} [appearance] options, as is the rest
 * @property {Record<string, string>} [labels]
 * @property {string[]} [starterQuestions]
 */

/**
 * What this tab remembers, with what is to be added to it. A browser may refuse: then it is nothing.
 * @param {string} domain
 * @param {{ settings?: Settings, open?: boolean } | null} [more] null: forget it
 * @returns {{ settings?: Settings, open?: boolean }}
 */
export function tabState(domain, more) {
  const key = `docs-assistant:${domain}:tab`;
  try {
    const kept = { ...JSON.parse(sessionStorage.getItem(key) ?? "{}"), ...more };
    if (more === null) sessionStorage.removeItem(key);
    else if (more) sessionStorage.setItem(key, JSON.stringify(kept));
    return kept;
  } catch {
    return {};
  }
}

/**
 * Null when they cannot be had: everything works without.
 * @param {string} script address of the loader; the service is on the same host
 * @param {string} domain
 * @param {AbortSignal} signal
 * @returns {Promise<Settings | null>}
 */
export async function fetchSettings(script, domain, signal) {
  try {
    const url = new URL(`/discovery/v1/widget/${encodeURIComponent(domain)}`, script);
    const answer = await fetch(url, { credentials: "omit", signal });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

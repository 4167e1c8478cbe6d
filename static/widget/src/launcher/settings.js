/** The settings of the documentation's owner, and the state that a tab keeps from page to page. */

/**
 * @typedef {object} Settings as the service answers
 * @property {boolean} enabled
 * @property {string} [reason] why it is not enabled
 * @property {Record<string, unknown>} [appearance] options, as is the rest
 * @property {Record<string, string>} [labels]
 * @property {string[]} [starterQuestions]
 * @property {string} [support] address of the form to write to a person
 */

/**
 * Reads the state of this tab, and changes it. It is empty if the browser refuses storage.
 * @param {string} domain
 * @param {{ settings?: Settings, open?: boolean } | null} [changes] null deletes the state
 * @returns {{ settings?: Settings, open?: boolean }}
 */
export function tabState(domain, changes) {
  const key = `docs-assistant:${domain}:tab`;
  try {
    const state = { ...JSON.parse(/** @type {string} */ (sessionStorage.getItem(key))), ...changes };
    if (changes === null) sessionStorage.removeItem(key);
    else if (changes) sessionStorage.setItem(key, JSON.stringify(state));
    return state;
  } catch {
    return {};
  }
}

/**
 * The owner's settings. Null if they cannot be loaded: everything works without them.
 * @param {string} service an address on its host
 * @param {string} domain
 * @param {AbortSignal} signal
 * @returns {Promise<Settings | null>}
 */
export async function fetchSettings(service, domain, signal) {
  try {
    const url = new URL(`discovery/v1/widget/${encodeURIComponent(domain)}`, service);
    const answer = await fetch(url, { credentials: "omit", signal });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

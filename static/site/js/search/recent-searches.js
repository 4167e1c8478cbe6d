// The last searches that led to a page. They stay in this browser.

const KEY = "recent-searches";
const MAX_QUERIES = 5;

/** @returns {string[]} newest first */
export function loadRecent() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((query) => typeof query === "string").slice(0, MAX_QUERIES) : [];
  } catch {
    return []; // storage is switched off, or holds something else
  }
}

/** @param {string} query */
export function addRecent(query) {
  save([query, ...loadRecent().filter((other) => other !== query)].slice(0, MAX_QUERIES));
}

export const clearRecent = () => save([]);

/** @param {string[]} queries */
function save(queries) {
  try {
    if (queries.length) localStorage.setItem(KEY, JSON.stringify(queries));
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is switched off, so nothing is remembered.
  }
}

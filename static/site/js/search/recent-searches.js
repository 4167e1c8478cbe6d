// The last searches that led somewhere, kept in this browser only.

const NAME = "recent-searches";
const MOST = 5;

export function recent() {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "[]");
    return Array.isArray(kept) ? kept.filter((query) => typeof query === "string").slice(0, MOST) : [];
  } catch {
    return []; // storage is switched off, or holds something else
  }
}

export function remember(query) {
  keep([query, ...recent().filter((other) => other !== query)].slice(0, MOST));
}

export const forget = () => keep([]);

function keep(queries) {
  try {
    if (queries.length) localStorage.setItem(NAME, JSON.stringify(queries));
    else localStorage.removeItem(NAME);
  } catch {
    // Storage is switched off: nothing is remembered.
  }
}

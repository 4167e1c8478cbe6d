// The search behind the dialog: the pages that match, those in the language of this page first.

import { fill, wait, words } from "../base/labels.js";

const MOST = 8;

const language = document.documentElement.lang;
const { domain, key } = document.querySelector(".search-dialog").dataset;

/** A search that was not answered, with the sentence for it. */
export class Unanswered extends Error {}

function refused(answer) {
  if (answer.status !== 429) return new Unanswered(words.searchFails);
  return new Unanswered(fill(words.tooManySearches, { wait: wait(answer.headers.get("Retry-After")) }));
}

async function ask(query, filter, signal) {
  const answer = await fetch(`/discovery/v1/search/${domain}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ query, pageSize: MOST, filter }),
    signal,
  });
  if (!answer.ok) throw refused(answer);
  return answer.json();
}

/**
 * The hits of a query, best first. Where this language has few of them, what else there is follows.
 * @param {string} query
 * @param {{ version?: string, language?: string, tag?: string }} filter
 * @param {AbortSignal} signal
 */
export async function find(query, filter, signal) {
  try {
    // Where nothing is asked for, the search itself prefers the first language.
    if (language === "en" || filter.language) return await ask(query, filter, signal);
    const own = await ask(query, { ...filter, language }, signal);
    if (own.length === MOST) return own;
    const known = new Set(own.map(({ path }) => path));
    const others = await ask(query, filter, signal);
    return [...own, ...others.filter(({ path }) => !known.has(path))].slice(0, MOST);
  } catch (error) {
    throw error instanceof Unanswered ? error : new Unanswered(words.searchAway);
  }
}

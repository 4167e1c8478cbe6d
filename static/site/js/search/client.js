// Requests of the search dialog. Pages in the language of this page come first.

import { find } from "../base/dom.js";
import { fill, formatWait, labels } from "../base/labels.js";

const MAX_HITS = 8;

/** @typedef {{ version?: string, language?: string, tag?: string }} Filter */
/**
 * @typedef {object} Metadata
 * @property {string} title
 * @property {string} url
 * @property {number} score
 * @property {string[]} [breadcrumb]
 * @property {[number, number][]} [highlights]
 * @property {{ section: string, url: string }[]} [sections]
 * @property {string} [version]
 * @property {string} [language]
 * @property {string[]} [tags]
 */
/** @typedef {{ content: string, path: string, metadata: Metadata }} Hit */

const language = document.documentElement.lang;
const { domain, key } = find(document, ".search-dialog", HTMLElement).dataset;

/** A search failed. The message is the sentence for readers. */
export class SearchError extends Error {}

/** @param {Response} response */
function refusal(response) {
  if (response.status !== 429) return new SearchError(labels.searchFails);
  return new SearchError(fill(labels.tooManySearches, { wait: formatWait(response.headers.get("Retry-After")) }));
}

/** @param {string} query @param {Filter} filter @param {AbortSignal} signal @returns {Promise<Hit[]>} */
async function request(query, filter, signal) {
  const response = await fetch(`/discovery/v1/search/${domain}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ query, pageSize: MAX_HITS, filter }),
    signal,
  });
  if (!response.ok) throw refusal(response);
  return response.json();
}

/**
 * The hits of a query, best first. Hits in other languages follow if this language has only a few.
 * @param {string} query
 * @param {Filter} filter
 * @param {AbortSignal} signal
 * @throws {SearchError}
 */
export async function search(query, filter, signal) {
  try {
    // Without a filter the search prefers the first language by itself.
    if (language === "en" || filter.language) return await request(query, filter, signal);
    const own = await request(query, { ...filter, language }, signal);
    if (own.length === MAX_HITS) return own;
    const paths = new Set(own.map(({ path }) => path));
    const others = await request(query, filter, signal);
    return [...own, ...others.filter(({ path }) => !paths.has(path))].slice(0, MAX_HITS);
  } catch (error) {
    throw error instanceof SearchError ? error : new SearchError(labels.searchAway);
  }
}

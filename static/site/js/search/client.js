// Requests of the search dialog. Pages in the language and version of this page come first.

import { fill, formatWait } from "../base/sentences.js";
import { words } from "./site.js";

const MAX_HITS = 8;
const FALLBACK = "en"; // the language that follows that of the page

/** @typedef {import("./site.js").Site} Site */
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

/** A search failed. The message is the sentence for readers. */
export class SearchError extends Error {}

/** @param {Response} response */
function refusal(response) {
  if (response.status !== 429) return new SearchError(words.searchFails);
  return new SearchError(fill(words.tooManySearches, { wait: formatWait(response.headers.get("Retry-After")) }));
}

/** @param {Site} site @param {string} rest */
const endpoint = ({ service, domain }, rest = "") =>
  `${service}/discovery/v1/search/${encodeURIComponent(domain)}${rest}`;

/** @param {Site} site @param {string} address @param {object} body @param {AbortSignal} signal */
const post = (site, address, body, signal) =>
  fetch(address, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${site.key}`,
      "Content-Type": "application/json",
      ...(site.readerToken && { "X-Reader-Token": site.readerToken }),
    },
    body: JSON.stringify(body),
    signal,
  });

/** @param {Site} site @param {string} query @param {Filter} filter @param {AbortSignal} signal @returns {Promise<Hit[]>} */
async function request(site, query, filter, signal) {
  const response = await post(site, endpoint(site), { query, pageSize: MAX_HITS, filter }, signal);
  if (!response.ok) throw refusal(response);
  return response.json();
}

/**
 * The hits of a query, best first. If some are of another language or version than this page, those of its own come
 * first; pages in English or of other versions follow, and other languages only where nothing else is found. Most sites
 * have one of each, and need one request.
 * @param {Site} site
 * @param {string} query
 * @param {Filter} filter what the reader chose
 * @param {AbortSignal} signal
 * @returns {Promise<{ hits: Hit[], found: Hit[] }>} the hits to show, and all that were found, in any language
 * @throws {SearchError}
 */
export async function search(site, query, filter, signal) {
  const preferred = { ...site.preferred, ...filter };
  const differs = (/** @type {Hit} */ { metadata: { language, version } }) =>
    Boolean(
      (language && preferred.language && language !== preferred.language) ||
        (version && preferred.version && version !== preferred.version),
    );
  try {
    const hits = await request(site, query, filter, signal);
    if (!hits.some(differs)) return { hits, found: hits };
    const own = await request(site, query, preferred, signal);
    const paths = new Set(own.map(({ path }) => path));
    const others = hits.filter(({ path }) => !paths.has(path));
    const readable = others.filter(
      ({ metadata: { language } }) => !language || [FALLBACK, preferred.language].includes(language),
    );
    const shown = [...own, ...readable].slice(0, MAX_HITS);
    return { hits: shown.length ? shown : hits, found: [...own, ...hits] };
  } catch (error) {
    throw error instanceof SearchError ? error : new SearchError(words.searchAway);
  }
}

/**
 * The sentence that surely answers a question, in the language and version of this page; null where there is none. It
 * is an addition to the results, so a failure counts as none.
 * @param {Site} site
 * @param {string} question
 * @param {Filter} filter what the reader chose
 * @param {AbortSignal} signal
 * @returns {Promise<{ sentence: string, title: string } | null>}
 */
export async function previewAnswer(site, question, filter, signal) {
  const address = `${site.service}/discovery/v1/assistant/${encodeURIComponent(site.domain)}/preview`;
  try {
    const response = await post(site, address, { question, filter: { ...site.preferred, ...filter } }, signal);
    const answer = response.ok ? await response.json() : {};
    return answer.sentence ? answer : null;
  } catch {
    return null;
  }
}

/**
 * Reports that a search result was opened. `keepalive` lets the request outlive this page.
 * @param {Pick<Site, "service" | "domain">} site
 * @param {string} query
 * @param {string} path of the result
 * @param {number} position of the result, from 1
 */
export function reportClick(site, query, path, position) {
  const body = JSON.stringify({ query, path, position });
  fetch(endpoint(/** @type {Site} */ (site), "/click"), { method: "POST", body, keepalive: true }).catch(() => {});
}

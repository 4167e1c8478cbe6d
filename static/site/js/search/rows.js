// The rows of the search dialog. Each is an option of its list box, and a link if it leads to an address.

import { h, icon } from "../base/dom.js";
import { labels } from "../base/labels.js";
import { markedText } from "../base/marked-text.js";

const HASH = "M7.5 3 6 17M14 3l-1.5 14M3.5 7h13M3 13h13";
const SHEET = "M5.5 2.5h6l4 4v11h-10zM11.5 2.5v4h4";
const CLOCK = "M10 5.5V10l3 2M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15z";
const BUBBLE = "M4.5 3.5h11a2 2 0 0 1 2 2v6.5a2 2 0 0 1-2 2H11l-4.5 3.5V14h-2a2 2 0 0 1-2-2V5.5a2 2 0 0 1 2-2z";

/**
 * The ranges of a text that match a query, in code points. The response of a search may name them. Otherwise they are
 * the words that begin like a word of the query.
 * @param {string} text
 * @param {string} query
 * @param {[number, number][] | undefined} highlights
 * @returns {[number, number][]}
 */
function matchRanges(text, query, highlights) {
  if (Array.isArray(highlights)) return highlights;
  const queryWords = query.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  if (!queryWords.length) return [];
  const words = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${queryWords.join("|")})[\\p{L}\\p{N}_]*`, "giu");
  const toCodePoints = (/** @type {number} */ end) => [...text.slice(0, end)].length;
  return Array.from(text.matchAll(words), (match) => [
    toCodePoints(match.index),
    toCodePoints(match.index + match[0].length),
  ]);
}

/**
 * @param {"a" | "div"} tag
 * @param {string} className
 * @param {Record<string, unknown>} properties
 * @param {...(Node | string)} children
 */
const buildRow = (tag, className, properties, ...children) =>
  h(tag, { className, role: "option", tabIndex: -1, ariaSelected: "false", ...properties }, ...children);

/** The row that asks the assistant. Its link leads to a page that does so without the widget. @param {string} query */
export function buildAskRow(query) {
  const { lang } = document.documentElement;
  const href = `/ask?${new URLSearchParams({ q: query, path: location.pathname, language: lang })}`;
  return buildRow("a", "ask-row", { href }, icon(BUBBLE), h("span", {}, labels.askRow, h("strong", {}, query)));
}

/**
 * A page, and below it its other sections that match.
 * @param {import("./client.js").Hit} hit
 * @param {string} query
 */
export function buildPageRows({ content, path, metadata }, query) {
  const { title, url, breadcrumb, highlights, sections = [] } = metadata;
  const linkTo = (/** @type {string} */ address) => path + new URL(address, location.href).hash;
  const trail = Array.isArray(breadcrumb) && breadcrumb.length ? breadcrumb : [title];
  const parents = trail.length > 1 ? [h("span", { className: "trail" }, trail.slice(0, -1).join(" › "))] : [];
  return h(
    "div",
    { role: "group", ariaLabel: title },
    buildRow(
      "a",
      "page-row",
      { href: linkTo(url) },
      ...parents,
      h("span", { className: "result-title" }, trail[trail.length - 1]),
      markedText("excerpt", content, matchRanges(content, query, highlights)),
    ),
    ...sections.map(({ section, url }) =>
      buildRow("a", "section-row", { href: linkTo(url) }, icon(HASH), h("span", {}, section || title)),
    ),
  );
}

/** @param {string} query */
export const buildRecentRow = (query) => buildRow("div", "recent-row", {}, icon(CLOCK), h("span", {}, query));

/** The pairs of neighbouring letters. @param {string} text */
const letterPairs = (text) =>
  new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2).toLowerCase()));

/**
 * The pages of the navigation whose titles share the most pairs of letters with a query; without a query the first ones.
 * @param {string} name of the group
 * @param {string} [query]
 * @param {number} [limit]
 */
export function buildNavigationRows(name, query = "", limit = 4) {
  const queryPairs = letterPairs(query);
  const pages = Array.from(document.querySelectorAll(".sidebar a")).flatMap((link) => {
    if (!(link instanceof HTMLAnchorElement)) return [];
    const title = link.firstChild?.textContent?.trim() ?? ""; // the mark of another language follows it
    const titlePairs = letterPairs(title);
    const shared = [...titlePairs].filter((pair) => queryPairs.has(pair)).length;
    return { link, title, similarity: shared / (titlePairs.size + queryPairs.size) };
  });
  const rows = pages
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, limit)
    .map(({ link, title }) => buildRow("a", "section-row", { href: link.href }, icon(SHEET), h("span", {}, title)));
  return h(
    "div",
    { role: "group", ariaLabel: name },
    h("p", { className: "group-name", ariaHidden: "true" }, name),
    ...rows,
  );
}

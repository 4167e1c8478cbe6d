// The rows of the search dialog. Each is an option of its list box, and a link if it leads to an address.

import { h, icon } from "../base/dom.js";
import { markedText } from "../base/marked-text.js";
import { words } from "./site.js";

/** @typedef {import("./site.js").Site} Site */
/** @typedef {import("./memory.js").Entry} Entry */

const HASH = "M7.5 3 6 17M14 3l-1.5 14M3.5 7h13M3 13h13";
const SHEET = "M5.5 2.5h6l4 4v11h-10zM11.5 2.5v4h4";
const LENS = "M8.75 3a5.75 5.75 0 1 0 0 11.5 5.75 5.75 0 0 0 0-11.5zM13.2 13.2l4.3 4.3";
const STAR = "m10 2.6 2.3 4.8 5.2.7-3.8 3.6.9 5.2-4.6-2.5-4.6 2.5.9-5.2L2.5 8.1l5.2-.7z";
const CROSS = "m5.5 5.5 9 9m0-9-9 9";
const CLOCK = "M10 5.5V10l3 2M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15z";
const MIN_SIMILARITY = 0.6; // of a word of the query and one of a title
const MAX_EXCERPT = 155; // characters, about two lines of the dialog
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

/** The beginning of an excerpt, cut between words, so that the style sheet need not cut one. @param {string} text */
function shorten(text) {
  const letters = [...text];
  if (letters.length <= MAX_EXCERPT) return text;
  const start = letters.slice(0, MAX_EXCERPT).join("");
  const end = start.lastIndexOf(" ");
  return `${end > start.length / 2 ? start.slice(0, end) : start}…`;
}

/**
 * @param {"a" | "div"} tag
 * @param {string} className
 * @param {Record<string, unknown>} properties
 * @param {...(Node | string)} children
 */
const buildRow = (tag, className, properties, ...children) =>
  h(tag, { className, role: "option", tabIndex: -1, ariaSelected: "false", ...properties }, ...children);

/** Whether a text may be a question: it has at least two words. @param {string} text */
export const mayAsk = (text) => /\S\s+\S/.test(text);

/**
 * The row that asks the assistant, if it can be asked. It has room for an answer, so that no row moves when one comes.
 * @param {string} query
 * @param {Site} site
 */
export function buildAskRows(query, site) {
  const href = site.askAddress(query);
  if (!href) return [];
  const room = mayAsk(query) ? [h("span", { className: "answer", id: "search-answer", ariaHidden: "true" })] : [];
  const question = h("span", {}, words.askRow, h("strong", {}, query), ...room);
  return [buildRow("a", "ask-row", { href }, icon(BUBBLE), question)];
}

/**
 * Shows the sentence that answers in the row that asks. For screen readers it describes the row.
 * @param {Element} row
 * @param {{ sentence: string, title: string }} answer
 */
export function addAnswer(row, { sentence, title }) {
  row.querySelector(".answer")?.append(h("b", {}, title), ` ${sentence}`);
  row.setAttribute("aria-describedby", "search-answer");
}

/**
 * A page, and below it its other sections that match.
 * @param {import("./client.js").Hit} hit
 * @param {string} query
 * @param {Site} site
 */
export function buildPageRows(hit, query, site) {
  const { title, url, breadcrumb, highlights, sections = [] } = hit.metadata;
  const steps = Array.isArray(breadcrumb) && breadcrumb.length ? breadcrumb : [title];
  const name = steps[steps.length - 1];
  const trail = steps.slice(0, -1).join(" › ");
  const excerpt = shorten(hit.content);
  return h(
    "div",
    { role: "group", ariaLabel: title, "data-path": hit.path },
    remember(
      { title: name, trail, href: site.linkTo(hit, url) },
      buildRow(
        "a",
        "page-row",
        { href: site.linkTo(hit, url) },
        ...(trail ? [h("span", { className: "trail" }, trail)] : []),
        h("span", { className: "result-title" }, name),
        markedText("excerpt", excerpt, matchRanges(excerpt, query, highlights)),
      ),
    ),
    ...sections.map(({ section, url }) =>
      remember(
        { title: section || title, trail: steps.join(" › "), href: site.linkTo(hit, url) },
        buildRow("a", "section-row", { href: site.linkTo(hit, url) }, icon(HASH), h("span", {}, section || title)),
      ),
    ),
  );
}

/** The entries that rows stand for. @type {WeakMap<Element, Entry>} */
const entries = new WeakMap();

/** @param {Entry} entry @param {HTMLElement} row */
function remember(entry, row) {
  entries.set(row, entry);
  return row;
}

/** What to remember of a row when a reader opens it. @param {Element} row */
export const entryOf = (row) => entries.get(row);

/**
 * A page or a query that the reader opened before. The buttons beside it are for the pointer; the dialog has keys that
 * do the same, since an option can hold no button.
 * @param {Entry} entry
 * @param {boolean} isFavourite
 */
export function buildSavedRow(entry, isFavourite) {
  const { title, trail, href } = entry;
  const button = (/** @type {string} */ action, /** @type {string} */ label, /** @type {string} */ shape) =>
    h("button", { type: "button", tabIndex: -1, ariaHidden: "true", title: label, "data-action": action }, icon(shape));
  const where = trail ? [h("span", { className: "trail" }, trail)] : [];
  const shape = icon(href ? (isFavourite ? STAR : CLOCK) : LENS);
  const row = buildRow(href ? "a" : "div", "recent-row", href ? { href } : {}, shape, h("span", {}, ...where, title));
  const star = button("favourite", isFavourite ? words.removeFavourite : words.addFavourite, STAR);
  return h(
    "div",
    { className: isFavourite ? "saved favourite" : "saved", role: "presentation" },
    remember(entry, row),
    ...(href ? [star] : []),
    button("remove", words.removeEntry, CROSS),
  );
}

/** Rows below a name. @param {string} name @param {Element[]} rows */
export const buildGroup = (name, rows) =>
  h("div", { role: "group", ariaLabel: name }, h("p", { className: "group-name", ariaHidden: "true" }, name), ...rows);

/** The words of four letters and more, each as its pairs of neighbouring letters. @param {string} text */
const letterPairs = (text) =>
  (text.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? []).map(
    (word) => new Set(Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2))),
  );

/** How alike two words are: Dice's coefficient of their pairs, 0 to 1. @param {Set<string>} a @param {Set<string>} b */
const compare = (a, b) => (2 * [...a].filter((pair) => b.has(pair)).length) / (a.size + b.size);

/**
 * The pages of the navigation with a word much like one of a query, often none; without a query the first pages.
 * @param {Site} site
 * @param {string} name of the group
 * @param {string} [query]
 * @param {number} [limit]
 */
export function buildNavigationRows(site, name, query = "", limit = 4) {
  const queryWords = letterPairs(query);
  const pages = site.pages().map(({ href, title }) => {
    const likeness = letterPairs(title).flatMap((word) => queryWords.map((other) => compare(word, other)));
    return { href, title, similarity: Math.max(0, ...likeness) };
  });
  const rows = pages
    .filter(({ similarity }) => !query || similarity >= MIN_SIMILARITY)
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, limit)
    .map(({ href, title }) => buildRow("a", "section-row", { href }, icon(SHEET), h("span", {}, title)));
  return rows.length ? [buildGroup(name, rows)] : [];
}

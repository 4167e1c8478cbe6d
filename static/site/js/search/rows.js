// The rows of the search dialog. Each is an option of its list box, and a link wherever it leads to an address.

import { h, icon } from "../base/dom.js";
import { marked } from "../base/marked-text.js";
import { words } from "../base/labels.js";

const HASH = "M7.5 3 6 17M14 3l-1.5 14M3.5 7h13M3 13h13";
const SHEET = "M5.5 2.5h6l4 4v11h-10zM11.5 2.5v4h4";
const CLOCK = "M10 5.5V10l3 2M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15z";
const BUBBLE = "M4.5 3.5h11a2 2 0 0 1 2 2v6.5a2 2 0 0 1-2 2H11l-4.5 3.5V14h-2a2 2 0 0 1-2-2V5.5a2 2 0 0 1 2-2z";

/** The places to mark in a text: those that the answer names, else the words that begin like a word of the query. */
function places(text, query, named) {
  if (Array.isArray(named)) return named;
  const asked = query.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  if (!asked.length) return [];
  const begins = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${asked.join("|")})[\\p{L}\\p{N}_]*`, "giu");
  const length = (end) => [...text.slice(0, end)].length;
  return Array.from(text.matchAll(begins), (found) => [length(found.index), length(found.index + found[0].length)]);
}

const row = (tag, className, facts, ...children) =>
  h(tag, { className, role: "option", tabIndex: -1, ariaSelected: "false", ...facts }, ...children);

/** The row that asks: without the widget its link leads to the page that does. */
export function askRow(query) {
  const href = `/ask?${new URLSearchParams({ q: query, path: location.pathname, language: document.documentElement.lang })}`;
  return row("a", "ask-row", { href }, icon(BUBBLE), h("span", {}, words.askRow, h("strong", {}, query)));
}

/** A page and, below it, its other sections that match. @param {{ path, content, metadata }} hit as the search gives it */
export function pageRows(hit, query) {
  const { title, url, breadcrumb, highlights, sections = [] } = hit.metadata;
  const to = (address) => hit.path + new URL(address, location.href).hash;
  const trail = Array.isArray(breadcrumb) && breadcrumb.length ? breadcrumb : [title];
  const above = trail.length > 1 ? [h("span", { className: "trail" }, trail.slice(0, -1).join(" › "))] : [];
  return h(
    "div",
    { role: "group", ariaLabel: title },
    row(
      "a",
      "page-row",
      { href: to(url) },
      ...above,
      h("span", { className: "result-title" }, trail.at(-1)),
      marked("excerpt", hit.content, places(hit.content, query, highlights)),
    ),
    ...sections.map(({ section, url }) =>
      row("a", "section-row", { href: to(url) }, icon(HASH), h("span", {}, section || title)),
    ),
  );
}

export const recentRow = (query) => row("div", "recent-row", {}, icon(CLOCK), h("span", {}, query));

const pairs = (text) =>
  new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2).toLowerCase()));

/** The pages of the navigation whose titles have the most pairs of letters in common with a query; without one the first. */
export function navigationRows(name, query = "", most = 4) {
  const asked = pairs(query);
  const near = Array.from(document.querySelectorAll(".sidebar a"), (link) => {
    const title = link.firstChild.data.trim(); // the mark of another language follows it
    const own = pairs(title);
    return { link, title, share: [...own].filter((pair) => asked.has(pair)).length / (own.size + asked.size) };
  });
  const rows = near
    .sort((one, other) => other.share - one.share)
    .slice(0, most)
    .map(({ link, title }) => row("a", "section-row", { href: link.href }, icon(SHEET), h("span", {}, title)));
  return h(
    "div",
    { role: "group", ariaLabel: name },
    h("p", { className: "group-name", ariaHidden: "true" }, name),
    ...rows,
  );
}

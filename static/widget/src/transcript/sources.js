/** The lists below an answer: cited pages, searches, pages to read next, and the version of the documentation. */

import { h, textButton } from "../base/dom.js";
import { fill, labels, locale } from "../base/labels.js";
import { displayAddress, linkAttributes, withoutHash } from "../base/links.js";
import { numberSources } from "../conversation/thread.js";
import { resolveAddress } from "../markdown/addresses.js";

/** @typedef {import("../conversation/thread.js").Source & { number: number }} NumberedSource */

/** Sources shown before the button for the rest. */
const MAX_SHOWN = 5;

/**
 * The cited pages, each once, with their numbers in the text. Each links to the place that is cited first.
 * @param {string} body
 * @param {import("../conversation/thread.js").Source[]} sources
 * @returns {NumberedSource[]}
 */
export function citedSources(body, sources) {
  /** @type {Map<string, string>} */
  const firstCited = new Map();
  for (const [, url] of body.matchAll(/\[\d{1,3}\]\(<?([^)\s>]+)/g))
    if (!firstCited.has(withoutHash(url))) firstCited.set(withoutHash(url), url);
  const pages = numberSources(body, sources).filter(
    ({ url }, i, all) => all.findIndex((other) => withoutHash(other.url) === withoutHash(url)) === i,
  );
  return pages.map((source) => ({ ...source, url: firstCited.get(withoutHash(source.url)) ?? source.url }));
}

/** @param {NumberedSource[]} sources */
export function buildSourceList(sources) {
  const hidden = sources.slice(MAX_SHOWN);
  const list = h("ol", {}, ...sources.slice(0, MAX_SHOWN).map(buildItem));
  const showAll = () => {
    button?.remove();
    list.append(...hidden.map(buildItem));
    list.children[MAX_SHOWN].querySelector("a")?.focus();
  };
  const button = hidden.length ? textButton(showAll, fill(labels.more, { n: hidden.length })) : null;
  return h(
    "section",
    { className: "sources", "aria-label": labels.sources },
    h("h4", {}, labels.sources),
    list,
    button,
  );
}

/** @param {NumberedSource} source */
function buildItem({ number, title, url }) {
  const href = resolveAddress(url, location.href);
  const label = [
    h("span", { className: "number" }, String(number)),
    h("span", { className: "title", dir: "auto" }, title),
    h("span", { className: "where", dir: "ltr" }, href ? displayAddress(href) : ""),
  ];
  return h("li", { value: number }, href ? h("a", linkAttributes(href), ...label) : h("span", {}, ...label));
}

/** The model's own searches, one line each. @param {import("../conversation/thread.js").Search[]} searches */
export function buildSearchList(searches) {
  const lines = searches.map(({ isPage, text }) =>
    isPage ? fill(labels.readPage, { title: text }) : fill(labels.searchedFor, { query: text }),
  );
  return h("ul", { className: "searches" }, ...lines.map((line) => h("li", {}, line)));
}

/** @param {import("../markdown/addresses.js").Suggestion[]} suggestions */
export function buildNextList(suggestions) {
  const items = suggestions
    .slice(0, 3)
    .map(({ label, href }) => h("li", {}, h("a", { ...linkAttributes(href), dir: "auto" }, label)));
  return h(
    "section",
    { className: "next", "aria-label": labels.next },
    h("h4", {}, labels.next),
    h("ul", {}, ...items),
  );
}

/** The version of the documentation, and when it was indexed. @param {import("../conversation/thread.js").Scope | null} scope */
export function buildScopeLine(scope) {
  const at = Date.parse(scope?.indexedAt ?? "");
  const parts = [scope?.version, Number.isNaN(at) ? "" : fill(labels.indexed, { ago: formatAge(at) })].filter(Boolean);
  return parts.length ? h("small", {}, parts.join(" · ")) : null;
}

/** @param {number} at */
function formatAge(at) {
  const minutes = Math.min(0, Math.round((at - Date.now()) / 60_000));
  if (minutes === 0) return labels.justNow;
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  if (minutes > -60) return format.format(minutes, "minute");
  if (minutes > -60 * 24) return format.format(Math.round(minutes / 60), "hour");
  return format.format(Math.round(minutes / 1440), "day");
}

// On /ask: folds the quotes of an answer without a model, all but the first one. A quote ends with its citation.

import { h } from "../base/dom.js";

const prose = document.querySelector("[data-quotes]");
const isHeading = (/** @type {Element} */ { tagName, children, textContent }) =>
  tagName === "P" && children[0]?.tagName === "STRONG" && children[0].textContent === textContent;
const cites = (/** @type {Element} */ block) =>
  [...block.querySelectorAll("a")].some(({ textContent }) => /^\d+$/.test(textContent ?? ""));

/** Where the blocks of the current quote go; null between two quotes. @type {Element | null} */
let quote = null;
let count = 0;
for (const block of prose?.children ? [...prose.children] : []) {
  if (!quote && isHeading(block)) {
    quote = count++ ? h("details", {}, h("summary", {}, ...block.childNodes)) : prose;
    if (quote && quote !== prose) block.replaceWith(quote);
    continue;
  }
  if (quote !== prose && quote?.children.length === 1)
    quote.firstElementChild?.append(h("span", {}, block.textContent ?? ""));
  if (quote && quote !== prose) quote.append(block);
  if (cites(block)) quote = null;
}

/** Folds the quotes of an answer without a model, all but the first one. */

import { plainText } from "./parser.js";

/** @typedef {import("./parser.js").MarkdownNode} MarkdownNode */

/** Characters of the line below a heading. The style sheet cuts it to the width. */
const MAX_LINE = 160;

/** Whether a node or one inside of it is a citation. @param {MarkdownNode} node @returns {boolean} */
const cites = (node) => typeof node !== "string" && (node.tag === "cite" || node.children.some(cites));

/**
 * Blocks in which each quote is a disclosure. A quote begins with its heading, a bold line, and ends with a citation.
 * @param {MarkdownNode[]} blocks
 * @returns {MarkdownNode[]}
 */
export function foldQuotes(blocks) {
  /** @type {MarkdownNode[]} */
  const folded = [];
  /** Where the blocks of the current quote go, if there is one. @type {MarkdownNode[] | null} */
  let quote = null;
  let count = 0;
  for (const block of blocks) {
    const heading = typeof block !== "string" && block.tag === "p" && block.children.length === 1 && block.children[0];
    if (!quote && typeof heading === "object" && heading.tag === "strong") {
      if (count++) folded.push({ tag: "details", children: (quote = [{ tag: "summary", children: [heading] }]) });
      else folded.push(...(quote = [block]));
      continue;
    }
    const summary = quote?.length === 1 && quote[0];
    if (typeof summary === "object" && summary.tag === "summary")
      summary.children.push({ tag: "span", children: [plainText(block).slice(0, MAX_LINE)] });
    if (count > 1 && quote) quote.push(block);
    else folded.push(block);
    if (cites(block)) quote = null;
  }
  return folded;
}

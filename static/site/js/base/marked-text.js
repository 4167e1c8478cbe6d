// A text with some of it marked.

import { h } from "./dom.js";

/**
 * @param {string} className
 * @param {string} text
 * @param {[number, number][]} places start and end in code points, in order; what is no place in the text is passed over
 */
export function marked(className, text, places) {
  const letters = [...text];
  const pieces = [];
  let at = 0;
  for (const [start, end] of places) {
    if (!(start >= at && end > start && end <= letters.length)) continue;
    pieces.push(letters.slice(at, start).join(""), h("mark", {}, letters.slice(start, end).join("")));
    at = end;
  }
  return h("span", { className }, ...pieces, letters.slice(at).join(""));
}

// A text with some of its words marked.

import { h } from "./dom.js";

/**
 * @param {string} className
 * @param {string} text
 * @param {[number, number][]} ranges start and end in code points, in order. One that is not in the text is ignored.
 */
export function markedText(className, text, ranges) {
  const letters = [...text];
  /** @type {(string | Node)[]} */
  const children = [];
  let at = 0;
  for (const [start, end] of ranges) {
    if (!(start >= at && end > start && end <= letters.length)) continue;
    children.push(letters.slice(at, start).join(""), h("mark", {}, letters.slice(start, end).join("")));
    at = end;
  }
  return h("span", { className }, ...children, letters.slice(at).join(""));
}

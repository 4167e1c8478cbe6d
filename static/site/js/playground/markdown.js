// The Markdown of an answer as elements, as far as answers have it: paragraphs, lists, code, and in lines code, bold and links.
// It is drawn anew with every piece of the text, so what has no end yet is taken to end there.

import { h } from "../base/dom.js";

const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|\[([^[\]]+)\]\((https?:[^\s)]+)\)/g;
const FENCE = /^(\s*)(`{3,}|~{3,})/;
const ITEM = /^\s*(?:[-*]|\d+[.)]) +/;

/** A link that leaves this page as it is. @param {string} href @param {string} text */
export const away = (href, text) => h("a", { href, target: "_blank", rel: "noopener" }, text);

/** @param {string} text @returns {(Node | string)[]} */
function inline(text) {
  const pieces = [];
  let at = 0;
  for (const { 0: whole, 1: code, 2: bold, 3: label, 4: href, index } of text.matchAll(INLINE)) {
    pieces.push(text.slice(at, index));
    if (code) pieces.push(h("code", {}, code));
    else if (bold) pieces.push(h("strong", {}, ...inline(bold)));
    else if (/^\d+$/.test(label)) pieces.push(h("sup", {}, away(href, label)));
    else pieces.push(away(href, label));
    at = index + whole.length;
  }
  return [...pieces, text.slice(at)];
}

/** Lines that belong together. @param {string[]} lines */
function block(lines) {
  if (lines.every((line) => ITEM.test(line))) {
    const items = lines.map((line) => h("li", {}, ...inline(line.replace(ITEM, ""))));
    return h(/^\s*\d/.test(lines[0]) ? "ol" : "ul", {}, ...items);
  }
  return h("p", {}, ...inline(lines.join("\n")));
}

/** @param {string} text @returns {Element[]} */
export function prose(text) {
  const blocks = [];
  let lines = [];
  const end = () => {
    if (lines.length) blocks.push(block(lines));
    lines = [];
  };
  let code = null;
  let fence = "";
  for (const line of text.split("\n")) {
    if (code && line.trim() === fence) {
      code = null;
    } else if (code) {
      code.append(`${line}\n`);
    } else if (FENCE.test(line)) {
      end();
      fence = FENCE.exec(line)[2];
      code = h("code");
      blocks.push(h("pre", {}, code));
    } else if (line.trim()) {
      lines.push(line);
    } else {
      end();
    }
  }
  end();
  return blocks;
}

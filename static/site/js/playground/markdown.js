// Markdown to elements, as far as answers use it: paragraphs, lists, blocks of code, and code, bold text and links in
// lines. The text is drawn again as it grows, so a block without an end ends with the text.

import { h } from "../base/dom.js";

const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|\[([^[\]]+)\]\((https?:[^\s)]+)\)/g;
const FENCE = /^(\s*)(`{3,}|~{3,})/;
const ITEM = /^\s*(?:[-*]|\d+[.)]) +/;

/** A link to another tab. @param {string} href @param {string} text */
export const buildLink = (href, text) => h("a", { href, target: "_blank", rel: "noopener" }, text);

/** @param {string} text @returns {(Node | string)[]} */
function renderInline(text) {
  /** @type {(Node | string)[]} */
  const children = [];
  let at = 0;
  for (const { 0: whole, 1: code, 2: bold, 3: label, 4: href, index } of text.matchAll(INLINE)) {
    children.push(text.slice(at, index));
    if (code) children.push(h("code", {}, code));
    else if (bold) children.push(h("strong", {}, ...renderInline(bold)));
    else if (/^\d+$/.test(label)) children.push(h("sup", {}, buildLink(href, label)));
    else children.push(buildLink(href, label));
    at = index + whole.length;
  }
  return [...children, text.slice(at)];
}

/** A list or a paragraph. @param {string[]} lines */
function renderBlock(lines) {
  if (lines.every((line) => ITEM.test(line))) {
    const items = lines.map((line) => h("li", {}, ...renderInline(line.replace(ITEM, ""))));
    return h(/^\s*\d/.test(lines[0]) ? "ol" : "ul", {}, ...items);
  }
  return h("p", {}, ...renderInline(lines.join("\n")));
}

/** @param {string} text @returns {Element[]} */
export function renderMarkdown(text) {
  /** @type {Element[]} */
  const blocks = [];
  /** @type {string[]} */
  let lines = [];
  const end = () => {
    if (lines.length) blocks.push(renderBlock(lines));
    lines = [];
  };
  /** @type {HTMLElement | null} */
  let code = null;
  let fence = "";
  for (const line of text.split("\n")) {
    if (code && line.trim() === fence) {
      code = null;
    } else if (code) {
      code.append(`${line}\n`);
    } else if (FENCE.test(line)) {
      end();
      fence = FENCE.exec(line)?.[2] ?? "";
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

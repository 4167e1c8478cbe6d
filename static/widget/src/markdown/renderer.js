/** Renders a Markdown tree as DOM nodes, one for each element and text, so that unchanged nodes can stay. */

import { h } from "../base/dom.js";
import { linkAttributes } from "../base/links.js";
import { codeBlock, codeTabs, updateCode } from "./code.js";
import { foldQuotes } from "./fold.js";
import { isEqual, isSameElement, StreamingParser } from "./parser.js";

/** @typedef {import("./parser.js").MarkdownNode} MarkdownNode */
/** @typedef {import("./parser.js").MarkdownElement} MarkdownElement */

/**
 * @param {MarkdownNode} tree
 * @param {ReadonlySet<string>} hosts that are not shown beside a link
 * @returns {Node}
 */
function buildNode(tree, hosts) {
  if (typeof tree === "string") return document.createTextNode(tree);
  if (tree.tag === "pre") return codeBlock(tree);
  if (tree.tag === "tabs") return codeTabs(/** @type {MarkdownElement[]} */ (tree.children));
  const children = tree.children.map((child) => buildNode(child, hosts));
  const { href = "" } = tree;
  switch (tree.tag) {
    case "cite":
      // A number that leads out of the documentation is a plain link.
      if (hosts.has(tree.host ?? ""))
        return h("sup", {}, "\u2060", h("a", { ...linkAttributes(href), className: "cite" }, ...children));
      return buildLink(tree, children);
    case "a":
      return hosts.has(tree.host ?? "") ? h("a", linkAttributes(href), ...children) : buildLink(tree, children);
    case "img":
      return buildImage(href, String(tree.children[0] ?? ""));
    case "table":
      return h("div", { className: "scroll", tabIndex: 0, role: "group" }, h("table", {}, ...children));
    case "th":
    case "td":
      return h(tree.tag, { className: tree.align }, ...children);
    case "ol":
      return h("ol", { start: tree.start }, ...children);
    case "blockquote":
      return h("blockquote", { className: tree.lang }, ...children);
    case "details":
    case "summary":
    case "kbd":
    case "sub":
    case "sup":
    case "p":
    case "span":
    case "h4":
    case "h5":
    case "h6":
    case "ul":
    case "li":
    case "thead":
    case "tbody":
    case "tr":
    case "hr":
    case "strong":
    case "em":
    case "del":
    case "code":
    case "br":
      return h(tree.tag, {}, ...children);
    default:
      return document.createTextNode("");
  }
}

/** A link that names its host. @param {MarkdownElement} tree @param {Node[]} children */
function buildLink({ href = "", host = "" }, children) {
  const anchor = h("a", linkAttributes(href), ...children);
  const label = anchor.textContent?.trim() ?? "";
  const isNamed =
    label === host || label.startsWith(new URL(href).origin + "/") || label === href.replace("mailto:", "");
  if (!isNamed && host) anchor.append(h("span", { className: "host" }, ` (${host})`));
  return anchor;
}

/** @param {string} src @param {string} alt */
function buildImage(src, alt) {
  const img = h("img", { alt, loading: "lazy", decoding: "async", referrerPolicy: "no-referrer" });
  img.addEventListener("error", () => img.replaceWith(alt), { once: true });
  img.src = src; // last, since setting it starts the request
  return h("span", {}, img);
}

/** The node that holds the children of an element; null if they cannot be changed one by one. @param {string} tag @param {Node} node */
function childHolder(tag, node) {
  if (tag === "table") return node.firstChild;
  return [
    "details",
    "summary",
    "p",
    "span",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "ul",
    "ol",
    "li",
    "tbody",
    "tr",
    "th",
    "td",
    "strong",
    "em",
    "del",
  ].includes(tag)
    ? node
    : null;
}

/**
 * Changes the children of a node.
 * @param {Node} node
 * @param {MarkdownNode[]} before
 * @param {MarkdownNode[]} after
 * @param {ReadonlySet<string>} hosts
 */
function updateChildren(node, before, after, hosts) {
  let unchanged = 0;
  while (unchanged < before.length && unchanged < after.length && isEqual(before[unchanged], after[unchanged]))
    unchanged++;
  // The first node that differs has usually just grown.
  if (
    unchanged < before.length &&
    unchanged < after.length &&
    updateNode(node.childNodes[unchanged], before[unchanged], after[unchanged], hosts)
  )
    unchanged++;
  while (node.childNodes.length > unchanged) node.lastChild?.remove();
  for (const tree of after.slice(unchanged)) node.appendChild(buildNode(tree, hosts));
}

/** Changes a node in place. Returns false if it must be built again. @param {Node} node @param {MarkdownNode} before @param {MarkdownNode} after @param {ReadonlySet<string>} hosts */
function updateNode(node, before, after, hosts) {
  if (typeof before === "string" || typeof after === "string") {
    if (typeof before !== typeof after) return false;
    node.textContent = String(after);
    return true;
  }
  if (!isSameElement(before, after)) return false;
  if (after.tag === "pre" && after.open) {
    updateCode(/** @type {HTMLElement} */ (node), after);
    return true;
  }
  const holder = childHolder(after.tag, node);
  if (holder) updateChildren(holder, before.children, after.children, hosts);
  return holder !== null;
}

/** Shows a growing text in an element. Finished blocks no longer change. */
export class MarkdownView {
  #parser = new StreamingParser();
  /** @type {MarkdownNode[]} */
  #nodes = [];
  #caret = h("span", { className: "caret" });
  #rendered = "";

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
  }

  /**
   * @param {string} text
   * @param {{ base: string, images: ReadonlySet<string>, hosts: ReadonlySet<string>, partial: boolean, caret: boolean, folds: boolean }} options `partial`: more text will arrive; `folds`: the text is quotes
   */
  update(text, { hosts, caret, folds, ...options }) {
    const state = `${options.partial} ${options.base} ${text}`;
    if (state !== this.#rendered) {
      this.#rendered = state;
      this.#caret.remove();
      const parsed = this.#parser.parse(text, options);
      const trees = folds ? foldQuotes(parsed) : parsed;
      updateChildren(this.element, this.#nodes, trees, hosts);
      this.#nodes = trees;
    }
    if (!caret) this.#caret.remove();
    else if (!this.#caret.isConnected) lastElement(this.element).append(this.#caret);
  }
}

/** The innermost element to which more text will be added. @param {HTMLElement} element @returns {HTMLElement} */
function lastElement(element) {
  const last = element.lastChild;
  const isOpen =
    last instanceof HTMLElement &&
    last.matches("p, h4, h5, h6, ul, ol, li, blockquote, li > span, figure, figure > div, pre, pre > code");
  return isOpen ? lastElement(last) : element;
}

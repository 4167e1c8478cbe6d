/** A tree of Markdown as DOM nodes: one node for each branch and text, so that what did not change can stay. */

import { h } from "../base/dom.js";
import { linkAttributes } from "../base/links.js";
import { codeBlock, codeTabs, updateCode } from "./code.js";
import { isEqual, isSameElement, resolveAddress, StreamingParser } from "./parser.js";

/** @typedef {import("./parser.js").MarkdownNode} MarkdownNode */
/** @typedef {import("./parser.js").MarkdownElement} MarkdownElement */

/**
 * @param {MarkdownNode} tree
 * @param {ReadonlySet<string>} hosts hosts that need not be shown beside a link
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
      // A number that leads elsewhere than into the documentation is a link like any other.
      if (hosts.has(tree.host ?? ""))
        return h("sup", {}, h("a", { ...linkAttributes(href), className: "cite" }, ...children));
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
    case "p":
    case "span":
    case "h4":
    case "h5":
    case "h6":
    case "blockquote":
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

/** A link that says where it leads. @param {MarkdownElement} tree @param {Node[]} children */
function buildLink({ href = "", host = "" }, children) {
  const anchor = h("a", linkAttributes(href), ...children);
  const label = anchor.textContent?.trim() ?? "";
  const said = label === host || label.startsWith(new URL(href).origin + "/") || label === href.replace("mailto:", "");
  if (!said && host) anchor.append(h("span", { className: "host" }, ` (${host})`));
  return anchor;
}

/** @param {string} src @param {string} alt */
function buildImage(src, alt) {
  const img = h("img", { alt, loading: "lazy", decoding: "async", referrerPolicy: "no-referrer" });
  img.addEventListener("error", () => img.replaceWith(alt), { once: true });
  img.src = src; // last: the address must not be fetched before all else is set
  return h("span", {}, img);
}

/** What holds the children of a node of this tag, where they can be changed one by one. @param {string} tag @param {Node} node */
function childHolder(tag, node) {
  if (tag === "table") return node.firstChild;
  return [
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
 * Changes the children of a node from some trees to others.
 * @param {Node} node
 * @param {MarkdownNode[]} was
 * @param {MarkdownNode[]} is
 * @param {ReadonlySet<string>} hosts
 */
function updateChildren(node, was, is, hosts) {
  let kept = 0;
  while (kept < was.length && kept < is.length && isEqual(was[kept], is[kept])) kept++;
  // The first that differs is mostly the same with more in it.
  if (kept < was.length && kept < is.length && updateNode(node.childNodes[kept], was[kept], is[kept], hosts)) kept++;
  while (node.childNodes.length > kept) node.lastChild?.remove();
  for (const tree of is.slice(kept)) node.appendChild(buildNode(tree, hosts));
}

/** Changes a node in its place. Returns false where it has to be built anew. @param {Node} node @param {MarkdownNode} was @param {MarkdownNode} is @param {ReadonlySet<string>} hosts */
function updateNode(node, was, is, hosts) {
  if (typeof was === "string" || typeof is === "string") {
    if (typeof was !== typeof is) return false;
    node.textContent = String(is);
    return true;
  }
  if (!isSameElement(was, is)) return false;
  if (is.tag === "pre" && is.open) {
    updateCode(/** @type {HTMLElement} */ (node), is);
    return true;
  }
  const holder = childHolder(is.tag, node);
  if (holder) updateChildren(holder, was.children, is.children, hosts);
  return holder !== null;
}

/** Shows a growing text in an element. Finished blocks are never touched again. */
export class MarkdownView {
  element = h("div", { className: "prose", dir: "auto" });
  #parser = new StreamingParser();
  /** @type {MarkdownNode[]} */
  #nodes = [];
  #caret = h("span", { className: "caret" });
  #rendered = "";

  /**
   * @param {string} text
   * @param {{ base: string, images: ReadonlySet<string>, hosts: ReadonlySet<string>, partial: boolean, caret: boolean }} reading
   */
  update(text, { hosts, caret, ...reading }) {
    const shown = `${reading.partial} ${reading.base} ${text}`;
    if (shown !== this.#rendered) {
      this.#rendered = shown;
      this.#caret.remove();
      const trees = this.#parser.parse(text, reading);
      updateChildren(this.element, this.#nodes, trees, hosts);
      this.#nodes = trees;
    }
    if (!caret) this.#caret.remove();
    else if (!this.#caret.isConnected) lastElement(this.element).append(this.#caret);
  }
}

/** The innermost element in which a text goes on. @param {HTMLElement} element @returns {HTMLElement} */
function lastElement(element) {
  const last = element.lastChild;
  const goesOn =
    last instanceof HTMLElement &&
    last.matches("p, h4, h5, h6, ul, ol, li, blockquote, li > span, figure, figure > div, pre, pre > code");
  return goesOn ? lastElement(last) : element;
}

/** The hosts of some addresses, and the page's own. @param {string[]} urls */
export function hostsOf(urls) {
  const hosts = new Set([location.host]);
  for (const url of urls) {
    const href = resolveAddress(url, location.href);
    if (href) hosts.add(new URL(href).host);
  }
  return hosts;
}

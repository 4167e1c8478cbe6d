/** A tree of Markdown as DOM nodes: one node for each branch and text, so that what did not change can stay. */

import { code, refill, tabs } from "./code.js";
import { h } from "../base/dom.js";
import { linkAttributes } from "../base/links.js";
import { Growing, address, alike, same } from "./parser.js";

/** @typedef {import("./parser.js").Tree} Tree */
/** @typedef {import("./parser.js").Branch} Branch */

/**
 * @param {Tree} tree
 * @param {ReadonlySet<string>} hosts hosts that need not be shown beside a link
 * @returns {Node}
 */
function build(tree, hosts) {
  if (typeof tree === "string") return document.createTextNode(tree);
  if (tree.tag === "pre") return code(tree);
  if (tree.tag === "tabs") return tabs(/** @type {Branch[]} */ (tree.children));
  const children = tree.children.map((child) => build(child, hosts));
  const { href = "" } = tree;
  switch (tree.tag) {
    case "cite":
      // A number that leads elsewhere than into the documentation is a link like any other.
      if (hosts.has(tree.host ?? ""))
        return h("sup", {}, h("a", { ...linkAttributes(href), className: "cite" }, ...children));
      return link(tree, children);
    case "a":
      return hosts.has(tree.host ?? "") ? h("a", linkAttributes(href), ...children) : link(tree, children);
    case "img":
      return image(href, String(tree.children[0] ?? ""));
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

/** A link that says where it leads. @param {Branch} tree @param {Node[]} children */
function link({ href = "", host = "" }, children) {
  const anchor = h("a", linkAttributes(href), ...children);
  const label = anchor.textContent?.trim() ?? "";
  const said = label === host || label.startsWith(new URL(href).origin + "/") || label === href.replace("mailto:", "");
  if (!said && host) anchor.append(h("span", { className: "host" }, ` (${host})`));
  return anchor;
}

/** @param {string} src @param {string} alt */
function image(src, alt) {
  const img = h("img", { alt, loading: "lazy", decoding: "async", referrerPolicy: "no-referrer" });
  img.addEventListener("error", () => img.replaceWith(alt), { once: true });
  img.src = src; // last: the address must not be fetched before all else is set
  return h("span", {}, img);
}

/** What holds the children of a node of this tag, where they can be changed one by one. @param {string} tag @param {Node} node */
function inside(tag, node) {
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
 * @param {Tree[]} was
 * @param {Tree[]} is
 * @param {ReadonlySet<string>} hosts
 */
function change(node, was, is, hosts) {
  let kept = 0;
  while (kept < was.length && kept < is.length && same(was[kept], is[kept])) kept++;
  // The first that differs is mostly the same with more in it.
  if (kept < was.length && kept < is.length && grow(node.childNodes[kept], was[kept], is[kept], hosts)) kept++;
  while (node.childNodes.length > kept) node.lastChild?.remove();
  for (const tree of is.slice(kept)) node.appendChild(build(tree, hosts));
}

/** Changes a node in its place. Returns false where it has to be built anew. @param {Node} node @param {Tree} was @param {Tree} is @param {ReadonlySet<string>} hosts */
function grow(node, was, is, hosts) {
  if (typeof was === "string" || typeof is === "string") {
    if (typeof was !== typeof is) return false;
    node.textContent = String(is);
    return true;
  }
  if (!alike(was, is)) return false;
  if (is.tag === "pre" && is.open) {
    refill(/** @type {HTMLElement} */ (node), is);
    return true;
  }
  const holder = inside(is.tag, node);
  if (holder) change(holder, was.children, is.children, hosts);
  return holder !== null;
}

/** Shows a growing text in an element. Finished blocks are never touched again. */
export class Prose {
  element = h("div", { className: "prose", dir: "auto" });
  #growing = new Growing();
  /** @type {Tree[]} */
  #trees = [];
  #caret = h("span", { className: "caret" });
  #shown = "";

  /**
   * @param {string} text
   * @param {{ base: string, images: ReadonlySet<string>, hosts: ReadonlySet<string>, partial: boolean, caret: boolean }} reading
   */
  update(text, { hosts, caret, ...reading }) {
    const shown = `${reading.partial} ${reading.base} ${text}`;
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#caret.remove();
      const trees = this.#growing.read(text, reading);
      change(this.element, this.#trees, trees, hosts);
      this.#trees = trees;
    }
    if (!caret) this.#caret.remove();
    else if (!this.#caret.isConnected) end(this.element).append(this.#caret);
  }
}

/** The innermost element in which a text goes on. @param {HTMLElement} element @returns {HTMLElement} */
function end(element) {
  const last = element.lastChild;
  const goesOn =
    last instanceof HTMLElement &&
    last.matches("p, h4, h5, h6, ul, ol, li, blockquote, li > span, figure, figure > div, pre, pre > code");
  return goesOn ? end(last) : element;
}

/** The hosts of some addresses, and the page's own. @param {string[]} urls */
export function hostsOf(urls) {
  const hosts = new Set([location.host]);
  for (const url of urls) {
    const href = address(url, location.href);
    if (href) hosts.add(new URL(href).host);
  }
  return hosts;
}

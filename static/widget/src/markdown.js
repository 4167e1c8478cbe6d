/**
 * Markdown to DOM nodes by way of a plain tree. Answers are hostile until shown otherwise: the tree can only hold
 * what is listed here, HTML stays text, images are their alternative text, and a link leads to the web or to mail.
 */
import { Lexer } from "marked";
import { h, icon } from "./dom.js";
import { settle } from "./partial.js";
import { words } from "./words.js";

/** @typedef {{ tag: string, children: Tree[], href?: string, host?: string, start?: number, align?: string, lang?: string }} Branch */
/** @typedef {string | Branch} Tree */
/** @typedef {{ raw: string, tree: Branch | null }} Block a block as it was written, and what it shows */
/** @typedef {Record<string, any> & { type: string, raw: string }} Token */
/** @typedef {{ label: string, href: string }} Suggestion */

/**
 * The blocks of a text.
 * @param {string} text
 * @param {{ base: string, partial?: boolean }} options `base` is what relative links are relative to; `partial` text is still arriving
 * @returns {Block[]}
 */
export function blocks(text, { base, partial = false }) {
  const tokens = /** @type {Token[]} */ (new Lexer({ gfm: true }).lex(partial ? settle(text) : text));
  return tokens.map((token) => ({ raw: token.raw, tree: block(token, base) }));
}

/** What a text says, without its syntax and its citations. @param {string} text */
export function plain(text) {
  /** @type {(tree: Tree) => string} */
  const said = (tree) => (typeof tree === "string" ? tree : tree.tag === "cite" ? "" : tree.children.map(said).join(""));
  return blocks(text, { base: "https://localhost/" })
    .map(({ tree }) => (tree ? said(tree) : ""))
    .filter(Boolean)
    .join("\n");
}

/** @param {string} text */
export const firstSentence = (text) => /^[\s\S]*?[.!?:](?=\s|$)/.exec(plain(text).trim())?.[0] ?? plain(text).split("\n")[0];

/**
 * Splits off the block of pages to read next at the end, which is for buttons and not for reading. Only the service
 * writes one, with paths of the documentation.
 * @param {string} text
 * @param {string} base
 * @param {string} [site] where paths begin
 * @returns {{ body: string, suggestions: Suggestion[] }}
 */
export function withoutSuggestions(text, base, site = "") {
  const found = /(?:^|\n)```suggestions[ \t]*\n((?:(?!```)[\s\S])*)(?:```\s*)?$/.exec(text);
  if (!found) return { body: text, suggestions: [] };
  /** @type {Suggestion[]} */
  const suggestions = [];
  for (const [, label, target] of found[1].matchAll(/^\s*\(([^()\n]+)\)\[(\/(?!\/)[^\]\n]*)\]\s*$/gm)) {
    const href = address(site + target, base);
    if (href) suggestions.push({ label, href });
  }
  return { body: text.slice(0, found.index), suggestions };
}

/** An address that may be followed, absolute, or null. @param {string} href @param {string} base */
export function address(href, base) {
  try {
    const url = new URL(decode(href), base);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** @param {string} tag @param {Tree[]} children @param {Partial<Branch>} [more] @returns {Branch} */
const branch = (tag, children, more) => ({ tag, children, ...more });

/** @param {Token} token @param {string} base @returns {Branch | null} */
function block(token, base) {
  switch (token.type) {
    case "paragraph":
      return branch("p", inline(token.tokens, base));
    case "text":
      return branch("span", inline(token.tokens ?? [token], base));
    case "heading":
      return branch(token.depth < 3 ? "h4" : token.depth === 3 ? "h5" : "h6", inline(token.tokens, base));
    case "code":
      return branch("pre", [token.text], { lang: /^[\w+#.-]*/.exec(token.lang ?? "")?.[0] });
    case "blockquote":
      return branch("blockquote", blockList(token.tokens, base));
    case "list": {
      const items = token.items.map((/** @type {Token} */ item) => branch("li", blockList(item.tokens, base)));
      return token.ordered ? branch("ol", items, { start: Number(token.start) || 1 }) : branch("ul", items);
    }
    case "table": {
      const row = (/** @type {Token[]} */ cells) =>
        branch(
          "tr",
          cells.map((cell) =>
            branch(cell.header ? "th" : "td", inline(cell.tokens, base), { align: cell.align ?? undefined }),
          ),
        );
      return branch("table", [branch("thead", [row(token.header)]), branch("tbody", token.rows.map(row))]);
    }
    case "hr":
      return branch("hr", []);
    case "checkbox":
      return branch("span", [token.checked ? "☑ " : "☐ "]);
    case "html":
      return /^\s*<!--/.test(token.raw) ? null : branch("p", [token.raw.trim()]);
    default:
      return null;
  }
}

/** @param {Token[]} tokens @param {string} base @returns {Branch[]} */
const blockList = (tokens, base) => tokens.map((token) => block(token, base)).filter((tree) => tree !== null);

/** @param {Token[]} tokens @param {string} base @returns {Tree[]} */
function inline(tokens, base) {
  return tokens.flatMap((token) => {
    switch (token.type) {
      case "text":
        return token.tokens ? inline(token.tokens, base) : [decode(token.text)];
      case "escape":
        return [token.text];
      case "strong":
      case "em":
      case "del":
        return [branch(token.type, inline(token.tokens, base))];
      case "codespan":
        return [branch("code", [token.text])];
      case "br":
        return [branch("br", [])];
      case "image":
        return token.text ? [decode(token.text)] : [];
      case "link":
        return link(token, base);
      case "html":
        if (/^<br\s*\/?>$/i.test(token.raw)) return [branch("br", [])];
        return token.raw.startsWith("<!--") ? [] : [token.raw];
      default:
        return [token.raw];
    }
  });
}

/** @param {Token} token @param {string} base @returns {Tree[]} */
function link(token, base) {
  const children = inline(token.tokens, base);
  const href = address(token.href, base);
  if (!href) return children;
  if (/^\d{1,3}$/.test(token.text)) return [branch("cite", [token.text], { href })];
  return [branch("a", children, { href, host: new URL(href).host })];
}

/** @type {Record<string, string>} */
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", hellip: "…", mdash: "—", ndash: "–", larr: "←", rarr: "→", times: "×" };

/** The lexer leaves entities as they are written. @param {string} text */
function decode(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = decimal ? Number(decimal) : parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Attributes of a link: pages of the host's own site open in place, all others in a new tab. @param {string} href */
export const linkTo = (href) => ({
  href,
  rel: "noopener noreferrer nofollow",
  target: new URL(href).origin === location.origin || href.startsWith("mailto:") ? undefined : "_blank",
});

/**
 * The nodes of a tree.
 * @param {Tree} tree
 * @param {ReadonlySet<string>} hosts hosts that need not be shown beside a link
 * @returns {Node}
 */
function build(tree, hosts) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const children = tree.children.map((child) => build(child, hosts));
  switch (tree.tag) {
    case "pre":
      return codeBlock(String(tree.children[0]), tree.lang ?? "");
    case "cite":
      return h("sup", {}, h("a", { ...linkTo(tree.href ?? ""), className: "cite" }, ...children));
    case "a": {
      const anchor = h("a", linkTo(tree.href ?? ""), ...children);
      const foreign = tree.host && !hosts.has(tree.host) && !anchor.textContent?.includes(tree.host);
      if (foreign) anchor.append(h("span", { className: "host" }, ` (${tree.host})`));
      return anchor;
    }
    case "table":
      return h("div", { className: "scroll", tabIndex: 0, role: "group" }, h("table", {}, ...children));
    case "th":
    case "td":
      return h(tree.tag, { className: tree.align }, ...children);
    case "ol":
      return h("ol", { start: tree.start }, ...children);
    case "p": case "span": case "h4": case "h5": case "h6": case "blockquote": case "ul": case "li": case "thead":
    case "tbody": case "tr": case "hr": case "strong": case "em": case "del": case "code": case "br":
      return h(tree.tag, {}, ...children);
    default:
      return document.createTextNode("");
  }
}

/** @param {string} code @param {string} lang */
function codeBlock(code, lang) {
  return h(
    "figure",
    { className: "code" },
    h("figcaption", {}, h("span", {}, lang || words.code), copyButton(words.copyCode, () => code)),
    h("pre", { tabIndex: 0 }, h("code", {}, code)),
  );
}

/**
 * A button that copies a text and says so, by a bubbling `announce` event too. Absent where the browser has no
 * clipboard to offer, as on pages without TLS.
 * @param {string} label
 * @param {() => string} text
 */
export function copyButton(label, text) {
  if (!navigator.clipboard) return null;
  const button = h("button", { type: "button", className: "quiet copy", "aria-label": label, onclick: copy }, icon("copy"));
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      return;
    }
    button.replaceChildren(icon("check"));
    button.dispatchEvent(new CustomEvent("announce", { bubbles: true, detail: words.copied }));
    setTimeout(() => button.replaceChildren(icon("copy")), 1500);
  }
  return button;
}

/** Shows a growing text in an element. Finished blocks are never touched again. */
export class MarkdownView {
  element = h("div", { className: "prose", dir: "auto" });
  /** How much of the text the finished blocks cover. */
  #covered = 0;
  /** @type {Node[]} */
  #open = [];
  #shown = "";

  /**
   * @param {string} text
   * @param {{ base: string, partial: boolean, hosts: ReadonlySet<string> }} options
   */
  update(text, { base, partial, hosts }) {
    // A reference at the end can turn text far above it into links.
    const referenced = !partial && /^ {0,3}\[[^\]]+\]:/m.test(text);
    if (referenced || !text.startsWith(this.#shown)) this.#reset();
    this.#shown = text;
    const rest = blocks(text.slice(this.#covered), { base, partial });
    const last = rest.findLastIndex(({ tree }) => tree);
    for (const node of this.#open) node.parentNode?.removeChild(node);
    this.#open = [];
    rest.forEach(({ raw, tree }, i) => {
      const nodes = tree ? [build(tree, hosts)] : [];
      this.element.append(...nodes);
      if (i < last) this.#covered += raw.length;
      else this.#open.push(...nodes);
    });
  }

  #reset() {
    this.element.replaceChildren();
    this.#covered = 0;
    this.#open = [];
  }
}

/**
 * Parses Markdown to a plain tree. Answers may be hostile: the tree holds only the elements that are listed here,
 * HTML stays text, images come from the documentation only, and links lead to web pages or to mail.
 */
import { Lexer } from "marked";
import { decodeEntities, resolveAddress, stripBidiControls } from "./addresses.js";
import { completeMarkdown } from "./incomplete.js";
import { findLanguage } from "./languages.js";
import { nestDisclosures, nestTags, normalizeMarkdown, quoteOrCallout } from "./tags.js";

/**
 * @typedef {object} MarkdownElement
 * @property {string} tag of an element; `cite` is a citation and `tabs` is one task in several languages
 * @property {MarkdownNode[]} children
 * @property {string} [href] of a link or citation, and the address of an image
 * @property {string} [host] of the link
 * @property {number} [start] of an ordered list
 * @property {string} [align] of a cell
 * @property {string} [lang] of code; of a quotation that is a call-out, its kind
 * @property {boolean} [open] whether more may follow, of code
 */
/** @typedef {string | MarkdownElement} MarkdownNode */
/** @typedef {{ raw: string, tree: MarkdownElement | null }} Block its source, and what it shows */
/**
 * `base` is the base of relative links. `images` are the origins from which images may come. `partial` text is still
 * arriving: its last image shows as alternative text, since half an address must not be requested.
 * @typedef {{ base: string, images?: ReadonlySet<string>, partial?: boolean }} ParseOptions
 */
/** @typedef {{ base: string, images: ReadonlySet<string>, open: boolean }} BlockContext */
/** @typedef {Record<string, any> & { type: string, raw: string }} Token */

/** The deepest nesting. Deeper parts are plain text. */
const MAX_DEPTH = 12;
/** Longer paragraphs are lexed in parts of so many characters, since the lexer takes quadratic time. */
const MAX_CHUNK = 2_000;

/** Splits any text into tokens, in a short time even if it is hostile. @param {string} text @returns {Token[]} */
function tokenize(text) {
  const lexer = /** @type {any} */ (new Lexer({ gfm: true }));
  for (const [name, longest] of Object.entries({ blockTokens: Infinity, inlineTokens: MAX_CHUNK })) {
    const read = lexer[name];
    let depth = 0;
    lexer[name] = (/** @type {string} */ raw, /** @type {Token[]} */ tokens = [], /** @type {boolean} */ clipped) => {
      const token = { type: "text", raw, text: raw };
      if (depth > MAX_DEPTH) return tokens.push({ ...token, tokens: [token] }), tokens;
      depth++;
      while (raw) {
        const end =
          raw.length <= longest
            ? raw.length
            : raw.lastIndexOf(". ", longest) + 1 || raw.lastIndexOf(" ", longest) + 1 || longest;
        read.call(lexer, raw.slice(0, end), tokens, clipped);
        raw = raw.slice(end);
      }
      depth--;
      return tokens;
    };
  }
  return lexer.lex(text);
}

/** The blocks of a text. @param {string} text @param {ParseOptions} options @returns {Block[]} */
export function parseBlocks(text, { base, images = new Set(), partial = false }) {
  const tokens = tokenize(partial ? completeMarkdown(text) : text);
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  return tokens.map((token, i) => ({
    raw: token.raw,
    tree: parseBlock(token, { base, images, open: partial && i === last }),
  }));
}

/** The text of a tree, without citations and the blanks before them. @param {MarkdownNode} tree @returns {string} */
export function plainText(tree) {
  if (typeof tree === "string") return tree;
  return tree.children.reduce(
    (/** @type {string} */ all, child) =>
      typeof child !== "string" && child.tag === "cite" ? all.trimEnd() : all + plainText(child),
    "",
  );
}

/** The first sentence near the beginning of a text, if possible not a heading or a line that looks like one. @param {string} text */
export function firstSentence(text) {
  const blocks = parseBlocks(normalizeMarkdown(text.slice(0, 2_000)), { base: "https://localhost/" });
  const trees = nestDisclosures(blocks.flatMap(({ tree }) => tree ?? []));
  const isTitle = (/** @type {MarkdownElement} */ { children }) =>
    children.every((child) => (typeof child === "string" ? !child.trim() : ["strong", "cite"].includes(child.tag)));
  const first = trees.find((tree) => tree.tag === "p" && !isTitle(tree)) ?? trees[0];
  const prose = first ? plainText(first).replace(/\s+/g, " ").trim() : "";
  return (/^.*?[.!?:](?=\s|$)/.exec(prose)?.[0] ?? prose).slice(0, 300);
}

/** @param {string} tag @param {MarkdownNode[]} children @param {Partial<MarkdownElement>} [fields] @returns {MarkdownElement} */
const element = (tag, children, fields) => ({ tag, children, ...fields });

/** @param {Token} token @param {BlockContext} inside @returns {MarkdownElement | null} */
function parseBlock(token, inside) {
  switch (token.type) {
    case "paragraph":
      return element("p", parseInline(token.tokens, inside));
    case "text":
      return element("span", parseInline(token.tokens ?? [token], inside));
    case "heading": // the answer itself has an h3, and models often start with the third level
      return element(token.depth < 4 ? "h4" : token.depth === 4 ? "h5" : "h6", parseInline(token.tokens, inside));
    case "code":
      return element("pre", [stripBidiControls(token.text)], {
        lang: /^[\w+#.-]*/.exec(token.lang ?? "")?.[0],
        open: inside.open || undefined,
      });
    case "blockquote":
      return quoteOrCallout(parseBlockList(token.tokens, inside));
    case "list": {
      const items = token.items.map((/** @type {Token} */ item) => element("li", parseBlockList(item.tokens, inside)));
      return token.ordered ? element("ol", items, { start: Number(token.start) || 1 }) : element("ul", items);
    }
    case "table": {
      const row = (/** @type {Token[]} */ cells) =>
        element(
          "tr",
          cells.map((cell) =>
            element(cell.header ? "th" : "td", parseInline(cell.tokens, inside), { align: cell.align ?? undefined }),
          ),
        );
      return element("table", [element("thead", [row(token.header)]), element("tbody", token.rows.map(row))]);
    }
    case "hr":
      return element("hr", []);
    case "checkbox":
      return element("span", [token.checked ? "☑ " : "☐ "]);
    case "html":
      return /^\s*<!--/.test(token.raw) ? null : element("p", [stripBidiControls(token.raw.trim())]);
    default:
      return null;
  }
}

/** @param {Token[]} tokens @param {BlockContext} inside @returns {MarkdownElement[]} */
const parseBlockList = (tokens, inside) =>
  nestDisclosures(tokens.map((token) => parseBlock(token, inside)).filter((tree) => tree !== null));

/** @param {Token[]} tokens @param {BlockContext} inside @returns {MarkdownNode[]} */
function parseInline(tokens, inside) {
  const parts = tokens.flatMap(
    /** @returns {(MarkdownNode | { name: string })[]} */ (token) => {
      switch (token.type) {
        case "text":
          return token.tokens ? parseInline(token.tokens, inside) : [decodeEntities(token.text)];
        case "escape":
          return [stripBidiControls(token.text)];
        case "strong":
        case "em":
        case "del":
          return [element(token.type, parseInline(token.tokens, inside))];
        case "codespan":
          return [element("code", [stripBidiControls(token.text)])];
        case "br":
          return [element("br", [])];
        case "image":
          return parseImage(token, inside);
        case "link":
          return parseLink(token, inside);
        case "html": {
          const tag = /^<(?:(br)|\/?(?:kbd|su[bp]))>$/i.exec(token.raw);
          if (tag) return [tag[1] ? element("br", []) : { name: token.raw.slice(1, -1).toLowerCase() }];
          return token.raw.startsWith("<!--") ? [] : [stripBidiControls(token.raw)];
        }
        default:
          return [stripBidiControls(token.raw)];
      }
    },
  );
  const nodes = nestTags(parts);
  // A citation stays with the word before it.
  return nodes.map((node, i) => {
    const next = /** @type {{ tag?: string } | undefined} */ (nodes[i + 1]);
    return typeof node === "string" && next?.tag === "cite" ? node.trimEnd() : node;
  });
}

/** @param {Token} token @param {BlockContext} inside @returns {MarkdownNode[]} */
function parseLink(token, inside) {
  const children = parseInline(token.tokens, inside);
  const href = resolveAddress(token.href, inside.base);
  if (!href) return children;
  if (/^\d{1,3}$/.test(token.text)) return [element("cite", [token.text], { href, host: new URL(href).host })];
  return [element("a", children, { href, host: new URL(href).host })];
}

/** @param {Token} token @param {BlockContext} inside @returns {MarkdownNode[]} */
function parseImage(token, { base, images, open }) {
  const alt = token.text ? [decodeEntities(token.text)] : [];
  const href = open ? null : resolveAddress(token.href, base);
  return href && images.has(new URL(href).origin) ? [element("img", alt, { href })] : alt;
}

/** Whether two trees are equal. @param {MarkdownNode} a @param {MarkdownNode} b @returns {boolean} */
export function isEqual(a, b) {
  if (a === b) return true;
  if (typeof a === "string" || typeof b === "string" || !isSameElement(a, b)) return false;
  return a.children.length === b.children.length && a.children.every((child, i) => isEqual(child, b.children[i]));
}

/** Whether two elements are equal except for their children. @param {MarkdownElement} a @param {MarkdownElement} b */
export const isSameElement = (a, b) =>
  a.tag === b.tag &&
  a.href === b.href &&
  a.start === b.start &&
  a.align === b.align &&
  a.lang === b.lang &&
  a.open === b.open;

/** Adds a block. Code after code in another language joins it in tabs, as they show the same task. @param {MarkdownNode[]} trees @param {MarkdownElement} tree */
function appendBlock(trees, tree) {
  const last = /** @type {MarkdownElement | undefined} */ (trees.at(-1));
  const group = last?.tag === "tabs" ? /** @type {MarkdownElement[]} */ (last.children) : last ? [last] : [];
  const isVariant = (/** @type {MarkdownElement} */ { tag, lang = "", open }) =>
    tag === "pre" && !open && findLanguage(lang).variant;
  const name = findLanguage(tree.lang ?? "").name;
  const canJoin =
    group.length > 0 &&
    [...group, tree].every(isVariant) &&
    group.every(({ lang = "" }) => findLanguage(lang).name !== name);
  if (canJoin) trees.splice(-1, 1, element("tabs", [...group, tree]));
  else trees.push(tree);
}

/** A parser for a text that grows. It parses each finished block once. */
export class StreamingParser {
  #text = "";
  /** How much of the text the finished blocks cover. */
  #covered = 0;
  /** @type {MarkdownNode[]} */
  #finished = [];

  /** The trees of the current text. @param {string} text @param {ParseOptions} options @returns {MarkdownNode[]} */
  parse(text, options) {
    text = normalizeMarkdown(text.replace(/\r\n?/g, "\n")); // as the lexer does, whose lengths are used below
    // The complete text is parsed anew: a reference at its end can turn text far above into links.
    if (!options.partial || !text.startsWith(this.#text)) {
      this.#covered = 0;
      this.#finished = [];
    }
    this.#text = text;
    const blocks = parseBlocks(text.slice(this.#covered), options);
    const last = blocks.findLastIndex(({ tree }) => tree);
    for (const { raw, tree } of blocks.slice(0, Math.max(0, last))) {
      this.#covered += raw.length;
      if (tree) appendBlock(this.#finished, tree);
    }
    const trees = [...this.#finished];
    if (last >= 0) appendBlock(trees, /** @type {MarkdownElement} */ (blocks[last].tree));
    if (!options.partial) this.#text = ""; // in case the text grows again
    return nestDisclosures(trees);
  }
}

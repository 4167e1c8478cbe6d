/** What answers may hold beside GitHub's Markdown: a few HTML tags, all without attributes, call-outs and formulas. */

import { escapeMath } from "./math.js";

/** @typedef {import("./parser.js").MarkdownNode} MarkdownNode */
/** @typedef {import("./parser.js").MarkdownElement} MarkdownElement */

/** A deeper tag is left out. */
const MAX_DEPTH = 12;
const CJK = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u3000-\u303f\uff00-\uffef]/u;
const CALLOUT = /^\s*\[!(note|tip|important|warning|caution)\]\s*/i;

/** In place of the tags of a disclosure, as paragraphs of their own: where it begins, its summary, and where it ends. */
const [BEGIN, SUMMARY, END] = ["\ue001", "\ue002", "\ue003"];

/**
 * The text with allowed tags as tags: the service escapes the `<` of every one. Emphasis beside Chinese, Japanese and
 * Korean, which have no blanks, gets some without a width, since `**必読）。**次` is none by the rules of CommonMark.
 * @param {string} text
 */
export const normalizeMarkdown = (text) =>
  escapeMath(text.replace(/[\ue001-\ue003]/g, ""))
    .replace(/^\\<br ?\/?>$/gim, "")
    .replace(/^([ \t]*)\\<details(?: open)?>[ \t]*/gim, `$1${BEGIN}\n\n$1`)
    .replace(/^([ \t]*)\\<summary>([^\n]*)\\<\/summary>[ \t]*/gim, `$1${SUMMARY}$2\n\n$1`)
    .replace(/^([^\n]*)\\<\/details>/gim, (_, before) => {
      // Indentation that the pattern itself captures makes a line of blanks quadratic.
      const [indentation] = before.match(/^[ \t]*/) ?? [""];
      return `${before}\n\n${indentation}${END}\n\n${indentation}`;
    })
    .replace(/\\<(\/?)(br|kbd|sub|sup) ?\/?>/gi, "<$1$2>")
    .replace(/([^*]?)(\*\*?)([^\s*](?:[^*\n]*[^\s*])?)\2(?=(.?))/gu, (whole, before, mark, inner, after) =>
      CJK.test(before + after) ? `${before}\ufeff${mark}${inner}${mark}\ufeff` : whole,
    );

/**
 * Blocks with what stands between the marks of a disclosure inside of it. One that is open at the end ends there.
 * @template {MarkdownNode} T
 * @param {T[]} blocks
 * @returns {T[]}
 */
export function nestDisclosures(blocks) {
  /** @type {{ children: any[] }[]} */
  const open = [{ children: [] }];
  for (const block of blocks) {
    const [first = "", ...rest] = typeof block === "string" ? [] : block.children;
    const mark = typeof first === "string" ? first[0] : "";
    if (mark === BEGIN && open.length < MAX_DEPTH) {
      const details = { tag: "details", children: [] };
      open[open.length - 1].children.push(details);
      open.push(details);
    } else if (mark === SUMMARY) {
      open[open.length - 1].children.push({ tag: "summary", children: [String(first).slice(1), ...rest] });
    } else if (mark === END) {
      if (open.length > 1) open.pop();
    } else open[open.length - 1].children.push(block);
  }
  return open[0].children;
}

/**
 * Nodes with what stands between two tags inside of an element. A tag that is open at the end ends there.
 * @param {(MarkdownNode | { name: string })[]} nodes
 * @returns {MarkdownNode[]}
 */
export function nestTags(nodes) {
  /** @type {MarkdownElement[]} */
  const open = [{ tag: "", children: [] }];
  for (const node of nodes) {
    const { children } = open[open.length - 1];
    if (typeof node === "string" || !("name" in node)) children.push(node);
    else if (node.name[0] === "/") {
      const at = open.findLastIndex(({ tag }) => `/${tag}` === node.name);
      if (at > 0) open.length = at;
    } else if (open.length < MAX_DEPTH) {
      const child = { tag: node.name, children: [] };
      children.push(child);
      open.push(child);
    }
  }
  return open[0].children;
}

/**
 * A quotation, or the call-out that begins with `[!NOTE]`.
 * @param {MarkdownElement[]} blocks
 * @returns {MarkdownElement}
 */
export function quoteOrCallout(blocks) {
  const [first, ...rest] = blocks;
  let count = 0;
  while (typeof first?.children[count] === "string") count++;
  const text = first?.children.slice(0, count).join("") ?? "";
  const [marker, kind] = CALLOUT.exec(text) ?? [];
  if (!marker) return { tag: "blockquote", children: blocks };
  const children = [text.slice(marker.length), ...first.children.slice(count)].filter(Boolean);
  const title = kind[0].toUpperCase() + kind.slice(1).toLowerCase();
  const body = [
    { tag: "p", children: [{ tag: "strong", children: [title] }] },
    ...(children.length ? [{ ...first, children }] : []),
  ];
  return { tag: "blockquote", lang: kind.toLowerCase(), children: [...body, ...rest] };
}

/** What answers may hold beside GitHub's Markdown: a few HTML tags, all without attributes, and call-outs. */

/** @typedef {import("./parser.js").MarkdownNode} MarkdownNode */
/** @typedef {import("./parser.js").MarkdownElement} MarkdownElement */

/** A deeper tag is left out. */
const MAX_DEPTH = 12;
const CJK = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u3000-\u303f\uff00-\uffef]/u;
const CALLOUT = /^\s*\[!(note|tip|important|warning|caution)\]\s*/i;

/**
 * The text with allowed tags as tags: the service escapes the `<` of every one. What `<details>` holds is shown, below
 * its summary. Emphasis beside Chinese, Japanese and Korean, which have no blanks, gets some without a width, since
 * `**必読）。**次` is none by the rules of CommonMark.
 * @param {string} text
 */
export const normalizeMarkdown = (text) =>
  text
    .replace(/^\\<br ?\/?>$/gim, "")
    .replace(/\\<(\/?)(br|kbd|sub|sup|details|summary) ?\/?>/gi, (_, slash, name) =>
      /^d/i.test(name) ? "" : /^su[bp]|^[bk]/i.test(name) ? `<${slash}${name}>` : "**",
    )
    .replace(/([^*]?)(\*\*?)([^\s*](?:[^*\n]*[^\s*])?)\2(?=(.?))/gu, (whole, before, mark, inner, after) =>
      CJK.test(before + after) ? `${before}\ufeff${mark}${inner}${mark}\ufeff` : whole,
    );

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

/** What a reader points at: how it is checked, cut and called. Nothing of it is sent before the reader asks. */

import { fill, words } from "../base/labels.js";

/** @typedef {import("./thread.js").Context} Context */
/**
 * What a page, a file or a selection gives; only `value` is needed. `name` is a file's, or that of a language.
 * @typedef {{ value: string, type?: string, name?: string, label?: string, path?: string, elementId?: string }} Given
 */

/** The longest value the service takes, in code points. */
const LONGEST = 32_000;
/** Characters of a label, and of the words in it. */
const LABEL = 80;
const WORDS = 32;

/** A page's title without the name of its site; empty when it has none. @param {string} title */
export const pageName = (title) => title.trim().split(/ [·|–—-] /)[0];

/** The first characters of a text, none of them torn in two. @param {string} text @param {number} most code points */
const cut = (text, most) => (text.length > most ? [...text].slice(0, most).join("") : text);

/** @param {string} text */
export const isCut = (text) => cut(text, LONGEST) !== text;

/** A text on one line, with an ellipsis when it is longer. @param {string} text @param {number} most code points */
function brief(text, most) {
  const line = cut(text, 4 * most)
    .replace(/\s+/g, " ")
    .trim();
  const short = cut(line, most);
  return short === line && text.length <= 4 * most ? line : `${short.trimEnd()}…`;
}

/** @param {Given} given @param {string} value */
function label({ type, name, label }, value) {
  if (typeof label === "string" && label.trim()) return brief(label, LABEL);
  if (type !== "code") return fill(words.quoted, { text: brief(value, WORDS) });
  const n = value.split("\n").length;
  const called = typeof name === "string" && name.trim() ? brief(name, WORDS) : words.codeChip;
  return `${called} · ${n === 1 ? words.line : fill(words.lines, { n })}`;
}

/**
 * Things to point at in the form in which they are kept. What is not one, or is empty, is left out.
 * @param {unknown} given a `Given` or several, from anyone
 * @returns {Context[]}
 */
export function contexts(given) {
  return /** @type {Given[]} */ ([given].flat()).flatMap((item) => {
    if (typeof item?.value !== "string") return [];
    const value = cut(item.value.replace(/^\s*\n/, "").trimEnd(), LONGEST);
    if (!value) return [];
    const { path, elementId } = item;
    return {
      type: item.type === "code" ? "code" : "textSelection",
      value,
      label: label(item, value),
      ...(typeof path === "string" && path && { path }),
      ...(typeof elementId === "string" && elementId && { elementId }),
    };
  });
}

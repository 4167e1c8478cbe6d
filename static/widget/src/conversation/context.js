/** What a reader points at: how it is checked, cut and called. Nothing of it is sent before the reader asks. */

import { fill, labels } from "../base/labels.js";

/** @typedef {import("./thread.js").Context} Context */
/**
 * What a page, a file or a selection gives; only `value` is needed. `name` is a file's, or that of a language.
 * @typedef {{ value: string, type?: string, name?: string, label?: string, path?: string, elementId?: string }} ContextInput
 */

/** The longest value the service takes, in code points. */
const MAX_VALUE = 32_000;
/** Characters of a label, and of the words in it. */
const MAX_LABEL = 80;
const MAX_WORDS = 32;

/** A page's title without the name of its site; empty when it has none. @param {string} title */
export const pageName = (title) => title.trim().split(/ [·|–—-] /)[0];

/** The first characters of a text, none of them torn in two. @param {string} text @param {number} most code points */
const truncate = (text, most) => (text.length > most ? [...text].slice(0, most).join("") : text);

/** @param {string} text */
export const isTruncated = (text) => truncate(text, MAX_VALUE) !== text;

/** A text on one line, with an ellipsis when it is longer. @param {string} text @param {number} most code points */
function shorten(text, most) {
  const line = truncate(text, 4 * most)
    .replace(/\s+/g, " ")
    .trim();
  const short = truncate(line, most);
  return short === line && text.length <= 4 * most ? line : `${short.trimEnd()}…`;
}

/** @param {ContextInput} given @param {string} value */
function contextLabel({ type, name, label }, value) {
  if (typeof label === "string" && label.trim()) return shorten(label, MAX_LABEL);
  if (type !== "code") return fill(labels.quoted, { text: shorten(value, MAX_WORDS) });
  const n = value.split("\n").length;
  const called = typeof name === "string" && name.trim() ? shorten(name, MAX_WORDS) : labels.codeChip;
  return `${called} · ${n === 1 ? labels.line : fill(labels.lines, { n })}`;
}

/**
 * Things to point at in the form in which they are kept. What is not one, or is empty, is left out.
 * @param {unknown} given a `ContextInput` or several, from anyone
 * @returns {Context[]}
 */
export function parseContexts(given) {
  return /** @type {ContextInput[]} */ ([given].flat()).flatMap((item) => {
    if (typeof item?.value !== "string") return [];
    const value = truncate(item.value.replace(/^\s*\n/, "").trimEnd(), MAX_VALUE);
    if (!value) return [];
    const { path, elementId } = item;
    return {
      type: item.type === "code" ? "code" : "textSelection",
      value,
      label: contextLabel(item, value),
      ...(typeof path === "string" && path && { path }),
      ...(typeof elementId === "string" && elementId && { elementId }),
    };
  });
}

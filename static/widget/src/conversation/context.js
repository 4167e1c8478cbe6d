/** The context of a question: its checks, limits and labels. Nothing is sent before the reader asks. */

import { fill, labels } from "../base/labels.js";

/** @typedef {import("./thread.js").Context} Context */
/**
 * Context from a page, a file or a selection. Only `value` is required. `name` is the name of a file or of a language.
 * @typedef {{ value: string, type?: string, name?: string, label?: string, path?: string, elementId?: string }} ContextInput
 */

/** The longest value that the service accepts, in code points. */
const MAX_VALUE = 32_000;
/** The longest label, and the longest quote in one, in code points. */
const MAX_LABEL = 80;
const MAX_WORDS = 32;

/** A page's title without the name of its site. @param {string} title */
export const pageName = (title) => title.trim().split(/ [·|–—-] /)[0];

/** The first characters of a text. It does not split code points. @param {string} text @param {number} limit code points */
const truncate = (text, limit) => (text.length > limit ? [...text].slice(0, limit).join("") : text);

/** @param {string} text */
export const isTruncated = (text) => truncate(text, MAX_VALUE) !== text;

/** A text on one line, with an ellipsis if it is cut. @param {string} text @param {number} limit code points */
function shorten(text, limit) {
  const line = truncate(text, 4 * limit)
    .replace(/\s+/g, " ")
    .trim();
  const short = truncate(line, limit);
  return short === line && text.length <= 4 * limit ? line : `${short.trimEnd()}…`;
}

/** @param {ContextInput} input @param {string} value */
function contextLabel({ type, name, label }, value) {
  if (typeof label === "string" && label.trim()) return shorten(label, MAX_LABEL);
  if (type !== "code") return fill(labels.quoted, { text: shorten(value, MAX_WORDS) });
  const n = value.split("\n").length;
  const called = typeof name === "string" && name.trim() ? shorten(name, MAX_WORDS) : labels.codeChip;
  return `${called} · ${n === 1 ? labels.line : fill(labels.lines, { n })}`;
}

/**
 * Context in the form in which it is stored. Invalid and empty items are left out.
 * @param {unknown} input a `ContextInput` or several, unchecked
 * @returns {Context[]}
 */
export function parseContexts(input) {
  return /** @type {ContextInput[]} */ ([input].flat()).flatMap((item) => {
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

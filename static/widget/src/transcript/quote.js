/** What a citation points at: the words that its link names, and the passage around them. */

import { withoutHash } from "../base/links.js";

/** @typedef {import("../conversation/thread.js").Passage} Passage */
/** @typedef {{ before: string, marked: string, after: string }} Quote */

/** How much of a passage is shown around the words that matter, and without any, in characters. */
const CONTEXT_LENGTH = 110;
const MAX_LENGTH = 260;

const collapseSpaces = (/** @type {string} */ text) => text.replace(/\s+/g, " ").trim();

/**
 * The words that a link names by a text fragment, from `start` to `end` if there is one.
 * @param {string} href
 * @returns {{ start: string, end: string } | null}
 */
export function parseTextFragment(href) {
  const directives = href.slice(href.indexOf(":~:") + 3).split("&");
  const directive = href.includes(":~:") && directives.find((part) => part.startsWith("text="));
  if (!directive) return null;
  try {
    const parts = directive
      .slice(5)
      .split(",")
      .filter((part) => !part.endsWith("-") && !part.startsWith("-"));
    const [start = "", end = ""] = parts.map((part) => collapseSpaces(decodeURIComponent(part)));
    return start ? { start, end } : null;
  } catch {
    return null;
  }
}

const section = (/** @type {string} */ href) => href.split(":~:")[0].replace(/#$/, "");

/**
 * The passage a link leads to: the one of its section that has the words, or else of its page.
 * @param {string} href
 * @param {Passage[]} passages
 */
export function findPassage(href, passages) {
  const words = parseTextFragment(href);
  const holds = (/** @type {Passage} */ { text }) => words && findWords(collapseSpaces(text), words);
  const near = passages.filter(({ url }) => section(url) === section(href));
  const far = passages.filter(({ url }) => withoutHash(url) === withoutHash(href));
  return near.find(holds) ?? far.find(holds) ?? near[0] ?? far[0] ?? null;
}

/**
 * What to quote for a link: some of its passage with the supporting words marked, or the words alone where the
 * passage does not hold them. Null when there is nothing to quote.
 * @param {string} href
 * @param {Passage | null} passage
 * @returns {Quote | null}
 */
export function buildQuote(href, passage) {
  const words = parseTextFragment(href);
  const text = collapseSpaces(passage?.text ?? "");
  if (!words) return text ? { before: excerpt(text, 0, MAX_LENGTH), marked: "", after: "" } : null;
  const found = findWords(text, words);
  if (!found) return { before: "", marked: words.end ? `${words.start} … ${words.end}` : words.start, after: "" };
  const [start, end] = found;
  const marked = text.slice(start, end);
  return {
    before:
      start > CONTEXT_LENGTH
        ? "…" + text.slice(start - CONTEXT_LENGTH, start).replace(/^\S*/, "")
        : text.slice(0, start),
    marked: marked.length > MAX_LENGTH ? `${words.start} … ${words.end}` : marked,
    after: excerpt(text, end, CONTEXT_LENGTH),
  };
}

/** Some characters of a text, to the end of a word. @param {string} text @param {number} at @param {number} length */
const excerpt = (text, at, length) =>
  text.length - at > length ? text.slice(at, at + length).replace(/\S*$/, "") + "…" : text.slice(at);

/**
 * Where the words stand in a text, in any case.
 * @param {string} text
 * @param {{ start: string, end: string }} words
 * @returns {[number, number] | null}
 */
function findWords(text, { start, end }) {
  const fold = (/** @type {string} */ value) =>
    [...value]
      .map((letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter))
      .join("");
  const folded = fold(text);
  const at = folded.indexOf(fold(start));
  if (at < 0) return null;
  const stop = at + start.length;
  if (!end) return [at, stop];
  const close = folded.indexOf(fold(end), stop);
  return close < 0 ? null : [at, close + end.length];
}

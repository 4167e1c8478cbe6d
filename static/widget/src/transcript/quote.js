/** Quotes for a citation: the words in the text fragment of its link, and the passage around them. */

import { withoutHash } from "../base/links.js";

/** @typedef {import("../conversation/thread.js").Passage} Passage */
/** @typedef {{ before: string, marked: string, after: string }} Quote */

/** How much of a passage is quoted around these words, and if there are none. In characters. */
const CONTEXT_LENGTH = 110;
const MAX_LENGTH = 260;

const collapseSpaces = (/** @type {string} */ text) => text.replace(/\s+/g, " ").trim();

/**
 * The text fragment of a link: the text from `start` to `end`, or `start` alone.
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
 * The passage to which a link leads: one of its section with the quoted words, or else one of its page.
 * @param {string} href
 * @param {Passage[]} passages
 */
export function findPassage(href, passages) {
  const fragment = parseTextFragment(href);
  const hasFragment = (/** @type {Passage} */ { text }) => fragment && findWords(collapseSpaces(text), fragment);
  const sameSection = passages.filter(({ url }) => section(url) === section(href));
  const samePage = passages.filter(({ url }) => withoutHash(url) === withoutHash(href));
  return sameSection.find(hasFragment) ?? samePage.find(hasFragment) ?? sameSection[0] ?? samePage[0] ?? null;
}

/**
 * The quote for a link: a part of its passage with the words marked. It is the words alone if the passage does not hold
 * them, and null if there is nothing to quote.
 * @param {string} href
 * @param {Passage | null} passage
 * @returns {Quote | null}
 */
export function buildQuote(href, passage) {
  const words = parseTextFragment(href);
  const text = collapseSpaces(passage?.text ?? "");
  if (!words) return text ? { before: excerpt(text, 0, MAX_LENGTH), marked: "", after: "" } : null;
  const range = findWords(text, words);
  if (!range) return { before: "", marked: words.end ? `${words.start} … ${words.end}` : words.start, after: "" };
  const [start, end] = range;
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

/** A part of a text that ends with a word. @param {string} text @param {number} at @param {number} length */
const excerpt = (text, at, length) =>
  text.length - at > length ? text.slice(at, at + length).replace(/\S*$/, "") + "…" : text.slice(at);

/**
 * The range of the words in a text, ignoring case.
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
  const startEnd = at + start.length;
  if (!end) return [at, startEnd];
  const endStart = folded.indexOf(fold(end), startEnd);
  return endStart < 0 ? null : [at, endStart + end.length];
}

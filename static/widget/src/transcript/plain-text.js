/** Shows the text of answers as it is, if the script for their Markdown cannot be loaded. */

class PlainText {
  #element;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.#element = element;
    element.className = "prose raw";
  }

  /** @param {string} text */
  update(text) {
    this.#element.textContent = text;
  }
}

/**
 * What of `markdown/main.js` is used to show answers.
 * @typedef {object} MarkdownScript
 * @property {new (element: HTMLElement) => { update: import("../markdown/renderer.js").MarkdownView["update"] }} MarkdownView
 * @property {typeof import("../markdown/parser.js").firstSentence} firstSentence
 * @property {typeof import("../markdown/main.js").setUp} setUp
 */

/** @type {MarkdownScript} */
export const PLAIN_TEXT = { MarkdownView: PlainText, firstSentence: () => "", setUp: () => {} };

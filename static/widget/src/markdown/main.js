/**
 * Shows answers: Markdown, code and their styles. A script of its own, which the panel loads while it opens, since its
 * first view needs none of it.
 */

import { addStyles } from "../base/dom.js";
import code from "./code.css";
import { labels } from "./labels.js";
import prose from "./prose.css";

export { firstSentence } from "./parser.js";
export { MarkdownView } from "./renderer.js";

/** The style sheets of the panel that apply after those of this script. */
const LATER_SHEETS = 4;

/**
 * Adds the styles to the panel, and takes its labels.
 * @param {ShadowRoot} root
 * @param {string} nonce
 * @param {import("./labels.js").Labels} given
 */
export function setUp(root, nonce, given) {
  Object.assign(labels, given);
  addStyles(root, code, nonce, LATER_SHEETS);
  addStyles(root, prose, nonce, LATER_SHEETS + 1);
}

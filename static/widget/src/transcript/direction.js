/** The direction in which each block of an answer is written. */

const BLOCKS = "p, h4, h5, h6, li, ul, ol, blockquote, table, th, td, summary";
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
/** The share of such letters from which a text is written from right to left: names of other scripts stand between. */
const SHARE = 0.3;

/**
 * Whether a text is written from right to left. Its first word does not tell, which may be the name of a product.
 * @param {string} text
 */
export const isRightToLeft = (text) =>
  (text.match(RIGHT_TO_LEFT)?.length ?? 0) > SHARE * (text.match(/\p{L}/gu)?.length ?? Infinity);

/** Gives an answer, and each of its blocks, its direction. @param {HTMLElement} prose @param {string} text of the answer */
export function setDirections(prose, text) {
  if (text.search(RIGHT_TO_LEFT) < 0) {
    prose.dir = "auto"; // an answer that is made again may be in another language
    return;
  }
  for (const block of /** @type {HTMLElement[]} */ ([prose, ...prose.querySelectorAll(BLOCKS)]))
    block.dir = isRightToLeft(block.textContent ?? "") ? "rtl" : "ltr";
}

/**
 * How fast a text is shown that arrives in bursts: each piece is spread over a moment, so that reading is calm, and
 * none of it is ever late by more than that moment.
 */

/** Over how long one piece is spread, in milliseconds. A screen draws every 16, and no piece takes above 300. */
const SPREAD = 240;

export class TypingPace {
  /** Pieces that are not yet shown in full: when each arrived, and where it begins and ends. @type {{ at: number, from: number, to: number }[]} */
  #pieces = [];
  #length = 0;

  /**
   * How many characters of a text to show. A text that became shorter is another one, and begins anew.
   * @param {number} length of what has arrived
   * @param {number} at when it arrived, milliseconds: a frame that comes late, as in a hidden tab, catches up
   * @param {number} now milliseconds on the same clock
   */
  visibleLength(length, at, now) {
    if (length < this.#length) this.showAll(0);
    if (length > this.#length) this.#pieces.push({ at, from: this.#length, to: length });
    this.#length = length;
    this.#pieces = this.#pieces.filter((piece) => now - piece.at < SPREAD);
    const held = this.#pieces.reduce(
      (sum, { at, from, to }) => sum + (to - from) * (1 - Math.max(0, now - at) / SPREAD),
      0,
    );
    return length - Math.floor(held);
  }

  /** Holds nothing back of a text of this length. @param {number} length */
  showAll(length) {
    this.#pieces = [];
    return (this.#length = length);
  }
}

/**
 * Smooths the display of a text that arrives in bursts. Each piece is spread over a short time, so that the text
 * grows evenly. No character is delayed by more than that time.
 */

/** How long one piece is spread, in milliseconds. A screen draws every 16. */
const SPREAD = 240;

export class TypingPace {
  /** Pieces that are not fully shown: their arrival time, start and end. @type {{ at: number, from: number, to: number }[]} */
  #pieces = [];
  #length = 0;

  /**
   * The number of characters to show. A shorter text is a new one, and starts again.
   * @param {number} length of the text that has arrived
   * @param {number} at when it arrived, milliseconds: a frame that comes late, as in a hidden tab, catches up
   * @param {number} now milliseconds on the same clock
   */
  visibleLength(length, at, now) {
    if (length < this.#length) this.showAll(0);
    if (length > this.#length) this.#pieces.push({ at, from: this.#length, to: length });
    this.#length = length;
    this.#pieces = this.#pieces.filter((piece) => now - piece.at < SPREAD);
    const hidden = this.#pieces.reduce(
      (sum, { at, from, to }) => sum + (to - from) * (1 - Math.max(0, now - at) / SPREAD),
      0,
    );
    return length - Math.floor(hidden);
  }

  /** Shows all of a text of this length. @param {number} length */
  showAll(length) {
    this.#pieces = [];
    return (this.#length = length);
  }
}

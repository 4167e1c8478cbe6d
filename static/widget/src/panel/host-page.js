/** What the widget does to the page around it: through one sheet of its own, which is taken away completely. */

export class HostPage {
  /** @type {CSSStyleSheet | null} */
  #sheet = null;

  /**
   * @param {object} effects
   * @param {boolean} [effects.still] whether the page stays where it is scrolled to
   * @param {string} [effects.side] from which the page makes room for a panel: start or end
   * @param {number} [effects.room] how much, in pixels
   */
  apply({ still = false, side = "end", room = 0 }) {
    const css = [
      // A scrollbar that was there leaves its room, so that nothing moves.
      still &&
        `overflow:hidden!important;${innerWidth > document.documentElement.clientWidth ? "scrollbar-gutter:stable!important" : ""}`,
      room && `box-sizing:border-box!important;padding-inline-${side}:${room}px!important`,
    ].filter(Boolean);
    const others = document.adoptedStyleSheets?.filter((sheet) => sheet !== this.#sheet);
    if (!others) return; // an old browser, where the page stays as it is
    if (css.length === 0) {
      if (this.#sheet) document.adoptedStyleSheets = others;
      this.#sheet = null;
    } else {
      if (!this.#sheet) document.adoptedStyleSheets = [...others, (this.#sheet = new CSSStyleSheet())];
      this.#sheet.replaceSync(`@media screen{:root{${css.join(";")}}}`);
    }
  }
}

/** The widget's effects on the page around it. They are in one style sheet, which is removed completely. */

export class HostPage {
  /** @type {CSSStyleSheet | null} */
  #sheet = null;

  /**
   * @param {object} effects
   * @param {boolean} [effects.still] whether the page does not scroll
   * @param {string} [effects.side] where the page makes room for a panel: start or end
   * @param {number} [effects.room] how much, in pixels
   */
  apply({ still = false, side = "end", room = 0 }) {
    const css = [
      // The space of a hidden scrollbar stays free, so that nothing moves.
      still &&
        `overflow:hidden!important;${innerWidth > document.documentElement.clientWidth ? "scrollbar-gutter:stable!important" : ""}`,
      room && `box-sizing:border-box!important;padding-inline-${side}:${room}px!important`,
    ].filter(Boolean);
    const others = document.adoptedStyleSheets?.filter((sheet) => sheet !== this.#sheet);
    if (!others) return; // an old browser, in which the page does not change
    if (css.length === 0) {
      if (this.#sheet) document.adoptedStyleSheets = others;
      this.#sheet = null;
    } else {
      if (!this.#sheet) document.adoptedStyleSheets = [...others, (this.#sheet = new CSSStyleSheet())];
      this.#sheet.replaceSync(`@media screen{:root{${css.join(";")}}}`);
    }
  }
}

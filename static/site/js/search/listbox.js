// The list box of the search dialog: its options are chosen with the keys of the field, which keeps the focus, or with the pointer.

export class List {
  #element;
  #field;

  /** @param {HTMLElement} element @param {HTMLInputElement} field */
  constructor(element, field) {
    this.#element = element;
    this.#field = field;
    element.addEventListener("pointermove", ({ target }) => {
      const option = target.closest("[role=option]");
      if (option && option !== this.chosen) this.#choose(option);
    });
  }

  get chosen() {
    return this.#element.querySelector("[aria-selected=true]");
  }

  get #options() {
    return Array.from(this.#element.querySelectorAll("[role=option]"));
  }

  /** @param {Element[]} rows @param {number} first the option to choose; -1 chooses none */
  show(rows, first) {
    this.#element.replaceChildren(...rows);
    this.#element.scrollTop = 0;
    const options = this.#options;
    options.forEach((option, at) => (option.id = `search-option-${at}`));
    this.#field.ariaExpanded = String(options.length > 0);
    this.#choose(options[first]);
  }

  /** Chooses what a key leads to. Says whether it leads anywhere. @param {string} key */
  move(key) {
    const options = this.#options;
    const at = options.indexOf(this.chosen);
    const last = options.length - 1;
    const next = { ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last, Home: 0, End: last }[key];
    if (next === undefined || !options.length) return false;
    this.#choose(options[next]);
    return true;
  }

  /** @param {Element | undefined} option */
  #choose(option) {
    this.chosen?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.#field.setAttribute("aria-activedescendant", option.id);
    else this.#field.removeAttribute("aria-activedescendant");
  }
}

// The list box of the search dialog. The field keeps the focus: its keys and the pointer choose an option.

import { closest } from "../base/dom.js";

export class Listbox {
  #element;
  #field;

  /** @param {HTMLElement} element @param {HTMLInputElement} field */
  constructor(element, field) {
    this.#element = element;
    this.#field = field;
    element.addEventListener("pointermove", (event) => {
      const option = closest(event, "[role=option]", HTMLElement);
      if (option && option !== this.chosen) this.#choose(option);
    });
  }

  /** @returns {HTMLElement | null} */
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
    options.forEach((option, i) => {
      option.id = `search-option-${i}`;
    });
    this.#field.ariaExpanded = String(options.length > 0);
    this.#choose(options[first]);
  }

  /** Moves the choice by a key. Returns whether the key moves it. @param {string} key */
  move(key) {
    const options = this.#options;
    const at = options.findIndex((option) => option === this.chosen);
    const last = options.length - 1;
    /** @type {Record<string, number>} */
    const targets = { ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last, Home: 0, End: last };
    if (!Object.hasOwn(targets, key) || !options.length) return false;
    this.#choose(options[targets[key]]);
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

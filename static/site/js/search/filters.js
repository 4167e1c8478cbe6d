// Chips that narrow the results to a version, a language or a tag, where results have more than one of it.

import { h } from "../base/dom.js";
import { words } from "../base/labels.js";

const KINDS = { version: "version", language: "language", tag: "tags" }; // as a search takes it, and a result has it
const NAMES = { version: words.version, language: words.language, tag: words.tag };

export class Filters {
  /** What the search is narrowed to: `version`, `language` and `tag`, or some of them. */
  chosen = {};
  #element;
  #known = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Set()]));
  #note = h("p", { hidden: true }, words.withoutVersion);
  #shown = 0; // chips

  /** @param {HTMLElement} element where the chips stand  @param {() => void} onchange */
  constructor(element, onchange) {
    this.#element = element;
    element.addEventListener("click", ({ target }) => {
      const chip = target.closest("button");
      if (!chip) return;
      const { kind, value } = chip.dataset;
      if (this.chosen[kind] === value) delete this.chosen[kind];
      else this.chosen[kind] = value;
      for (const each of element.querySelectorAll("button"))
        each.ariaPressed = String(this.#isChosen(each.dataset.kind, each.dataset.value));
      this.#note.hidden = !this.chosen.version;
      onchange();
    });
  }

  /** Takes up what these results have. What was there once stays, or a choice could not be changed. */
  learn(hits) {
    for (const { metadata } of hits) {
      for (const [kind, field] of Object.entries(KINDS)) {
        for (const value of [metadata[field] ?? []].flat()) this.#known[kind].add(value);
      }
    }
    const kinds = Object.entries(this.#known).filter(([, values]) => values.size > 1);
    const count = kinds.reduce((sum, [, values]) => sum + values.size, 0);
    if (count !== this.#shown)
      this.#element.replaceChildren(
        ...kinds.map(([kind, values]) => this.#group(kind, [...values].sort())),
        this.#note,
      );
    this.#shown = count;
    this.#element.hidden = !count;
  }

  #group(kind, values) {
    const chips = values.map((value) => this.#chip(kind, value));
    return h(
      "div",
      { role: "group", ariaLabel: NAMES[kind] },
      h("span", { ariaHidden: "true" }, NAMES[kind]),
      ...chips,
    );
  }

  #chip(kind, value) {
    const name =
      kind === "language"
        ? new Intl.DisplayNames(document.documentElement.lang, { type: "language", fallback: "code" }).of(value)
        : value;
    return h(
      "button",
      { type: "button", ariaPressed: String(this.#isChosen(kind, value)), "data-kind": kind, "data-value": value },
      name,
    );
  }

  #isChosen(kind, value) {
    return this.chosen[kind] === value;
  }
}

// Chips that narrow the results to a version, a language or a tag. They show if results have more than one of it.

import { closest, h } from "../base/dom.js";
import { pageLanguage } from "../base/sentences.js";
import { words } from "./site.js";

/** @typedef {"version" | "language" | "tag"} Kind */

/** The field of a hit's metadata for each filter of a search. */
const FIELDS = /** @type {const} */ ({ version: "version", language: "language", tag: "tags" });
const KINDS = /** @type {Kind[]} */ (Object.keys(FIELDS));

export class Filters {
  /** The values that the reader chose. @type {import("./client.js").Filter} */
  chosen = {};
  #element;
  /** @type {Record<Kind, Set<string>>} the values that results had so far */
  #values = { version: new Set(), language: new Set(), tag: new Set() };
  #note = h("p", { hidden: true }, words.withoutVersion);
  #chipCount = 0;

  /** @param {HTMLElement} element holds the chips @param {() => void} onchange */
  constructor(element, onchange) {
    this.#element = element;
    element.addEventListener("click", (event) => {
      const chip = closest(event, "button", HTMLButtonElement);
      if (!chip) return;
      const { kind, value } = dataOf(chip);
      if (this.#isChosen(kind, value)) delete this.chosen[kind];
      else this.chosen[kind] = value;
      for (const each of element.querySelectorAll("button")) {
        const data = dataOf(each);
        each.ariaPressed = String(this.#isChosen(data.kind, data.value));
      }
      this.#note.hidden = !this.chosen.version;
      onchange();
    });
  }

  /**
   * Adds the values of these hits. Earlier values stay, or a choice could not be changed.
   * @param {import("./client.js").Hit[]} hits
   */
  addValues(hits) {
    for (const { metadata } of hits) {
      for (const kind of KINDS) {
        for (const value of [metadata[FIELDS[kind]] ?? []].flat()) this.#values[kind].add(value);
      }
    }
    const kinds = KINDS.filter((kind) => this.#values[kind].size > 1);
    const count = kinds.reduce((sum, kind) => sum + this.#values[kind].size, 0);
    if (count !== this.#chipCount)
      this.#element.replaceChildren(...kinds.map((kind) => this.#buildGroup(kind)), this.#note);
    this.#chipCount = count;
    this.#element.hidden = !count;
  }

  /** @param {Kind} kind */
  #buildGroup(kind) {
    const chips = [...this.#values[kind]].sort().map((value) => this.#buildChip(kind, value));
    return h(
      "div",
      { role: "group", ariaLabel: nameOf(kind) },
      h("span", { ariaHidden: "true" }, nameOf(kind)),
      ...chips,
    );
  }

  /** @param {Kind} kind @param {string} value */
  #buildChip(kind, value) {
    const name = kind === "language" ? languageName(value) : value;
    const ariaPressed = String(this.#isChosen(kind, value));
    return h("button", { type: "button", ariaPressed, "data-kind": kind, "data-value": value }, name);
  }

  /** @param {Kind} kind @param {string} value */
  #isChosen(kind, value) {
    return this.chosen[kind] === value;
  }
}

/** @param {Kind} kind */
const nameOf = (kind) => ({ version: words.version, language: words.language, tag: words.tag })[kind];

/** @param {HTMLButtonElement} chip */
const dataOf = ({ dataset }) => ({ kind: /** @type {Kind} */ (dataset.kind), value: dataset.value ?? "" });

/** @param {string} code such as `en` */
const languageName = (code) =>
  new Intl.DisplayNames(pageLanguage(), { type: "language", fallback: "code" }).of(code) ?? code;

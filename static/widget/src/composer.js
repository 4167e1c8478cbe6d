/** Where a question is written: a field that grows with its text, and one button that sends or stops. */

import { h, icon } from "./dom.js";
import { words } from "./words.js";

/** The longest question the service takes. */
const LIMIT = 32_000;

export class Composer {
  #running = false;

  /** @param {{ onsend: (text: string) => void, onstop: () => void }} on */
  constructor({ onsend, onstop }) {
    this.onsend = onsend;
    this.onstop = onstop;
    this.field = h("textarea", {
      rows: 1,
      maxLength: LIMIT,
      placeholder: words.placeholder,
      enterKeyHint: "send",
      "aria-label": words.question,
      oninput: () => this.#fit(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
    this.grow = h("div", { className: "grow" }, this.field);
    this.button = h("button", { type: "button", className: "send", onclick: () => this.#press() });
    this.element = h("form", { className: "composer", onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, this.grow, this.button);
    this.#fit();
  }

  get text() {
    return this.field.value;
  }

  set text(value) {
    this.field.value = value;
    this.#fit();
  }

  /** @param {boolean} running */
  set running(running) {
    this.#running = running;
    this.#fit();
  }

  /** The style sheet lays this copy of the text out under the field, so that both have its height. */
  #fit() {
    this.grow.dataset.text = this.field.value + " ";
    const stop = this.#running;
    const label = stop ? words.stop : words.send;
    this.button.setAttribute("aria-disabled", String(!stop && !this.field.value.trim()));
    if (this.button.ariaLabel === label) return;
    this.button.ariaLabel = this.button.title = label;
    this.button.replaceChildren(icon(stop ? "stop" : "send"));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // Safari ends a composition before this event and leaves only the old code 229 to tell.
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    if (!this.#running) this.#press();
  }

  #press() {
    if (this.#running) return this.onstop();
    const text = this.field.value.trim();
    if (!text) return this.field.focus();
    this.text = "";
    this.onsend(text);
  }
}

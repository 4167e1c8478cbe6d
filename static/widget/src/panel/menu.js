/** What can be done with a conversation: the button that begins a new one, and a menu of that and all else. */

import { h, icon, tool } from "../base/dom.js";
import { aboutPage, forgetPage, pastPage } from "./menu-pages.js";
import { words } from "../base/labels.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

export class Menu {
  #conversation;
  #composer;
  #cover;
  #onchosen;
  /** Ends listening for presses outside. @type {AbortController | null} */
  #listening = null;
  #pressedInside = false;

  /**
   * @param {Conversation} conversation
   * @param {import("../composer/composer.js").Composer} composer
   * @param {import("./menu-pages.js").Cover} cover
   * @param {{ onchosen: () => void, signal: AbortSignal }} on the focus needs a place
   */
  constructor(conversation, composer, cover, { onchosen, signal }) {
    this.#conversation = conversation;
    this.#composer = composer;
    this.#cover = cover;
    this.#onchosen = onchosen;
    const toggle = () => (this.isOpen ? this.close() : this.open());
    this.fresh = tool(words.newThread, "compose", () => this.#restart());
    this.button = tool(words.menu, "more", toggle, { "aria-haspopup": "menu", "aria-expanded": "false" });
    cover.opener = this.button;
    this.list = h("div", { className: "menu-list", role: "menu", hidden: true, "aria-label": words.menu });
    const listen = {
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      onpointerdown: () => (this.#pressedInside = true),
    };
    this.element = h("div", { className: "menu", ...listen }, this.fresh, this.button, this.list);
    conversation.addEventListener("change", () => this.#fit(), { signal });
    this.#fit();
  }

  get isOpen() {
    return !this.list.hidden;
  }

  /** @param {number} [at] which item gets the focus; -1 is the last one */
  open(at = 0) {
    this.list.replaceChildren(...this.#items());
    this.list.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.#buttons().at(at)?.focus();
    this.#pressedInside = false;
    this.#listening = new AbortController();
    const press = () => {
      if (!this.#pressedInside) this.close();
      this.#pressedInside = false;
    };
    addEventListener("pointerdown", press, { signal: this.#listening.signal });
  }

  close() {
    this.#listening?.abort();
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  #items() {
    const composer = this.#composer;
    const [conversation, cover] = [this.#conversation, this.#cover];
    const empty = conversation.thread.turns.length === 0;
    return [
      this.#item(words.newThread, () => this.#restart(), empty),
      this.#item(words.past, () => cover.show(words.past, pastPage(conversation))),
      this.#item(words.download, () => download(conversation), empty),
      h("hr"),
      this.#item(words.tellPage, () => (composer.page = !composer.page), false, composer.page),
      this.#item(words.forget, () => cover.show(words.forget, forgetPage(conversation, composer, cover))),
      this.#item(words.about, () => cover.show(words.about, aboutPage(conversation))),
    ];
  }

  /** @param {string} label @param {() => void} act @param {boolean} [disabled] @param {boolean} [checked] of an item that is on or off */
  #item(label, act, disabled = false, checked) {
    const onclick = () => {
      if (disabled) return;
      this.close();
      this.button.focus();
      act();
    };
    const role = checked === undefined ? "menuitem" : "menuitemcheckbox";
    const states = { role, "aria-checked": checked, "aria-disabled": disabled || null };
    return h("button", { tabIndex: -1, onclick, ...states }, h("span", {}, label), checked && icon("check"));
  }

  #buttons() {
    return [...this.list.querySelectorAll("button")];
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { key, target, altKey } = event;
    const buttons = this.#buttons();
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (target));
    if (!this.isOpen) {
      if (altKey || target !== this.button || (key !== "ArrowDown" && key !== "ArrowUp")) return;
      this.open(key === "ArrowDown" ? 0 : -1);
    } else if (key === "Escape") {
      this.close();
      this.button.focus();
    } else if (key === "Tab") {
      this.close();
      this.button.focus();
      return; // from there on to the next place
    } else if (key === "ArrowDown") buttons[(at + 1) % buttons.length].focus();
    else if (key === "ArrowUp") buttons.at(at < 0 ? -1 : at - 1)?.focus();
    else if (key === "Home") buttons[0].focus();
    else if (key === "End") buttons.at(-1)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #restart() {
    this.#conversation.restart();
    this.#cover.close();
    this.#onchosen();
  }

  #fit() {
    this.fresh.disabled = this.#conversation.thread.turns.length === 0;
  }
}

/** @param {Conversation} conversation */
function download(conversation) {
  const name = conversation.options.domain.replace(/[^\w.-]+/g, "-");
  const url = URL.createObjectURL(new Blob([conversation.markdown()], { type: "text/markdown;charset=utf-8" }));
  h("a", { href: url, download: `${name}-${new Date().toISOString().slice(0, 10)}.md` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // some browsers read it late
}

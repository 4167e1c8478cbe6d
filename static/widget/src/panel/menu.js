/** The actions on a conversation: a button that starts a new one, and a menu with all actions. */

import { h, icon, iconButton } from "../base/dom.js";
import { labels } from "../base/labels.js";
import { askPerson, buildAboutPage, buildDeletePage, buildPastPage } from "./menu-pages.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

export class Menu {
  #conversation;
  #composer;
  #overlay;
  #onfocuslost;
  /** Ends the listener for clicks outside. @type {AbortController | null} */
  #listening = null;
  #pressedInside = false;

  /**
   * @param {Conversation} conversation
   * @param {import("../composer/composer.js").Composer} composer
   * @param {import("./menu-pages.js").Overlay} overlay
   * @param {{ onfocuslost: () => void, signal: AbortSignal }} on the focus needs a place
   */
  constructor(conversation, composer, overlay, { onfocuslost, signal }) {
    this.#conversation = conversation;
    this.#composer = composer;
    this.#overlay = overlay;
    this.#onfocuslost = onfocuslost;
    const toggle = () => (this.isOpen ? this.close() : this.open());
    this.newButton = iconButton(labels.newThread, "compose", () => this.#restart());
    this.button = iconButton(labels.menu, "more", toggle, { "aria-haspopup": "menu", "aria-expanded": "false" });
    overlay.opener = this.button;
    this.list = h("div", { className: "menu-list", role: "menu", hidden: true, "aria-label": labels.menu });
    const listeners = {
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      onpointerdown: () => (this.#pressedInside = true),
    };
    this.element = h("div", { className: "menu", ...listeners }, this.newButton, this.button, this.list);
    conversation.addEventListener("change", () => this.#update(), { signal });
    this.#update();
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
    const closeOutside = () => {
      if (!this.#pressedInside) this.close();
      this.#pressedInside = false;
    };
    addEventListener("pointerdown", closeOutside, { signal: this.#listening.signal });
  }

  close() {
    this.#listening?.abort();
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  #items() {
    const composer = this.#composer;
    const [conversation, cover] = [this.#conversation, this.#overlay];
    const empty = conversation.thread.turns.length === 0;
    return [
      this.#item(labels.newThread, () => this.#restart(), empty),
      this.#item(labels.past, () => cover.show(labels.past, buildPastPage(conversation))),
      this.#item(labels.download, () => download(conversation), empty),
      conversation.options.support && this.#item(labels.person, () => askPerson(conversation, cover)),
      h("hr"),
      this.#item(labels.tellPage, () => (composer.page = !composer.page), false, composer.page),
      this.#item(labels.forget, () => cover.show(labels.forget, buildDeletePage(conversation, composer, cover))),
      this.#item(labels.about, () => cover.show(labels.about, buildAboutPage(conversation))),
    ];
  }

  /** @param {string} label @param {() => void} act @param {boolean} [disabled] @param {boolean} [checked] for an item that can be switched on and off */
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
      return; // the browser then moves the focus on
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
    this.#overlay.close();
    this.#onfocuslost();
  }

  #update() {
    this.newButton.disabled = this.#conversation.thread.turns.length === 0;
  }
}

/** @param {Conversation} conversation */
function download(conversation) {
  const name = conversation.options.domain.replace(/[^\w.-]+/g, "-");
  const url = URL.createObjectURL(new Blob([conversation.exportMarkdown()], { type: "text/markdown;charset=utf-8" }));
  h("a", { href: url, download: `${name}-${new Date().toISOString().slice(0, 10)}.md` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // some browsers read the address late
}

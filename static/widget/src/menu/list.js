/** The menu with all actions on a conversation. A script of its own, which the panel loads when a reader wants it. */

import { addStyles, CHECK_SHAPE, drawIcon, h } from "../base/dom.js";
import css from "./menu.css";
import { buildAboutPage, buildDeletePage, buildPastPage } from "./pages.js";
import { WORDS } from "./words.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

/**
 * @typedef {object} Parts
 * @property {Conversation} conversation
 * @property {import("../composer/composer.js").Composer} composer
 * @property {import("./pages.js").Overlay} overlay
 * @property {HTMLButtonElement} button that opens the menu
 * @property {import("./pages.js").PanelTexts} texts
 */

export class MenuList {
  #parts;
  /** @type {import("./pages.js").Texts} */
  #texts;
  #on;
  /** Ends the listener for clicks outside. @type {AbortController | null} */
  #listening = null;
  #pressedInside = false;

  /**
   * @param {HTMLElement} parent gets the list
   * @param {Parts} parts
   * @param {{ onrestart: () => void, onperson: () => void }} on
   */
  constructor(parent, parts, on) {
    const { nonce, labels: custom } = parts.conversation.options;
    const labels = { ...parts.texts.labels, ...WORDS, ...custom };
    this.#parts = parts;
    this.#texts = { ...parts.texts, labels };
    this.#on = on;
    addStyles(/** @type {ShadowRoot} */ (parent.getRootNode()), css, nonce);
    this.element = h("div", { className: "menu-list", role: "menu", hidden: true, "aria-label": labels.menu });
    parent.append(this.element);
    parent.addEventListener("pointerdown", () => (this.#pressedInside = true));
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** @param {number} at which item gets the focus; -1 is the last one */
  open(at) {
    this.element.replaceChildren(...this.#items());
    this.element.hidden = false;
    this.#parts.button.setAttribute("aria-expanded", "true");
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
    this.element.hidden = true;
    this.#parts.button.setAttribute("aria-expanded", "false");
  }

  #items() {
    const { conversation, composer, overlay } = this.#parts;
    const texts = this.#texts;
    const { labels } = texts;
    const show = (/** @type {string} */ title, /** @type {HTMLElement[]} */ page) => overlay.show(title, page);
    const empty = conversation.thread.turns.length === 0;
    return [
      this.#item(labels.newThread, this.#on.onrestart, empty),
      this.#item(labels.past, () => show(labels.past, buildPastPage(conversation, texts))),
      this.#item(labels.download, () => download(conversation), empty),
      conversation.options.support && this.#item(labels.person, this.#on.onperson),
      h("hr"),
      this.#item(labels.tellPage, () => (composer.page = !composer.page), false, composer.page),
      this.#item(labels.forget, () => show(labels.forget, buildDeletePage(conversation, composer, overlay, texts))),
      this.#item(labels.about, () => show(labels.about, buildAboutPage(conversation, texts))),
    ];
  }

  /** @param {string} label @param {() => void} act @param {boolean} [disabled] @param {boolean} [checked] for an item that can be switched on and off */
  #item(label, act, disabled = false, checked) {
    const onclick = () => {
      if (disabled) return;
      this.close();
      this.#parts.button.focus();
      act();
    };
    const role = checked === undefined ? "menuitem" : "menuitemcheckbox";
    const states = { role, "aria-checked": checked, "aria-disabled": disabled || null };
    return h("button", { tabIndex: -1, onclick, ...states }, h("span", {}, label), checked && drawIcon(CHECK_SHAPE));
  }

  #buttons() {
    return [...this.element.querySelectorAll("button")];
  }

  /** Acts on a key while the menu is open. @param {KeyboardEvent} event */
  key(event) {
    const { key, target } = event;
    const buttons = this.#buttons();
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (target));
    if (key === "Escape" || key === "Tab") {
      this.close();
      this.#parts.button.focus();
      if (key === "Tab") return; // the browser then moves the focus on
    } else if (key === "ArrowDown") buttons[(at + 1) % buttons.length].focus();
    else if (key === "ArrowUp") buttons.at(at < 0 ? -1 : at - 1)?.focus();
    else if (key === "Home") buttons[0].focus();
    else if (key === "End") buttons.at(-1)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** @param {Conversation} conversation */
function download(conversation) {
  const name = conversation.options.domain.replace(/[^\w.-]+/g, "-");
  const url = URL.createObjectURL(new Blob([conversation.exportMarkdown()], { type: "text/markdown;charset=utf-8" }));
  h("a", { href: url, download: `${name}-${new Date().toISOString().slice(0, 10)}.md` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // some browsers read the address late
}

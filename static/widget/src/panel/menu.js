/** The buttons for the actions on a conversation: one starts a new one, and one opens a menu, which loads on first use. */

import { h, iconButton } from "../base/dom.js";
import { fill, labels, locale } from "../base/labels.js";
import { loadModule } from "../base/modules.js";
import { askPerson } from "./overlay.js";

/** @typedef {import("../menu/list.js").MenuList} MenuList */

/** @returns {Promise<typeof import("../menu/list.js")>} */
const loadList = () => loadModule(MENU_VERSION, "menu.js");

export class Menu {
  /** Once it has loaded. @type {MenuList | null} */
  list = null;
  /** One request, however often the button is pressed. @type {Promise<MenuList | null> | null} */
  #loading = null;
  #conversation;
  #overlay;
  #createList;

  /**
   * @param {import("../conversation/conversation.js").Conversation} conversation
   * @param {import("../composer/composer.js").Composer} composer
   * @param {import("./overlay.js").Overlay} overlay
   * @param {{ onfocuslost: () => void, signal: AbortSignal }} on the focus needs a place
   */
  constructor(conversation, composer, overlay, { onfocuslost, signal }) {
    this.#conversation = conversation;
    this.#overlay = overlay;
    const onrestart = () => {
      conversation.restart();
      overlay.close();
      onfocuslost();
    };
    const preload = () => void loadList().catch(() => {});
    this.newButton = iconButton(labels.newThread, "compose", onrestart);
    this.button = iconButton(labels.menu, "more", () => this.open(), {
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      onpointerenter: preload,
      onfocus: preload,
    });
    overlay.opener = this.button;
    const onkeydown = (/** @type {KeyboardEvent} */ event) => this.#key(event);
    this.element = h("div", { className: "menu", onkeydown }, this.newButton, this.button);
    const parts = { conversation, composer, overlay, button: this.button, texts: { labels, fill, locale } };
    const onperson = () => askPerson(conversation, overlay);
    this.#createList = async () => new (await loadList()).MenuList(this.element, parts, { onrestart, onperson });
    conversation.addEventListener("change", () => this.#update(), { signal });
    this.#update();
  }

  /** Opens the menu, or closes it if it is open. @param {number} [at] which item gets the focus; -1 is the last one */
  async open(at = 0) {
    this.#loading ??= this.#createList().catch(() => (this.#loading = null));
    const list = (this.list = await this.#loading);
    if (!list) this.#overlay.show(labels.menu, [h("p", {}, labels.notLoaded)]);
    else if (list.isOpen) list.close();
    else list.open(at);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { key, target, altKey } = event;
    if (this.list?.isOpen) this.list.key(event);
    else if (!altKey && target === this.button && (key === "ArrowDown" || key === "ArrowUp")) {
      event.preventDefault();
      event.stopPropagation();
      this.open(key === "ArrowDown" ? 0 : -1);
    }
  }

  #update() {
    this.newButton.disabled = this.#conversation.thread.turns.length === 0;
  }
}

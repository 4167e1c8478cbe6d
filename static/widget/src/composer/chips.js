/** The context of the next question, as chips above the field: the page, and what the reader selected or attached. */

import { h, icon, iconButton } from "../base/dom.js";
import { fill, labels } from "../base/labels.js";
import { pageName } from "../conversation/context.js";

/** @typedef {import("../conversation/thread.js").Context} Context */

/** The most items of context for one question. */
const MAX_ITEMS = 5;

export class ContextChips {
  /** @type {Context[]} */
  items = [];
  /** The reader's selection. The next selection replaces it. @type {Context | null} */
  #suggestion = null;
  /** The value of the last suggestion that was sent or removed. It is not offered again. */
  #dismissed = "";
  #drawn = "";
  #conversation;
  #on;

  /**
   * @param {import("../conversation/conversation.js").Conversation} conversation
   * @param {{ onchange: () => void, onfocuslost: () => void }} on `onfocuslost`: the last chip was removed while it had the focus
   */
  constructor(conversation, on) {
    this.#conversation = conversation;
    this.#on = on;
    this.element = h("ul", { className: "chips", role: "list", "aria-label": labels.attached });
  }

  /** The items to store when the page is left: all but the selection. */
  get withoutSuggestion() {
    return this.items.filter((item) => item !== this.#suggestion);
  }

  /** Adds items that are not there yet. Returns the items that did not fit. @param {Context[]} items */
  add(items) {
    const rejected = items.filter((item) => {
      if (this.items.some(({ value }) => value === item.value)) return false;
      if (this.items.length >= MAX_ITEMS) return true;
      this.items = [...this.items, item];
      return false;
    });
    this.#changed();
    return rejected;
  }

  /** Offers the reader's selection. Returns whether it was added. @param {Context} item */
  suggest(item) {
    if (item.value === this.#dismissed || this.items.some(({ value }) => value === item.value)) return false;
    this.items = this.withoutSuggestion;
    if (this.items.length < MAX_ITEMS) this.items = [...this.items, (this.#suggestion = item)];
    this.#changed();
    return this.items.includes(item);
  }

  /** @param {Context} item */
  remove(item) {
    if (item === this.#suggestion) this.#dismissed = item.value;
    this.items = this.items.filter((other) => other !== item);
    this.#changed();
  }

  /** Replaces all items. @param {Context[]} items */
  replace(items) {
    if (this.#suggestion && this.items.includes(this.#suggestion)) this.#dismissed = this.#suggestion.value;
    this.#suggestion = null;
    this.items = items;
    this.#changed();
  }

  #changed() {
    this.draw();
    this.#on.onchange();
  }

  draw() {
    const conversation = this.#conversation;
    const withPage = conversation.sharesPage && conversation.thread.turns.length === 0;
    const { title } = document;
    const page = fill(labels.thisPage, { title: pageName(title) || location.pathname });
    const state = JSON.stringify([withPage && [page, title], this.items.map(({ type, label }) => [type, label])]);
    if (state === this.#drawn) return;
    this.#drawn = state;
    const at = this.#buttons().findIndex((button) => button.matches(":focus"));
    const leave = () => {
      conversation.sharesPage = false;
      this.#changed();
    };
    this.element.replaceChildren(
      ...(withPage ? [buildChip("page", page, leave, title)] : []),
      ...this.items.map((item) =>
        buildChip(item.type === "code" ? "chevrons" : "quote", item.label, () => this.remove(item)),
      ),
    );
    this.element.hidden = !this.element.firstChild;
    if (at < 0) return;
    const buttons = this.#buttons();
    if (buttons.length) buttons[Math.min(at, buttons.length - 1)].focus();
    else this.#on.onfocuslost();
  }

  #buttons() {
    return [...this.element.querySelectorAll("button")];
  }
}

/** @param {"page" | "chevrons" | "quote"} kind @param {string} label @param {() => void} onclick @param {string} [title] */
function buildChip(kind, label, onclick, title = label) {
  const remove = fill(labels.remove, { label });
  return h(
    "li",
    { className: "chip" },
    icon(kind),
    h("span", { dir: "auto", title }, label),
    iconButton(remove, "close", onclick),
  );
}

/** A page over the conversation: the form to write to a person, and the pages of the menu. */

import { h, iconButton } from "../base/dom.js";
import { labels } from "../base/labels.js";
import { loadModule } from "../base/modules.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

/** A page over the transcript; the composer stays. It closes when the conversation continues. */
export class Overlay {
  /** The element that opens it, and gets the focus back. @type {HTMLElement | undefined} */
  opener;

  /** @param {Conversation} conversation @param {{ onfocuslost: () => void, signal: AbortSignal }} on `onfocuslost`: the element with the focus is gone */
  constructor(conversation, { onfocuslost, signal }) {
    this.title = h("h3", { id: "cover-name", tabIndex: -1 });
    this.body = h("div", { className: "cover-body" });
    this.element = h(
      "section",
      { className: "cover", hidden: true, "aria-labelledby": "cover-name" },
      h(
        "div",
        { className: "cover-head" },
        iconButton(labels.back, "back", () => this.close()),
        this.title,
      ),
      this.body,
    );
    const closeOnChange = (/** @type {Event} */ event) => {
      const { before } = /** @type {CustomEvent} */ (event).detail;
      const { chatId, turns } = conversation.thread;
      if (before.chatId !== chatId || before.turns.length !== turns.length) this.close(onfocuslost);
    };
    conversation.addEventListener("change", closeOnChange, { signal });
  }

  /** @param {string} title @param {HTMLElement[]} content */
  show(title, content) {
    this.title.textContent = title;
    this.body.replaceChildren(...content);
    this.#open(true);
    this.body.scrollTop = 0;
    this.title.focus();
  }

  /** Returns whether it was open. @param {() => void} [onfocuslost] moves the focus; by default it goes back to the opener */
  close(onfocuslost = () => this.opener?.focus()) {
    if (this.element.hidden) return false;
    const hadFocus = this.element.matches(":focus-within");
    this.#open(false);
    if (hadFocus) onfocuslost();
    return true;
  }

  /** @param {boolean} open */
  #open(open) {
    this.element.hidden = !open;
    for (const other of this.element.parentElement?.children ?? []) {
      if (other !== this.element) /** @type {HTMLElement} */ (other).inert = open;
    }
  }
}

/** Shows the form to write to a person, or opens its page. @param {Conversation} conversation @param {Overlay} overlay */
export const askPerson = (conversation, overlay) =>
  loadModule(PERSON_FORM_VERSION, "person-form.js").then(
    ({ show }) => show(conversation, overlay, labels),
    () => open(conversation.options.support),
  );

/** The pages of the menu: past conversations, deletion of data, and information about the assistant. */

import { h, iconButton, textButton } from "../base/dom.js";
import { fill, labels, locale } from "../base/labels.js";
import { moduleAddress } from "../base/modules.js";

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
  import(moduleAddress(PERSON_FORM_VERSION, "person-form.js")).then(
    ({ show }) => show(conversation, overlay, labels),
    () => open(conversation.options.support),
  );

/** @param {Conversation} conversation */
export function buildPastPage(conversation) {
  if (!conversation.pastConversations.length) return [h("p", {}, labels.pastNone)];
  const time = new Intl.DateTimeFormat(locale(), { weekday: "short", hour: "numeric", minute: "2-digit" });
  const items = conversation.pastConversations.map(({ chatId, title, at }) => {
    const open = () => conversation.open(chatId);
    const when = h("time", { dateTime: new Date(at).toISOString() }, time.format(at));
    return h("li", {}, h("button", { onclick: open }, h("span", { dir: "auto" }, title), when));
  });
  return [h("ul", { className: "past", role: "list" }, ...items)];
}

/** @param {Conversation} conversation @param {import("../composer/composer.js").Composer} composer @param {Overlay} overlay */
export function buildDeletePage(conversation, composer, overlay) {
  const deleteData = async () => {
    confirm.disabled = cancel.disabled = true;
    confirm.textContent = labels.forgetting;
    const isComplete = await conversation.deleteData();
    overlay.close();
    composer.clear();
    composer.showRemark(isComplete ? labels.forgotten : labels.forgottenHere);
  };
  const confirm = h("button", { className: "danger", onclick: deleteData }, labels.forgetYes);
  const cancel = textButton(() => overlay.close(), labels.cancel);
  return [h("p", {}, labels.forgetWhat), h("div", { className: "choice" }, confirm, cancel)];
}

/** @param {Conversation} conversation */
export function buildAboutPage({ options }) {
  const storage = options.memory === "tab" ? labels.aboutKeptTab : labels.aboutKeptDay;
  const sections = [
    [labels.aboutAnswers, labels.aboutAnswersText],
    [labels.aboutKept, `${storage} ${labels.aboutKeptThere}`],
    [labels.aboutSent, labels.aboutSentText],
    [labels.aboutLimits, labels.aboutLimitsText],
  ];
  return sections.flatMap(([title, text]) => [
    h("h4", {}, title),
    h("p", {}, fill(text, { forget: labels.forget, page: labels.tellPage })),
  ]);
}

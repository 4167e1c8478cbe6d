/** Feedback on an answer: a thumb is sent at once, and a form for more follows. */

import { h, icon, iconButton, textButton } from "../base/dom.js";
import { labels } from "../base/labels.js";

/** @typedef {import("../conversation/thread.js").Answer} Answer */

/** The longest comment that the service accepts, in characters. */
const MAX_COMMENT = 1_000;

/** Reasons as the owner reads them, with the keys of their labels for readers. */
const REASONS = /** @type {const} */ ({
  inaccurate: "inaccurate",
  incomplete: "incomplete",
  "out of date": "outOfDate",
  "not what I asked": "offTopic",
});

export class FeedbackView {
  #conversation;
  /** @type {Answer | null} */
  #answer = null;
  #thumbs = [true, false].map((helpful) => {
    const press = () => this.#press(helpful);
    return helpful
      ? iconButton(labels.helpful, "thumb", press)
      : iconButton(labels.unhelpful, "thumb", press, { className: "quiet down" });
  });
  thumbs = h("span", { className: "thumbs", role: "group", "aria-label": labels.rate }, ...this.#thumbs);
  /** Holds the form. */
  element = h("div", {
    className: "feedback",
    hidden: true,
    onkeydown: (/** @type {Event} */ event) => this.#key(event),
  });

  /** @param {import("../conversation/conversation.js").Conversation} conversation */
  constructor(conversation) {
    this.#conversation = conversation;
  }

  /** @param {Answer} answer */
  update(answer) {
    this.#answer = answer;
    this.thumbs.hidden = !answer.messageId;
    this.#thumbs.forEach((thumb, i) => {
      thumb.ariaPressed = String(answer.feedback?.helpful === (i === 0));
    });
    if (!answer.feedback) this.element.hidden = true;
  }

  /** @param {boolean} helpful */
  #press(helpful) {
    const answer = /** @type {Answer} */ (this.#answer);
    const isTakenBack = answer.feedback?.helpful === helpful;
    this.#conversation.rate(answer.id, isTakenBack ? null : { helpful, reason: "", comment: "" });
    if (isTakenBack) return this.#announce(labels.takenBack);
    this.#announce(labels.thanks);
    this.#showForm(helpful);
  }

  /** Shows the form. @param {boolean} helpful */
  #showForm(helpful) {
    const reasons = Object.entries(REASONS).map(([value, key]) =>
      h("label", {}, h("input", { type: "radio", name: "reason", value }), h("span", {}, labels[key])),
    );
    const field = h("textarea", {
      name: "comment",
      rows: 2,
      maxLength: MAX_COMMENT,
      dir: "auto",
      placeholder: labels.comment,
      "aria-label": labels.comment,
    });
    const form = h(
      "form",
      { onsubmit: (/** @type {Event} */ event) => this.#send(event, helpful) },
      helpful ? null : h("fieldset", {}, h("legend", {}, labels.whatWasWrong), ...reasons),
      field,
      h(
        "p",
        {},
        textButton(() => this.#close(), labels.noMore),
        h("button", { type: "submit", className: "plain" }, labels.sendFeedback),
      ),
    );
    this.element.replaceChildren(form);
    this.element.hidden = false;
    this.element.scrollIntoView({ block: "nearest" });
  }

  /** @param {Event} event @param {boolean} helpful */
  #send(event, helpful) {
    event.preventDefault();
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const [reason, comment] = ["reason", "comment"].map((name) => String(fields.get(name) ?? "").trim());
    this.#conversation.rate(/** @type {Answer} */ (this.#answer).id, { helpful, reason, comment });
    this.#close();
    this.element.replaceChildren(h("p", { className: "thanks" }, icon("check"), labels.thanks));
    this.element.hidden = false;
    this.#announce(labels.thanks);
  }

  /** Closes the form; the focus goes back to where it came from. */
  #close() {
    this.element.hidden = true;
    this.#thumbs.find((thumb) => thumb.ariaPressed === "true")?.focus();
  }

  /** @param {Event} event */
  #key(event) {
    if (/** @type {KeyboardEvent} */ (event).key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    this.#close();
  }

  /** @param {string} text */
  #announce(text) {
    this.thumbs.dispatchEvent(new CustomEvent("announce", { bubbles: true, detail: text }));
  }
}

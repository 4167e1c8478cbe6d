/** The composer of questions: a field that grows with its text, the context, and one button that sends or stops. */

import { h, icon, textButton } from "../base/dom.js";
import { fill, labels, locale } from "../base/labels.js";
import { parseContexts } from "../conversation/context.js";
import { lastAnswer } from "../conversation/thread.js";
import { ContextChips } from "./chips.js";
import { PasteAndDrop } from "./paste-and-drop.js";
import { watchSelection } from "./selection.js";

/** @typedef {import("../conversation/thread.js").Context} Context */

/** The longest question that the service accepts, in characters. */
const MAX_LENGTH = 32_000;
/** Shares of MAX_LENGTH at which screen readers announce how much is left. From the first share on, a counter shows. */
const WARNING_SHARES = [0.8, 0.9, 0.95, 1];

export class Composer {
  #conversation;
  #store;
  /** The question that is being edited, with the draft from before. @type {{ id: string, text: string, context: Context[] } | null} */
  #editing = null;
  #step = 0;
  /** @type {AbortController | null} */
  #watching = null;

  #pasteAndDrop;

  /**
   * @param {import("../conversation/conversation.js").Conversation} conversation
   * @param {ReturnType<typeof import("../conversation/store.js").createStore>} store
   * @param {{ onfocuslost: () => void, signal: AbortSignal }} on the focus needs a place
   */
  constructor(conversation, store, { onfocuslost, signal }) {
    this.#conversation = conversation;
    this.#store = store;
    this.field = h("textarea", {
      rows: 1,
      maxLength: MAX_LENGTH,
      enterKeyHint: "send",
      dir: "auto",
      "aria-label": labels.question,
      oninput: () => this.#changed(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
    this.grow = h("div", { className: "grow" }, this.field);
    this.button = h("button", { type: "button", className: "send", onclick: () => this.#press() });
    this.chips = new ContextChips(conversation, { onchange: () => this.#changed(), onfocuslost });
    this.remark = h("span");
    this.cancel = textButton(() => this.cancelEdit(), labels.cancel);
    this.counter = h("p", { className: "counter", hidden: true });
    this.element = h(
      "form",
      { className: "composer", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      this.chips.element,
      h("p", { className: "remark", hidden: true }, this.remark, this.cancel),
      h("div", { className: "line" }, this.grow, this.button),
      this.counter,
      h("p", { className: "drop", "aria-hidden": "true" }, labels.drop),
    );
    this.#pasteAndDrop = new PasteAndDrop(this);
    this.#loadDraft();
    conversation.addEventListener("change", () => this.#conversationChanged(), { signal });
    this.chips.draw();
    this.showRemark("");
    this.#update();
  }

  get text() {
    return this.field.value;
  }

  set text(value) {
    this.field.value = value.slice(0, MAX_LENGTH);
    this.#changed();
  }

  /** Adds context, unchecked. Returns whether there was room for all of it. @param {unknown} input */
  attach(input) {
    const items = parseContexts(input);
    const rejected = this.chips.add(items);
    if (rejected.length) this.showRemark(labels.tooMany);
    else if (items.length) this.#announce(fill(labels.added, { labels: items.map(({ label }) => label).join(", ") }));
    return !rejected.length;
  }

  /** Whether the service may know which page the reader is on. */
  get page() {
    return this.#conversation.sharesPage;
  }

  set page(page) {
    this.#conversation.sharesPage = page;
    this.chips.draw();
    this.#saveDraft();
  }

  /** Puts the last question into the field for editing. Does nothing while an answer is running. */
  edit() {
    const question = this.#conversation.thread.turns.at(-2);
    if (this.#conversation.isRunning || question?.role !== "user") return;
    this.#editing = { id: question.id, text: this.text, context: this.chips.withoutSuggestion };
    this.field.value = question.text;
    this.chips.replace(parseContexts(question.context));
    this.#announce(labels.editing);
    this.field.focus();
    this.field.setSelectionRange(question.text.length, question.text.length);
  }

  /** Attaches files that are dropped anywhere on the panel. @param {HTMLElement} panel */
  acceptDrops(panel) {
    this.#pasteAndDrop.acceptDrops(panel, (isOver) => this.element.classList.toggle("over", isOver));
  }

  /** Follows the reader's selection and the title of the page while the panel is open. @param {boolean} open */
  watchPage(open) {
    this.#watching?.abort();
    if (!open) return;
    const { signal } = (this.#watching = new AbortController());
    watchSelection((context) => {
      if (this.chips.suggest(context)) this.#announce(fill(labels.added, { labels: context.label }));
    }, signal);
    const titles = new MutationObserver(() => this.chips.draw());
    titles.observe(document.head, { subtree: true, childList: true, characterData: true });
    signal.addEventListener("abort", () => titles.disconnect());
    this.chips.draw();
  }

  /** Empties the composer. */
  clear() {
    this.#editing = null;
    this.field.value = "";
    this.chips.replace([]);
  }

  #loadDraft() {
    const draft = this.#store.loadDraft();
    if (!draft || typeof draft.text !== "string") return;
    this.field.value = draft.text.slice(0, MAX_LENGTH);
    this.#conversation.sharesPage = draft.page !== false;
    const question = this.#conversation.thread.turns.at(-2);
    const edits = question && question.id === draft.editing;
    // Context from another page belongs to that page.
    this.chips.items = parseContexts(draft.context).filter(({ path }) => edits || !path || path === location.pathname);
    if (!edits) return;
    this.#editing = { id: question.id, text: "", context: [] };
  }

  #saveDraft() {
    this.#store.saveDraft({
      text: this.text,
      context: this.chips.withoutSuggestion,
      page: this.page,
      editing: this.#editing?.id,
    });
  }

  #changed() {
    this.showRemark("");
    this.#update();
    this.#saveDraft();
  }

  #conversationChanged() {
    if (this.#editing && this.#conversation.thread.turns.at(-2)?.id !== this.#editing.id) this.#restoreDraft();
    this.chips.draw();
    this.#update();
  }

  /** Copies the text for the style sheet, which shows it under the field to give the field its height. */
  #update() {
    this.grow.dataset.text = this.text + " ";
    this.field.placeholder = this.chips.items.length ? labels.placeholderAbout : labels.placeholder;
    this.#count();
    const stop = this.#conversation.isRunning;
    const phase = lastAnswer(this.#conversation.thread)?.phase;
    const label = !stop ? labels.send : phase === "queued" || phase === "waiting" ? labels.unsend : labels.stop;
    this.button.setAttribute("aria-disabled", String(!stop && !this.text.trim()));
    if (this.button.ariaLabel === label) return;
    this.button.ariaLabel = this.button.title = label;
    this.button.replaceChildren(icon(stop ? "stop" : "send"));
  }

  #count() {
    const n = this.text.length;
    const step = WARNING_SHARES.filter((share) => n >= share * MAX_LENGTH).length;
    this.counter.hidden = step === 0;
    this.counter.textContent = fill(labels.count, {
      n: n.toLocaleString(locale()),
      limit: MAX_LENGTH.toLocaleString(locale()),
    });
    if (step > this.#step) this.#announce(fill(labels.left, { n: (MAX_LENGTH - n).toLocaleString(locale()) }));
    this.#step = step;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // Safari ends a composition before this event. Only the old key code 229 still shows it.
    const composing = event.isComposing || event.keyCode === 229;
    if (composing || event.shiftKey) return;
    const { altKey, ctrlKey, metaKey } = event;
    if (event.key === "ArrowUp" && !altKey && !ctrlKey && !metaKey && !this.text && !this.#editing) {
      event.preventDefault();
      this.edit();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!this.#conversation.isRunning) this.#press();
    }
  }

  #press() {
    const conversation = this.#conversation;
    if (conversation.isRunning) return conversation.stop();
    const text = this.text.trim();
    if (!text) return this.field.focus();
    const { items } = this.chips;
    if (this.#editing) {
      this.clear();
      conversation.edit(text, items);
    } else if (conversation.ask(text, items)) this.clear();
  }

  /** Cancels editing. Returns whether a question was being edited. */
  cancelEdit() {
    if (!this.#editing) return false;
    this.#restoreDraft();
    this.field.focus();
    return true;
  }

  /** Ends editing, and restores the draft. */
  #restoreDraft() {
    if (!this.#editing) return;
    const { text, context } = this.#editing;
    this.#editing = null;
    this.field.value = text;
    this.chips.replace(context);
  }

  /** Shows a sentence above the field until the reader types. @param {string} text */
  showRemark(text) {
    this.remark.textContent = text || (this.#editing ? labels.editing : "");
    this.cancel.hidden = !this.#editing;
    /** @type {HTMLElement} */ (this.remark.parentElement).hidden = !this.remark.textContent;
    if (text) this.#announce(text);
  }

  /** @param {string} detail */
  #announce(detail) {
    this.element.dispatchEvent(new CustomEvent("announce", { bubbles: true, detail }));
  }
}

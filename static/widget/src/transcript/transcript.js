/** The turns of a conversation: they are drawn once a frame, and scroll. */

import { h, icon } from "../base/dom.js";
import { labels } from "../base/labels.js";
import { loadModule } from "../base/modules.js";
import { lastAnswer } from "../conversation/thread.js";
import { AnswerView } from "./answer.js";
import { PLAIN_TEXT } from "./plain-text.js";
import { QuestionView } from "./question.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

/** @typedef {import("./citation-card.js").CitationCard} CitationCard */

/** Within this distance the transcript counts as scrolled to its end, in pixels. */
const END_DISTANCE = 48;

/** What shows the text of answers, once it has loaded. @type {import("./plain-text.js").MarkdownScript | null} */
let markdown = null;

export class Transcript {
  /** @type {Map<string, QuestionView | AnswerView>} */
  #views = new Map();
  #frame = 0;
  /** When the change arrived that the next frame draws, in milliseconds. */
  #changedAt = 0;
  #followsEnd = false;
  #hasScrolled = false;
  /** Whether a question was asked here. */
  #hasAsked = false;
  #conversation;
  /** @type {Promise<CitationCard | null> | null} */
  #loadingCard = null;
  /** @type {CitationCard | null} */
  #card = null;
  #signal;
  /** What was set up for this panel and its labels. @type {typeof markdown} */
  #setUp = null;

  /** @param {Conversation} conversation @param {{ ondraw: () => void, onfocuslost: () => void, signal: AbortSignal }} on `onfocuslost`: the element with the focus is gone */
  constructor(conversation, { ondraw, onfocuslost, signal }) {
    this.#conversation = conversation;
    this.#signal = signal;
    this.ondraw = ondraw;
    this.onfocuslost = onfocuslost;
    this.log = h("div", {
      className: "transcript",
      role: "log",
      tabIndex: 0,
      "aria-live": "off",
      "aria-label": labels.transcript,
      onscroll: () => this.#scrolled(),
    });
    const jumpToEnd = () => {
      this.showEnd();
      this.#followsEnd = true;
      this.onfocuslost();
    };
    this.latest = h("button", { className: "latest", hidden: true, onclick: jumpToEnd }, labels.latest, icon("down"));
    for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      this.log.addEventListener(type, () => (this.#hasScrolled = true), { passive: true });
    }
    new ResizeObserver(() => this.#scrolled()).observe(this.log);
    const onchange = (/** @type {Event} */ event) =>
      this.#threadChanged(/** @type {CustomEvent} */ (event).detail.before);
    conversation.addEventListener("change", onchange, { signal });
    this.ready = markdown ? Promise.resolve() : this.#loadMarkdown();
  }

  async #loadMarkdown() {
    try {
      markdown = await loadModule(MARKDOWN_VERSION, "markdown.js");
    } catch {
      markdown ??= PLAIN_TEXT; // the next question tries again
    }
    if (this.#signal.aborted) return;
    this.draw();
    if (!this.#hasScrolled) this.showEnd();
  }

  /** The first sentence of a text, for screen readers. @param {string} text */
  firstSentence(text) {
    return markdown?.firstSentence(text) ?? "";
  }

  /** Shows a new question at once, and any other change with the next frame. @param {import("../conversation/thread.js").Thread} before */
  #threadChanged(before) {
    const answer = lastAnswer(this.#conversation.thread);
    if (answer && answer.id !== lastAnswer(before)?.id) this.#showNewQuestion();
    else if (!this.#frame) this.#scheduleDraw(performance.now());
  }

  /** Draws a change with the next frame. In a hidden tab that may be much later, so its time is kept. @param {number} since */
  #scheduleDraw(since) {
    this.#changedAt = since;
    this.#frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    const now = performance.now();
    const since = this.#frame ? this.#changedAt : now;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const root = this.log.getRootNode();
    if (markdown && markdown !== this.#setUp && root instanceof ShadowRoot) {
      this.#setUp = markdown;
      markdown.setUp(root, this.#conversation.options.nonce, labels);
    }
    const hadFocus = this.log.matches(":focus-within");
    const { turns } = this.#conversation.thread;
    const ids = new Set(turns.map((turn) => turn.id));
    for (const [id, view] of this.#views) {
      if (ids.has(id)) continue;
      if (view instanceof AnswerView) view.destroy();
      (view instanceof QuestionView ? view.element.parentElement : view.element)?.remove();
      this.#views.delete(id);
    }
    let hasEnded = false;
    turns.forEach((turn, i) => {
      const last = i === turns.length - 1;
      const view = this.#views.get(turn.id);
      if (turn.role === "user") {
        if (!view) this.#addQuestion(turn);
      } else if (view instanceof AnswerView) {
        hasEnded = view.turn?.phase !== turn.phase && (turn.phase === "stopped" || turn.phase === "failed");
        const isNew = markdown && view.setMarkdown(markdown);
        if (isNew || view.turn !== turn || view.isLast !== last || view.isBehind) view.update(turn, last, since, now);
        if (view.isBehind && !this.#frame) this.#scheduleDraw(now);
      } else {
        this.#addAnswer(turn, last, now);
      }
    });
    this.#card?.refresh();
    if (!this.#loadingCard && this.log.querySelector("a.cite")) this.#loadingCard = this.#loadCard();
    // Turns from before show when their text can be shown, all at once.
    this.log.hidden = turns.length === 0 || (!markdown && !this.#hasAsked);
    if (this.#followsEnd) this.#scrollToEnd();
    else if (hasEnded) this.#findInLast(".outcome")?.scrollIntoView({ block: "nearest" });
    this.#scrolled();
    this.ondraw();
    if (hadFocus && !this.log.matches(":focus-within")) this.onfocuslost(); // its element is gone
  }

  /** Scrolls a new question to the top, so that readers see the start of its answer. */
  #showNewQuestion() {
    this.#hasAsked = true;
    if (markdown === PLAIN_TEXT) this.#loadMarkdown();
    this.draw();
    this.#followsEnd = this.#hasScrolled = false;
    this.#scrollToEnd();
    this.#scrolled();
  }

  /** Scrolls to the end, and follows an answer that is longer than the view. */
  showEnd() {
    this.#followsEnd =
      this.#conversation.isRunning && Number(this.log.lastElementChild?.clientHeight) > this.log.clientHeight;
    this.#scrollToEnd();
    this.#scrolled();
  }

  /** Shows the card of a citation, the first one if none is named. */
  async showCard(cite = this.log.querySelector("a.cite")) {
    const card = await this.#loadingCard;
    if (cite instanceof HTMLAnchorElement) card?.show(cite);
  }

  /** Null if the script cannot be loaded: then a citation is only a link. */
  async #loadCard() {
    /** @type {typeof import("./citation-card.js") | null} */
    const loaded = await loadModule(CITATION_CARD_VERSION, "citation-card.js").catch(() => null);
    if (!loaded || this.#signal.aborted) return null;
    return (this.#card = new loaded.CitationCard(this.log, (cite) => this.#answerOf(cite), labels));
  }

  destroy() {
    cancelAnimationFrame(this.#frame);
    this.#card?.hide();
    for (const view of this.#views.values()) if (view instanceof AnswerView) view.destroy();
  }

  /** @param {import("../conversation/thread.js").Question} turn */
  #addQuestion(turn) {
    const view = new QuestionView(turn);
    this.#views.set(turn.id, view);
    this.log.append(h("div", { className: "exchange" }, view.element));
  }

  /** @param {import("../conversation/thread.js").Answer} turn @param {boolean} last @param {number} now */
  #addAnswer(turn, last, now) {
    const view = new AnswerView(this.#conversation);
    this.#views.set(turn.id, view);
    if (markdown) view.setMarkdown(markdown);
    view.update(turn, last, now, now);
    this.log.lastElementChild?.append(view.element);
  }

  /** @param {Element} cite */
  #answerOf(cite) {
    const view = [...this.#views.values()].find(({ element }) => element.contains(cite));
    return view instanceof AnswerView ? view.turn : null;
  }

  /** Moves the focus to the turn before or after. From outside it goes to the last or the first turn. @param {number} by */
  focusTurn(by) {
    const turns = [...this.log.querySelectorAll("article")];
    const index = turns.findIndex((turn) => turn.matches(":focus-within"));
    const next = index < 0 ? (by < 0 ? turns.length - 1 : 0) : Math.max(0, Math.min(turns.length - 1, index + by));
    turns[next]?.focus();
  }

  #scrollToEnd() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  /** Finds an element in the last exchange. @param {string} part */
  #findInLast(part) {
    return this.log.lastElementChild?.querySelector(part);
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    const isNearEnd = scrollHeight - scrollTop - clientHeight <= END_DISTANCE;
    if (this.#hasScrolled) this.#followsEnd = isNearEnd;
    // Not where the text has been read: the button would cover the lists below it.
    const textEnd = this.#findInLast(".prose")?.getBoundingClientRect().bottom ?? 0;
    this.latest.hidden = textEnd <= this.log.getBoundingClientRect().bottom;
  }
}

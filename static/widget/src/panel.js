/** The panel that the launcher opens: a conversation, and the field to go on with it. */

import { Client } from "./client.js";
import { Composer } from "./composer.js";
import { h, icon, sheet } from "./dom.js";
import { firstSentence } from "./markdown.js";
import css from "./panel.css";
import { starters } from "./starters.js";
import { randomId, store } from "./store.js";
import { asked, begin, isRunning, lastAnswer, received, restored, retried, stopped } from "./thread.js";
import { AnswerView, QuestionView } from "./turns.js";
import { words } from "./words.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Question} Question */
/** @typedef {import("./thread.js").Answer} Answer */

const TAG = "docs-assistant-panel";
/** How near to its end the transcript counts as read to the end, in pixels. */
const NEAR = 48;
/** The longest `currentPath` the service takes. */
const LONGEST_PATH = 200;

/** Fires `toggle` when it opens and closes. */
export class Panel extends HTMLElement {
  isOpen = false;
  /** Whether the focus was inside when the panel closed, and so needs a new place. */
  hadFocus = false;

  #root = this.attachShadow({ mode: "closed" });
  #viewport = new CSSStyleSheet();
  #narrow = matchMedia("(max-width: 639.98px)");
  #leaving = new AbortController();
  /** @type {Map<string, QuestionView | AnswerView>} */
  #views = new Map();
  #frame = 0;
  #following = false;
  #steered = false;
  #wasOpen = false;
  /** The page's own setting while a sheet keeps it from scrolling. @type {string | null} */
  #overflow = null;
  #options;
  #store;
  #client;
  /** @type {Thread} */
  #thread;

  /** @param {{ domain: string, key: string, script: string }} options */
  constructor(options) {
    super();
    this.#options = options;
    this.#store = store(options.domain);
    this.#client = new Client(options.script, options.domain);
    this.#thread = restored(this.#store.load()) ?? begin(randomId());

    this.#root.adoptedStyleSheets = [sheet(css), this.#viewport];
    this.composer = new Composer({ onsend: (text) => this.ask(text), onstop: () => this.stop() });
    this.announcer = h("div", { className: "unseen", role: "status", "aria-live": "polite" });
    this.transcript = h("div", {
      className: "transcript",
      role: "log",
      tabIndex: 0,
      "aria-live": "off",
      "aria-label": words.transcript,
      onscroll: () => this.#scrolled(),
    });
    this.latest = h("button", { type: "button", className: "latest", hidden: true, "aria-label": words.latest, title: words.latest, onclick: () => this.#follow() }, icon("down"));
    this.starters = h("ul", { className: "starters", hidden: true, "aria-label": words.starters });
    this.greeting = h(
      "div",
      { className: "greeting" },
      icon("ask"),
      h("h3", {}, words.greeting),
      h("p", {}, words.promise),
      this.starters,
    );
    this.fresh = h("button", { type: "button", className: "quiet", "aria-label": words.newThread, title: words.newThread, onclick: () => this.#restart() }, icon("compose"));
    this.dialog = h(
      "section",
      { className: "panel", part: "panel", role: "dialog", hidden: true, tabIndex: -1, "aria-labelledby": "name" },
      h(
        "header",
        {},
        h("h2", { id: "name" }, words.name),
        this.fresh,
        h("button", { type: "button", className: "quiet", "aria-label": words.close, title: words.close, onclick: () => this.hide() }, icon("close")),
      ),
      h("div", { className: "middle" }, this.greeting, this.transcript, this.latest),
      this.composer.element,
      h("p", { className: "caution" }, words.caution),
      this.announcer,
    );
    this.#root.append(this.dialog);
    this.#listen();
    this.#draw();
  }

  /** @param {{ focus?: boolean }} [how] */
  show({ focus = true } = {}) {
    if (!this.isOpen) {
      this.isOpen = true;
      this.dialog.hidden = false;
      this.#store.setOpen(true);
      this.#fit();
      this.#toEnd();
      this.dispatchEvent(new Event("toggle"));
      if (!this.#wasOpen) this.#offer();
      this.#wasOpen = true;
    }
    if (focus) this.#takeFocus();
  }

  hide() {
    if (!this.isOpen) return;
    this.hadFocus = this.#root.activeElement !== null;
    this.isOpen = false;
    this.dialog.hidden = true;
    this.#store.setOpen(false);
    this.#fit();
    this.dispatchEvent(new Event("toggle"));
  }

  /** Asks a question, or keeps it in the composer while an answer is running. @param {string} text */
  ask(text) {
    const question = text.trim();
    if (!question) return;
    if (this.#running) {
      this.composer.text = question;
      return;
    }
    const id = randomId();
    this.#become(asked(this.#thread, { text: question, questionId: id, answerId: randomId() }));
    this.#send({ id, role: "user", text: question });
  }

  stop() {
    if (!this.#running) return;
    this.#client.stop();
    this.#become(stopped(this.#thread));
  }

  destroy() {
    this.hide();
    this.#leaving.abort();
    this.#client.close();
    cancelAnimationFrame(this.#frame);
    for (const view of this.#views.values()) if (view instanceof AnswerView) view.destroy();
  }

  get #running() {
    return isRunning(lastAnswer(this.#thread));
  }

  /** A focused field would bring up a phone's keyboard over what the reader came to see. */
  #takeFocus() {
    if (this.#narrow.matches) this.dialog.focus();
    else this.composer.field.focus();
  }

  /** Shows the owner's questions. */
  async #offer() {
    const questions = await starters(this.#options.script, this.#options.domain);
    const items = questions.map((text) => {
      const ask = () => {
        this.ask(text);
        this.#takeFocus(); // the button is gone
      };
      return h("li", {}, h("button", { type: "button", dir: "auto", onclick: ask }, text));
    });
    this.starters.replaceChildren(...items);
    this.starters.hidden = items.length === 0;
  }

  #listen() {
    const { signal } = this.#leaving;
    this.dialog.addEventListener("keydown", (event) => this.#key(event));
    // Shortcuts of the host page see this element, not the field that is typed in, and would act on every letter.
    for (const type of ["keydown", "keyup", "keypress"]) this.addEventListener(type, (event) => event.stopPropagation());
    this.dialog.addEventListener("announce", (event) => this.#announce(/** @type {CustomEvent<string>} */ (event).detail));
    this.dialog.addEventListener("click", (event) => this.#clicked(event));
    for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      this.transcript.addEventListener(type, () => (this.#steered = true), { passive: true });
    }
    new ResizeObserver(() => this.#scrolled()).observe(this.transcript);
    this.#narrow.addEventListener("change", () => this.#fit(), { signal });
    visualViewport?.addEventListener("resize", () => this.#fit(), { signal });
    visualViewport?.addEventListener("scroll", () => this.#fit(), { signal });
    addEventListener(
      "pagehide",
      () => {
        this.#store.save(this.#thread);
        if (!this.#running) this.#client.close();
      },
      { signal },
    );
  }

  /** @param {Question} question @param {string | null} [replaced] the service's id of an answer to be replaced */
  #send(question, replaced = null) {
    const { chatId, threadId } = this.#thread;
    const { key } = this.#options;
    this.#client.ask(
      {
        key,
        fp: this.#store.fp(),
        id: chatId,
        ...(replaced ? { trigger: "regenerate-message", messageId: replaced } : { trigger: "submit-message" }),
        messages: [{ id: question.id, role: "user", parts: [{ type: "text", text: question.text }] }],
        currentPath: [...location.pathname].slice(0, LONGEST_PATH).join(""),
        suggestions: true,
        ...(threadId && { threadId }),
      },
      (event) => this.#become(received(this.#thread, event, Date.now())),
    );
    this.#draw();
    this.#reveal();
  }

  #retry() {
    const again = retried(this.#thread, randomId());
    if (!again) return;
    this.#become(again.thread);
    this.#send(again.question, again.messageId);
    this.composer.field.focus();
  }

  #restart() {
    this.#client.stop();
    this.#become(begin(randomId()));
    this.composer.field.focus();
  }

  /** @param {Thread} thread */
  #become(thread) {
    if (thread === this.#thread) return;
    const before = lastAnswer(this.#thread);
    const after = lastAnswer(thread);
    this.#thread = thread;
    if (after?.phase !== before?.phase || after?.id !== before?.id) {
      if (!isRunning(after) || before?.id !== after?.id) this.#store.save(thread);
      if (after) this.#tell(after);
    }
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** Says how an answer is getting on; its text is left to the reader. @param {Answer} answer */
  #tell({ phase, text, sources, failure }) {
    if (phase === "searching") this.#announce(words.searching);
    else if (phase === "answering") this.#announce(words.answering);
    else if (phase === "done") this.#announce(`${firstSentence(text)} ${words.complete(sources.length)}`);
    else if (phase === "stopped") this.#announce(words.stopped);
    else if (phase === "failed") this.#announce(failure?.text || words.failed);
  }

  /** @param {string} text */
  #announce(text) {
    this.announcer.textContent = text;
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { turns } = this.#thread;
    const ids = new Set(turns.map((turn) => turn.id));
    for (const [id, view] of this.#views) {
      if (ids.has(id)) continue;
      if (view instanceof AnswerView) view.destroy();
      (view instanceof QuestionView ? view.element.parentElement : view.element)?.remove();
      this.#views.delete(id);
    }
    turns.forEach((turn, i) => {
      const last = i === turns.length - 1;
      const view = this.#views.get(turn.id);
      if (turn.role === "user") {
        if (!view) this.#addQuestion(turn);
      } else if (view instanceof AnswerView) {
        if (view.turn !== turn || view.last !== last) view.update(turn, last);
      } else {
        this.#addAnswer(turn, last);
      }
    });
    this.greeting.hidden = turns.length > 0;
    this.transcript.hidden = turns.length === 0;
    this.fresh.disabled = turns.length === 0;
    this.composer.running = this.#running;
    if (this.#following) this.#toEnd();
    this.#scrolled();
  }

  /** @param {Question} turn */
  #addQuestion(turn) {
    const view = new QuestionView(turn);
    this.#views.set(turn.id, view);
    this.transcript.append(h("div", { className: "exchange" }, view.element));
  }

  /** @param {Answer} turn @param {boolean} last */
  #addAnswer(turn, last) {
    const view = new AnswerView({ onretry: () => this.#retry() });
    this.#views.set(turn.id, view);
    view.update(turn, last);
    this.transcript.lastElementChild?.append(view.element);
  }

  /** Brings a new question to the top, so that its answer is read from its start. */
  #reveal() {
    this.#following = this.#steered = false;
    this.#toEnd();
    this.#scrolled();
  }

  #follow() {
    this.#following = true;
    this.#toEnd();
    this.#scrolled();
    this.composer.field.focus();
  }

  #toEnd() {
    this.transcript.scrollTop = this.transcript.scrollHeight;
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.transcript;
    const near = scrollHeight - scrollTop - clientHeight <= NEAR;
    if (this.#steered) this.#following = near;
    this.latest.hidden = near;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape" && !event.isComposing) {
      event.preventDefault();
      if (this.#running) this.stop();
      else this.hide();
    } else if (event.key === "Tab" && this.#narrow.matches) {
      this.#keepFocus(event);
    }
  }

  /** A sheet covers the page, so the focus goes round in it. @param {KeyboardEvent} event */
  #keepFocus(event) {
    const stops = /** @type {HTMLElement[]} */ ([...this.dialog.querySelectorAll("a[href], button, textarea, [tabindex='0']")]);
    const open = stops.filter((stop) => stop.checkVisibility() && !(/** @type {HTMLButtonElement} */ (stop).disabled));
    const edge = event.shiftKey ? open[0] : open.at(-1);
    const at = this.#root.activeElement;
    if (at !== edge && !(event.shiftKey && at === this.dialog)) return;
    event.preventDefault();
    (event.shiftKey ? open.at(-1) : open[0])?.focus();
  }

  /** A link to a page of this site would lead behind the sheet. @param {Event} event */
  #clicked(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link && !link.target && this.#narrow.matches) this.hide();
  }

  /** Fits the sheet to what the screen's keyboard leaves, and keeps the page behind it still. */
  #fit() {
    const covers = this.isOpen && this.#narrow.matches;
    this.dialog.ariaModal = covers ? "true" : null;
    this.#viewport.replaceSync(
      covers && visualViewport ? `:host{--height:${visualViewport.height}px;--top:${visualViewport.offsetTop}px}` : "",
    );
    const page = document.documentElement.style;
    if (covers && this.#overflow === null) {
      this.#overflow = page.overflow;
      page.overflow = "hidden";
    } else if (!covers && this.#overflow !== null) {
      page.overflow = this.#overflow;
      this.#overflow = null;
    }
  }
}

/**
 * A panel, not yet shown.
 * @param {{ domain: string, key: string, script: string }} options
 */
export function create(options) {
  // Two copies of this module may meet on one page, and a name belongs to the class that took it first.
  if (!customElements.get(TAG)) customElements.define(TAG, Panel);
  const Registered = /** @type {typeof Panel} */ (customElements.get(TAG));
  return new Registered(options);
}

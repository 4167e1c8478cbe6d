/** The panel that the launcher opens: a conversation, and the field to go on with it. */

// First what is unlike the rest: things that are alike compress best side by side.
import { sheets } from "./styles.js";
import { firstSentence } from "../markdown/parser.js";
import { fill, relabel, words } from "../base/labels.js";
import { Client } from "../service/client.js";
import { Composer } from "../composer/composer.js";
import { contexts } from "../conversation/context.js";
import { Conversation } from "../conversation/conversation.js";
import { dress, h, icon, mark, tool } from "../base/dom.js";
import { Frame } from "./frame.js";
import { wish } from "../base/keyboard.js";
import { Menu } from "./menu.js";
import { DEFAULTS } from "../base/options.js";
import { notes, wait } from "../transcript/status.js";
import { Cover } from "./menu-pages.js";
import { store } from "../conversation/store.js";
import { lastAnswer } from "../conversation/thread.js";
import { Transcript } from "../transcript/transcript.js";
import { warn } from "../base/console.js";

/** @typedef {import("../conversation/thread.js").Thread} Thread */
/** @typedef {import("../base/options.js").Options} Options */
/** @typedef {{ store: ReturnType<typeof store>, client: Client }} Parts */

const TAG = "docs-assistant-panel";
/** The most starter questions there is room for. */
const STARTERS = 3;

/** Fires `toggle` when it opens and closes, and passes on what the conversation tells sites as `hook`. */
export class Panel extends HTMLElement {
  isOpen = false;
  /** Whether the focus was inside when the panel closed, and so needs a new place. */
  hadFocus = false;

  #root = this.attachShadow({ mode: "closed" });
  #leaving = new AbortController();
  /** Ends what belongs to the views that are shown. */
  #views = new AbortController();
  #options;
  #store;

  /**
   * @param {Options} options
   * @param {string} script address of the loader; the service is on the same host
   * @param {Parts} parts
   */
  constructor(options, script, parts) {
    super();
    this.#options = options;
    this.#store = parts.store;
    this.conversation = new Conversation(options, parts);
    this.dialog = h("dialog", { className: "panel", tabIndex: -1, "aria-labelledby": "name" });
    this.frame = new Frame(this.dialog, options, {
      style: dress(this.#root, [...sheets, ":host{}"], options.nonce),
      onclose: () => this.hide(),
      signal: this.#leaving.signal,
    });
    this.#root.append(this.dialog);
    this.#listen();
    this.#build();
  }

  /** @param {{ focus?: boolean, field?: HTMLTextAreaElement }} [how] `field`: where was written before the panel was there */
  show({ focus = true, field } = {}) {
    if (!this.isOpen) {
      this.isOpen = true;
      this.frame.open({ instant: field !== undefined });
      this.composer.watch(true);
      this.transcript.toEnd();
      this.dispatchEvent(new Event("toggle"));
    }
    if (field?.value) {
      this.composer.text = field.value;
      this.composer.field.setSelectionRange(field.selectionStart, field.selectionEnd);
    }
    if (field?.matches(":focus")) this.composer.field.focus();
    else if (focus) this.#takeFocus();
  }

  hide() {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.hadFocus = !this.dialog.open || this.#root.activeElement !== null; // the browser may have closed it
    this.frame.close();
    this.composer.watch(false);
    this.dispatchEvent(new Event("toggle"));
  }

  /**
   * Asks a question, or keeps it in the composer while an answer is running.
   * @param {string} text
   * @param {unknown} [given] what it is about, unchecked: it comes from the host page
   */
  ask(text, given) {
    const context = contexts(given);
    if (this.conversation.ask(text, context)) return;
    this.composer.text = text.trim();
    this.composer.attach(context);
  }

  /** Shows what the options now say. @param {Options} options */
  update(options) {
    const before = this.#options;
    this.#options = this.frame.options = this.conversation.options = options;
    if (JSON.stringify(before.labels) !== JSON.stringify(options.labels)) this.#rebuild();
    else this.#fit();
  }

  destroy() {
    this.hide();
    this.#leaving.abort();
    this.#dismantle();
    this.conversation.destroy();
  }

  /** Draws all of it, in the words of now. */
  #build() {
    const unknown = relabel(this.#options.labels);
    if (unknown.length) warn(`there are no labels ${unknown.join(", ")}.`);
    this.#views = new AbortController();
    const { signal } = this.#views;
    const { conversation } = this;
    const takeFocus = () => this.#takeFocus();
    this.composer = new Composer(conversation, this.#store, { onleft: takeFocus, signal });
    this.cover = new Cover(conversation, { onleft: takeFocus, signal });
    this.menu = new Menu(conversation, this.composer, this.cover, { onchosen: takeFocus, signal });
    this.transcript = new Transcript(conversation, { ondraw: () => this.#drawn(), onsettled: takeFocus, signal });
    this.announcer = h("div", { className: "unseen", role: "status", "aria-live": "polite" });
    this.starters = h("ul", { className: "starters", "aria-label": words.starters });
    this.greeting = h(
      "div",
      { className: "greeting" },
      icon("ask"),
      h("h3", {}, words.greeting),
      h("p", {}, words.promise),
      this.starters,
    );
    const widen = () => {
      this.frame.isWide = !this.frame.isWide;
      this.#fit();
    };
    this.widen = tool("", "widen", widen);
    this.header = h(
      "header",
      {},
      h("h2", { id: "name" }, words.name),
      this.menu.element,
      this.widen,
      tool(words.close, "close", () => this.hide()),
    );
    const content = h(
      "div",
      { className: "content" },
      this.header,
      h("div", { className: "middle" }, this.greeting, this.transcript.log, this.transcript.latest, this.cover.element),
      this.composer.element,
      h("p", { className: "caution" }, words.caution),
      this.announcer,
    );
    this.dialog.replaceChildren(content);
    this.composer.serve(content);
    this.#fit();
    this.transcript.draw();
  }

  #dismantle() {
    this.#views.abort();
    this.composer.watch(false);
    this.transcript.destroy();
  }

  /** The conversation goes on, and what is being written stays. */
  #rebuild() {
    const { text, field } = this.composer;
    const { selectionStart, selectionEnd } = field;
    const hadFocus = this.#root.activeElement !== null;
    const top = this.transcript.log.scrollTop;
    this.#dismantle();
    this.#build();
    this.composer.text = text;
    this.composer.field.setSelectionRange(selectionStart, selectionEnd);
    this.composer.watch(this.isOpen);
    this.transcript.log.scrollTop = top;
    if (hadFocus) this.#takeFocus();
  }

  /** Shows what options and widths say. */
  #fit() {
    const { logo, variant, starterQuestions } = this.#options;
    const wide = this.frame.isWide;
    this.widen.hidden = variant !== "panel";
    this.widen.ariaLabel = this.widen.title = wide ? words.narrower : words.wider;
    this.widen.replaceChildren(icon(wide ? "narrow" : "widen"));
    if (this.header.dataset.logo !== logo) {
      if (this.header.firstElementChild?.tagName !== "H2") this.header.firstElementChild?.remove();
      if (logo) this.header.prepend(mark(logo));
      this.header.dataset.logo = logo;
    }
    const items = starterQuestions
      .slice(0, STARTERS)
      .map(String)
      .map((text) => {
        const ask = () => {
          this.ask(text);
          this.#takeFocus(); // the button is gone
        };
        return h("li", {}, h("button", { dir: "auto", onclick: ask }, text));
      });
    this.starters.replaceChildren(...items);
    this.starters.hidden = items.length === 0;
    this.frame.fit();
  }

  /** A focused field would bring up a phone's keyboard over what the reader came to see. */
  #takeFocus() {
    if (this.frame.isSheet) this.dialog.focus();
    else this.composer.field.focus();
  }

  #listen() {
    this.dialog.addEventListener("keydown", (event) => this.#key(event));
    // Shortcuts of the host page see this element, not the field that is typed in, and would act on every letter.
    for (const type of ["keydown", "keyup", "keypress"])
      this.addEventListener(type, (event) => event.stopPropagation());
    this.dialog.addEventListener("announce", (event) =>
      this.#announce(/** @type {CustomEvent<string>} */ (event).detail),
    );
    this.dialog.addEventListener("click", (event) => this.#clicked(event));
    this.conversation.addEventListener("change", (event) =>
      this.#tell(/** @type {CustomEvent} */ (event).detail.before),
    );
    this.conversation.addEventListener("hook", (event) => {
      this.dispatchEvent(new CustomEvent("hook", { detail: /** @type {CustomEvent} */ (event).detail }));
    });
  }

  /** Says how the last answer is getting on, and at its end what to know of it; its text is left to the reader. @param {Thread} before */
  #tell(before) {
    const [was, is] = [lastAnswer(before), lastAnswer(this.conversation.thread)];
    if (!is || (was?.phase === is.phase && was.reconnecting === is.reconnecting && was.id === is.id)) return;
    const { text, sources, failure } = is;
    const phase = is.reconnecting ? "reconnecting" : is.phase;
    const cited = sources.length === 0 ? words.complete : sources.length === 1 ? words.completeOne : words.completeMany;
    const known = notes(is).map(({ textContent }) => textContent);
    if (phase === "done") this.#announce([...known, firstSentence(text), fill(cited, { n: sources.length })].join(" "));
    else if (phase === "failed") this.#announce(failure?.text || words.failed);
    else if (phase === "waiting") this.#announce(wait(is));
    else if (phase !== "sending" && phase !== "reading") this.#announce(words[phase]);
  }

  /** @param {string} text */
  #announce(text) {
    this.announcer.textContent = text;
  }

  /** What goes with the turns that were just drawn. */
  #drawn() {
    this.greeting.hidden = this.conversation.thread.turns.length > 0;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.defaultPrevented || event.isComposing) return;
    const step = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
    const wanted = this.#options.shortcuts && wish(event);
    if (event.key !== "Escape" && !wanted && !step) return;
    event.preventDefault();
    if (step) this.transcript.step(step);
    else if (wanted === "fresh") this.conversation.restart();
    else if (!wanted && (this.cover.close() || this.composer.endEdit())) return;
    else if (!wanted && this.conversation.isRunning) this.conversation.stop();
    else this.hide();
  }

  /** A link to a page of this site would lead behind what covers it. @param {Event} event */
  #clicked(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link && !link.target && this.frame.covers) this.hide();
  }
}

/**
 * A panel, not yet shown.
 * @param {Partial<Options> & { domain: string, key: string }} options
 * @param {string} script address of the loader
 * @param {Partial<Parts>} [parts] other ones than a reader's own, to show what a panel looks like
 */
export function create(options, script, parts = {}) {
  // Two copies of this module may meet on one page, and a name belongs to the class that took it first.
  if (!customElements.get(TAG)) customElements.define(TAG, Panel);
  const Registered = /** @type {typeof Panel} */ (customElements.get(TAG));
  return new Registered({ ...DEFAULTS, ...options }, script, {
    store: store(options.domain, options.memory),
    client: new Client(script, options.domain),
    ...parts,
  });
}

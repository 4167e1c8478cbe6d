/** The panel that the launcher opens: a conversation with its composer. */

import { warn } from "../base/console.js";
import { applyStyles, h } from "../base/dom.js";
import { shortcutOf } from "../base/keyboard.js";
import { fill, labels, setLabels } from "../base/labels.js";
import { DEFAULTS } from "../base/options.js";
import { parseContexts } from "../conversation/context.js";
import { Conversation } from "../conversation/conversation.js";
import { createStore } from "../conversation/store.js";
import { lastAnswer } from "../conversation/thread.js";
import { Client } from "../service/client.js";
import { buildNotices, cutSentence, waitText } from "../transcript/status.js";
import { Content } from "./content.js";
import { Frame } from "./frame.js";
import { askPerson } from "./overlay.js";
import { sheets } from "./styles.js";

/** @typedef {import("../conversation/thread.js").Thread} Thread */
/** @typedef {import("../base/options.js").Options} Options */
/** @typedef {{ store: ReturnType<typeof createStore>, client: Client }} Services */

const TAG = "docs-assistant-panel";

/** Fires `toggle` when it opens and closes, and `hook` for events that are passed to the host page. */
export class Panel extends HTMLElement {
  isOpen = false;
  /** Whether the focus was inside when the panel closed. */
  hadFocus = false;

  #root = this.attachShadow({ mode: "closed" });
  #lifetime = new AbortController();
  #options;
  #store;

  /**
   * @param {Options} options
   * @param {Services} services
   */
  constructor(options, services) {
    super();
    this.#options = options;
    this.#store = services.store;
    this.conversation = new Conversation(options, services);
    this.dialog = h("dialog", { className: "panel", tabIndex: -1, "aria-labelledby": "name" });
    this.frame = new Frame(this.dialog, options, {
      style: applyStyles(this.#root, [...sheets, ":host{}"], options.nonce),
      onclose: () => this.hide(),
      signal: this.#lifetime.signal,
    });
    this.#root.append(this.dialog);
    this.content = this.#buildContent();
    this.#listen();
    this.#showContent();
  }

  get composer() {
    return this.content.composer;
  }

  get menu() {
    return this.content.menu;
  }

  get transcript() {
    return this.content.transcript;
  }

  /** @param {{ focus?: boolean, field?: HTMLTextAreaElement }} [how] `field`: the field of the skeleton */
  show({ focus = true, field } = {}) {
    if (!this.isOpen) {
      this.isOpen = true;
      this.frame.open({ instant: field !== undefined });
      this.composer.watchPage(true);
      this.transcript.showEnd();
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
    this.hadFocus = !this.dialog.open || this.#root.activeElement !== null; // the browser may have closed the dialog
    this.frame.close();
    this.composer.watchPage(false);
    this.dispatchEvent(new Event("toggle"));
  }

  /**
   * Asks a question, or keeps it in the composer while an answer is running.
   * @param {string} text
   * @param {unknown} [input] context from the host page, unchecked
   */
  ask(text, input) {
    const context = parseContexts(input);
    if (this.conversation.ask(text, context)) return;
    this.composer.text = text.trim();
    this.composer.attach(context);
  }

  /** Applies new options. @param {Options} options */
  update(options) {
    const previous = this.#options;
    this.#options = this.frame.options = this.conversation.options = options;
    if (JSON.stringify(previous.labels) !== JSON.stringify(options.labels)) this.#rebuild();
    else this.#update();
  }

  destroy() {
    this.hide();
    this.#lifetime.abort();
    this.content.destroy();
    this.conversation.destroy();
  }

  #buildContent() {
    const unknown = setLabels(this.#options.labels);
    if (unknown.length) warn(`there are no labels ${unknown.join(", ")}.`);
    return new Content(this.conversation, this.#store, {
      onask: (question) => {
        this.ask(question);
        this.#takeFocus(); // the button is gone
      },
      onclose: () => this.hide(),
      onwiden: () => {
        this.frame.isWide = !this.frame.isWide;
        this.#update();
      },
      onfocuslost: () => this.#takeFocus(),
    });
  }

  #showContent() {
    this.dialog.replaceChildren(this.content.element);
    this.#update();
    this.transcript.draw();
  }

  /** Draws everything again with other labels. The conversation continues, and the text in the field stays. */
  #rebuild() {
    const { text, field } = this.composer;
    const { selectionStart, selectionEnd } = field;
    const hadFocus = this.#root.activeElement !== null;
    const top = this.transcript.log.scrollTop;
    this.content.destroy();
    this.content = this.#buildContent();
    this.#showContent();
    this.composer.text = text;
    this.composer.field.setSelectionRange(selectionStart, selectionEnd);
    this.composer.watchPage(this.isOpen);
    this.transcript.log.scrollTop = top;
    if (hadFocus) this.#takeFocus();
  }

  /** Applies the options, and the width that the reader chose. */
  #update() {
    this.content.update(this.#options, this.frame.isWide);
    this.frame.update();
  }

  /** On a phone the field does not get the focus: its keyboard would cover the conversation. */
  #takeFocus() {
    if (this.frame.isSheet) this.dialog.focus();
    else this.composer.field.focus();
  }

  #listen() {
    this.dialog.addEventListener("keydown", (event) => this.#key(event));
    // The host page's shortcuts see this element as the target, not the field, and would act on typed letters.
    for (const type of /** @type {const} */ (["keydown", "keyup", "keypress"]))
      this.addEventListener(type, (event) => {
        const isSearch = (event.ctrlKey || event.metaKey) && event.key === "k"; // the site's own, in most sites
        if (!isSearch) event.stopPropagation();
        else if (this.frame.isCovering) this.hide();
      });
    this.dialog.addEventListener("announce", (event) =>
      this.content.announce(/** @type {CustomEvent<string>} */ (event).detail),
    );
    this.dialog.addEventListener("click", (event) => this.#linkClicked(event));
    this.conversation.addEventListener("change", (event) =>
      this.#announceAnswer(/** @type {CustomEvent} */ (event).detail.before),
    );
    this.conversation.addEventListener("hook", (event) => {
      this.dispatchEvent(new CustomEvent("hook", { detail: /** @type {CustomEvent} */ (event).detail }));
    });
  }

  /** Announces the progress of the last answer, and at its end the notices and the first sentence. @param {Thread} before */
  #announceAnswer(before) {
    const [previous, is] = [lastAnswer(before), lastAnswer(this.conversation.thread)];
    if (!is || (previous?.phase === is.phase && previous.reconnecting === is.reconnecting && previous.id === is.id))
      return;
    const { text, sources, failure } = is;
    const phase = is.reconnecting ? "reconnecting" : is.phase;
    const cited =
      sources.length === 0 ? labels.complete : sources.length === 1 ? labels.completeOne : labels.completeMany;
    const notices = buildNotices(is).map(({ textContent }) => textContent);
    // The model's own searches, and the text after them, are no news.
    const isRepeated =
      !previous?.reconnecting && (phase === "searching" ? is.searches.length : phase === "answering" && previous?.text);
    if (phase === "done")
      this.content.announce(
        [...notices, this.transcript.firstSentence(text), cutSentence(is) || fill(cited, { n: sources.length })].join(
          " ",
        ),
      );
    else if (phase === "failed") this.content.announce(failure?.text || labels.failed);
    else if (phase === "waiting") this.content.announce(waitText(is));
    else if (phase !== "sending" && phase !== "reading" && !isRepeated) this.content.announce(labels[phase]);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.defaultPrevented || event.isComposing) return;
    const step = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
    const shortcut = this.#options.shortcuts && shortcutOf(event);
    if (event.key !== "Escape" && !shortcut && !step) return;
    event.preventDefault();
    if (step) this.transcript.focusTurn(step);
    else if (shortcut === "fresh") this.conversation.restart();
    else if (!shortcut && (this.content.overlay.close() || this.composer.cancelEdit())) return;
    else if (!shortcut && this.conversation.isRunning) this.conversation.stop();
    else this.hide();
  }

  /**
   * Shows the form to write to a person in place of its page. Closes a panel that would cover the text when a link leads
   * to a page of this site.
   * @param {Event} event
   */
  #linkClicked(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const { support } = this.#options;
    if (support && link?.href.startsWith(support)) {
      event.preventDefault();
      askPerson(this.conversation, this.content.overlay);
    } else if (link && !link.target && this.frame.coversText) this.hide();
  }
}

/**
 * A panel, not yet shown.
 * @param {Partial<Options> & { domain: string, key: string }} options
 * @param {string} script address of the loader
 * @param {Partial<Services>} [services] replacements, for a panel that only shows its look
 */
export function create(options, script, services = {}) {
  // A page may load two copies of this module. An element's name belongs to the class of the first one.
  if (!customElements.get(TAG)) customElements.define(TAG, Panel);
  const Registered = /** @type {typeof Panel} */ (customElements.get(TAG));
  return new Registered(
    { ...DEFAULTS, ...options },
    {
      store: createStore(options.domain, options.memory),
      client: new Client(script, options.domain),
      ...services,
    },
  );
}

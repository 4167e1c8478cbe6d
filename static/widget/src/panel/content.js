/** The content of the panel's dialog, in the current labels: header, conversation, composer. */

import { h, icon, iconButton, logoImage } from "../base/dom.js";
import { labels } from "../base/labels.js";
import { Composer } from "../composer/composer.js";
import { Transcript } from "../transcript/transcript.js";
import { Menu } from "./menu.js";
import { Overlay } from "./overlay.js";

/** @typedef {import("../base/options.js").Options} Options */

/** The panel has room for so many starter questions. */
const MAX_STARTERS = 3;

export class Content {
  /** Removes all listeners of the content. */
  #lifetime = new AbortController();
  #onask;

  /**
   * @param {import("../conversation/conversation.js").Conversation} conversation
   * @param {import("./panel.js").Services["store"]} store
   * @param {object} on
   * @param {(question: string) => void} on.onask a starter question was chosen
   * @param {() => void} on.onclose
   * @param {() => void} on.onwiden
   * @param {() => void} on.onfocuslost the element that had the focus is gone
   */
  constructor(conversation, store, { onask, onclose, onwiden, onfocuslost }) {
    const { signal } = this.#lifetime;
    this.#onask = onask;
    this.composer = new Composer(conversation, store, { onfocuslost, signal });
    this.overlay = new Overlay(conversation, { onfocuslost, signal });
    this.menu = new Menu(conversation, this.composer, this.overlay, { onfocuslost, signal });
    this.transcript = new Transcript(conversation, {
      ondraw: () => (this.greeting.hidden = conversation.thread.turns.length > 0),
      onfocuslost,
      signal,
    });
    this.announcer = h("div", { className: "unseen", role: "status", "aria-live": "polite" });
    this.starters = h("ul", { className: "starters", "aria-label": labels.starters });
    this.greeting = h(
      "div",
      { className: "greeting" },
      icon("ask"),
      h("h3", {}, labels.greeting),
      h("p", {}, labels.promise),
      this.starters,
    );
    this.widen = iconButton("", "widen", onwiden);
    this.header = h(
      "header",
      { role: "none" }, // else it is a second banner of the page
      h("h2", { id: "name" }, labels.name),
      this.menu.element,
      this.widen,
      iconButton(labels.close, "close", onclose),
    );
    this.element = h(
      "div",
      { className: "content" },
      this.header,
      h(
        "div",
        { className: "middle" },
        this.greeting,
        this.transcript.log,
        this.transcript.latest,
        this.overlay.element,
      ),
      this.composer.element,
      h("p", { className: "caution" }, labels.caution),
      this.announcer,
    );
    this.composer.acceptDrops(this.element);
  }

  /** @param {Options} options @param {boolean} isWide */
  update({ logo, variant, starterQuestions }, isWide) {
    this.widen.hidden = variant !== "panel";
    this.widen.ariaLabel = this.widen.title = isWide ? labels.narrower : labels.wider;
    this.widen.replaceChildren(icon(isWide ? "narrow" : "widen"));
    if (this.header.dataset.logo !== logo) {
      if (this.header.firstElementChild?.tagName !== "H2") this.header.firstElementChild?.remove();
      if (logo) this.header.prepend(logoImage(logo));
      this.header.dataset.logo = logo;
    }
    const items = starterQuestions.slice(0, MAX_STARTERS).map((question) => {
      const text = String(question);
      return h("li", {}, h("button", { dir: "auto", onclick: () => this.#onask(text) }, text));
    });
    this.starters.replaceChildren(...items);
    this.starters.hidden = items.length === 0;
  }

  /** Tells screen readers. @param {string} text */
  announce(text) {
    this.announcer.textContent = text;
  }

  destroy() {
    this.#lifetime.abort();
    this.composer.watchPage(false);
    this.transcript.destroy();
  }
}

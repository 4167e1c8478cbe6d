/** How an answer looks in each of its states. It is given its turn again whenever it changed. */

import { copyButton } from "../markdown/code.js";
import { h, tool } from "../base/dom.js";
import { FeedbackView } from "./feedback.js";
import { address, withoutSuggestions } from "../markdown/parser.js";
import { Progress, ending, notes } from "./status.js";
import { Pace } from "./typing-pace.js";
import { Prose, hostsOf } from "../markdown/renderer.js";
import { cited, nextList, scopeLine, sourceList } from "./sources.js";
import { fill, words } from "../base/labels.js";

/** @typedef {import("../conversation/thread.js").Answer} Answer */

/** A part that is made again only when what it shows changed: what has the focus or is selected in it stays. */
class Part {
  element = h("div");
  #key = "";

  /** @param {unknown} shown @param {() => (Node | null)[]} make */
  set(shown, make) {
    const key = JSON.stringify(shown);
    if (key === this.#key) return;
    this.#key = key;
    this.element.replaceChildren(...make().filter((node) => node !== null));
  }
}

export class AnswerView {
  /** @type {Answer | null} */
  turn = null;
  /** Only the last answer can be asked for again. */
  last = false;
  /** Whether there is more of the text than is shown. */
  behind = false;

  #pace = new Pace();
  #calm = matchMedia("(prefers-reduced-motion: reduce)");
  #body = "";
  #notes = new Part();
  #prose = new Prose();
  #ending = new Part();
  #sources = new Part();
  #next = new Part();
  #scope = new Part();
  #progress;
  #feedback;
  #retry;
  #foot;

  /** @param {import("../conversation/conversation.js").Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.#progress = new Progress(conversation);
    this.#feedback = new FeedbackView(conversation);
    this.#retry = tool(words.retry, "retry", () => conversation.retry());
    this.#foot = h(
      "div",
      { className: "foot" },
      copyButton(words.copy, () => this.#body),
      this.#retry,
      this.#feedback.thumbs,
      this.#scope.element,
    );
    this.element = h(
      "article",
      { className: "answer", tabIndex: -1 },
      h("h3", { className: "unseen" }, words.answered),
      this.#notes.element,
      this.#prose.element,
      this.#progress.element,
      h(
        "div",
        { className: "after" },
        this.#ending.element,
        this.#sources.element,
        this.#foot,
        this.#feedback.element,
        this.#next.element,
      ),
    );
  }

  /**
   * @param {Answer} answer
   * @param {boolean} last
   * @param {number} at when it changed, milliseconds
   * @param {number} now milliseconds on the same clock
   */
  update(answer, last, at, now) {
    const text = this.#arrived(answer, at, now);
    const phase = this.behind && answer.phase === "done" ? "answering" : answer.phase;
    const done = phase === "done";
    const site = address(answer.site, location.href) ?? location.href;
    const base = address(answer.sources[0]?.url || answer.site, location.href) ?? site;
    const { body, suggestions } = withoutSuggestions(text, base, answer.site);
    const sources = answer.refused ? [] : cited(body, answer.sources);

    this.turn = answer;
    this.last = last;
    this.#body = body;
    this.element.dataset.phase = phase;
    this.element.classList.toggle("refused", answer.refused);
    this.#notes.set([answer.notice, answer.restarted, answer.refused], () => notes(answer));
    this.#prose.update(body, {
      base,
      partial: !done,
      caret: phase === "answering" && !answer.reconnecting,
      hosts: hostsOf([site, ...answer.sources.map(({ url }) => url)]),
      images: new Set([location.origin, new URL(site).origin]),
    });
    this.#prose.element.hidden = !body.trim();
    this.#nameCitations(sources);
    this.#progress.update(answer, phase);
    this.#ending.set([phase, last, answer.failure, !body], () => [ending(answer, last, this.conversation)]);
    this.#sources.set(sources, () => [sources.length ? sourceList(sources) : null]);
    this.#next.set(done && suggestions, () => [done && suggestions.length ? nextList(suggestions) : null]);
    this.#scope.set(done && answer.scope, () => [done ? scopeLine(answer.scope) : null]);
    this.#foot.hidden = !done;
    this.#retry.hidden = !last;
    this.#feedback.update(answer);
  }

  destroy() {
    this.#progress.destroy();
  }

  /** As much of the text as its pace has brought. @param {Answer} answer @param {number} at @param {number} now */
  #arrived({ text, phase }, at, now) {
    const isWhole = !this.turn || this.#calm.matches || phase === "stopped" || phase === "failed";
    const shown = isWhole ? this.#pace.all(text.length) : this.#pace.shown(text.length, at, now);
    this.behind = shown < text.length;
    const isSplit = /[\ud800-\udbff]/.test(text[shown - 1] ?? "");
    return text.slice(0, isSplit ? shown - 1 : shown);
  }

  /** @param {import("./sources.js").Numbered[]} sources */
  #nameCitations(sources) {
    for (const cite of this.#prose.element.querySelectorAll("a.cite:not([aria-label])")) {
      const number = cite.textContent ?? "";
      const source = sources.find((item) => String(item.number) === number);
      if (source) cite.ariaLabel = fill(words.source, { number, title: source.title });
    }
  }
}

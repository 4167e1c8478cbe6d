/** The view of an answer in each of its phases. It is updated when the answer changes. */

import { copyButton } from "../base/copy-button.js";
import { h, iconButton } from "../base/dom.js";
import { fill, labels } from "../base/labels.js";
import { ENDED } from "../conversation/thread.js";
import { hostsOf, resolveAddress, splitSuggestions } from "../markdown/addresses.js";
import { setDirections } from "./direction.js";
import { FeedbackView } from "./feedback.js";
import { buildNextList, buildScopeLine, buildSearchList, buildSourceList, citedSources } from "./sources.js";
import { buildNotices, buildOutcome, ProgressLine } from "./status.js";
import { TypingPace } from "./typing-pace.js";

/** @typedef {import("../conversation/thread.js").Answer} Answer */
/** @typedef {import("./plain-text.js").MarkdownScript} MarkdownScript */

/** How an answer was made that quotes passages. */
const QUOTED = new Set(["extractive", "closest_passages"]);

/** A part that is rendered only if its data changed, so that it keeps the focus and the selection. */
class CachedPart {
  element = h("div");
  #key = "";

  /** @param {unknown} data @param {() => (Node | null)[]} build */
  render(data, build) {
    const key = JSON.stringify(data);
    if (key === this.#key) return;
    this.#key = key;
    this.element.replaceChildren(...build().filter((node) => node !== null));
  }
}

export class AnswerView {
  /** @type {Answer | null} */
  turn = null;
  /** Only the last answer can be retried. */
  isLast = false;
  /** Whether a part of the text is not shown yet. */
  isBehind = false;

  #pace = new TypingPace();
  #reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
  #body = "";
  #notices = new CachedPart();
  #prose = h("div", { className: "prose", dir: "auto", hidden: true });
  /** @type {MarkdownScript | null} */
  #script = null;
  /** @type {InstanceType<MarkdownScript["MarkdownView"]> | null} */
  #markdown = null;
  #outcome = new CachedPart();
  #sources = new CachedPart();
  #searches = new CachedPart();
  #next = new CachedPart();
  #scope = new CachedPart();
  #progress;
  #feedback;
  #retry;
  #foot;

  /** @param {import("../conversation/conversation.js").Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
    this.#progress = new ProgressLine(conversation);
    this.#feedback = new FeedbackView(conversation);
    this.#retry = iconButton(labels.retry, "retry", () => conversation.retry());
    this.#foot = h(
      "div",
      { className: "foot" },
      copyButton(labels.copy, labels.copied, () => this.#body),
      this.#retry,
      this.#feedback.thumbs,
      this.#scope.element,
    );
    this.element = h(
      "article",
      { className: "answer", tabIndex: -1 },
      h("h3", { className: "unseen" }, labels.answered),
      this.#notices.element,
      this.#prose,
      this.#progress.element,
      h(
        "div",
        { className: "after" },
        this.#outcome.element,
        this.#sources.element,
        this.#next.element,
        this.#searches.element,
        this.#foot,
        this.#feedback.element,
      ),
    );
  }

  /** Takes what shows the text, from the next update on. Returns whether it is another one. @param {MarkdownScript} script */
  setMarkdown(script) {
    if (script === this.#script) return false;
    this.#script = script;
    this.#prose.className = "prose";
    this.#prose.replaceChildren();
    this.#markdown = new script.MarkdownView(this.#prose);
    return true;
  }

  /**
   * @param {Answer} answer
   * @param {boolean} last
   * @param {number} at when it changed, milliseconds
   * @param {number} now milliseconds on the same clock
   */
  update(answer, last, at, now) {
    const text = this.#visibleText(answer, at, now);
    const phase = this.isBehind && answer.phase === "done" ? "answering" : answer.phase;
    const done = phase === "done";
    const site = resolveAddress(answer.site, location.href) ?? location.href;
    const base = resolveAddress(answer.sources[0]?.url || answer.site, location.href) ?? site;
    const { body, suggestions } = splitSuggestions(text, base, answer.site);
    const sources = answer.refused ? [] : citedSources(body, answer.sources);

    this.turn = answer;
    this.isLast = last;
    this.#body = body;
    this.element.dataset.phase = phase;
    this.element.classList.toggle("refused", answer.refused);
    this.#notices.render([answer.notice, answer.restarted, answer.refused], () => buildNotices(answer));
    this.#markdown?.update(body, {
      base,
      partial: !done,
      caret: phase === "answering" && !answer.reconnecting,
      folds: QUOTED.has(answer.notice?.rung ?? ""),
      hosts: hostsOf([site, ...answer.sources.map(({ url }) => url)]),
      images: new Set([location.origin, new URL(site).origin]),
    });
    setDirections(this.#prose, body);
    this.#prose.hidden = !this.#markdown || !body.trim();
    this.#nameCitations(sources);
    this.#progress.update(answer, phase);
    this.#outcome.render([phase, last, answer.failure, answer.cut, !body], () => [
      buildOutcome({ ...answer, phase }, last, this.conversation),
    ]);
    this.#sources.render(sources, () => [sources.length ? buildSourceList(sources) : null]);
    // Not before the end: until then the progress tells of them, and nothing below the text moves.
    const searches = ENDED.has(phase) ? answer.searches : [];
    this.#searches.render(searches, () => [searches.length ? buildSearchList(searches) : null]);
    this.#next.render(done && suggestions, () => [done && suggestions.length ? buildNextList(suggestions) : null]);
    this.#scope.render(done && answer.scope, () => [done ? buildScopeLine(answer.scope) : null]);
    this.#foot.hidden = !done;
    this.#retry.hidden = !last;
    this.#feedback.update(answer);
  }

  destroy() {
    this.#progress.destroy();
  }

  /** The text up to the length that the typing pace allows. @param {Answer} answer @param {number} at @param {number} now */
  #visibleText({ text, phase }, at, now) {
    const isWhole = !this.turn || this.#reducedMotion.matches || phase === "stopped" || phase === "failed";
    const length = isWhole ? this.#pace.showAll(text.length) : this.#pace.visibleLength(text.length, at, now);
    this.isBehind = length < text.length;
    const isSplit = /[\ud800-\udbff]/.test(text[length - 1] ?? "");
    return text.slice(0, isSplit ? length - 1 : length);
  }

  /** @param {import("./sources.js").NumberedSource[]} sources */
  #nameCitations(sources) {
    for (const citation of this.#prose.querySelectorAll("a.cite:not([aria-label])")) {
      const number = citation.textContent ?? "";
      const source = sources.find((item) => String(item.number) === number);
      if (source) citation.ariaLabel = fill(labels.source, { number, title: source.title });
    }
  }
}

/** The status of an answer: notices, progress, and how it ended. */

import { h, icon, textButton } from "../base/dom.js";
import { fill, labels } from "../base/labels.js";
import { ENDED } from "../conversation/thread.js";

/** @typedef {import("../conversation/thread.js").Answer} Answer */
/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

/** The label for each way in which an answer was made without the usual model. @type {Record<string, keyof typeof labels>} */
const FALLBACK_LABELS = {
  second_model: "rungSecondModel",
  extractive: "rungExtractive",
  closest_passages: "rungExtractive",
  nearest_pages: "rungNearestPages",
};

/** Why a complete stream ends too early; empty for a whole answer. @param {Answer} answer */
export const cutSentence = ({ phase, cut }) =>
  phase !== "done" ? "" : cut === "length" ? labels.cutLength : cut === "content-filter" ? labels.cutFilter : "";

/** Notices above an answer. @param {Answer} answer */
export function buildNotices({ notice, restarted, refused }) {
  const key = FALLBACK_LABELS[notice?.rung ?? ""];
  return [
    restarted && h("p", { className: "restarted" }, h("span", {}, labels.restarted)),
    // The text of a refusal already says that it lists only nearby pages.
    notice &&
      key &&
      !refused &&
      h(
        "div",
        { className: "banner" },
        icon("info"),
        h("p", {}, notice.reason && key !== "rungSecondModel" ? `${labels.paused} ` : "", labels[key]),
      ),
  ].filter((node) => node instanceof Node);
}

/** A line with the progress of an answer. It stays the same element. */
export class ProgressLine {
  #text = h("span");
  #symbol = h("span", { className: "mark" });
  #cancel;
  #kind = "";
  /** @type {Answer | null} */
  #answer = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {Conversation} conversation */
  constructor(conversation) {
    this.#cancel = textButton(() => conversation.stop(), labels.cancel);
    this.element = h("div", { className: "status" }, this.#symbol, this.#text);
  }

  /** @param {Answer} answer @param {import("../conversation/thread.js").Phase} phase the one to show */
  update(answer, phase) {
    const kind = answer.reconnecting ? "reconnecting" : phase;
    const isWaiting = kind === "queued" || kind === "waiting";
    const text = progressText(answer, kind);
    this.element.hidden = text === "";
    this.element.dataset.kind = kind;
    if (kind !== this.#kind) {
      this.#kind = kind;
      clearInterval(this.#timer);
      this.#symbol.replaceChildren(isWaiting ? icon("clock") : h("span", { className: "pulse" }));
      if (isWaiting) this.element.append(this.#cancel);
      else this.#cancel.remove();
      if (kind === "waiting") this.#timer = setInterval(() => this.#tick(), 1000);
    }
    this.#answer = answer;
    if (kind === "waiting") this.#tick();
    else if (text !== this.#text.textContent) this.#text.textContent = text;
  }

  #tick() {
    this.#text.textContent = waitText(this.#answer);
  }

  destroy() {
    clearInterval(this.#timer);
  }
}

/** The sentence for how long a question still waits. @param {Answer | null} answer */
export function waitText(answer) {
  const { status, text = "", readyAt = 0 } = answer?.failure ?? {};
  const remaining = formatClock(Math.max(0, Math.ceil(((readyAt ?? 0) - Date.now()) / 1000)));
  return fill(status === 429 ? labels.busy : labels.later, { why: text || labels.failed, clock: remaining });
}

/** Empty once an answer has ended. @param {Answer} answer @param {string} kind */
function progressText({ reading, searches }, kind) {
  const last = searches.at(-1);
  if (kind === "searching" && last) return fill(labels.searchingFor, { query: last.text });
  if (kind === "reading")
    return fill(labels.reading, { titles: reading.slice(0, 3).join(", ") + (reading.length > 3 ? "…" : "") });
  if (kind === "waiting") return labels.busy;
  return ENDED.has(kind)
    ? ""
    : labels[/** @type {"queued" | "sending" | "searching" | "answering" | "reconnecting"} */ (kind)];
}

/** How an incomplete answer ended. Only the last one can be retried or continued. @param {Answer} answer @param {boolean} last @param {Conversation} conversation */
export function buildOutcome(answer, last, conversation) {
  const { phase, text, failure } = answer;
  const retry = last && textButton(() => conversation.retry(), icon("retry"), labels.retry);
  const cut = cutSentence(answer);
  if (phase === "stopped" || cut) {
    const continueButton = last && text.trim() && textButton(() => conversation.continueAnswer(), labels.proceed);
    return h(
      "div",
      { className: "outcome" },
      h("p", {}, cut || labels.stopped),
      h("span", {}, continueButton || null, !cut && retry),
    );
  }
  if (phase !== "failed") return null;
  const status = failure?.status ? h("small", {}, fill(labels.status, { n: failure.status })) : null;
  const sentence = failure?.text || (text ? labels.failed : labels.empty);
  return h("div", { className: "outcome failure" }, h("div", {}, h("p", {}, sentence), status), retry);
}

/** @param {number} seconds */
function formatClock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

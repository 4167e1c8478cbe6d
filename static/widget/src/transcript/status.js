/** How an answer is getting on, and what can be done about it. */

import { h, icon, textButton } from "../base/dom.js";
import { fill, labels } from "../base/labels.js";
import { ENDED } from "../conversation/thread.js";

/** @typedef {import("../conversation/thread.js").Answer} Answer */
/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

/** @type {Record<string, keyof typeof labels>} */
const RUNGS = { second_model: "rungSecondModel", extractive: "rungExtractive", nearest_pages: "rungNearestPages" };

/** What a reader should know before reading an answer. @param {Answer} answer */
export function buildNotices({ notice, restarted, refused }) {
  const key = RUNGS[notice?.rung ?? ""];
  return [
    restarted && h("p", { className: "restarted" }, h("span", {}, labels.restarted)),
    // A refusal says by itself that there are only pages nearby.
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

/** What is being done for an answer that is on its way, in a line that stays one element. */
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

  /** @param {Answer} answer @param {import("../conversation/thread.js").Phase} phase the one that is shown */
  update(answer, phase) {
    const kind = answer.reconnecting ? "reconnecting" : phase;
    const held = kind === "queued" || kind === "waiting";
    const said = progressText(answer, kind);
    this.element.hidden = said === "";
    this.element.dataset.kind = kind;
    if (kind !== this.#kind) {
      this.#kind = kind;
      clearInterval(this.#timer);
      this.#symbol.replaceChildren(held ? icon("clock") : h("span", { className: "pulse" }));
      if (held) this.element.append(this.#cancel);
      else this.#cancel.remove();
      if (kind === "waiting") this.#timer = setInterval(() => this.#tick(), 1000);
    }
    this.#answer = answer;
    if (kind === "waiting") this.#tick();
    else if (said !== this.#text.textContent) this.#text.textContent = said;
  }

  #tick() {
    this.#text.textContent = waitText(this.#answer);
  }

  destroy() {
    clearInterval(this.#timer);
  }
}

/** How long a question waits from now. @param {Answer | null} answer */
export function waitText(answer) {
  const { status, text = "", readyAt = 0 } = answer?.failure ?? {};
  const left = formatClock(Math.max(0, Math.ceil(((readyAt ?? 0) - Date.now()) / 1000)));
  return fill(status === 429 ? labels.busy : labels.later, { why: text || labels.failed, clock: left });
}

/** Empty once an answer has ended. @param {Answer} answer @param {string} kind */
function progressText({ reading }, kind) {
  if (kind === "reading")
    return fill(labels.reading, { titles: reading.slice(0, 3).join(", ") + (reading.length > 3 ? "…" : "") });
  if (kind === "waiting") return labels.busy;
  return ENDED.has(kind)
    ? ""
    : labels[/** @type {"queued" | "sending" | "searching" | "answering" | "reconnecting"} */ (kind)];
}

/** How an answer ended that is not whole. Only the last one can be gone on with. @param {Answer} answer @param {boolean} last @param {Conversation} conversation */
export function buildOutcome({ phase, text, failure }, last, conversation) {
  const again = last && textButton(() => conversation.retry(), icon("retry"), labels.retry);
  if (phase === "stopped") {
    const proceed = last && text.trim() && textButton(() => conversation.continueAnswer(), labels.proceed);
    return h("div", { className: "outcome" }, h("p", {}, labels.stopped), h("span", {}, proceed || null, again));
  }
  if (phase !== "failed") return null;
  const status = failure?.status ? h("small", {}, fill(labels.status, { n: failure.status })) : null;
  const said = failure?.text || (text ? labels.failed : labels.empty);
  return h("div", { className: "outcome failure" }, h("div", {}, h("p", {}, said), status), again);
}

/** @param {number} seconds */
function formatClock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** How a question and an answer look. Each view is given its turn again whenever it changed. */

import { h, icon } from "./dom.js";
import { MarkdownView, address, copyButton, linkTo, withoutSuggestions } from "./markdown.js";
import { isRunning, numbered } from "./thread.js";
import { words } from "./words.js";

/** @typedef {import("./thread.js").Question} Question */
/** @typedef {import("./thread.js").Answer} Answer */
/** @typedef {import("./thread.js").Source} Source */

/** Sources shown before the rest is asked for. */
const FEW = 5;

export class QuestionView {
  /** @param {Question} question */
  constructor(question) {
    this.turn = question;
    this.element = h(
      "article",
      { className: "question", dir: "auto" },
      h("h3", { className: "unseen" }, words.asked),
      h("p", {}, question.text),
    );
  }

  update() {}
}

export class AnswerView {
  /** @type {Answer | null} */
  turn = null;
  /** Only the last answer can be asked for again. */
  last = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;
  #markdown = new MarkdownView();
  #before = h("div", { className: "before" });
  #doing = h("span");
  #status = h("p", { className: "status" }, h("span", { className: "pulse" }), this.#doing);
  #after = h("div", { className: "after" });
  #allSources = false;
  #state = "";

  /** @param {{ onretry: () => void }} on */
  constructor({ onretry }) {
    this.onretry = onretry;
    this.element = h(
      "article",
      { className: "answer" },
      h("h3", { className: "unseen" }, words.answered),
      this.#before,
      this.#markdown.element,
      this.#status,
      this.#after,
    );
  }

  /** @param {Answer} answer @param {boolean} last */
  update(answer, last) {
    this.turn = answer;
    this.last = last;
    const running = isRunning(answer);
    const base = address(answer.sources[0]?.url ?? "", location.href) ?? location.href;
    const { body, suggestions } = withoutSuggestions(answer.text, base, answer.site);
    const sources = numbered(body, answer.sources);

    this.element.dataset.phase = answer.phase;
    this.#before.replaceChildren(...this.#notes(answer));
    this.#markdown.update(body, { base, partial: answer.phase !== "done", hosts: hostsOf(answer.sources) });
    this.#markdown.element.hidden = !body.trim();
    this.#nameCitations(sources);
    this.#status.hidden = !running;
    const doing = statusOf(answer);
    if (doing !== this.#doing.textContent) this.#doing.textContent = doing;

    // While text streams the list seldom changes, and replacing it would take away the reader's focus.
    const state = JSON.stringify([answer.phase, last, answer.failure, answer.scope, sources, suggestions, this.#allSources]);
    if (state === this.#state) return;
    this.#state = state;
    clearInterval(this.#clock);
    const after = [
      answer.phase === "failed" ? this.#failure(answer, last) : null,
      answer.phase === "stopped" ? h("div", { className: "outcome" }, h("p", {}, words.stopped), last && this.#retry()) : null,
      sources.length ? this.#sources(sources) : null,
      suggestions.length ? suggestionList(suggestions) : null,
      answer.phase === "done" ? h("div", { className: "foot" }, copyButton(words.copy, () => body), scopeOf(answer)) : null,
    ];
    this.#after.replaceChildren(...after.filter((node) => node !== null));
  }

  destroy() {
    clearInterval(this.#clock);
  }

  /** @param {Answer} answer */
  #notes(answer) {
    const { notice, restarted, reading } = answer;
    const notes = [];
    if (restarted) notes.push(words.restarted);
    // When the search found nothing, the answer itself says so, and there may be no pages to speak of.
    const refused = notice?.rung === "nearest_pages" && !reading.length;
    if (notice && words.rungs[notice.rung] && !refused) {
      const reason = notice.reason.replaceAll("_", " ");
      notes.push(words.rungs[notice.rung] + (reason ? ` (${reason})` : ""));
    }
    return notes.map((note) => h("p", { className: "note" }, note));
  }

  /** @param {(Source & { number: number })[]} sources */
  #nameCitations(sources) {
    for (const cite of this.#markdown.element.querySelectorAll("a.cite:not([title])")) {
      const number = cite.textContent ?? "";
      const source = sources.find((item) => String(item.number) === number);
      if (!source) continue;
      cite.setAttribute("title", source.title);
      cite.setAttribute("aria-label", words.source(number, source.title));
    }
  }

  /** @param {Answer} answer @param {boolean} last */
  #failure({ failure, text }, last) {
    const sentence = h("p", {});
    const retry = last ? this.#retry() : null;
    const status = failure?.status ? h("small", {}, words.status(failure.status)) : null;
    const readyAt = failure?.readyAt ?? 0;
    const tick = () => {
      const seconds = Math.ceil((readyAt - Date.now()) / 1000);
      const waiting = seconds > 0;
      if (waiting) sentence.textContent = words.busy(clock(seconds));
      else {
        clearInterval(this.#clock);
        sentence.textContent = readyAt ? words.ready : failure?.text || (text ? words.failed : words.empty);
      }
      if (retry) retry.disabled = waiting;
    };
    if (readyAt > Date.now()) this.#clock = setInterval(tick, 1000);
    tick();
    return h("div", { className: "outcome failure" }, h("div", {}, sentence, status), retry);
  }

  #retry() {
    return h("button", { type: "button", className: "plain", onclick: this.onretry }, icon("retry"), words.retry);
  }

  /** @param {(Source & { number: number })[]} sources */
  #sources(sources) {
    const shown = this.#allSources ? sources : sources.slice(0, FEW);
    const rest = sources.length - shown.length;
    const more = () => {
      this.#allSources = true;
      list.append(...sources.slice(FEW).map(sourceItem));
      button?.remove();
      /** @type {HTMLElement | null} */ (list.children[FEW].querySelector("a"))?.focus();
    };
    const list = h("ol", {}, ...shown.map(sourceItem));
    const button = rest ? h("button", { type: "button", className: "plain", onclick: more }, words.more(rest)) : null;
    return h("section", { className: "sources", "aria-label": words.sources }, h("h4", {}, words.sources), list, button);
  }
}

/** @param {Answer} answer */
function statusOf({ phase, reading }) {
  switch (phase) {
    case "searching":
      return words.searching;
    case "reading":
      return words.reading(reading.slice(0, 3).join(", ") + (reading.length > 3 ? "…" : ""));
    case "answering":
      return words.answering;
    default:
      return words.sending;
  }
}

/** @param {Source & { number: number }} source */
function sourceItem({ number, title, url }) {
  const href = address(url, location.href);
  const label = [h("span", { className: "number" }, String(number)), h("span", { className: "title" }, title), h("span", { className: "where" }, href ? place(href) : "")];
  return h("li", { value: number }, href ? h("a", linkTo(href), ...label) : h("span", {}, ...label));
}

/** Where a page is, as short as it stays clear. @param {string} href */
function place(href) {
  const { origin, host, pathname, hash } = new URL(href);
  return (origin === location.origin ? "" : host) + safeDecode(pathname + hash);
}

/** @param {string} text */
function safeDecode(text) {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

/** @param {{ label: string, href: string }[]} suggestions */
function suggestionList(suggestions) {
  const items = suggestions.slice(0, 3).map(({ label, href }) => h("li", {}, h("a", linkTo(href), label)));
  return h("section", { className: "next", "aria-label": words.next }, h("h4", {}, words.next), h("ul", {}, ...items));
}

/** Which state of the docs an answer is about. @param {Answer} answer */
function scopeOf({ scope }) {
  if (!scope) return null;
  const at = Date.parse(scope.indexedAt);
  const parts = [scope.version, Number.isNaN(at) ? "" : words.indexed(ago(at))].filter(Boolean);
  return parts.length ? h("small", {}, parts.join(" · ")) : null;
}

/** @param {number} at */
function ago(at) {
  const minutes = Math.min(0, Math.round((at - Date.now()) / 60_000));
  if (minutes === 0) return words.justNow;
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (minutes > -60) return format.format(minutes, "minute");
  if (minutes > -60 * 24) return format.format(Math.round(minutes / 60), "hour");
  return format.format(Math.round(minutes / 1440), "day");
}

/** @param {number} seconds */
function clock(seconds) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** @param {Source[]} sources */
function hostsOf(sources) {
  const hosts = new Set([location.host, ""]);
  for (const { url } of sources) {
    const href = address(url, location.href);
    if (href) hosts.add(new URL(href).host);
  }
  return hosts;
}

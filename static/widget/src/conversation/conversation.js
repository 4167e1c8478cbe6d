/**
 * A conversation and everything that can be done with it. It has no DOM: views show its `thread`, and hear of each
 * new one by a `change` event. Sites hear of what happens by `hook` events, which never carry a reader's words.
 */

import { due } from "./delay.js";
import { asMarkdown } from "./markdown-export.js";
import { received } from "./thread-events.js";
import { restored } from "./thread-parser.js";
import { randomId } from "./store.js";
import { asked, begin, edited, isRunning, lastAnswer, queued, rated, retried, sent, stopped } from "./thread.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Answer} Answer */
/** @typedef {import("./thread.js").Context} Context */
/** @typedef {import("./thread.js").Feedback} Feedback */
/** @typedef {import("../base/options.js").Options} Options */
/** @typedef {ReturnType<typeof import("./store.js").store>} Store */

/** The longest `currentPath` the service takes, in characters. */
const LONGEST_PATH = 200;

/** What goes on with an answer. The service knows it, so it is the same whatever its button says. */
const GO_ON = "Continue";

/** How long deleting waits for the service to tell where it keeps a question, in milliseconds. */
const BEGUN = 3_000;

/** How long another tab may take to begin an answer, in milliseconds. */
const BEGINNING = 30_000;

/** Fires `change` (its `detail.before` is the thread before) and `hook` (`detail.name`, `detail.detail`). */
export class Conversation extends EventTarget {
  #client;
  #store;
  #leaving = new AbortController();
  /** Whether the service may know which page the reader is on. */
  page = true;
  /** @type {Thread} */
  #thread;
  /** The thread as the store has it. @type {Thread} */
  #saved;
  /** Takes back the waiting for the network or for the end of a limit. */
  #unwait = () => {};
  #askedAt = 0;
  /** What the service knows of a reader's thoughts, by answer. @type {Map<string, Feedback | null>} */
  #kept = new Map();
  #rating = Promise.resolve(true);

  /**
   * @param {Options} options
   * @param {{ client: import("../service/client.js").Client, store: Store }} parts
   */
  constructor(options, { client, store }) {
    super();
    this.options = options;
    this.#client = client;
    this.#store = store;
    this.#thread = this.#saved = restored(store.load()) ?? begin(randomId());
    const { signal } = this.#leaving;
    const seen = () => document.hidden || this.#follow();
    store.watch(seen, signal);
    document.addEventListener("visibilitychange", seen, { signal });
    addEventListener("pagehide", () => this.#pause(), { signal });
    queueMicrotask(() => this.#goOn());
  }

  get thread() {
    return this.#thread;
  }

  get isRunning() {
    return isRunning(lastAnswer(this.#thread));
  }

  /**
   * Asks a question. Returns false, and does nothing, while another is being answered.
   * @param {string} text
   * @param {Context[]} [context] what the reader pointed at
   */
  ask(text, context = []) {
    const question = text.trim();
    if (!question || !this.#follow() || this.isRunning) return false;
    this.#become(asked(this.#thread, { text: question, context, questionId: randomId(), answerId: randomId() }));
    this.#hook("ask");
    this.#send();
    return true;
  }

  /** Asks the last question again; its answer takes the place of the one before. */
  retry() {
    this.#again("retry", retried(this.#thread, randomId()));
  }

  /** Asks another question in the place of the last one. @param {string} text @param {Context[]} [context] */
  edit(text, context = []) {
    const question = text.trim();
    if (question)
      this.#again(
        "edit",
        edited(this.#thread, { text: question, context, questionId: randomId(), answerId: randomId() }),
      );
  }

  /** Goes on with an answer that was stopped. */
  proceed() {
    this.ask(GO_ON);
  }

  /** Ends a running answer, and takes back a question that still waits. */
  stop() {
    if (!this.isRunning) return;
    this.#unwait();
    this.#client.stop();
    this.#become(stopped(this.#thread));
    this.#hook("stop");
  }

  /** Begins a new conversation. */
  restart() {
    this.stop();
    this.#become(begin(randomId()));
    this.#hook("restart");
  }

  /**
   * Tells the owner what the reader thinks of an answer; null takes it back. It is shown at once, and taken back
   * when the service does not keep it. Returns whether it does.
   * @param {string} answerId
   * @param {Feedback | null} feedback
   */
  async rate(answerId, feedback) {
    const find = () =>
      /** @type {Answer | undefined} */ (
        this.#thread.turns.find(({ id, role }) => id === answerId && role === "assistant")
      );
    const answer = find();
    if (!answer?.messageId) return false;
    if (!this.#kept.has(answerId)) this.#kept.set(answerId, answer.feedback);
    const { helpful = null, reason = "", comment = "" } = feedback ?? {};
    const content = {
      source: reason || comment ? "contextual" : "thumbs_only",
      path: path(),
      messageId: answer.messageId,
      helpful,
      ...(reason && { reason }),
      ...(comment && { comment }),
    };
    const show = (/** @type {Feedback | null} */ shown) => {
      this.#become(rated(this.#thread, answerId, shown));
      this.#save();
    };
    show(feedback);
    this.#hook("feedback", { helpful });
    this.#rating = this.#rating.then(async () => {
      const isKept = await this.#client.rate(content);
      if (isKept) {
        this.#kept.set(answerId, feedback);
      } else {
        if (find()?.feedback === feedback) show(this.#kept.get(answerId) ?? null);
        this.#hook("error", { status: 0, kind: "feedback" });
      }
      return isKept;
    });
    return this.#rating;
  }

  /** The reader's other conversations of the last day, newest first. */
  get past() {
    return this.#store.past().filter(({ chatId }) => chatId !== this.#thread.chatId);
  }

  /** Goes back to one of them. @param {string} chatId */
  open(chatId) {
    if (!this.past.some((known) => known.chatId === chatId)) return;
    this.stop();
    this.#adopt(restored(this.#store.open(chatId)));
  }

  /** The conversation as a Markdown document, for a download. */
  markdown() {
    this.#hook("download");
    return asMarkdown(this.#thread, new Date());
  }

  /** Deletes all that is known of this reader, here and at the service. Returns whether the service did, too. */
  async forget() {
    await this.#begun();
    this.stop();
    const { key } = this.options;
    const fp = this.#store.fp();
    const threadIds = new Set([this.#thread, ...this.#store.past()].map(({ threadId }) => threadId).filter(Boolean));
    const asked = [...threadIds].map((threadId) =>
      this.#client.forget({ key, fp, threadId: /** @type {string} */ (threadId) }),
    );
    this.#store.forget();
    this.#client.close();
    this.#adopt(begin(randomId()));
    const all = (await Promise.all(asked)).every(Boolean);
    this.#hook("forget");
    if (!all) this.#hook("error", { status: 0, kind: "forget" });
    return all;
  }

  /** Waits a little where a first question is on its way: nothing is known yet by which to delete it. */
  async #begun() {
    const over = Date.now() + BEGUN;
    const { phase = "" } = lastAnswer(this.#thread) ?? {};
    if (!["sending", "stopped"].includes(phase)) return;
    while (!this.#thread.threadId && Date.now() < over) await new Promise((done) => setTimeout(done, 100));
  }

  destroy() {
    this.#leaving.abort();
    this.#unwait();
    this.#client.close();
  }

  /** @param {"retry" | "edit"} name @param {Thread | null} thread with the last answer begun again */
  #again(name, thread) {
    if (!thread) return;
    this.#become(thread);
    this.#hook(name);
    this.#send(true);
  }

  /** Sends the last question, or lets it wait for the network. @param {boolean} [again] it was sent before */
  #send(again = false) {
    const { chatId, threadId, turns } = this.#thread;
    const [question, answer] = /** @type {[import("./thread.js").Question, Answer]} */ (turns.slice(-2));
    if (!navigator.onLine) {
      this.#become(queued(this.#thread));
      return this.#goOn();
    }
    const { key, filter } = this.options;
    const chosen = Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value));
    this.#askedAt = Date.now();
    this.#client.ask(
      {
        key,
        fp: this.#store.fp(),
        id: chatId,
        // A first question may be known to the service though its answer never began here.
        trigger: answer.replaces || (again && !threadId) ? "regenerate-message" : "submit-message",
        ...(answer.replaces && { messageId: answer.replaces }),
        messages: [{ id: question.id, role: "user", parts: [{ type: "text", text: question.text }] }],
        ...(this.page && { currentPath: path() }),
        ...(Object.keys(chosen).length && { filter: chosen }),
        ...(question.context.length && { context: question.context.map(({ label, ...pointed }) => pointed) }),
        suggestions: true,
        ...(threadId && { threadId }),
      },
      (event) => this.#hear(answer.id, event),
    );
  }

  /** Takes up the last answer where it is: lets it wait, or goes on with it. */
  #goOn() {
    this.#unwait();
    const { chatId, threadId } = this.#thread;
    const answer = lastAnswer(this.#thread);
    if (!answer || !isRunning(answer) || this.#leaving.signal.aborted) return;
    const { id, phase, failure, messageId, seen } = answer;
    const send = () => void this.#store.alone(() => this.#sendWaiting(id));
    if (phase === "queued") this.#unwait = due({}, send);
    else if (phase === "waiting") this.#unwait = due({ at: failure?.readyAt ?? 0, seen: true }, send);
    else {
      const asker = { key: this.options.key, fp: this.#store.fp(), id: chatId };
      this.#client.resume({ ...asker, threadId, messageId, after: seen }, (event) => this.#hear(id, event));
    }
  }

  /** Sends a question that waited, unless it was taken back or another tab has sent it. @param {string} id of its answer */
  #sendWaiting(id) {
    const isOurs = this.#follow();
    const answer = lastAnswer(this.#thread);
    if (!isOurs || answer?.id !== id || !waits(answer)) return;
    this.#become(sent(this.#thread));
    this.#send();
  }

  /** @param {string} id of the answer @param {import("./thread.js").Event} event */
  #hear(id, event) {
    const was = lastAnswer(this.#thread);
    if (was?.id !== id) return;
    this.#become(received(this.#thread, event, Date.now()));
    const is = /** @type {Answer} */ (lastAnswer(this.#thread));
    if (is.reconnecting && !was.reconnecting) this.#hook("reconnect");
    if (is.phase === was.phase) return;
    const { notice, sources, refused, failure } = is;
    const status = failure?.status ?? 0;
    if (is.phase === "done") {
      const ms = this.#askedAt ? Date.now() - this.#askedAt : null;
      this.#hook("answer", { rung: notice?.rung ?? "model", sources: sources.length, refused, ms });
    } else if (is.phase === "failed") {
      this.#hook("error", { status, kind: status ? "service" : "connection" });
    } else if (is.phase === "waiting") {
      this.#hook("limit", { seconds: Math.ceil(((failure?.readyAt ?? 0) - Date.now()) / 1000) });
      this.#goOn();
    }
  }

  /** @param {Thread} thread */
  #become(thread) {
    if (thread === this.#thread) return;
    const before = this.#thread;
    this.#thread = thread;
    const [was, is] = [lastAnswer(before), lastAnswer(thread)];
    // Of the text between, the service tells again what was not saved.
    if (was?.id !== is?.id || was?.phase !== is?.phase || was?.messageId !== is?.messageId) this.#save();
    this.dispatchEvent(new CustomEvent("change", { detail: { before } }));
  }

  /** Shows a conversation as the store has it. @param {Thread | null} thread */
  #adopt(thread) {
    if (!thread) return;
    this.#saved = thread;
    this.#become(thread);
    this.#goOn();
  }

  /**
   * Takes over what another tab has made of this conversation since, unless an answer comes in here. Returns false
   * when that tab has just asked something, of which nothing can be read along yet.
   */
  #follow() {
    if (this.#store.isForgotten()) {
      this.#client.close();
      this.#adopt(begin(randomId()));
    }
    const answer = lastAnswer(this.#thread);
    if (isRunning(answer) && !waits(answer)) return true;
    const news = this.#store.news();
    const thread = restored(news?.thread);
    if (!news || !thread) return true;
    const theirs = lastAnswer(thread);
    if (isRunning(theirs) && !waits(theirs) && !theirs?.messageId && Date.now() - news.at < BEGINNING) return false;
    this.#store.load();
    this.#adopt(thread);
    return true;
  }

  #save() {
    if (this.#thread === this.#saved) return;
    this.#saved = this.#thread;
    this.#store.save(this.#thread);
  }

  /** @param {string} name @param {Record<string, unknown>} [detail] nothing that the reader wrote or read */
  #hook(name, detail = {}) {
    this.dispatchEvent(new CustomEvent("hook", { detail: { name, detail } }));
  }

  #pause() {
    this.#save();
    const answer = lastAnswer(this.#thread);
    if (!isRunning(answer) || waits(answer)) this.#client.close();
  }
}

/** Whether nothing has been sent yet. @param {Answer | null} answer */
const waits = (answer) => answer?.phase === "queued" || answer?.phase === "waiting";

/** The page that the reader is on, now: sites change it without loading another. */
const path = () => [...location.pathname].slice(0, LONGEST_PATH).join("");

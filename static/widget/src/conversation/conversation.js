/**
 * A conversation and everything that can be done with it. It has no DOM: views show its `thread`, and hear of each
 * new one by a `change` event. Sites hear of what happens by `hook` events, which never carry a reader's words.
 */

import { runWhenDue } from "./delay.js";
import { exportMarkdown } from "./markdown-export.js";
import { randomId } from "./store.js";
import {
  addQuestion,
  createThread,
  isRunning,
  lastAnswer,
  queueAnswer,
  rateAnswer,
  replaceQuestion,
  restartAnswer,
  sendQueued,
  stopAnswer,
} from "./thread.js";
import { applyEvent } from "./thread-events.js";
import { parseThread } from "./thread-parser.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Answer} Answer */
/** @typedef {import("./thread.js").Context} Context */
/** @typedef {import("./thread.js").Feedback} Feedback */
/** @typedef {import("../base/options.js").Options} Options */
/** @typedef {ReturnType<typeof import("./store.js").createStore>} Store */

/** The longest `currentPath` the service takes, in characters. */
const MAX_PATH_LENGTH = 200;

/** What goes on with an answer. The service knows it, so it is the same whatever its button says. */
const CONTINUE_QUESTION = "Continue";

/** How long deleting waits for the service to tell where it keeps a question, in milliseconds. */
const THREAD_ID_TIMEOUT = 3_000;

/** How long another tab may take to begin an answer, in milliseconds. */
const START_TIMEOUT = 30_000;

/** Fires `change` (its `detail.before` is the thread before) and `hook` (`detail.name`, `detail.detail`). */
export class Conversation extends EventTarget {
  #client;
  #store;
  #lifetime = new AbortController();
  /** Whether the service may know which page the reader is on. */
  sharesPage = true;
  /** @type {Thread} */
  #thread;
  /** The thread as the store has it. @type {Thread} */
  #savedThread;
  /** Takes back the waiting for the network or for the end of a limit. */
  #cancelWait = () => {};
  #askedAt = 0;
  /** What the service knows of a reader's thoughts, by answer. @type {Map<string, Feedback | null>} */
  #storedFeedback = new Map();
  #ratings = Promise.resolve(true);

  /**
   * @param {Options} options
   * @param {{ client: import("../service/client.js").Client, store: Store }} parts
   */
  constructor(options, { client, store }) {
    super();
    this.options = options;
    this.#client = client;
    this.#store = store;
    this.#thread = this.#savedThread = parseThread(store.load()) ?? createThread(randomId());
    const { signal } = this.#lifetime;
    const seen = () => document.hidden || this.#syncTabs();
    store.watch(seen, signal);
    document.addEventListener("visibilitychange", seen, { signal });
    addEventListener("pagehide", () => this.#pause(), { signal });
    queueMicrotask(() => this.#resumeAnswer());
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
    if (!question || !this.#syncTabs() || this.isRunning) return false;
    this.#setThread(
      addQuestion(this.#thread, { text: question, context, questionId: randomId(), answerId: randomId() }),
    );
    this.#emitHook("ask");
    this.#send();
    return true;
  }

  /** Asks the last question again; its answer takes the place of the one before. */
  retry() {
    this.#askAgain("retry", restartAnswer(this.#thread, randomId()));
  }

  /** Asks another question in the place of the last one. @param {string} text @param {Context[]} [context] */
  edit(text, context = []) {
    const question = text.trim();
    if (question)
      this.#askAgain(
        "edit",
        replaceQuestion(this.#thread, { text: question, context, questionId: randomId(), answerId: randomId() }),
      );
  }

  /** Goes on with an answer that was stopped. */
  continueAnswer() {
    this.ask(CONTINUE_QUESTION);
  }

  /** Ends a running answer, and takes back a question that still waits. */
  stop() {
    if (!this.isRunning) return;
    this.#cancelWait();
    this.#client.stop();
    this.#setThread(stopAnswer(this.#thread));
    this.#emitHook("stop");
  }

  /** Begins a new conversation. */
  restart() {
    this.stop();
    this.#setThread(createThread(randomId()));
    this.#emitHook("restart");
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
    if (!this.#storedFeedback.has(answerId)) this.#storedFeedback.set(answerId, answer.feedback);
    const { helpful = null, reason = "", comment = "" } = feedback ?? {};
    const content = {
      source: reason || comment ? "contextual" : "thumbs_only",
      path: currentPath(),
      messageId: answer.messageId,
      helpful,
      ...(reason && { reason }),
      ...(comment && { comment }),
    };
    const show = (/** @type {Feedback | null} */ shown) => {
      this.#setThread(rateAnswer(this.#thread, answerId, shown));
      this.#save();
    };
    show(feedback);
    this.#emitHook("feedback", { helpful });
    this.#ratings = this.#ratings.then(async () => {
      const isKept = await this.#client.rate(content);
      if (isKept) {
        this.#storedFeedback.set(answerId, feedback);
      } else {
        if (find()?.feedback === feedback) show(this.#storedFeedback.get(answerId) ?? null);
        this.#emitHook("error", { status: 0, kind: "feedback" });
      }
      return isKept;
    });
    return this.#ratings;
  }

  /** The reader's other conversations of the last day, newest first. */
  get pastConversations() {
    return this.#store.listPast().filter(({ chatId }) => chatId !== this.#thread.chatId);
  }

  /** Goes back to one of them. @param {string} chatId */
  open(chatId) {
    if (!this.pastConversations.some((known) => known.chatId === chatId)) return;
    this.stop();
    this.#replaceThread(parseThread(this.#store.switchTo(chatId)));
  }

  /** The conversation as a Markdown document, for a download. */
  exportMarkdown() {
    this.#emitHook("download");
    return exportMarkdown(this.#thread, new Date());
  }

  /** Deletes all that is known of this reader, here and at the service. Returns whether the service did, too. */
  async deleteData() {
    await this.#waitForThreadId();
    this.stop();
    const { key } = this.options;
    const fp = this.#store.fp();
    const threadIds = new Set(
      [this.#thread, ...this.#store.listPast()].map(({ threadId }) => threadId).filter(Boolean),
    );
    const asked = [...threadIds].map((threadId) =>
      this.#client.forget({ key, fp, threadId: /** @type {string} */ (threadId) }),
    );
    this.#store.deleteAll();
    this.#client.close();
    this.#replaceThread(createThread(randomId()));
    const all = (await Promise.all(asked)).every(Boolean);
    this.#emitHook("forget");
    if (!all) this.#emitHook("error", { status: 0, kind: "forget" });
    return all;
  }

  /** Waits a little where a first question is on its way: nothing is known yet by which to delete it. */
  async #waitForThreadId() {
    const over = Date.now() + THREAD_ID_TIMEOUT;
    const { phase = "" } = lastAnswer(this.#thread) ?? {};
    if (!["sending", "stopped"].includes(phase)) return;
    while (!this.#thread.threadId && Date.now() < over) await new Promise((done) => setTimeout(done, 100));
  }

  destroy() {
    this.#lifetime.abort();
    this.#cancelWait();
    this.#client.close();
  }

  /** @param {"retry" | "edit"} name @param {Thread | null} thread with the last answer begun again */
  #askAgain(name, thread) {
    if (!thread) return;
    this.#setThread(thread);
    this.#emitHook(name);
    this.#send(true);
  }

  /** Sends the last question, or lets it wait for the network. @param {boolean} [again] it was sent before */
  #send(again = false) {
    const { chatId, threadId, turns } = this.#thread;
    const [question, answer] = /** @type {[import("./thread.js").Question, Answer]} */ (turns.slice(-2));
    if (!navigator.onLine) {
      this.#setThread(queueAnswer(this.#thread));
      return this.#resumeAnswer();
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
        ...(this.sharesPage && { currentPath: currentPath() }),
        ...(Object.keys(chosen).length && { filter: chosen }),
        ...(question.context.length && { context: question.context.map(({ label, ...pointed }) => pointed) }),
        suggestions: true,
        ...(threadId && { threadId }),
      },
      (event) => this.#receiveEvent(answer.id, event),
    );
  }

  /** Takes up the last answer where it is: lets it wait, or goes on with it. */
  #resumeAnswer() {
    this.#cancelWait();
    const { chatId, threadId } = this.#thread;
    const answer = lastAnswer(this.#thread);
    if (!answer || !isRunning(answer) || this.#lifetime.signal.aborted) return;
    const { id, phase, failure, messageId, seen } = answer;
    const send = () => void this.#store.runExclusive(() => this.#sendWaiting(id));
    if (phase === "queued") this.#cancelWait = runWhenDue({}, send);
    else if (phase === "waiting") this.#cancelWait = runWhenDue({ at: failure?.readyAt ?? 0, seen: true }, send);
    else {
      const caller = { key: this.options.key, fp: this.#store.fp(), id: chatId };
      this.#client.resume({ ...caller, threadId, messageId, after: seen }, (event) => this.#receiveEvent(id, event));
    }
  }

  /** Sends a question that waited, unless it was taken back or another tab has sent it. @param {string} id of its answer */
  #sendWaiting(id) {
    const isOurs = this.#syncTabs();
    const answer = lastAnswer(this.#thread);
    if (!isOurs || answer?.id !== id || !isWaiting(answer)) return;
    this.#setThread(sendQueued(this.#thread));
    this.#send();
  }

  /** @param {string} id of the answer @param {import("../service/events.js").StreamEvent} event */
  #receiveEvent(id, event) {
    const was = lastAnswer(this.#thread);
    if (was?.id !== id) return;
    this.#setThread(applyEvent(this.#thread, event, Date.now()));
    const is = /** @type {Answer} */ (lastAnswer(this.#thread));
    if (is.reconnecting && !was.reconnecting) this.#emitHook("reconnect");
    if (is.phase === was.phase) return;
    const { notice, sources, refused, failure } = is;
    const status = failure?.status ?? 0;
    if (is.phase === "done") {
      const ms = this.#askedAt ? Date.now() - this.#askedAt : null;
      this.#emitHook("answer", { rung: notice?.rung ?? "model", sources: sources.length, refused, ms });
    } else if (is.phase === "failed") {
      this.#emitHook("error", { status, kind: status ? "service" : "connection" });
    } else if (is.phase === "waiting") {
      this.#emitHook("limit", { seconds: Math.ceil(((failure?.readyAt ?? 0) - Date.now()) / 1000) });
      this.#resumeAnswer();
    }
  }

  /** @param {Thread} thread */
  #setThread(thread) {
    if (thread === this.#thread) return;
    const before = this.#thread;
    this.#thread = thread;
    const [was, is] = [lastAnswer(before), lastAnswer(thread)];
    // Of the text between, the service tells again what was not saved.
    if (was?.id !== is?.id || was?.phase !== is?.phase || was?.messageId !== is?.messageId) this.#save();
    this.dispatchEvent(new CustomEvent("change", { detail: { before } }));
  }

  /** Shows a conversation as the store has it. @param {Thread | null} thread */
  #replaceThread(thread) {
    if (!thread) return;
    this.#savedThread = thread;
    this.#setThread(thread);
    this.#resumeAnswer();
  }

  /**
   * Takes over what another tab has made of this conversation since, unless an answer comes in here. Returns false
   * when that tab has just asked something, of which nothing can be read along yet.
   */
  #syncTabs() {
    if (this.#store.wasDeleted()) {
      this.#client.close();
      this.#replaceThread(createThread(randomId()));
    }
    const answer = lastAnswer(this.#thread);
    if (isRunning(answer) && !isWaiting(answer)) return true;
    const news = this.#store.loadChanged();
    const thread = parseThread(news?.thread);
    if (!news || !thread) return true;
    const theirs = lastAnswer(thread);
    if (isRunning(theirs) && !isWaiting(theirs) && !theirs?.messageId && Date.now() - news.at < START_TIMEOUT)
      return false;
    this.#store.load();
    this.#replaceThread(thread);
    return true;
  }

  #save() {
    if (this.#thread === this.#savedThread) return;
    this.#savedThread = this.#thread;
    this.#store.save(this.#thread);
  }

  /** @param {string} name @param {Record<string, unknown>} [detail] nothing that the reader wrote or read */
  #emitHook(name, detail = {}) {
    this.dispatchEvent(new CustomEvent("hook", { detail: { name, detail } }));
  }

  #pause() {
    this.#save();
    const answer = lastAnswer(this.#thread);
    if (!isRunning(answer) || isWaiting(answer)) this.#client.close();
  }
}

/** Whether nothing has been sent yet. @param {Answer | null} answer */
const isWaiting = (answer) => answer?.phase === "queued" || answer?.phase === "waiting";

/** The page that the reader is on, now: sites change it without loading another. */
const currentPath = () => [...location.pathname].slice(0, MAX_PATH_LENGTH).join("");

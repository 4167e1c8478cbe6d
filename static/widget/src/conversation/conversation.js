/**
 * A conversation and its actions. It has no DOM: views show its `thread`, and a `change` event tells them of each new
 * one. `hook` events tell the host page what happens. They never carry a reader's words.
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

/** The longest `currentPath` that the service accepts, in characters. */
const MAX_PATH_LENGTH = 200;

/** The question that continues an answer. The service knows this text, whatever the label of the button is. */
const CONTINUE_QUESTION = "Continue";

/** How long a deletion waits for the id of a thread, in milliseconds. */
const THREAD_ID_TIMEOUT = 3_000;

/** How long another tab may take to start an answer, in milliseconds. */
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
  /** The thread that was stored last. @type {Thread} */
  #savedThread;
  /** Cancels waiting for the network or for the end of a limit. */
  #cancelWait = () => {};
  #askedAt = 0;
  /** Whether the connection of the running answer was lost on this page. */
  #wasLost = false;
  /** The question that was asked again by itself, since its answer was lost with the process that made it. */
  #repeated = "";
  /** The feedback that the service has stored, by answer. @type {Map<string, Feedback | null>} */
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
    const sync = () => document.hidden || this.#syncTabs();
    store.watch(sync, signal);
    document.addEventListener("visibilitychange", sync, { signal });
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
   * @param {Context[]} [context] code or text that the question is about
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

  /** Asks the last question again. The new answer replaces the old one. */
  retry() {
    this.#askAgain("retry", restartAnswer(this.#thread, randomId()));
  }

  /** Replaces the last question by another one. @param {string} text @param {Context[]} [context] */
  edit(text, context = []) {
    const question = text.trim();
    if (question)
      this.#askAgain(
        "edit",
        replaceQuestion(this.#thread, { text: question, context, questionId: randomId(), answerId: randomId() }),
      );
  }

  /** Continues an answer that was stopped. */
  continueAnswer() {
    this.ask(CONTINUE_QUESTION);
  }

  /** Stops a running answer, or cancels a waiting question. */
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
   * Sends feedback on an answer; null withdraws it. The feedback shows at once, and disappears if the service does not
   * store it. Returns whether it was stored.
   * @param {string} answerId
   * @param {Feedback | null} feedback
   */
  async rate(answerId, feedback) {
    const findAnswer = () =>
      /** @type {Answer | undefined} */ (
        this.#thread.turns.find(({ id, role }) => id === answerId && role === "assistant")
      );
    const answer = findAnswer();
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
    const show = (/** @type {Feedback | null} */ value) => {
      this.#setThread(rateAnswer(this.#thread, answerId, value));
      this.#save();
    };
    show(feedback);
    this.#emitHook("feedback", { helpful });
    this.#ratings = this.#ratings.then(async () => {
      const isStored = await this.#client.rate(content);
      if (isStored) {
        this.#storedFeedback.set(answerId, feedback);
      } else {
        if (findAnswer()?.feedback === feedback) show(this.#storedFeedback.get(answerId) ?? null);
        this.#emitHook("error", { status: 0, kind: "feedback" });
      }
      return isStored;
    });
    return this.#ratings;
  }

  /** The reader's other conversations of the last day, newest first. */
  get pastConversations() {
    return this.#store.listPast().filter(({ chatId }) => chatId !== this.#thread.chatId);
  }

  /** Switches to one of them. @param {string} chatId */
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

  get fp() {
    return this.#store.fp();
  }

  /** Deletes all data of this reader, in the browser and in the service. Returns whether the service succeeded. */
  async deleteData() {
    await this.#waitForThreadId();
    this.stop();
    const { key } = this.options;
    const fp = this.#store.fp();
    const threadIds = new Set(
      [this.#thread, ...this.#store.listPast()].map(({ threadId }) => threadId).filter(Boolean),
    );
    const deletions = [...threadIds].map((threadId) =>
      this.#client.forget({ key, fp, threadId: /** @type {string} */ (threadId) }),
    );
    this.#store.deleteAll();
    this.#client.close();
    this.#replaceThread(createThread(randomId()));
    const isComplete = (await Promise.all(deletions)).every(Boolean);
    this.#emitHook("forget");
    if (!isComplete) this.#emitHook("error", { status: 0, kind: "forget" });
    return isComplete;
  }

  /** Waits a little if a first question is on its way: without its thread's id it cannot be deleted. */
  async #waitForThreadId() {
    const deadline = Date.now() + THREAD_ID_TIMEOUT;
    const { phase = "" } = lastAnswer(this.#thread) ?? {};
    if (!["sending", "stopped"].includes(phase)) return;
    while (!this.#thread.threadId && Date.now() < deadline) await new Promise((done) => setTimeout(done, 100));
  }

  destroy() {
    this.#lifetime.abort();
    this.#cancelWait();
    this.#client.close();
  }

  /** @param {"retry" | "edit"} name @param {Thread | null} thread with an empty last answer */
  #askAgain(name, thread) {
    if (!thread) return;
    this.#setThread(thread);
    this.#emitHook(name);
    this.#send(true);
  }

  /** Sends the last question, or waits for the network. @param {boolean} [again] whether it was sent before */
  #send(again = false) {
    const { threadId, turns } = this.#thread;
    const [question, answer] = /** @type {[import("./thread.js").Question, Answer]} */ (turns.slice(-2));
    if (!navigator.onLine) {
      this.#setThread(queueAnswer(this.#thread));
      return this.#resumeAnswer();
    }
    const filters = Object.fromEntries(Object.entries(this.options.filter ?? {}).filter(([, value]) => value));
    this.#askedAt = Date.now();
    this.#wasLost = false;
    this.#client.ask(
      {
        ...this.#caller(),
        // The service may have received a first question although its answer never started here.
        trigger: answer.replaces || (again && !threadId) ? "regenerate-message" : "submit-message",
        ...(answer.replaces && { messageId: answer.replaces }),
        messages: [{ id: question.id, role: "user", parts: [{ type: "text", text: question.text }] }],
        ...(this.sharesPage && { currentPath: currentPath() }),
        ...(Object.keys(filters).length && { filter: filters }),
        ...(question.context.length && { context: question.context.map(({ label, ...pointed }) => pointed) }),
        suggestions: true,
        ...(threadId && { threadId }),
      },
      (event) => this.#receiveEvent(answer.id, event),
    );
  }

  /** What each request says about who asks. */
  #caller() {
    const { key, readerToken } = this.options;
    return { key, ...(readerToken && { readerToken }), fp: this.#store.fp(), id: this.#thread.chatId };
  }

  /** Continues the last answer: waits to send its question, or receives the events that follow. */
  #resumeAnswer() {
    this.#cancelWait();
    const { threadId } = this.#thread;
    const answer = lastAnswer(this.#thread);
    if (!answer || !isRunning(answer) || this.#lifetime.signal.aborted) return;
    const { id, phase, failure, messageId, seen } = answer;
    const send = () => void this.#store.runExclusive(() => this.#sendWaiting(id));
    if (phase === "queued") this.#cancelWait = runWhenDue({}, send);
    else if (phase === "waiting") this.#cancelWait = runWhenDue({ at: failure?.readyAt ?? 0, visible: true }, send);
    else {
      this.#client.resume({ ...this.#caller(), threadId, messageId, after: seen }, (event) =>
        this.#receiveEvent(id, event),
      );
    }
  }

  /** Sends a waiting question, unless it was cancelled or another tab has sent it. @param {string} id of its answer */
  #sendWaiting(id) {
    const isSynced = this.#syncTabs();
    const answer = lastAnswer(this.#thread);
    if (!isSynced || answer?.id !== id || !isWaiting(answer)) return;
    this.#setThread(sendQueued(this.#thread));
    this.#send();
  }

  /** @param {string} id of the answer @param {import("../service/events.js").StreamEvent} event */
  #receiveEvent(id, event) {
    const was = lastAnswer(this.#thread);
    if (was?.id !== id) return;
    this.#setThread(applyEvent(this.#thread, event, Date.now()));
    const is = /** @type {Answer} */ (lastAnswer(this.#thread));
    if (is.reconnecting && !was.reconnecting) {
      this.#wasLost = true;
      this.#emitHook("reconnect");
    }
    if (is.phase === was.phase) return;
    const { notice, sources, refused, failure } = is;
    const status = failure?.status ?? 0;
    if (is.phase === "done") {
      const ms = this.#askedAt ? Date.now() - this.#askedAt : null;
      this.#emitHook("answer", { rung: notice?.rung ?? "model", sources: sources.length, refused, ms });
    } else if (is.phase === "failed") {
      const { id } = /** @type {import("./thread.js").Turn} */ (this.#thread.turns.at(-2));
      if (this.#wasLost && this.#repeated !== id) {
        this.#repeated = id;
        return this.retry();
      }
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
    // Text between these changes need not be stored: the service sends it again.
    if (was?.id !== is?.id || was?.phase !== is?.phase || was?.messageId !== is?.messageId) this.#save();
    this.dispatchEvent(new CustomEvent("change", { detail: { before } }));
  }

  /** Shows a conversation from the store. @param {Thread | null} thread */
  #replaceThread(thread) {
    if (!thread) return;
    this.#savedThread = thread;
    this.#setThread(thread);
    this.#resumeAnswer();
  }

  /**
   * Takes over changes that another tab has made to this conversation, unless an answer is arriving here. Returns false
   * if that tab has just asked a question whose answer cannot be received yet.
   */
  #syncTabs() {
    if (this.#store.wasDeleted()) {
      this.#client.close();
      this.#replaceThread(createThread(randomId()));
    }
    const answer = lastAnswer(this.#thread);
    if (isRunning(answer) && !isWaiting(answer)) return true;
    const changed = this.#store.loadChanged();
    const thread = parseThread(changed?.thread);
    if (!changed || !thread) return true;
    const otherAnswer = lastAnswer(thread);
    if (
      isRunning(otherAnswer) &&
      !isWaiting(otherAnswer) &&
      !otherAnswer?.messageId &&
      Date.now() - changed.at < START_TIMEOUT
    )
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

  /** @param {string} name @param {Record<string, unknown>} [detail] without any text that the reader wrote or read */
  #emitHook(name, detail = {}) {
    this.dispatchEvent(new CustomEvent("hook", { detail: { name, detail } }));
  }

  #pause() {
    this.#save();
    const answer = lastAnswer(this.#thread);
    if (!isRunning(answer) || isWaiting(answer)) this.#client.close();
  }
}

/** Whether the question waits to be sent. @param {Answer | null} answer */
const isWaiting = (answer) => answer?.phase === "queued" || answer?.phase === "waiting";

/** The path of the current page. Sites may change it without loading a page. */
const currentPath = () => [...location.pathname].slice(0, MAX_PATH_LENGTH).join("");

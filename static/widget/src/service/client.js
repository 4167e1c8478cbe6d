/**
 * Sends questions to the service and receives their answers, event by event. It chooses the transport: a socket, or
 * requests if no socket gets through. If a connection breaks, it connects again and the answer continues.
 */

import { labels } from "../base/labels.js";
import { tabStorage } from "../base/storage.js";
import { isLast } from "./events.js";
import { Http } from "./http.js";
import { Socket } from "./socket.js";

/** @typedef {import("./events.js").StreamEvent} StreamEvent */
/** @typedef {{ key: string, readerToken?: string, fp: string, id: string, threadId: string, messageId: string }} Ids of an answer; `id` is the chat's */
/** @typedef {"unsent" | "unreached" | "broken" | "silent"} Loss `unsent`: the service has certainly not received the question */
/** @typedef {{ event: (event: StreamEvent) => void, lost: (how: Loss) => void }} Listener */
/** @typedef {{ key: string, readerToken?: string, fp: string, id: string } & Record<string, unknown>} QuestionRequest */
/**
 * An answer on its way. Each connection is a new object: events of an earlier one are ignored.
 * @typedef {object} Exchange
 * @property {(event: StreamEvent) => void} listener
 * @property {Pick<Ids, "key" | "readerToken" | "fp" | "id">} caller
 * @property {Ids | null} ids null until the answer has begun
 * @property {number} after events received so far
 * @property {number} attempt
 * @property {boolean} resuming no event has arrived since the connection was lost
 * @property {boolean} stopped
 * @property {object | null} connection
 */

/** After this silence a connection counts as lost: before its first event, and between two events. In milliseconds. */
const FIRST_EVENT_TIMEOUT = 20_000;
const EVENT_TIMEOUT = 15_000;
/** Pauses before each attempt to reconnect, in milliseconds. Their sum is about as long as the service waits for a reader. */
const RETRY_DELAYS = [200, 800, 2_000, 4_000, 6_000, 6_000];
/** The pause while the browser reports no network, in milliseconds. Browsers can be wrong, so an attempt follows. */
const OFFLINE_DELAY = 60_000;
/** How long a tab remembers that sockets do not get through, in milliseconds. */
const BLOCKED_MEMORY = 10 * 60_000;

export class Client {
  #socket;
  #http;
  /** Whether sockets do not get through here, but requests do. */
  #socketsBlocked;
  #storageKey;
  /** @type {Exchange | null} */
  #exchange = null;
  /** @type {Socket | Http} */
  #transport;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** Ends the listeners for the network. */
  #networkEvents = new AbortController();

  /**
   * @param {string} script address of the loader; the service is on the same host
   * @param {string} domain
   */
  constructor(script, domain) {
    this.#http = new Http(script, domain);
    this.#socket = new Socket(this.#http.address("v1/assistant", "/socket"));
    this.#storageKey = `docs-assistant:${domain}:requests`;
    this.#socketsBlocked = Number(tabStorage.get(this.#storageKey)) > Date.now();
    this.#transport = this.#socket;
  }

  /**
   * Sends a question. Its events follow; the last one is always `finish` or `error`. The event `reconnecting` says that
   * the connection was lost; the events after it continue the answer.
   * @param {QuestionRequest} question
   * @param {(event: StreamEvent) => void} listener
   */
  ask(question, listener) {
    this.#begin({ listener, caller: question, ids: null, after: 0, resuming: false });
    this.#connect((carrier, listener) => carrier.ask(question, listener));
  }

  /**
   * Continues an answer after the events that were received, perhaps on another page. Without ids it is lost.
   * @param {Pick<Ids, "key" | "readerToken" | "fp" | "id"> & { threadId: string | null, messageId: string | null, after: number }} answer
   * @param {(event: StreamEvent) => void} listener
   */
  resume({ after, threadId, messageId, ...caller }, listener) {
    const ids = threadId && messageId ? { ...caller, threadId, messageId } : null;
    this.#begin({ listener, caller, ids, after, resuming: true });
    if (ids) this.#resume();
    else this.#fail(labels.lost);
  }

  /** Ends the running answer. At most its `start` follows. */
  stop() {
    const exchange = this.#exchange;
    if (!exchange || exchange.stopped) return;
    exchange.stopped = true;
    this.#stopTimers();
    if (exchange.connection) this.#transport.stop(exchange.ids);
    else if (exchange.ids) this.#http.stop(exchange.ids);
    this.#startTimeout(FIRST_EVENT_TIMEOUT); // for the connection to be free again
  }

  /** Ends all connections; no event follows. */
  close() {
    this.#stopTimers();
    this.#exchange = null;
    this.#socket.close();
    this.#http.close();
  }

  /** Sends feedback on an answer. Returns whether the service stored it. @param {Record<string, unknown>} feedback */
  rate(feedback) {
    return this.#http.rate(feedback);
  }

  /** Deletes a conversation. Returns whether the service did. @param {{ key: string, fp: string, threadId: string }} thread */
  forget(thread) {
    return this.#http.forget(thread);
  }

  /** @param {Omit<Exchange, "attempt" | "stopped" | "connection">} exchange */
  #begin(exchange) {
    this.#stopTimers();
    this.#exchange = { ...exchange, attempt: 0, stopped: false, connection: null };
    this.#networkEvents = new AbortController();
    // A connection looks alive for a long time after its network was lost or replaced.
    for (const type of ["offline", "online"])
      addEventListener(type, () => this.#networkChanged(), { signal: this.#networkEvents.signal });
  }

  /** @param {(carrier: Socket | Http, listener: Listener) => void} start @param {boolean} [byRequests] whether to use requests, since the socket failed */
  #connect(start, byRequests = false) {
    const exchange = /** @type {Exchange} */ (this.#exchange);
    const connection = (exchange.connection = {});
    const transport = (this.#transport = byRequests || this.#socketsBlocked ? this.#http : this.#socket);
    const isCurrent = () => this.#exchange === exchange && exchange.connection === connection;
    this.#startTimeout(FIRST_EVENT_TIMEOUT);
    start(transport, {
      event: (event) => {
        if (!isCurrent()) return;
        if (byRequests && !this.#socketsBlocked) this.#rememberBlocked();
        this.#receive(event);
      },
      lost: (loss) => {
        if (!isCurrent()) return;
        if (loss === "unsent" && !exchange.stopped) this.#connect(start, true);
        else this.#lost(loss);
      },
    });
  }

  #resume() {
    const exchange = /** @type {Exchange} */ (this.#exchange);
    const answer = { .../** @type {Ids} */ (exchange.ids), after: exchange.after };
    this.#connect((carrier, listener) => carrier.resume(answer, listener));
  }

  /** @param {StreamEvent} event */
  #receive(event) {
    const exchange = /** @type {Exchange} */ (this.#exchange);
    if (typeof event?.type !== "string") return;
    if (exchange.resuming && event.type === "error" && event.status === 404) return this.#fail(labels.lost);
    exchange.resuming = false;
    exchange.attempt = 0;
    if (event.type === "start") {
      const { messageId = "", messageMetadata } = event;
      exchange.ids = { ...exchange.caller, threadId: messageMetadata?.threadId ?? "", messageId };
    }
    if (exchange.ids) exchange.after++;
    if (isLast(event)) {
      this.#stopTimers();
      this.#exchange = null;
      this.#transport.release();
    } else if (!exchange.stopped) {
      this.#startTimeout(EVENT_TIMEOUT);
    }
    if (!exchange.stopped || event.type === "start") exchange.listener(event);
  }

  /** The network was lost or is back. An answer without a start cannot be resumed, so its connection gets a chance. */
  #networkChanged() {
    const exchange = this.#exchange;
    if (!exchange?.ids || exchange.stopped) return;
    exchange.attempt = 0;
    this.#reconnect(navigator.onLine ? 0 : OFFLINE_DELAY);
  }

  /** @param {Loss} how */
  #lost(how) {
    const exchange = this.#exchange;
    if (!exchange) return;
    if (exchange.stopped) return this.close();
    const isOffline = !navigator.onLine;
    if (!exchange.ids)
      return this.#fail(
        isOffline
          ? labels.offline
          : how === "broken"
            ? labels.lost
            : how === "silent"
              ? labels.silent
              : labels.unreachable,
      );
    const delay = isOffline ? OFFLINE_DELAY : RETRY_DELAYS[exchange.attempt++];
    if (delay) this.#reconnect(delay);
    else this.#fail(labels.lost);
  }

  /** Continues over another connection. @param {number} delay before it, in milliseconds */
  #reconnect(delay) {
    const exchange = /** @type {Exchange} */ (this.#exchange);
    exchange.connection = null;
    exchange.resuming = true;
    this.#socket.close();
    this.#http.close();
    exchange.listener({ type: "reconnecting" });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#resume(), delay);
  }

  /** @param {string} errorText */
  #fail(errorText) {
    const exchange = this.#exchange;
    this.close();
    if (!exchange?.stopped) exchange?.listener({ type: "error", errorText, status: 0 });
  }

  /** @param {number} ms */
  #startTimeout(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost("silent"), ms);
  }

  /** Stops the timer and the listeners for the network. */
  #stopTimers() {
    clearTimeout(this.#timer);
    this.#networkEvents.abort();
  }

  #rememberBlocked() {
    this.#socketsBlocked = true;
    tabStorage.set(this.#storageKey, String(Date.now() + BLOCKED_MEMORY));
  }
}

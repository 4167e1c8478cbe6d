/**
 * Questions to the service, and their answers event by event. Which way they go is settled here: over a socket or,
 * where none gets through, by requests. A connection that breaks is sought again, and the answer goes on.
 */

import { labels } from "../base/labels.js";
import { tabStorage } from "../base/storage.js";
import { isLast } from "./events.js";
import { Http } from "./http.js";
import { Socket } from "./socket.js";

/** @typedef {import("./events.js").StreamEvent} StreamEvent */
/** @typedef {{ key: string, fp: string, id: string, threadId: string, messageId: string }} Ids of an answer; `id` is the chat's */
/** @typedef {"unsent" | "unreached" | "broken" | "silent"} Loss `unsent` is sure that the service did not get it */
/** @typedef {{ event: (event: StreamEvent) => void, lost: (how: Loss) => void }} Listener */
/** @typedef {{ key: string, fp: string, id: string } & Record<string, unknown>} QuestionRequest */
/**
 * An answer on its way. Each connection is a new object: events of an earlier one are ignored.
 * @typedef {object} Exchange
 * @property {(event: StreamEvent) => void} listener
 * @property {Pick<Ids, "key" | "fp" | "id">} caller
 * @property {Ids | null} ids known when the answer has begun
 * @property {number} after events seen
 * @property {number} attempt
 * @property {boolean} resuming no event has come since the connection was lost
 * @property {boolean} stopped
 * @property {object | null} connection
 */

/** Silence after which a connection counts as lost, until its first event and between any two, in milliseconds. */
const FIRST_EVENT_TIMEOUT = 20_000;
const EVENT_TIMEOUT = 15_000;
/** Before each attempt to go on; together about as long as the service waits for a reader to come back. */
const RETRY_DELAYS = [200, 800, 2_000, 4_000, 6_000, 6_000];
/** Without a network its return is waited for. Browsers can be wrong about it, so there are attempts all the same. */
const OFFLINE_DELAY = 60_000;
/** How long a tab remembers that sockets do not get through. */
const BLOCKED_MEMORY = 10 * 60_000;

export class Client {
  #socket;
  #http;
  /** Whether requests work where sockets do not. */
  #socketsBlocked;
  #storageKey;
  /** @type {Exchange | null} */
  #exchange = null;
  /** @type {Socket | Http} */
  #transport;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** Ends the listening for the network. */
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
   * Sends a question. Its events follow, and whatever happens the last one is `finish` or `error`. An event
   * `reconnecting` tells that the connection was lost; what comes after it goes on where it was.
   * @param {QuestionRequest} question
   * @param {(event: StreamEvent) => void} listener
   */
  ask(question, listener) {
    const { key, fp, id } = question;
    this.#begin({ listener, caller: { key, fp, id }, ids: null, after: 0, resuming: false });
    this.#connect((carrier, listener) => carrier.ask(question, listener));
  }

  /**
   * Goes on with an answer of which so many events were seen, perhaps on another page. One without ids is lost.
   * @param {Pick<Ids, "key" | "fp" | "id"> & { threadId: string | null, messageId: string | null, after: number }} answer
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

  /** Tells what a reader thinks of an answer. Returns whether the service took it. @param {Record<string, unknown>} feedback */
  rate(feedback) {
    return this.#http.rate(feedback);
  }

  /** Deletes a conversation. Returns whether the service did. @param {{ key: string, fp: string, threadId: string }} whose */
  forget(whose) {
    return this.#http.forget(whose);
  }

  /** @param {Omit<Exchange, "attempt" | "stopped" | "connection">} exchange */
  #begin(exchange) {
    this.#stopTimers();
    this.#exchange = { ...exchange, attempt: 0, stopped: false, connection: null };
    this.#networkEvents = new AbortController();
    // A connection seems to be alive for long after its network went, or another one came.
    for (const turn of ["offline", "online"])
      addEventListener(turn, () => this.#networkChanged(), { signal: this.#networkEvents.signal });
  }

  /** @param {(carrier: Socket | Http, listener: Listener) => void} act @param {boolean} [instead] by requests, since the socket failed */
  #connect(act, instead = false) {
    const exchange = /** @type {Exchange} */ (this.#exchange);
    const connection = (exchange.connection = {});
    const carrier = (this.#transport = instead || this.#socketsBlocked ? this.#http : this.#socket);
    const isHeard = () => this.#exchange === exchange && exchange.connection === connection;
    this.#startTimeout(FIRST_EVENT_TIMEOUT);
    act(carrier, {
      event: (event) => {
        if (!isHeard()) return;
        if (instead && !this.#socketsBlocked) this.#rememberBlocked();
        this.#receive(event);
      },
      lost: (how) => {
        if (!isHeard()) return;
        if (how === "unsent" && !exchange.stopped) this.#connect(act, true);
        else this.#lost(how);
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

  /** The network went or came. An answer that has not begun could not be gone on with: its connection may yet live. */
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
    const off = !navigator.onLine;
    if (!exchange.ids)
      return this.#fail(
        off ? labels.offline : how === "broken" ? labels.lost : how === "silent" ? labels.silent : labels.unreachable,
      );
    const pause = off ? OFFLINE_DELAY : RETRY_DELAYS[exchange.attempt++];
    if (pause) this.#reconnect(pause);
    else this.#fail(labels.lost);
  }

  /** Goes on over another connection. @param {number} pause before, in milliseconds */
  #reconnect(pause) {
    const exchange = /** @type {Exchange} */ (this.#exchange);
    exchange.connection = null;
    exchange.resuming = true;
    this.#socket.close();
    this.#http.close();
    exchange.listener({ type: "reconnecting" });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#resume(), pause);
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

  /** From now on nothing happens by itself. */
  #stopTimers() {
    clearTimeout(this.#timer);
    this.#networkEvents.abort();
  }

  #rememberBlocked() {
    this.#socketsBlocked = true;
    tabStorage.set(this.#storageKey, String(Date.now() + BLOCKED_MEMORY));
  }
}

/** The transport by a WebSocket, which stays open from one question to the next. */

import { json } from "../base/json.js";

/** @typedef {import("./client.js").Listener} Listener */
/** @typedef {import("./client.js").Ids} Ids */

/** After this time without a connection the network counts as one without sockets, in milliseconds. */
const OPEN_TIMEOUT = 3_000;
/** An unused socket is closed after this, in milliseconds: it would keep the page out of the back/forward cache. */
const IDLE_TIMEOUT = 60_000;

export class Socket {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Listener | null} */
  #listener = null;
  /** Whether an answer's last events may still arrive. */
  #busy = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #url;

  /** @param {URL} url */
  constructor(url) {
    this.#url = url.href.replace(/^http/, "ws");
  }

  /** @param {Record<string, unknown>} question @param {Listener} listener */
  ask(question, listener) {
    this.#send({ type: "ask", ...question }, listener);
  }

  /** @param {Ids & { after: number }} answer @param {Listener} listener */
  resume({ key, readerToken, fp, threadId, messageId, after }, listener) {
    this.#send({ type: "resume", key, readerToken, fp, threadId, messageId, after }, listener);
  }

  /** Stops the running answer. Its last events follow. */
  stop() {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send('{"type":"stop"}');
    else this.close(); // the question has not been sent
  }

  /** No event follows. */
  close() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = this.#listener = null;
    this.#busy = false;
    socket?.close(1000);
  }

  /** The answer has ended. */
  release() {
    this.#busy = false;
    this.#listener = null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), IDLE_TIMEOUT);
  }

  /** @param {Record<string, unknown>} content @param {Listener} listener */
  #send(content, listener) {
    const message = json(content);
    if (this.#busy || this.#socket?.readyState !== WebSocket.OPEN) this.close();
    clearTimeout(this.#timer);
    this.#listener = listener;
    this.#busy = true;
    if (this.#socket) this.#socket.send(message);
    else this.#open(message);
  }

  /** @param {string} message */
  #open(message) {
    const listener = this.#listener;
    /** @type {WebSocket} */
    let socket;
    try {
      socket = this.#socket = new WebSocket(this.#url);
    } catch {
      // A content security policy that forbids the connection throws here in some browsers.
      queueMicrotask(() => listener === this.#listener && this.#lost("unsent"));
      return;
    }
    let hasOpened = false;
    this.#timer = setTimeout(() => socket === this.#socket && this.#lost("unsent"), OPEN_TIMEOUT);
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      clearTimeout(this.#timer);
      hasOpened = true;
      socket.send(message);
    };
    socket.onmessage = ({ data }) => socket === this.#socket && this.#receive(data);
    socket.onclose = () => socket === this.#socket && this.#lost(hasOpened ? "broken" : "unsent");
  }

  /** @param {unknown} data */
  #receive(data) {
    /** @type {unknown} */
    let event;
    try {
      event = JSON.parse(String(data));
    } catch {
      // This is not from the service, so later events may be incomplete.
      return this.#lost("broken");
    }
    this.#listener?.event(/** @type {import("./events.js").StreamEvent} */ (event));
  }

  /** @param {import("./client.js").Loss} loss */
  #lost(loss) {
    const listener = this.#listener;
    this.close();
    listener?.lost(loss);
  }
}

/** The socket to the service: one question at a time, answered by v2 events. */

import { words } from "./words.js";

/** @typedef {import("./thread.js").Event} Event */

/** Until the first event, and between any two, in milliseconds: longer than the service itself ever waits. */
const FIRST = 20_000;
const BETWEEN = 60_000;
/** An unused socket is given up after this: it would keep the page out of the browser's back/forward cache. */
const IDLE = 60_000;

/** `abort` tells of a stopped answer, but `finish` still follows it. */
const ENDS = new Set(["finish", "error"]);

export class Client {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {((event: Event) => void) | null} */
  #listener = null;
  /** A stopped answer's last events may still be on their way. */
  #draining = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #url;

  /**
   * @param {string} script address of the loader; the socket is on the same host
   * @param {string} domain
   */
  constructor(script, domain) {
    const url = new URL(`/discovery/v1/assistant/${encodeURIComponent(domain)}/socket`, script);
    url.protocol = url.protocol.replace("http", "ws");
    this.#url = url.href;
  }

  /**
   * Sends a question. Its events follow, and whatever happens the last one is `finish` or `error`.
   * @param {Record<string, unknown>} question
   * @param {(event: Event) => void} listener
   */
  ask(question, listener) {
    if (this.#draining) this.close();
    this.#listener = listener;
    const message = JSON.stringify({ type: "ask", ...question });
    try {
      const socket = this.#open();
      if (socket.readyState === WebSocket.OPEN) socket.send(message);
      else socket.addEventListener("open", () => socket.send(message), { once: true });
      this.#wait(FIRST);
    } catch {
      // A content security policy that forbids the connection throws here in some browsers.
      queueMicrotask(() => this.#fail(words.unreachable));
    }
  }

  /** Ends the running answer; no event follows. */
  stop() {
    if (!this.#listener) return;
    this.#listener = null;
    if (this.#socket?.readyState !== WebSocket.OPEN) return this.close();
    this.#draining = true;
    this.#socket.send(JSON.stringify({ type: "stop" }));
    this.#rest();
  }

  /** Closes the socket; no event follows. */
  close() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = this.#listener = null;
    this.#draining = false;
    socket?.close(1000);
  }

  #open() {
    if (this.#socket && this.#socket.readyState <= WebSocket.OPEN) return this.#socket;
    const socket = new WebSocket(this.#url);
    let opened = false;
    socket.addEventListener("open", () => (opened = true), { once: true });
    socket.addEventListener("message", ({ data }) => socket === this.#socket && this.#receive(data));
    socket.addEventListener("close", () => {
      if (socket !== this.#socket) return;
      this.#fail(!navigator.onLine ? words.offline : opened ? words.lost : words.unreachable);
    });
    return (this.#socket = socket);
  }

  /** @param {unknown} data */
  #receive(data) {
    /** @type {Event} */
    let event;
    try {
      event = JSON.parse(String(data));
    } catch {
      return this.#fail(words.failed);
    }
    if (typeof event?.type !== "string") return;
    const listener = this.#listener;
    if (ENDS.has(event.type)) {
      this.#listener = null;
      this.#draining = false;
      this.#rest();
    } else if (listener) {
      this.#wait(BETWEEN);
    }
    listener?.(event);
  }

  /** @param {string} errorText */
  #fail(errorText) {
    const listener = this.#listener;
    this.close();
    listener?.({ type: "error", errorText, status: 0 });
  }

  /** @param {number} ms */
  #wait(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(words.silent), ms);
  }

  #rest() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), IDLE);
  }
}

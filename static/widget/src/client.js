/** The socket to the service: one question at a time, answered by v2 events. */

import { words } from "./words.js";

/** @typedef {import("./thread.js").Event} Event */

/** Until the first event, and between any two, in milliseconds: longer than the service itself ever waits. */
const FIRST = 20_000;
const BETWEEN = 60_000;
/** An unused socket is given up after this: it would keep the page out of the browser's back/forward cache. */
const IDLE = 60_000;
/** Before each attempt to go on with an answer whose socket was lost; together less than the service waits for it. */
const ATTEMPTS = [200, 800, 2_000, 4_000, 8_000];

/** `abort` tells of a stopped answer, but `finish` still follows it. */
const ENDS = new Set(["finish", "error"]);

export class Client {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {((event: Event) => void) | null} */
  #listener = null;
  /** Who asked, and what was seen of the answer since its start: enough to go on with it over another socket. */
  #asker = { key: "", fp: "" };
  /** @type {{ threadId: string, messageId: string, after: number } | null} */
  #seen = null;
  #attempt = 0;
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
   * @param {{ key: string, fp: string } & Record<string, unknown>} question
   * @param {(event: Event) => void} listener
   */
  ask(question, listener) {
    if (this.#draining) this.close();
    this.#listener = listener;
    this.#asker = { key: question.key, fp: question.fp };
    this.#seen = null;
    this.#attempt = 0;
    this.#say({ type: "ask", ...question });
  }

  /** Sends a message as soon as there is a socket. @param {Record<string, unknown>} content */
  #say(content) {
    const message = JSON.stringify(content);
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
    this.#socket = this.#listener = this.#seen = null;
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
      if (this.#listener && this.#seen && this.#attempt < ATTEMPTS.length) return this.#resume();
      this.#fail(!navigator.onLine ? words.offline : opened ? words.lost : words.unreachable);
    });
    return (this.#socket = socket);
  }

  #resume() {
    this.#socket = null;
    const seen = this.#seen;
    setTimeout(() => {
      if (this.#listener && this.#seen === seen) this.#say({ type: "resume", ...this.#asker, ...seen });
    }, ATTEMPTS[this.#attempt++]);
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
    if (this.#attempt && event.type === "error" && event.status === 404) return this.#fail(words.lost);
    this.#attempt = 0;
    if (event.type === "start") {
      this.#seen = { threadId: event.messageMetadata?.threadId, messageId: event.messageId, after: 0 };
    }
    if (this.#seen) this.#seen.after++;
    if (ENDS.has(event.type)) {
      this.#listener = this.#seen = null;
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

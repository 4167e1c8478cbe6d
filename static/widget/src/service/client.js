/**
 * Questions to the service, and their answers event by event. Which way they go is settled here: over a socket or,
 * where none gets through, by requests. A connection that breaks is sought again, and the answer goes on.
 */

import { Http, isLast } from "./http.js";
import { Socket } from "./socket.js";
import { tab } from "../conversation/store.js";
import { words } from "../base/labels.js";

/** @typedef {import("../conversation/thread.js").Event} Event */
/** @typedef {{ key: string, fp: string, id: string, threadId: string, messageId: string }} Ids of an answer; `id` is the chat's */
/** @typedef {"unsent" | "unreached" | "broken" | "silent"} Loss `unsent` is sure that the service did not get it */
/** @typedef {{ event: (event: Event) => void, lost: (how: Loss) => void }} Hearer */
/** @typedef {{ key: string, fp: string, id: string } & Record<string, unknown>} Asking */
/**
 * One answer on its way. `line` changes with each connection: what an earlier one still has to say is not heard.
 * @typedef {object} Course
 * @property {(event: Event) => void} listener
 * @property {Pick<Ids, "key" | "fp" | "id">} asker
 * @property {Ids | null} ids known when the answer has begun
 * @property {number} after events seen
 * @property {number} attempt
 * @property {boolean} resuming no event has come since the connection was lost
 * @property {boolean} stopped
 * @property {object | null} line
 */

/** Silence after which a connection counts as lost, until its first event and between any two, in milliseconds. */
const FIRST = 20_000;
const BETWEEN = 15_000;
/** Before each attempt to go on; together about as long as the service waits for a reader to come back. */
const PAUSES = [200, 800, 2_000, 4_000, 6_000, 6_000];
/** Without a network its return is waited for. Browsers can be wrong about it, so there are attempts all the same. */
const OFFLINE = 60_000;
/** How long a tab remembers that sockets do not get through. */
const MEMORY = 10 * 60_000;

export class Client {
  #socket;
  #http;
  /** Whether requests work where sockets do not. */
  #blocked;
  #memory;
  /** @type {Course | null} */
  #course = null;
  /** @type {Socket | Http} */
  #carrier;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** Ends the listening for the network. */
  #over = new AbortController();

  /**
   * @param {string} script address of the loader; the service is on the same host
   * @param {string} domain
   */
  constructor(script, domain) {
    this.#http = new Http(script, domain);
    this.#socket = new Socket(this.#http.address("v1/assistant", "/socket"));
    this.#memory = `docs-assistant:${domain}:requests`;
    this.#blocked = Number(tab.get(this.#memory)) > Date.now();
    this.#carrier = this.#socket;
  }

  /**
   * Sends a question. Its events follow, and whatever happens the last one is `finish` or `error`. An event
   * `reconnecting` tells that the connection was lost; what comes after it goes on where it was.
   * @param {Asking} question
   * @param {(event: Event) => void} listener
   */
  ask(question, listener) {
    const { key, fp, id } = question;
    this.#begin({ listener, asker: { key, fp, id }, ids: null, after: 0, resuming: false });
    this.#go((carrier, hearer) => carrier.ask(question, hearer));
  }

  /**
   * Goes on with an answer of which so many events were seen, perhaps on another page. One without ids is lost.
   * @param {Pick<Ids, "key" | "fp" | "id"> & { threadId: string | null, messageId: string | null, after: number }} answer
   * @param {(event: Event) => void} listener
   */
  resume({ after, threadId, messageId, ...asker }, listener) {
    const ids = threadId && messageId ? { ...asker, threadId, messageId } : null;
    this.#begin({ listener, asker, ids, after, resuming: true });
    if (ids) this.#resume();
    else this.#fail(words.lost);
  }

  /** Ends the running answer. At most its `start` follows. */
  stop() {
    const course = this.#course;
    if (!course || course.stopped) return;
    course.stopped = true;
    this.#quiet();
    if (course.line) this.#carrier.stop(course.ids);
    else if (course.ids) this.#http.stop(course.ids);
    this.#wait(FIRST); // for the connection to be free again
  }

  /** Ends all connections; no event follows. */
  close() {
    this.#quiet();
    this.#course = null;
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

  /** @param {Omit<Course, "attempt" | "stopped" | "line">} course */
  #begin(course) {
    this.#quiet();
    this.#course = { ...course, attempt: 0, stopped: false, line: null };
    this.#over = new AbortController();
    // A connection seems to be alive for long after its network went, or another one came.
    for (const turn of ["offline", "online"]) addEventListener(turn, () => this.#turn(), { signal: this.#over.signal });
  }

  /** @param {(carrier: Socket | Http, hearer: Hearer) => void} act @param {boolean} [instead] by requests, since the socket failed */
  #go(act, instead = false) {
    const course = /** @type {Course} */ (this.#course);
    const line = (course.line = {});
    const carrier = (this.#carrier = instead || this.#blocked ? this.#http : this.#socket);
    const isHeard = () => this.#course === course && course.line === line;
    this.#wait(FIRST);
    act(carrier, {
      event: (event) => {
        if (!isHeard()) return;
        if (instead && !this.#blocked) this.#remember();
        this.#receive(event);
      },
      lost: (how) => {
        if (!isHeard()) return;
        if (how === "unsent" && !course.stopped) this.#go(act, true);
        else this.#lost(how);
      },
    });
  }

  #resume() {
    const course = /** @type {Course} */ (this.#course);
    const answer = { .../** @type {Ids} */ (course.ids), after: course.after };
    this.#go((carrier, hearer) => carrier.resume(answer, hearer));
  }

  /** @param {Event} event */
  #receive(event) {
    const course = /** @type {Course} */ (this.#course);
    if (typeof event?.type !== "string") return;
    if (course.resuming && event.type === "error" && event.status === 404) return this.#fail(words.lost);
    course.resuming = false;
    course.attempt = 0;
    if (event.type === "start") {
      course.ids = { ...course.asker, threadId: event.messageMetadata?.threadId, messageId: event.messageId };
    }
    if (course.ids) course.after++;
    if (isLast(event)) {
      this.#quiet();
      this.#course = null;
      this.#carrier.rest();
    } else if (!course.stopped) {
      this.#wait(BETWEEN);
    }
    if (!course.stopped || event.type === "start") course.listener(event);
  }

  /** The network went or came. An answer that has not begun could not be gone on with: its connection may yet live. */
  #turn() {
    const course = this.#course;
    if (!course?.ids || course.stopped) return;
    course.attempt = 0;
    this.#seek(navigator.onLine ? 0 : OFFLINE);
  }

  /** @param {Loss} how */
  #lost(how) {
    const course = this.#course;
    if (!course) return;
    if (course.stopped) return this.close();
    const off = !navigator.onLine;
    if (!course.ids)
      return this.#fail(
        off ? words.offline : how === "broken" ? words.lost : how === "silent" ? words.silent : words.unreachable,
      );
    const pause = off ? OFFLINE : PAUSES[course.attempt++];
    if (pause) this.#seek(pause);
    else this.#fail(words.lost);
  }

  /** Goes on over another connection. @param {number} pause before, in milliseconds */
  #seek(pause) {
    const course = /** @type {Course} */ (this.#course);
    course.line = null;
    course.resuming = true;
    this.#socket.close();
    this.#http.close();
    course.listener({ type: "reconnecting" });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#resume(), pause);
  }

  /** @param {string} errorText */
  #fail(errorText) {
    const course = this.#course;
    this.close();
    if (!course?.stopped) course?.listener({ type: "error", errorText, status: 0 });
  }

  /** @param {number} ms */
  #wait(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost("silent"), ms);
  }

  /** From now on nothing happens by itself. */
  #quiet() {
    clearTimeout(this.#timer);
    this.#over.abort();
  }

  #remember() {
    this.#blocked = true;
    tab.set(this.#memory, String(Date.now() + MEMORY));
  }
}

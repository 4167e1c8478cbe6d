/** The other way to the service, where sockets do not get through; and the small requests beside a question. */

import { json } from "../base/json.js";
import { isLast } from "./events.js";
import { EventStream } from "./sse.js";

/** @typedef {import("./client.js").Listener} Listener */
/** @typedef {import("./client.js").Ids} Ids */

/** A proxy's statuses while the service behind it is away. */
const GATEWAY_ERRORS = new Set([502, 503, 504]);

/** How long a small request may take, in milliseconds. */
const TIMEOUT = 10_000;

/** One answer being read. `unwanted` means that it is to be stopped as soon as its ids are known. */
class StreamRequest extends AbortController {
  stopRequested = false;
}

export class Http {
  /** @type {StreamRequest | null} */
  #running = null;
  #service;
  #domain;

  /** @param {string} script address of the loader; the service is on the same host @param {string} domain */
  constructor(script, domain) {
    this.#service = script;
    this.#domain = encodeURIComponent(domain);
  }

  /** @param {string} what such as `v2/assistant` @param {string} [more] */
  address(what, more = "") {
    return new URL(`/discovery/${what}/${this.#domain}${more}`, this.#service);
  }

  /** @param {import("./client.js").QuestionRequest} question @param {Listener} listener */
  async ask({ key, fp, ...question }, listener) {
    const request = this.#begin();
    const response = await this.#fetch(
      this.address("v2/assistant", "/message"),
      key,
      { fp, ...question, resumable: true },
      request,
    );
    if (request.signal.aborted) return;
    if (!response) return listener.lost("unreached");
    if (!response.ok) return listener.event(await errorEvent(response));
    await this.#readStream(response, request, {
      lost: listener.lost,
      event: (event) => {
        listener.event(event);
        if (!request.stopRequested || event.type !== "start") return;
        request.abort();
        const { messageId = "", messageMetadata } = event;
        this.#requestStop({ key, fp, threadId: messageMetadata?.threadId ?? "", messageId });
      },
    });
  }

  /**
   * Reads an answer again from its start; what was seen of it is passed over.
   * @param {Ids & { after: number }} answer
   * @param {Listener} listener
   */
  async resume({ key, id, messageId, after }, listener) {
    const request = this.#begin();
    const url = this.address("v2/assistant", `/message/${encodeURIComponent(id)}/stream`);
    const response = await this.#fetch(url, key, null, request);
    if (request.signal.aborted) return;
    if (!response || GATEWAY_ERRORS.has(response.status)) return listener.lost("unreached");
    if (response.status === 204) return listener.event(notFoundEvent());
    if (!response.ok) return listener.event(await errorEvent(response));
    let position = 0;
    await this.#readStream(response, request, {
      lost: listener.lost,
      event: (event) => {
        if (position++ === 0 && event.messageId !== messageId) {
          request.abort();
          listener.event(notFoundEvent()); // another question of this conversation came between
        } else if (position > after || isLast(event)) {
          listener.event(event);
        }
      },
    });
  }

  /** Ends an answer. One whose ids are not known yet is read on until they are. @param {Ids | null} ids */
  stop(ids) {
    if (ids) {
      this.#requestStop(ids);
      this.close();
    } else if (this.#running) {
      this.#running.stopRequested = true;
      this.#running = null;
    }
  }

  /** No event follows. */
  close() {
    this.#running?.abort();
    this.#running = null;
  }

  /** The answer has ended. */
  release() {
    this.#running = null;
  }

  /** Tells what a reader thinks of an answer. Returns whether the service took it. @param {Record<string, unknown>} feedback */
  rate(feedback) {
    // As plain text a browser sends it without asking first, so that it also leaves with the page.
    const init = { method: "POST", body: json(feedback), headers: { "Content-Type": "text/plain" }, keepalive: true };
    return this.#succeeded(
      fetch(this.address("v1/feedback"), { ...init, credentials: "omit", signal: AbortSignal.timeout(TIMEOUT) }),
    );
  }

  /** Deletes a conversation. Returns whether the service did. @param {{ key: string, fp: string, threadId: string }} whose */
  forget({ key, fp, threadId }) {
    return this.#succeeded(this.#post(this.address("v1/assistant", "/forget"), key, { fp, threadId }));
  }

  #begin() {
    this.close();
    return (this.#running = new StreamRequest());
  }

  /** @param {Omit<Ids, "id">} ids */
  #requestStop({ key, fp, threadId, messageId }) {
    this.#succeeded(this.#post(this.address("v2/assistant", "/stop"), key, { fp, threadId, messageId }));
  }

  /** @param {URL} url @param {string} key @param {object} content */
  #post(url, key, content) {
    return fetch(url, { ...requestOptions(key, content), keepalive: true, signal: AbortSignal.timeout(TIMEOUT) });
  }

  /** @param {Promise<Response>} response */
  async #succeeded(response) {
    try {
      return (await response).ok;
    } catch {
      return false;
    }
  }

  /** @param {URL} url @param {string} key @param {object | null} content @param {StreamRequest} request */
  async #fetch(url, key, content, { signal }) {
    try {
      return await fetch(url, { ...requestOptions(key, content), signal });
    } catch {
      return null;
    }
  }

  /** @param {Response} response @param {StreamRequest} request @param {Listener} listener */
  async #readStream(response, request, listener) {
    const stream = new EventStream();
    let ended = false;
    try {
      const pieces = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
        for (const event of stream.push(piece.value)) {
          if (ended || request.signal.aborted) continue;
          ended = isLast(event);
          listener.event(event.type === "error" ? { status: 503, ...event } : event); // as the socket has it
        }
      }
    } catch {
      // The connection broke, or what came over it is not of the service.
    }
    if (!ended && !request.signal.aborted) listener.lost("broken");
  }
}

/** @returns {import("./events.js").StreamEvent} */
const notFoundEvent = () => ({ type: "error", errorText: "", status: 404 });

/** @param {string} key @param {object | null} content @returns {RequestInit} */
const requestOptions = (key, content) => ({
  method: content ? "POST" : "GET",
  headers: { Authorization: `Bearer ${key}`, ...(content && { "Content-Type": "application/json" }) },
  body: content && json(content),
  credentials: "omit",
  cache: "no-store",
});

/** A refusal as the event that the socket would have sent. @param {Response} response @returns {Promise<import("./events.js").StreamEvent>} */
async function errorEvent(response) {
  const later = response.headers.get("Retry-After") ?? ""; // seconds, or a date
  const wait = Number(later) || Math.ceil((Date.parse(later) - Date.now()) / 1000);
  const body = await response.json().catch(() => null);
  /** @type {{ message?: string }[]} */
  const details = Array.isArray(body?.details) ? body.details : [];
  const sentences = [body?.error, ...details.map((detail) => `${detail?.message}.`)];
  return {
    type: "error",
    errorText: typeof body?.error === "string" ? sentences.join(" ") : "",
    status: response.status,
    ...(wait > 0 && { retryAfter: wait }),
  };
}

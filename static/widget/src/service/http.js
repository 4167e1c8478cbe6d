/** The transport by HTTP requests, for networks without sockets; and the small requests beside a question. */

import { json } from "../base/json.js";
import { isLast } from "./events.js";
import { EventStream } from "./sse.js";

/** @typedef {import("./client.js").Listener} Listener */
/** @typedef {import("./client.js").Ids} Ids */
/** @typedef {{ key: string, readerToken?: string }} Keys */

/** Statuses of a proxy whose service cannot be reached. */
const GATEWAY_ERRORS = new Set([502, 503, 504]);

/** For small requests, in milliseconds. */
const TIMEOUT = 10_000;

/** The request of an answer. One with `stopRequested` is stopped as soon as its ids are known. */
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

  /** @param {string} endpoint such as `v2/assistant` @param {string} [more] */
  address(endpoint, more = "") {
    return new URL(`discovery/${endpoint}/${this.#domain}${more}`, this.#service);
  }

  /** @param {import("./client.js").QuestionRequest} question @param {Listener} listener */
  async ask(question, listener) {
    const { key, readerToken, ...content } = question;
    const request = this.#begin();
    const url = this.address("v2/assistant", "/message");
    const response = await this.#fetch(url, question, { ...content, resumable: true }, request);
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
        this.#requestStop({ ...question, threadId: messageMetadata?.threadId ?? "", messageId });
      },
    });
  }

  /**
   * Reads an answer again from its start. Events that were received before are skipped.
   * @param {Ids & { after: number }} answer
   * @param {Listener} listener
   */
  async resume(answer, listener) {
    const { id, messageId, after } = answer;
    const request = this.#begin();
    const url = this.address("v2/assistant", `/message/${encodeURIComponent(id)}/stream`);
    const response = await this.#fetch(url, answer, null, request);
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

  /** Stops an answer. If its ids are not known yet, it is read until they are. @param {Ids | null} ids */
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

  /** Sends feedback on an answer. Returns whether the service stored it. @param {Record<string, unknown>} feedback */
  rate(feedback) {
    // Plain text needs no preflight request, so the feedback is sent even while the page is being left.
    const init = { method: "POST", body: json(feedback), headers: { "Content-Type": "text/plain" }, keepalive: true };
    return this.#succeeded(
      fetch(this.address("v1/feedback"), { ...init, credentials: "omit", signal: AbortSignal.timeout(TIMEOUT) }),
    );
  }

  /** Deletes a conversation. Returns whether the service did. @param {{ key: string, fp: string, threadId: string }} thread */
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
    return fetch(url, { ...requestOptions({ key }, content), keepalive: true, signal: AbortSignal.timeout(TIMEOUT) });
  }

  /** @param {Promise<Response>} response */
  async #succeeded(response) {
    try {
      return (await response).ok;
    } catch {
      return false;
    }
  }

  /** @param {URL} url @param {Keys} keys @param {object | null} content @param {StreamRequest} request */
  async #fetch(url, keys, content, { signal }) {
    try {
      return await fetch(url, { ...requestOptions(keys, content), signal });
    } catch {
      return null;
    }
  }

  /** @param {Response} response @param {StreamRequest} request @param {Listener} listener */
  async #readStream(response, request, listener) {
    const stream = new EventStream();
    let hasEnded = false;
    try {
      const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        for (const event of stream.push(chunk.value)) {
          if (hasEnded || request.signal.aborted) continue;
          hasEnded = isLast(event);
          listener.event(event.type === "error" ? { status: 503, ...event } : event); // as over the socket
        }
      }
    } catch {
      // The connection broke, or its bytes are not from the service.
    }
    if (!hasEnded && !request.signal.aborted) listener.lost("broken");
  }
}

/** @returns {import("./events.js").StreamEvent} */
const notFoundEvent = () => ({ type: "error", errorText: "", status: 404 });

/** @param {Keys} keys @param {object | null} content @returns {RequestInit} */
const requestOptions = ({ key, readerToken }, content) => ({
  method: content ? "POST" : "GET",
  headers: {
    Authorization: `Bearer ${key}`,
    ...(readerToken && { "X-Reader-Token": readerToken }),
    ...(content && { "Content-Type": "application/json" }),
  },
  body: content && json(content),
  credentials: "omit",
  cache: "no-store",
});

/** The error event that the socket would have sent. @param {Response} response @returns {Promise<import("./events.js").StreamEvent>} */
async function errorEvent(response) {
  const retryAfter = response.headers.get("Retry-After") ?? ""; // seconds, or a date
  const wait = Number(retryAfter) || Math.ceil((Date.parse(retryAfter) - Date.now()) / 1000);
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

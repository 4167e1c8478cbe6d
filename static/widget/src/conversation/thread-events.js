/** The reducer of a conversation: a thread and an event of the service make the next thread. Pure, as `thread.js` is. */

import { changeAnswer, isRunning, lastAnswer } from "./thread.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Answer} Answer */
/** @typedef {import("./thread.js").Passage} Passage */
/** @typedef {import("../service/events.js").StreamEvent} StreamEvent */

/** Statuses of an error after which the same question may succeed a little later. */
const RETRY_STATUSES = new Set([429, 503]);

/** The longest time that a question waits for the end of a limit, in seconds. */
const MAX_WAIT = 3600;

/**
 * The thread after one event. Every event of a running answer is counted, known or not.
 * An answer that was stopped before its start still gets its ids, so that it can be replaced.
 * @param {Thread} thread
 * @param {StreamEvent} event
 * @param {number} now milliseconds, from which the end of a limit is computed
 * @returns {Thread}
 */
export function applyEvent(thread, event, now) {
  const answer = lastAnswer(thread);
  if (!answer) return thread;
  if (!isRunning(answer)) {
    const isLateStart = event.type === "start" && answer.phase === "stopped" && !answer.messageId;
    return isLateStart
      ? changeAnswer(setThreadId(thread, event.messageMetadata?.threadId), {
          messageId: stringOrEmpty(event.messageId) || null,
        })
      : thread;
  }
  if (event.type === "reconnecting") return answer.reconnecting ? thread : changeAnswer(thread, { reconnecting: true });
  const metadata = event.type === "data-thread" ? event.data : event.messageMetadata;
  return changeAnswer(setThreadId(thread, metadata?.threadId), {
    seen: answer.seen + 1,
    reconnecting: false,
    ...answerChanges(answer, event, now),
  });
}

/**
 * The fields of a running answer that an event changes.
 * @param {Answer} answer
 * @param {StreamEvent} event
 * @param {number} now milliseconds
 * @returns {Partial<Answer>}
 */
function answerChanges(answer, event, now) {
  switch (event.type) {
    case "start":
      return { messageId: stringOrEmpty(event.messageId) || null };
    case "tool-input-available":
      return searchChanges(answer, event);
    case "tool-output-available":
      return resultChanges(answer, event);
    case "text-start": // after a search of the model's own
      return answer.text ? { text: `${answer.text}\n\n` } : {};
    case "text-delta":
      return { phase: "answering", text: answer.text + stringOrEmpty(event.delta) };
    case "source-url": {
      const url = stringOrEmpty(event.url);
      if (!url || answer.sources.some((source) => source.url === url)) return {};
      return { sources: [...answer.sources, { url, title: stringOrEmpty(event.title) || url }] };
    }
    case "data-status":
      return statusChanges(answer, event.data ?? {});
    case "finish":
      return answer.text.trim()
        ? { phase: "done", cut: stringOrEmpty(event.finishReason) }
        : { phase: "failed", failure: { text: "", status: 0, readyAt: null } };
    case "abort":
      return { phase: "stopped" };
    case "error": {
      const wait = Number(event.retryAfter);
      const readyAt = wait > 0 && wait <= MAX_WAIT ? now + wait * 1000 : null;
      const failure = { text: stringOrEmpty(event.errorText), status: Number(event.status) || 0, readyAt };
      return { phase: readyAt && RETRY_STATUSES.has(failure.status) && !answer.text ? "waiting" : "failed", failure };
    }
    default:
      return {};
  }
}

/** The first search of an answer is the service's own. @param {Answer} answer @param {StreamEvent} event @returns {Partial<Answer>} */
function searchChanges({ phase, searches, passages, site }, { toolCallId, input }) {
  if (phase === "sending") return { phase: "searching" };
  const [callId, query, path] = [toolCallId, fieldsOf(input).query, fieldsOf(input).path].map(stringOrEmpty);
  const page = path && (passages.find(({ url }) => url.split("#")[0] === site + path)?.title ?? path);
  const text = page || query;
  return {
    searches: text ? [...searches, { callId, isPage: page !== "", text }] : searches,
    ...(page ? { phase: "reading", reading: [page] } : { phase: "searching" }),
  };
}

/** A page that was not found has not been read. @param {Answer} answer @param {StreamEvent} event @returns {Partial<Answer>} */
function resultChanges(answer, { toolCallId, output }) {
  const hits = parseHits(output);
  const reading = pageTitles(hits);
  const searches = answer.searches.flatMap((search) =>
    !search.isPage || search.callId !== toolCallId ? search : reading.slice(0, 1).map((text) => ({ ...search, text })),
  );
  if (!reading.length) return { searches };
  return {
    phase: "reading",
    reading,
    searches,
    passages: [...answer.passages, ...toPassages(hits)],
    site: answer.site || siteAddress(hits),
  };
}

/** @param {Thread} thread @param {unknown} threadId @returns {Thread} */
function setThreadId(thread, threadId) {
  const id = stringOrEmpty(threadId);
  if (!id || id === thread.threadId) return thread;
  const next = { ...thread, threadId: id };
  return thread.threadId === null ? next : changeAnswer(next, { restarted: true });
}

/** @param {unknown} value */
const stringOrEmpty = (value) => (typeof value === "string" ? value : "");

/** @typedef {{ url: string, path: string, content: string, title: string, section: string }} Hit */

/** @param {unknown} value @returns {Record<string, unknown>} the value if it is an object, else an empty one */
const fieldsOf = (value) => (typeof value === "object" && value !== null ? { ...value } : {});

/** The hits that a search of the service returned. @param {unknown} output @returns {Hit[]} */
function parseHits(output) {
  if (!Array.isArray(output)) return [];
  return output.map((hit) => {
    const { url, path, content, metadata } = fieldsOf(hit);
    const { title, section } = fieldsOf(metadata);
    const [address, page, text, name, heading] = [url, path, content, title, section].map(stringOrEmpty);
    return { url: address, path: page, content: text, title: name, section: heading };
  });
}

/** The titles of the pages, each once. @param {Hit[]} hits */
const pageTitles = (hits) => [...new Set(hits.map(({ title, path }) => title || path).filter(Boolean))];

/** @param {Hit[]} hits @returns {Passage[]} */
function toPassages(hits) {
  return hits
    .filter(({ url }) => url)
    .map(({ url, content, title, section }) => ({
      url,
      title: title || url,
      breadcrumb: [...new Set([title, section])].filter(Boolean),
      text: content,
    }));
}

/** The address at which paths of the documentation begin: a page's address without its path. @param {Hit[]} hits */
function siteAddress([first]) {
  if (!first?.path) return "";
  const page = first.url.split("#")[0];
  return page.endsWith(first.path) ? page.slice(0, -first.path.length) : "";
}

/** Fields that the state of the answer changes. @param {Answer} answer @param {Record<string, unknown>} data @returns {Partial<Answer>} */
function statusChanges(answer, data) {
  const { rung, reason, version, indexedAt, pages, refused } = data;
  const hasScope = version !== undefined || indexedAt !== undefined || pages !== undefined;
  return {
    refused: refused === true || (rung === "nearest_pages" && !answer.sources.length),
    notice: rung && rung !== "model" ? { rung: stringOrEmpty(rung), reason: stringOrEmpty(reason) } : answer.notice,
    scope: hasScope
      ? {
          version: stringOrEmpty(version),
          indexedAt: stringOrEmpty(indexedAt),
          pages: typeof pages === "number" ? pages : null,
        }
      : answer.scope,
  };
}

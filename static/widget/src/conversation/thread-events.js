/** What each event of the service makes of a thread. Pure, as `thread.js` is. */

import { changeAnswer, isRunning, lastAnswer } from "./thread.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Answer} Answer */
/** @typedef {import("./thread.js").Passage} Passage */
/** @typedef {import("./thread.js").Event} Event */

/** Statuses of an error after which the same question may be answered a little later. */
const RETRY_STATUSES = new Set([429, 503]);

/** The longest limit, in seconds, whose end is waited for. */
const MAX_WAIT = 3600;

/**
 * The thread after one event. Every event of a running answer counts, whether it is known or not.
 * An answer that was stopped before it began still learns its ids, by which it can be replaced.
 * @param {Thread} thread
 * @param {Event} event
 * @param {number} now milliseconds, for the moment at which a limit ends
 * @returns {Thread}
 */
export function applyEvent(thread, event, now) {
  const answer = lastAnswer(thread);
  if (!answer) return thread;
  if (!isRunning(answer)) {
    const late = event.type === "start" && answer.phase === "stopped" && !answer.messageId;
    return late
      ? changeAnswer(setThreadId(thread, event.messageMetadata?.threadId), {
          messageId: stringOrEmpty(event.messageId) || null,
        })
      : thread;
  }
  if (event.type === "reconnecting") return answer.reconnecting ? thread : changeAnswer(thread, { reconnecting: true });
  const told = event.type === "data-thread" ? event.data : event.messageMetadata;
  return changeAnswer(setThreadId(thread, told?.threadId), {
    seen: answer.seen + 1,
    reconnecting: false,
    ...answerChanges(answer, event, now),
  });
}

/** What an event changes in a running answer. @param {Answer} answer @param {Event} event @param {number} now @returns {Partial<Answer>} */
function answerChanges(answer, event, now) {
  switch (event.type) {
    case "start":
      return { messageId: stringOrEmpty(event.messageId) || null };
    case "tool-input-start":
    case "tool-input-available":
      return answer.text ? {} : { phase: "searching" };
    case "tool-output-available": {
      const reading = pageTitles(event.output);
      if (!reading.length || answer.text) return {};
      return { phase: "reading", reading, passages: passages(event.output), site: siteAddress(event.output) };
    }
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
        ? { phase: "done" }
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

/** @param {Thread} thread @param {unknown} threadId @returns {Thread} */
function setThreadId(thread, threadId) {
  const id = stringOrEmpty(threadId);
  if (!id || id === thread.threadId) return thread;
  const next = { ...thread, threadId: id };
  return thread.threadId === null ? next : changeAnswer(next, { restarted: true });
}

/** @param {unknown} value */
const stringOrEmpty = (value) => (typeof value === "string" ? value : "");

/** Titles of the pages among some hits, each once. @param {unknown} hits */
function pageTitles(hits) {
  if (!Array.isArray(hits)) return [];
  return [
    ...new Set(hits.map((hit) => stringOrEmpty(hit?.metadata?.title) || stringOrEmpty(hit?.path)).filter(Boolean)),
  ];
}

/** @param {any[]} hits @returns {Passage[]} */
function passages(hits) {
  return hits
    .filter((hit) => stringOrEmpty(hit?.url))
    .map(({ url, content, metadata }) => {
      const { title, section } = metadata ?? {};
      return {
        url,
        title: stringOrEmpty(title) || url,
        breadcrumb: [...new Set([title, section])].map(stringOrEmpty).filter(Boolean),
        text: stringOrEmpty(content),
      };
    });
}

/** The address of the documentation, without its last slash: that of a page less the page's path. @param {any} hits */
function siteAddress(hits) {
  const { path, url } = hits?.[0] ?? {};
  const page = stringOrEmpty(url).split("#")[0];
  return stringOrEmpty(path) && page.endsWith(path) ? page.slice(0, -path.length) : "";
}

/** @param {Answer} answer @param {Record<string, unknown>} data @returns {Partial<Answer>} */
function statusChanges(answer, data) {
  const { rung, reason, version, indexedAt, pages, refused } = data;
  const scoped = version !== undefined || indexedAt !== undefined || pages !== undefined;
  return {
    refused: refused === true || (rung === "nearest_pages" && !answer.sources.length),
    notice: rung && rung !== "model" ? { rung: stringOrEmpty(rung), reason: stringOrEmpty(reason) } : answer.notice,
    scope: scoped
      ? {
          version: stringOrEmpty(version),
          indexedAt: stringOrEmpty(indexedAt),
          pages: typeof pages === "number" ? pages : null,
        }
      : answer.scope,
  };
}

/**
 * The state of a conversation. Pure: each function takes a thread and returns the next one, and what did not
 * change keeps its identity, so that a view can tell by `===` what to draw again.
 */

/** @typedef {{ id: string, role: "user", text: string }} Question */
/** @typedef {{ url: string, title: string }} Source */
/** @typedef {{ rung: string, reason: string }} Notice */
/** @typedef {{ version: string, indexedAt: string, pages: number | null }} Scope */
/** @typedef {{ text: string, status: number, readyAt: number | null }} Failure */
/** @typedef {"sending" | "searching" | "reading" | "answering" | "done" | "stopped" | "failed"} Phase */
/**
 * @typedef {object} Answer
 * @property {string} id
 * @property {"assistant"} role
 * @property {string | null} messageId the service's id of this answer
 * @property {Phase} phase
 * @property {string} text Markdown
 * @property {string[]} reading titles of the pages the search found
 * @property {string} site where the documentation's paths begin, as the found pages tell
 * @property {Source[]} sources cited pages, in the order in which they arrived
 * @property {Notice | null} notice set when something other than the usual model answered
 * @property {Scope | null} scope
 * @property {boolean} restarted the service no longer knew the thread
 * @property {Failure | null} failure
 */
/** @typedef {Question | Answer} Turn */
/** @typedef {{ chatId: string, threadId: string | null, turns: Turn[] }} Thread */
/** @typedef {Record<string, any> & { type: string }} Event one v2 event */

/** @type {ReadonlySet<string>} */
const RUNNING = new Set(["sending", "searching", "reading", "answering"]);

/** @param {string} chatId @returns {Thread} */
export const begin = (chatId) => ({ chatId, threadId: null, turns: [] });

/** The last turn when it is an answer. @param {Thread} thread @returns {Answer | null} */
export function lastAnswer(thread) {
  const turn = thread.turns.at(-1);
  return turn?.role === "assistant" ? turn : null;
}

/** @param {Answer | null} answer */
export const isRunning = (answer) => answer !== null && RUNNING.has(answer.phase);

/** @param {string} id @returns {Answer} */
const blank = (id) => ({
  id,
  role: "assistant",
  messageId: null,
  phase: "sending",
  text: "",
  reading: [],
  site: "",
  sources: [],
  notice: null,
  scope: null,
  restarted: false,
  failure: null,
});

/**
 * The thread with a new question and an answer on its way.
 * @param {Thread} thread
 * @param {{ text: string, questionId: string, answerId: string }} question
 * @returns {Thread}
 */
export const asked = (thread, { text, questionId, answerId }) => ({
  ...thread,
  turns: [...thread.turns, { id: questionId, role: "user", text }, blank(answerId)],
});

/**
 * The thread with its last answer begun again, and the question to send. Null when there is nothing to repeat.
 * @param {Thread} thread
 * @param {string} answerId
 * @returns {{ thread: Thread, question: Question, messageId: string | null } | null} with the service's id of the old one
 */
export function retried(thread, answerId) {
  const answer = lastAnswer(thread);
  const question = thread.turns.at(-2);
  if (!answer || isRunning(answer) || question?.role !== "user") return null;
  return { question, messageId: answer.messageId, thread: { ...thread, turns: [...thread.turns.slice(0, -1), blank(answerId)] } };
}

/** @param {Thread} thread @returns {Thread} */
export const stopped = (thread) => change(thread, { phase: "stopped" });

/**
 * The thread after one event. Unknown events, and events when nothing is running, change nothing.
 * @param {Thread} thread
 * @param {Event} event
 * @param {number} now milliseconds, for the moment at which a limit ends
 * @returns {Thread}
 */
export function received(thread, event, now) {
  const answer = lastAnswer(thread);
  if (!answer || !isRunning(answer)) return thread;
  switch (event.type) {
    case "start":
      return change(named(thread, event.messageMetadata?.threadId), { messageId: text(event.messageId) || null });
    case "data-thread":
      return named(thread, event.data?.threadId);
    case "tool-input-start":
    case "tool-input-available":
      return answer.text ? thread : change(thread, { phase: "searching" });
    case "tool-output-available": {
      const reading = titles(event.output);
      const found = { reading, site: siteOf(event.output) };
      return reading.length && !answer.text ? change(thread, { phase: "reading", ...found }) : thread;
    }
    case "text-delta":
      return change(thread, { phase: "answering", text: answer.text + text(event.delta) });
    case "source-url": {
      const url = text(event.url);
      if (!url || answer.sources.some((source) => source.url === url)) return thread;
      return change(thread, { sources: [...answer.sources, { url, title: text(event.title) || url }] });
    }
    case "data-status":
      return change(thread, status(answer, event.data ?? {}));
    case "finish": {
      const next = named(thread, event.messageMetadata?.threadId);
      if (answer.text.trim()) return change(next, { phase: "done" });
      return change(next, { phase: "failed", failure: { text: "", status: 0, readyAt: null } });
    }
    case "abort":
      return change(thread, { phase: "stopped" });
    case "error": {
      const wait = Number(event.retryAfter);
      return change(thread, {
        phase: "failed",
        failure: {
          text: text(event.errorText),
          status: Number(event.status) || 0,
          readyAt: wait > 0 ? now + wait * 1000 : null,
        },
      });
    }
    default:
      return thread;
  }
}

/**
 * A thread that was saved as JSON, with an answer that was under way marked as stopped. Null when it is not one.
 * @param {unknown} saved
 * @returns {Thread | null}
 */
export function restored(saved) {
  const thread = /** @type {Thread} */ (saved);
  if (!thread || typeof thread.chatId !== "string" || !Array.isArray(thread.turns)) return null;
  const sound = thread.turns.every(
    (turn) =>
      typeof turn?.id === "string" &&
      typeof turn.text === "string" &&
      (turn.role === "user" || (turn.role === "assistant" && Array.isArray(turn.sources) && Array.isArray(turn.reading))),
  );
  if (!sound) return null;
  return isRunning(lastAnswer(thread)) ? stopped(thread) : thread;
}

/**
 * The sources with the numbers that the text gives them. A source that the text cites under no number of its own
 * takes the next free one.
 * @param {string} markdown
 * @param {Source[]} sources
 * @returns {(Source & { number: number })[]}
 */
export function numbered(markdown, sources) {
  /** @type {Map<string, number>} */
  const cited = new Map();
  for (const [, number, url] of markdown.matchAll(/\[(\d{1,3})\]\(<?([^)\s>]+)/g)) {
    if (!cited.has(url)) cited.set(url, Number(number));
    const page = url.split("#")[0];
    if (!cited.has(page)) cited.set(page, Number(number));
  }
  const used = new Set();
  let free = Math.max(0, ...cited.values());
  return sources
    .map((source) => {
      let number = cited.get(source.url) ?? cited.get(source.url.split("#")[0]);
      if (number === undefined || used.has(number)) number = ++free;
      used.add(number);
      return { ...source, number };
    })
    .sort((a, b) => a.number - b.number);
}

/** @param {unknown} value */
const text = (value) => (typeof value === "string" ? value : "");

/** Titles of the pages among some hits, each once. @param {unknown} hits */
function titles(hits) {
  if (!Array.isArray(hits)) return [];
  return [...new Set(hits.map((hit) => text(hit?.metadata?.title) || text(hit?.path)).filter(Boolean))];
}

/** The address of the documentation, without its last slash: that of a page less the page's path. @param {any} hits */
function siteOf(hits) {
  const { path, url } = hits?.[0] ?? {};
  const page = text(url).split("#")[0];
  return text(path) && page.endsWith(path) ? page.slice(0, -path.length) : "";
}

/** @param {Answer} answer @param {Record<string, unknown>} data @returns {Partial<Answer>} */
function status(answer, data) {
  const { rung, reason, version, indexedAt, pages } = data;
  const scoped = version !== undefined || indexedAt !== undefined || pages !== undefined;
  return {
    notice: rung && rung !== "model" ? { rung: text(rung), reason: text(reason) } : answer.notice,
    scope: scoped
      ? { version: text(version), indexedAt: text(indexedAt), pages: typeof pages === "number" ? pages : null }
      : answer.scope,
  };
}

/** @param {Thread} thread @param {unknown} threadId @returns {Thread} */
function named(thread, threadId) {
  const id = text(threadId);
  if (!id || id === thread.threadId) return thread;
  const next = { ...thread, threadId: id };
  return thread.threadId === null ? next : change(next, { restarted: true });
}

/** @param {Thread} thread @param {Partial<Answer>} values @returns {Thread} */
function change(thread, values) {
  const answer = lastAnswer(thread);
  return answer ? { ...thread, turns: [...thread.turns.slice(0, -1), { ...answer, ...values }] } : thread;
}

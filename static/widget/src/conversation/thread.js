/**
 * The state of a conversation. The functions are pure: each takes a thread and returns the next one. Unchanged parts
 * keep their identity, so that views compare them by `===`.
 */

/**
 * Code or text that a question is about. `label` is the text of its chip, such as `app.py · 12 lines`.
 * @typedef {{ type: "code" | "textSelection", value: string, label: string, path?: string, elementId?: string }} Context
 */
/** @typedef {{ id: string, role: "user", text: string, context: Context[] }} Question */
/** @typedef {{ url: string, title: string }} Source */
/** @typedef {{ rung: string, reason: string }} Notice */
/** @typedef {{ version: string, indexedAt: string, pages: number | null }} Scope */
/** @typedef {{ text: string, status: number, readyAt: number | null }} Failure */
/** @typedef {{ url: string, title: string, breadcrumb: string[], text: string }} Passage of a page that the search found */
/** @typedef {{ callId: string, isPage: boolean, text: string }} Search words that were searched for, or a page's title */
/** @typedef {{ helpful: boolean, reason: string, comment: string }} Feedback */
/**
 * `queued` waits for the network, `waiting` for the end of a limit (`failure.readyAt`); both are sent automatically.
 * @typedef {"queued" | "waiting" | "sending" | "searching" | "reading" | "answering" | "done" | "stopped" | "failed"} Phase
 */
/**
 * @typedef {object} Answer
 * @property {string} id
 * @property {"assistant"} role
 * @property {string | null} messageId the service's id of this answer
 * @property {string | null} replaces the service's id of the answer that this one replaces
 * @property {Phase} phase
 * @property {string} text Markdown
 * @property {string[]} reading titles of the pages the search found
 * @property {Passage[]} passages for the cards of citations
 * @property {string} site address at which the documentation's paths begin, from the pages that the search found
 * @property {Search[]} searches that the model asked for, after the service's own search
 * @property {Source[]} sources cited pages, in the order in which they arrived
 * @property {Notice | null} notice set if the usual model did not answer
 * @property {Scope | null} scope
 * @property {string} cut why a model server ended it too early: `length`, `content-filter`, or empty
 * @property {boolean} refused nothing in the documentation answers the question
 * @property {boolean} reconnecting the connection is lost, and the client connects again
 * @property {Feedback | null} feedback
 * @property {number} seen number of events received, to resume after them
 * @property {boolean} restarted the service no longer knew the thread
 * @property {Failure | null} failure
 */
/** @typedef {Question | Answer} Turn */
/** @typedef {{ chatId: string, threadId: string | null, turns: Turn[] }} Thread */

/** @type {ReadonlySet<string>} */
const RUNNING = new Set(["queued", "waiting", "sending", "searching", "reading", "answering"]);

/** Final phases of an answer. @type {ReadonlySet<string>} */
export const ENDED = new Set(["done", "stopped", "failed"]);

/** @param {string} chatId @returns {Thread} */
export const createThread = (chatId) => ({ chatId, threadId: null, turns: [] });

/** The last turn if it is an answer. @param {Thread} thread @returns {Answer | null} */
export function lastAnswer(thread) {
  const turn = thread.turns.at(-1);
  return turn?.role === "assistant" ? turn : null;
}

/** @param {Answer | null} answer */
export const isRunning = (answer) => answer !== null && RUNNING.has(answer.phase);

/** An answer without any events yet. @param {string} id @param {string | null} [replaces] @returns {Answer} */
export const emptyAnswer = (id, replaces = null) => ({
  id,
  role: "assistant",
  messageId: null,
  replaces,
  phase: "sending",
  text: "",
  reading: [],
  passages: [],
  site: "",
  searches: [],
  sources: [],
  notice: null,
  scope: null,
  cut: "",
  refused: false,
  reconnecting: false,
  feedback: null,
  seen: 0,
  restarted: false,
  failure: null,
});

/** @typedef {{ text: string, context?: Context[], questionId: string, answerId: string }} QuestionInput */

/** @param {QuestionInput} asking @returns {Question} */
const createQuestion = ({ text, context = [], questionId }) => ({ id: questionId, role: "user", text, context });

/**
 * The thread with a new question, and an answer without events.
 * @param {Thread} thread
 * @param {QuestionInput} input
 * @returns {Thread}
 */
export const addQuestion = (thread, input) => ({
  ...thread,
  turns: [...thread.turns, createQuestion(input), emptyAnswer(input.answerId)],
});

/**
 * The thread with an empty last answer. Null if there is no answer to repeat.
 * @param {Thread} thread
 * @param {string} answerId
 * @returns {Thread | null}
 */
export function restartAnswer(thread, answerId) {
  const answer = lastAnswer(thread);
  if (!answer || isRunning(answer)) return null;
  return {
    ...thread,
    turns: [...thread.turns.slice(0, -1), emptyAnswer(answerId, answer.messageId ?? answer.replaces)],
  };
}

/**
 * The thread with its last question replaced. Null if there is none.
 * @param {Thread} thread
 * @param {QuestionInput} question
 * @returns {Thread | null}
 */
export function replaceQuestion(thread, question) {
  const restarted = restartAnswer(thread, question.answerId);
  return (
    restarted && {
      ...restarted,
      turns: [...restarted.turns.slice(0, -2), createQuestion(question), restarted.turns[restarted.turns.length - 1]],
    }
  );
}

/** @param {Thread} thread @returns {Thread} */
export const stopAnswer = (thread) => changeAnswer(thread, { phase: "stopped", reconnecting: false });

/** The thread while its last question waits for the network. @param {Thread} thread @returns {Thread} */
export const queueAnswer = (thread) => changeAnswer(thread, { phase: "queued" });

/** The thread after its waiting question was sent. @param {Thread} thread @returns {Thread} */
export const sendQueued = (thread) => changeAnswer(thread, { phase: "sending", failure: null });

/** The thread with feedback on an answer. @param {Thread} thread @param {string} id @param {Feedback | null} feedback @returns {Thread} */
export const rateAnswer = (thread, id, feedback) => ({
  ...thread,
  turns: thread.turns.map((turn) => (turn.id === id && turn.role === "assistant" ? { ...turn, feedback } : turn)),
});

/**
 * The sources with their numbers in the text. A source without a number of its own in the text takes the next free
 * one.
 * @param {string} markdown
 * @param {Source[]} sources
 * @returns {(Source & { number: number })[]}
 */
export function numberSources(markdown, sources) {
  /** @type {Map<string, number>} */
  const cited = new Map();
  for (const [, number, url] of markdown.matchAll(/\[(\d{1,3})\]\(<?([^)\s>]+)/g)) {
    if (!cited.has(url)) cited.set(url, Number(number));
    const page = url.split("#")[0];
    if (!cited.has(page)) cited.set(page, Number(number));
  }
  const usedNumbers = new Set();
  let highest = Math.max(0, ...cited.values());
  return sources
    .map((source) => {
      let number = cited.get(source.url) ?? cited.get(source.url.split("#")[0]);
      if (number === undefined || usedNumbers.has(number)) number = ++highest;
      usedNumbers.add(number);
      return { ...source, number };
    })
    .sort((a, b) => a.number - b.number);
}

/** The thread with changed fields of its last answer. @param {Thread} thread @param {Partial<Answer>} values @returns {Thread} */
export function changeAnswer(thread, values) {
  const answer = lastAnswer(thread);
  return answer ? { ...thread, turns: [...thread.turns.slice(0, -1), { ...answer, ...values }] } : thread;
}

/**
 * The state of a conversation. Pure: each function takes a thread and returns the next one, and what did not
 * change keeps its identity, so that a view can tell by `===` what to draw again.
 */

/**
 * What a reader pointed at. `label` is how its chip is called, such as `app.py · 12 lines`.
 * @typedef {{ type: "code" | "textSelection", value: string, label: string, path?: string, elementId?: string }} Context
 */
/** @typedef {{ id: string, role: "user", text: string, context: Context[] }} Question */
/** @typedef {{ url: string, title: string }} Source */
/** @typedef {{ rung: string, reason: string }} Notice */
/** @typedef {{ version: string, indexedAt: string, pages: number | null }} Scope */
/** @typedef {{ text: string, status: number, readyAt: number | null }} Failure */
/** @typedef {{ url: string, title: string, breadcrumb: string[], text: string }} Passage something the search found */
/** @typedef {{ helpful: boolean, reason: string, comment: string }} Feedback */
/**
 * `queued` waits for the network, `waiting` for the end of a limit (`failure.readyAt`); both go on by themselves.
 * @typedef {"queued" | "waiting" | "sending" | "searching" | "reading" | "answering" | "done" | "stopped" | "failed"} Phase
 */
/**
 * @typedef {object} Answer
 * @property {string} id
 * @property {"assistant"} role
 * @property {string | null} messageId the service's id of this answer
 * @property {string | null} replaces the service's id of the answer that this one takes the place of
 * @property {Phase} phase
 * @property {string} text Markdown
 * @property {string[]} reading titles of the pages the search found
 * @property {Passage[]} passages what the search found, for the cards of citations
 * @property {string} site where the documentation's paths begin, as the found pages tell
 * @property {Source[]} sources cited pages, in the order in which they arrived
 * @property {Notice | null} notice set when something other than the usual model answered
 * @property {Scope | null} scope
 * @property {boolean} refused nothing in the documentation answers the question
 * @property {boolean} reconnecting the connection is lost and being sought again
 * @property {Feedback | null} feedback
 * @property {number} seen events of this answer that were received: where to go on after a lost connection
 * @property {boolean} restarted the service no longer knew the thread
 * @property {Failure | null} failure
 */
/** @typedef {Question | Answer} Turn */
/** @typedef {{ chatId: string, threadId: string | null, turns: Turn[] }} Thread */

/** @type {ReadonlySet<string>} */
const RUNNING = new Set(["queued", "waiting", "sending", "searching", "reading", "answering"]);

/** Phases of an answer to which nothing is added any more. @type {ReadonlySet<string>} */
export const ENDED = new Set(["done", "stopped", "failed"]);

/** @param {string} chatId @returns {Thread} */
export const createThread = (chatId) => ({ chatId, threadId: null, turns: [] });

/** The last turn when it is an answer. @param {Thread} thread @returns {Answer | null} */
export function lastAnswer(thread) {
  const turn = thread.turns.at(-1);
  return turn?.role === "assistant" ? turn : null;
}

/** @param {Answer | null} answer */
export const isRunning = (answer) => answer !== null && RUNNING.has(answer.phase);

/** An answer of which nothing has come yet. @param {string} id @param {string | null} [replaces] @returns {Answer} */
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
  sources: [],
  notice: null,
  scope: null,
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
 * The thread with a new question and an answer on its way.
 * @param {Thread} thread
 * @param {QuestionInput} asking
 * @returns {Thread}
 */
export const addQuestion = (thread, asking) => ({
  ...thread,
  turns: [...thread.turns, createQuestion(asking), emptyAnswer(asking.answerId)],
});

/**
 * The thread with its last answer begun again. Null when there is nothing to repeat.
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
 * The thread with another question in the place of its last one. Null when there is none to replace.
 * @param {Thread} thread
 * @param {QuestionInput} question
 * @returns {Thread | null}
 */
export function replaceQuestion(thread, question) {
  const again = restartAnswer(thread, question.answerId);
  return (
    again && {
      ...again,
      turns: [...again.turns.slice(0, -2), createQuestion(question), again.turns[again.turns.length - 1]],
    }
  );
}

/** @param {Thread} thread @returns {Thread} */
export const stopAnswer = (thread) => changeAnswer(thread, { phase: "stopped", reconnecting: false });

/** The thread with a question that waits for the network. @param {Thread} thread @returns {Thread} */
export const queueAnswer = (thread) => changeAnswer(thread, { phase: "queued" });

/** The thread with a question that waits no longer. @param {Thread} thread @returns {Thread} */
export const sendQueued = (thread) => changeAnswer(thread, { phase: "sending", failure: null });

/** The thread with what its reader thinks of an answer. @param {Thread} thread @param {string} id @param {Feedback | null} feedback @returns {Thread} */
export const rateAnswer = (thread, id, feedback) => ({
  ...thread,
  turns: thread.turns.map((turn) => (turn.id === id && turn.role === "assistant" ? { ...turn, feedback } : turn)),
});

/**
 * The sources with the numbers that the text gives them. A source that the text cites under no number of its own
 * takes the next free one.
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

/** The thread with other values in its last answer. @param {Thread} thread @param {Partial<Answer>} values @returns {Thread} */
export function changeAnswer(thread, values) {
  const answer = lastAnswer(thread);
  return answer ? { ...thread, turns: [...thread.turns.slice(0, -1), { ...answer, ...values }] } : thread;
}

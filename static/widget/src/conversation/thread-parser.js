/** Threads that were saved as JSON. Whatever it is that comes back, a sound thread comes out of it, or none. */

import { ENDED, emptyAnswer, isRunning } from "./thread.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Answer} Answer */

const MAX_ID_LENGTH = 256;
const MAX_TEXT_LENGTH = 1_000_000;
const MOST_TURNS = 2_000;
const MOST_ITEMS = 100;

/**
 * A thread as it was saved, field by field. An answer that was under way still is: it may be gone on with.
 * @param {unknown} saved
 * @returns {Thread | null} null when it is no thread
 */
export function parseThread(saved) {
  const { chatId, threadId, turns } = recordOrEmpty(saved);
  if (!idOrEmpty(chatId) || !Array.isArray(turns) || turns.length > MOST_TURNS) return null;
  const last = turns.length - 1;
  const read = turns.map((turn, i) =>
    recordOrEmpty(turn).role === "user"
      ? parseQuestion(recordOrEmpty(turn))
      : parseAnswer(recordOrEmpty(turn), i === last),
  );
  const sound = read.every((turn, i) => turn && (turn.role === "user") === (i % 2 === 0));
  const ids = new Set(read.map((turn) => turn?.id));
  if (!sound || ids.size < read.length || read.length % 2) return null;
  return { chatId, threadId: idOrEmpty(threadId) || null, turns: /** @type {import("./thread.js").Turn[]} */ (read) };
}

/** @param {Record<string, any>} turn @returns {import("./thread.js").Question | null} */
function parseQuestion(turn) {
  return idOrEmpty(turn.id) && stringOrEmpty(turn.text)
    ? { id: turn.id, role: "user", text: turn.text, context: parseContextList(turn.context) }
    : null;
}

/** @param {Record<string, any>} turn @param {boolean} last @returns {Answer | null} */
function parseAnswer(turn, last) {
  if (
    !idOrEmpty(turn.id) ||
    turn.role !== "assistant" ||
    typeof turn.text !== "string" ||
    !(ENDED.has(turn.phase) || isRunning(/** @type {Answer} */ (turn)))
  )
    return null;
  /** @type {Answer} */
  const read = { ...emptyAnswer(turn.id), phase: turn.phase, ...parseAnswerFields(turn) };
  const lost = !last || (read.phase === "waiting" && !read.failure?.readyAt);
  if (!isRunning(read)) return { ...read, reconnecting: false };
  return lost ? { ...read, phase: "stopped", reconnecting: false } : read;
}

/** @param {unknown} value @returns {value is Record<string, any>} */
const isRecord = (value) => typeof value === "object" && value !== null;

/** @param {unknown} value @returns {Record<string, any>} */
const recordOrEmpty = (value) => (isRecord(value) ? value : {});

/** @param {unknown} value */
const idOrEmpty = (value) => (typeof value === "string" && value.length <= MAX_ID_LENGTH ? value : "");

/** @param {unknown} value */
const idOrNull = (value) => idOrEmpty(value) || null;

/** @param {unknown} value */
const stringOrEmpty = (value) => (typeof value === "string" && value.length <= MAX_TEXT_LENGTH ? value : "");

/** @param {unknown} value */
const numberOrNull = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** @param {unknown} value */
const count = (value) => Math.max(0, Math.trunc(numberOrNull(value) ?? 0));

/** @param {unknown} value */
const isTrue = (value) => value === true;

/** @param {unknown} values */
const strings = (values) => (Array.isArray(values) ? values.slice(0, MOST_ITEMS).filter(stringOrEmpty) : []);

/** @param {unknown} value */
const stringOrUndefined = (value) => stringOrEmpty(value) || undefined;

/**
 * Reads records of these fields; one that is undefined is left out.
 * @param {Record<string, (value: unknown) => unknown>} fields
 * @returns {(value: unknown) => any} null for what is no record
 */
const recordParser = (fields) => (value) => {
  if (!isRecord(value)) return null;
  const read = Object.entries(fields).map(([name, field]) => [name, field(value[name])]);
  return Object.fromEntries(read.filter(([, found]) => found !== undefined));
};

/**
 * Reads lists of such records.
 * @param {(value: unknown) => any} read
 * @param {(item: any) => unknown} isSound what is not is left out
 * @returns {(values: unknown) => any[]}
 */
const listParser = (read, isSound) => (values) =>
  Array.isArray(values)
    ? values
        .slice(0, MOST_ITEMS)
        .map(read)
        .filter((item) => item && isSound(item))
    : [];

const parseContextList = listParser(
  recordParser({
    type: stringOrEmpty,
    value: stringOrEmpty,
    label: stringOrEmpty,
    path: stringOrUndefined,
    elementId: stringOrUndefined,
  }),
  ({ type, value }) => (type === "code" || type === "textSelection") && value,
);

const parseAnswerFields = recordParser({
  messageId: idOrNull,
  replaces: idOrNull,
  text: stringOrEmpty,
  reading: strings,
  passages: listParser(
    recordParser({ url: stringOrEmpty, title: stringOrEmpty, breadcrumb: strings, text: stringOrEmpty }),
    ({ url }) => url,
  ),
  site: stringOrEmpty,
  sources: listParser(
    recordParser({ url: stringOrEmpty, title: stringOrEmpty }),
    (source) => source.url && (source.title ||= source.url),
  ),
  notice: recordParser({ rung: stringOrEmpty, reason: stringOrEmpty }),
  scope: recordParser({ version: stringOrEmpty, indexedAt: stringOrEmpty, pages: numberOrNull }),
  refused: isTrue,
  reconnecting: isTrue,
  feedback: recordParser({ helpful: isTrue, reason: stringOrEmpty, comment: stringOrEmpty }),
  seen: count,
  restarted: isTrue,
  failure: recordParser({ text: stringOrEmpty, status: (value) => numberOrNull(value) ?? 0, readyAt: numberOrNull }),
});

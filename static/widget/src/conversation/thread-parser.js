/** Parses threads from the store. Any stored value gives a valid thread, or none. */

import { ENDED, emptyAnswer, isRunning } from "./thread.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Answer} Answer */

const MAX_ID_LENGTH = 256;
const MAX_TEXT_LENGTH = 1_000_000;
const MOST_TURNS = 2_000;
const MOST_ITEMS = 100;

/**
 * A stored thread, checked field by field. A running answer stays running, since it may be continued.
 * @param {unknown} stored
 * @returns {Thread | null} null if it is no valid thread
 */
export function parseThread(stored) {
  const { chatId, threadId, turns } = recordOrEmpty(stored);
  if (!idOrEmpty(chatId) || !Array.isArray(turns) || turns.length > MOST_TURNS) return null;
  const last = turns.length - 1;
  const parsed = turns.map((turn, i) =>
    recordOrEmpty(turn).role === "user"
      ? parseQuestion(recordOrEmpty(turn))
      : parseAnswer(recordOrEmpty(turn), i === last),
  );
  const isValid = parsed.every((turn, i) => turn && (turn.role === "user") === (i % 2 === 0));
  const ids = new Set(parsed.map((turn) => turn?.id));
  if (!isValid || ids.size < parsed.length || parsed.length % 2) return null;
  return { chatId, threadId: idOrEmpty(threadId) || null, turns: /** @type {import("./thread.js").Turn[]} */ (parsed) };
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
  const isLost = !last || (read.phase === "waiting" && !read.failure?.readyAt);
  if (!isRunning(read)) return { ...read, reconnecting: false };
  return isLost ? { ...read, phase: "stopped", reconnecting: false } : read;
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
 * A parser for objects with these fields. Fields that are undefined are left out.
 * @param {Record<string, (value: unknown) => unknown>} fields
 * @returns {(value: unknown) => any} null for a value that is no object
 */
const recordParser = (fields) => (value) => {
  if (!isRecord(value)) return null;
  const read = Object.entries(fields).map(([name, field]) => [name, field(value[name])]);
  return Object.fromEntries(read.filter(([, found]) => found !== undefined));
};

/**
 * A parser for lists of such objects.
 * @param {(value: unknown) => any} parse
 * @param {(item: any) => unknown} isValid items that are not valid are left out
 * @returns {(values: unknown) => any[]}
 */
const listParser = (parse, isValid) => (values) =>
  Array.isArray(values)
    ? values
        .slice(0, MOST_ITEMS)
        .map(parse)
        .filter((item) => item && isValid(item))
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
  searches: listParser(
    recordParser({ callId: stringOrEmpty, isPage: isTrue, text: stringOrEmpty }),
    ({ text }) => text,
  ),
  sources: listParser(
    recordParser({ url: stringOrEmpty, title: stringOrEmpty }),
    (source) => source.url && (source.title ||= source.url),
  ),
  notice: recordParser({ rung: stringOrEmpty, reason: stringOrEmpty }),
  scope: recordParser({ version: stringOrEmpty, indexedAt: stringOrEmpty, pages: numberOrNull }),
  cut: stringOrEmpty,
  refused: isTrue,
  reconnecting: isTrue,
  feedback: recordParser({ helpful: isTrue, reason: stringOrEmpty, comment: stringOrEmpty }),
  seen: count,
  restarted: isTrue,
  failure: recordParser({ text: stringOrEmpty, status: (value) => numberOrNull(value) ?? 0, readyAt: numberOrNull }),
});

/** Threads that were saved as JSON. Whatever it is that comes back, a sound thread comes out of it, or none. */

import { blank, ENDED, isRunning } from "./thread.js";

/** @typedef {import("./thread.js").Thread} Thread */
/** @typedef {import("./thread.js").Answer} Answer */

const LONGEST_ID = 256;
const LONGEST_TEXT = 1_000_000;
const MOST_TURNS = 2_000;
const MOST_ITEMS = 100;

/**
 * A thread as it was saved, field by field. An answer that was under way still is: it may be gone on with.
 * @param {unknown} saved
 * @returns {Thread | null} null when it is no thread
 */
export function restored(saved) {
  const { chatId, threadId, turns } = record(saved);
  if (!id(chatId) || !Array.isArray(turns) || turns.length > MOST_TURNS) return null;
  const last = turns.length - 1;
  const read = turns.map((turn, i) =>
    record(turn).role === "user" ? question(record(turn)) : answer(record(turn), i === last),
  );
  const sound = read.every((turn, i) => turn && (turn.role === "user") === (i % 2 === 0));
  const ids = new Set(read.map((turn) => turn?.id));
  if (!sound || ids.size < read.length || read.length % 2) return null;
  return { chatId, threadId: id(threadId) || null, turns: /** @type {import("./thread.js").Turn[]} */ (read) };
}

/** @param {Record<string, any>} turn @returns {import("./thread.js").Question | null} */
function question(turn) {
  return id(turn.id) && text(turn.text)
    ? { id: turn.id, role: "user", text: turn.text, context: context(turn.context) }
    : null;
}

/** @param {Record<string, any>} turn @param {boolean} last @returns {Answer | null} */
function answer(turn, last) {
  if (
    !id(turn.id) ||
    turn.role !== "assistant" ||
    typeof turn.text !== "string" ||
    !(ENDED.has(turn.phase) || isRunning(/** @type {Answer} */ (turn)))
  )
    return null;
  /** @type {Answer} */
  const read = { ...blank(turn.id), phase: turn.phase, ...told(turn) };
  const lost = !last || (read.phase === "waiting" && !read.failure?.readyAt);
  if (!isRunning(read)) return { ...read, reconnecting: false };
  return lost ? { ...read, phase: "stopped", reconnecting: false } : read;
}

/** @param {unknown} value @returns {value is Record<string, any>} */
const isRecord = (value) => typeof value === "object" && value !== null;

/** @param {unknown} value @returns {Record<string, any>} */
const record = (value) => (isRecord(value) ? value : {});

/** @param {unknown} value */
const id = (value) => (typeof value === "string" && value.length <= LONGEST_ID ? value : "");

/** @param {unknown} value */
const idOrNull = (value) => id(value) || null;

/** @param {unknown} value */
const text = (value) => (typeof value === "string" && value.length <= LONGEST_TEXT ? value : "");

/** @param {unknown} value */
const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** @param {unknown} value */
const count = (value) => Math.max(0, Math.trunc(number(value) ?? 0));

/** @param {unknown} value */
const flag = (value) => value === true;

/** @param {unknown} values */
const strings = (values) => (Array.isArray(values) ? values.slice(0, MOST_ITEMS).filter(text) : []);

/** @param {unknown} value */
const some = (value) => text(value) || undefined;

/**
 * Reads records of these fields; one that is undefined is left out.
 * @param {Record<string, (value: unknown) => unknown>} fields
 * @returns {(value: unknown) => any} null for what is no record
 */
const shape = (fields) => (value) => {
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
const list = (read, isSound) => (values) =>
  Array.isArray(values)
    ? values
        .slice(0, MOST_ITEMS)
        .map(read)
        .filter((item) => item && isSound(item))
    : [];

const context = list(
  shape({ type: text, value: text, label: text, path: some, elementId: some }),
  ({ type, value }) => (type === "code" || type === "textSelection") && value,
);

const told = shape({
  messageId: idOrNull,
  replaces: idOrNull,
  text,
  reading: strings,
  passages: list(shape({ url: text, title: text, breadcrumb: strings, text }), ({ url }) => url),
  site: text,
  sources: list(shape({ url: text, title: text }), (source) => source.url && (source.title ||= source.url)),
  notice: shape({ rung: text, reason: text }),
  scope: shape({ version: text, indexedAt: text, pages: number }),
  refused: flag,
  reconnecting: flag,
  feedback: shape({ helpful: flag, reason: text, comment: text }),
  seen: count,
  restarted: flag,
  failure: shape({ text, status: (value) => number(value) ?? 0, readyAt: number }),
});

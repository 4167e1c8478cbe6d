// Splits the stream of an answer into its parts. The page `streaming` documents both formats.

/**
 * @typedef {object} Part
 * @property {string} type its code, or its type
 * @property {string} raw as it arrived, with its end
 * @property {unknown} value its JSON; undefined if it has none
 */
/** @typedef {{ end: string, parse: (text: string) => Omit<Part, "raw"> }} Format */
/** @typedef {{ url: string, title: string }} Source */
/** @typedef {{ text?: string, source?: Source, pages?: number, error?: string }} Contribution */

/** @type {Record<string, string>} */
const CODES = {
  f: "start of a step",
  9: "tool call",
  a: "tool result",
  0: "text",
  h: "source",
  2: "data",
  8: "annotations",
  e: "end of a step",
  d: "end of the answer",
  3: "error",
};
const KEEP_ALIVE = "sign of life";

/** @param {string} text @returns {unknown} */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {unknown} value @returns {Record<string, unknown>} the value if it is an object, else an empty one */
const fieldsOf = (value) => (typeof value === "object" && value !== null ? { ...value } : {});

/** A line of version 1. @param {string} line */
function parseLine(line) {
  if (!line) return { type: KEEP_ALIVE, value: undefined };
  const code = line.slice(0, line.indexOf(":"));
  return { type: `${code} ${CODES[code] ?? "unknown"}`, value: parseJson(line.slice(code.length + 1)) };
}

/** An event of version 2. @param {string} event */
function parseEvent(event) {
  if (event.startsWith(":")) return { type: KEEP_ALIVE, value: undefined };
  const data = event.replace(/^data: ?/, "");
  const value = parseJson(data);
  return { type: String(fieldsOf(value).type ?? data), value };
}

/** @satisfies {Record<string, Format>} */
const FORMATS = {
  v1: { end: "\n", parse: parseLine },
  v2: { end: "\n\n", parse: parseEvent },
};

export class StreamParser {
  #rest = "";
  #decoder = new TextDecoder();
  #format;

  /** @param {"v1" | "v2"} format */
  constructor(format) {
    this.#format = FORMATS[format];
  }

  /** The parts that these bytes complete. @param {Uint8Array} bytes @returns {Part[]} */
  push(bytes) {
    const { end, parse } = this.#format;
    const texts = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split(end);
    this.#rest = texts.pop() ?? "";
    return texts.map((text) => ({ ...parse(text), raw: text + end }));
  }

  /** The text after the last part. A stream that ends with some was cut off. */
  get rest() {
    return this.#rest;
  }
}

/**
 * What a part adds to the answer.
 * @param {Part} part
 * @returns {Contribution}
 */
export function contributionOf({ type, value }) {
  const fields = fieldsOf(value);
  switch (type) {
    case "0 text":
      return { text: String(value) };
    case "text-delta":
      return { text: String(fields.delta) };
    case "h source":
    case "source-url":
      return { source: { url: String(fields.url), title: String(fields.title) } };
    case "2 data":
      return pagesOf(Array.isArray(value) ? value.find((item) => item?.type === "status") : undefined);
    case "data-status":
      return pagesOf(fields.data);
    case "3 error":
      return { error: String(value) };
    case "error":
      return { error: String(fields.errorText) };
    default:
      return {};
  }
}

/** @param {unknown} status @returns {Contribution} */
function pagesOf(status) {
  const { pages } = fieldsOf(status);
  return typeof pages === "number" ? { pages } : {};
}

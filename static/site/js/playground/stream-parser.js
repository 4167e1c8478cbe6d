// An answer's stream cut into its parts, as `streaming` documents both formats, and what a part adds to the answer.

/**
 * @typedef {object} Part
 * @property {string} type code or type
 * @property {string} raw as it arrived, with its end
 * @property {any} value its JSON; undefined where it has none
 */

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
const SILENCE = "sign of life";

/** @param {string} text */
function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One line of version 1. @param {string} line @returns {Omit<Part, "raw">} */
function ofLine(line) {
  if (!line) return { type: SILENCE, value: undefined };
  const code = line.slice(0, line.indexOf(":"));
  return { type: `${code} ${CODES[code] ?? "unknown"}`, value: json(line.slice(code.length + 1)) };
}

/** One event of version 2. @param {string} event @returns {Omit<Part, "raw">} */
function ofEvent(event) {
  if (event.startsWith(":")) return { type: SILENCE, value: undefined };
  const data = event.replace(/^data: ?/, "");
  const value = json(data);
  return { type: value?.type ?? data, value };
}

export const FORMATS = {
  v1: { end: "\n", read: ofLine },
  v2: { end: "\n\n", read: ofEvent },
};

export class Parts {
  #rest = "";
  #decoder = new TextDecoder();
  #format;

  /** @param {"v1" | "v2"} format */
  constructor(format) {
    this.#format = FORMATS[format];
  }

  /** The parts that these bytes complete. @param {Uint8Array} bytes @returns {Part[]} */
  push(bytes) {
    const { end, read } = this.#format;
    const whole = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split(end);
    this.#rest = whole.pop() ?? "";
    return whole.map((text) => ({ ...read(text), raw: text + end }));
  }

  /** What has no end yet: a stream that stops there was cut off. */
  get rest() {
    return this.#rest;
  }
}

/**
 * What a part adds to the answer: text, a source, a status or an error.
 * @param {Part} part
 * @returns {{ text?: string, source?: { url: string, title: string }, status?: Record<string, any>, error?: string }}
 */
export function adds({ type, value }) {
  switch (type) {
    case "0 text":
      return { text: value };
    case "text-delta":
      return { text: value.delta };
    case "h source":
    case "source-url":
      return { source: value };
    case "2 data":
      return { status: Array.isArray(value) ? value.find((item) => item?.type === "status") : undefined };
    case "data-status":
      return { status: value.data };
    case "3 error":
      return { error: value };
    case "error":
      return { error: value.errorText };
    default:
      return {};
  }
}

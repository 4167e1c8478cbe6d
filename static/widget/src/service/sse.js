/** Parses server-sent events from a byte stream, in chunks of any size. */

/** @typedef {import("./events.js").StreamEvent} StreamEvent */

const LINE_END = /\r\n|\n|\r(?!$)/; // a CR at the very end may be half of a CRLF, so it waits for the next chunk

export class EventStream {
  #decoder = new TextDecoder();
  /** The beginning of a line that has not ended. */
  #rest = "";
  /** @type {string[]} */
  #data = [];

  /**
   * The events that these bytes complete. Comments, `[DONE]` and fields other than `data` are ignored.
   * @param {Uint8Array} bytes
   * @returns {StreamEvent[]}
   * @throws {SyntaxError} if data is not JSON
   */
  push(bytes) {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split(LINE_END);
    this.#rest = lines.pop() ?? "";
    const events = [];
    for (const line of lines) {
      const field = /^data(?:: ?(.*))?$/s.exec(line);
      if (field) {
        this.#data.push(field[1] ?? "");
      } else if (!line && this.#data.length) {
        const data = this.#data.join("\n");
        this.#data = [];
        if (data !== "[DONE]") events.push(JSON.parse(data));
      }
    }
    return events;
  }
}

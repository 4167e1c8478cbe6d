// The stream inspector: the parts of an answer as they arrive, beside the answer that they make.

import { announce } from "../base/announce.js";
import { copy } from "../base/clipboard.js";
import { fieldOf, find, h } from "../base/dom.js";
import { buildLink, renderMarkdown } from "./markdown.js";
import { UNREACHABLE } from "./project.js";
import { curlCommand } from "./snippet.js";
import { contributionOf, StreamParser } from "./stream-parser.js";

/** @typedef {import("./stream-parser.js").Part} Part */
/** @typedef {"v1" | "v2"} Format */
/** @typedef {Record<"parts" | "answer" | "sources" | "hiddenNote", HTMLElement>} View */

const MAX_ROWS = 300; // of the latest parts; all of them can be copied
const MAX_PREVIEW = 160; // characters
const END_DISTANCE = 40; // pixels from the end of the list within which it follows

const formatSeconds = (/** @type {number} */ milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`;
const byteLength = (/** @type {string} */ text) => new TextEncoder().encode(text).length;

/** The body of a request. @param {Format} format @param {string} text */
const buildBody = (format, text) => ({
  fp: "anonymous",
  ...(format === "v2" && { trigger: "submit-message" }), // as the AI SDK sends it
  messages: [{ id: "1", role: "user", ...(format === "v1" ? { content: text } : { parts: [{ type: "text", text }] }) }],
});

/** A part in one line, which opens to show all of it. @param {Part} part @param {number} milliseconds */
function buildRow({ type, raw, value }, milliseconds) {
  const summary = h(
    "summary",
    {},
    h("span", {}, formatSeconds(milliseconds)),
    h("b", {}, type),
    h("span", {}, `${byteLength(raw)} B`),
    h("span", {}, raw.trim().slice(0, MAX_PREVIEW)),
  );
  const details = h("details", {}, summary);
  const showAll = () => details.append(h("pre", {}, value === undefined ? raw : JSON.stringify(value, null, 2)));
  details.addEventListener("toggle", showAll, { once: true });
  return h("li", {}, details);
}

/** One answer on the page. Parts are drawn once a frame, however many arrive. */
class AnswerView {
  /** @type {string[]} */
  raws = [];
  /** Pages of the index, if the answer told how many. @type {number | null} */
  pages = null;
  #text = "";
  /** @type {[part: Part, milliseconds: number][]} for the next frame */
  #waiting = [];
  /** @type {Map<string, string>} titles by address */
  #sources = new Map();
  #frame = 0;
  #startedAt = performance.now();
  #view;

  /** @param {View} view */
  constructor(view) {
    this.#view = view;
    for (const element of [view.parts, view.answer, view.sources]) element.replaceChildren();
    view.hiddenNote.hidden = true;
  }

  get milliseconds() {
    return performance.now() - this.#startedAt;
  }

  /** @param {Part} part */
  add(part) {
    this.raws.push(part.raw);
    this.#waiting.push([part, this.milliseconds]);
    const { text, source, pages } = contributionOf(part);
    if (text) this.#text += text;
    if (source) this.#sources.set(source.url, source.title);
    this.pages = pages ?? this.pages;
    this.#frame ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { parts, answer, sources, hiddenNote } = this.#view;
    const follows = parts.scrollHeight - parts.scrollTop - parts.clientHeight < END_DISTANCE;
    const latest = this.#waiting.splice(0).slice(-MAX_ROWS);
    parts.append(...latest.map(([part, milliseconds]) => buildRow(part, milliseconds)));
    while (parts.childElementCount > MAX_ROWS) parts.firstElementChild?.remove();
    const hidden = this.raws.length - parts.childElementCount;
    hiddenNote.hidden = !hidden;
    hiddenNote.textContent = `${hidden} earlier parts are not shown. “Copy all” has them.`;
    if (follows) parts.scrollTop = parts.scrollHeight;
    answer.replaceChildren(...renderMarkdown(this.#text));
    for (const [url, title] of [...this.#sources].slice(sources.childElementCount)) {
      sources.append(h("li", {}, buildLink(url, title)));
    }
  }
}

/**
 * @param {HTMLElement} root holds the form, the panes and the command
 * @param {import("./project.js").Project} project
 * @returns {() => void} to be called when the project has changed
 */
export function setUpInspector(root, project) {
  const form = find(root, "form.inspect", HTMLFormElement);
  const question = fieldOf(form, "question");
  const format = fieldOf(form, "format");
  const status = find(root, "form.inspect + .said", HTMLElement);
  const stop = find(root, "[data-stop]", HTMLButtonElement);
  const copyAll = find(root, "[data-copy-all]", HTMLButtonElement);
  const command = find(root, "[data-curl] code", HTMLElement);
  const view = {
    parts: find(root, ".parts", HTMLElement),
    answer: find(root, ".grown", HTMLElement),
    sources: find(root, ".sources", HTMLElement),
    hiddenNote: find(root, "[data-cut]", HTMLElement),
  };
  /** @type {AbortController | null} */
  let running = null;
  /** @type {AnswerView | null} */
  let current = null;

  const buildRequest = () => {
    const version = format.value === "v1" ? "v1" : "v2";
    const address = project.address(`${version}/assistant`, "/message");
    return { version: /** @type {Format} */ (version), address, body: buildBody(version, question.value.trim()) };
  };
  const showCommand = () => {
    const { address, body } = buildRequest();
    command.textContent = curlCommand(address, project.key, body);
  };

  /**
   * Reads a stream to its end. Returns the sentence for what went wrong, empty if nothing did.
   * @param {ReadableStream<Uint8Array>} stream
   * @param {Format} version
   * @param {AnswerView} answer
   */
  async function read(stream, version, answer) {
    const parser = new StreamParser(version);
    const reader = stream.getReader();
    let error = "";
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      for (const part of parser.push(chunk.value)) {
        answer.add(part);
        error ||= contributionOf(part).error ?? "";
      }
    }
    if (parser.rest) error ||= "The stream was cut off in the middle of a part.";
    return error;
  }

  /** @param {AbortSignal} signal @param {AnswerView} answer */
  async function ask(signal, answer) {
    const { version, address, body } = buildRequest();
    const response = await project.post(address, body, signal);
    const { headers } = response;
    if (!response.ok || !response.body) {
      answer.add({ type: `HTTP ${response.status}`, raw: await response.text(), value: undefined });
      const reason = project.explainStatus(response.status, "", headers.get("Retry-After"));
      return `Status ${response.status}. ${reason}`;
    }
    const error = await read(response.body, version, answer);
    const size = answer.raws.reduce((sum, raw) => sum + byteLength(raw), 0).toLocaleString("en");
    const facts = [headers.get("Content-Type"), `${answer.raws.length} parts`, `${size} bytes`];
    const sentences = [`Status ${response.status}, ${facts.join(", ")}, ${formatSeconds(answer.milliseconds)}.`, error];
    if (answer.pages === 0) sentences.push(`Nothing has been read in yet: manage ingest ${project.domain} ./docs`);
    return sentences.filter(Boolean).join(" ");
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running || !question.value.trim()) return;
    stop.hidden = false;
    running = new AbortController();
    const answer = new AnswerView(view);
    current = answer;
    status.textContent = "Asking…";
    try {
      status.textContent = await ask(running.signal, answer);
    } catch (error) {
      const isStopped = error instanceof DOMException && error.name === "AbortError";
      status.textContent = isStopped ? "Stopped: the connection is closed, and the model’s with it." : UNREACHABLE;
    }
    answer.draw();
    copyAll.hidden = !answer.raws.length;
    stop.hidden = true;
    running = null;
  });
  form.addEventListener("input", showCommand);
  stop.addEventListener("click", () => running?.abort());
  copyAll.addEventListener("click", () => copy(copyAll, current?.raws.join("") ?? "", announce));
  showCommand();
  return showCommand;
}

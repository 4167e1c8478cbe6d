// The stream inspector: the parts of an answer as they arrive, beside the answer that grows from them.

import { announce } from "../base/announce.js";
import { copy, h } from "../base/dom.js";
import { Parts, adds } from "./stream-parser.js";
import { UNREACHABLE } from "./project.js";
import { away, prose } from "./markdown.js";
import { curl } from "./snippet.js";

const MOST_ROWS = 300; // of the latest parts; all of them can be copied
const LONGEST_PREVIEW = 160;
const NEAR = 40; // pixels from its end within which the list follows

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`;
const bytesOf = (text) => new TextEncoder().encode(text).length;

/** What version 1 and version 2 are asked with. */
const body = (format, text) => ({
  fp: "anonymous",
  messages: [{ id: "1", role: "user", ...(format === "v1" ? { content: text } : { parts: [{ type: "text", text }] }) }],
});

/** A part in one line, which opens. */
function row(part, milliseconds) {
  const told = [h("span", {}, seconds(milliseconds)), h("b", {}, part.type), h("span", {}, `${bytesOf(part.raw)} B`)];
  const details = h("details", {}, h("summary", {}, ...told, h("span", {}, part.raw.trim().slice(0, LONGEST_PREVIEW))));
  const whole = () => (part.value === undefined ? part.raw : JSON.stringify(part.value, null, 2));
  details.addEventListener("toggle", () => details.append(h("pre", {}, whole())), { once: true });
  return h("li", {}, details);
}

/** One answer on the page: what arrives waits for the next frame, however much it is. */
class Shown {
  raws = [];
  text = "";
  pages = null;
  #waiting = [];
  #sources = new Map();
  #frame = 0;
  #began = performance.now();
  #view;

  constructor(view) {
    this.#view = view;
    for (const part of ["parts", "grown", "sources"]) view[part].replaceChildren();
    view.cut.hidden = true;
  }

  get milliseconds() {
    return performance.now() - this.#began;
  }

  add(part) {
    this.raws.push(part.raw);
    this.#waiting.push([part, this.milliseconds]);
    const { text, source, status } = adds(part);
    if (text) this.text += text;
    if (source) this.#sources.set(source.url, source.title);
    this.pages = status?.pages ?? this.pages;
    this.#frame ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { parts, grown, sources, cut } = this.#view;
    const follows = parts.scrollHeight - parts.scrollTop - parts.clientHeight < NEAR;
    parts.append(
      ...this.#waiting
        .splice(0)
        .slice(-MOST_ROWS)
        .map(([part, at]) => row(part, at)),
    );
    while (parts.childElementCount > MOST_ROWS) parts.firstElementChild.remove();
    const hidden = this.raws.length - parts.childElementCount;
    cut.hidden = !hidden;
    cut.textContent = `${hidden} earlier parts are not shown. “Copy all” has them.`;
    if (follows) parts.scrollTop = parts.scrollHeight;
    grown.replaceChildren(...prose(this.text));
    while (sources.childElementCount < this.#sources.size) {
      const [url, title] = [...this.#sources][sources.childElementCount];
      sources.append(h("li", {}, away(url, title)));
    }
  }
}

/**
 * @param {HTMLElement} root holds the form, the panes and the command
 * @param {import("./project.js").Project} project
 * @returns {() => void} to be called when the project has changed
 */
export function setUpInspector(root, project) {
  const find = (selector) => root.querySelector(selector);
  const form = find("form.inspect");
  const said = find("form.inspect + .said");
  const [stop, copyAll] = [find("[data-stop]"), find("[data-copy-all]")];
  const view = { parts: find(".parts"), grown: find(".grown"), sources: find(".sources"), cut: find("[data-cut]") };
  let running = null;
  let shown = null;

  const asked = () => {
    const { question, format } = form.elements;
    const address = project.address(`${format.value}/assistant`, "/message");
    return { format: format.value, address, body: body(format.value, question.value.trim()) };
  };
  const command = () => {
    const { address, body } = asked();
    find("[data-curl] code").textContent = curl(address, project.key, body);
  };

  async function read(response, format) {
    const parts = new Parts(format);
    const reader = response.body.getReader();
    let error = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      for (const part of parts.push(piece.value)) {
        shown.add(part);
        error ||= adds(part).error ?? "";
      }
    }
    if (parts.rest) error ||= "The stream was cut off in the middle of a part.";
    return error;
  }

  async function ask() {
    const { signal } = (running = new AbortController());
    const { format, address, body } = asked();
    said.textContent = "Asking…";
    shown = new Shown(view);
    const response = await project.post(address, body, signal);
    if (!response.ok) {
      const text = await response.text();
      shown.add({ type: `HTTP ${response.status}`, raw: text, value: undefined });
      const wait = response.headers.get("Retry-After");
      said.textContent = `Status ${response.status}. ${project.failure(response.status, "", wait)}`;
      return;
    }
    const error = await read(response, format);
    const size = shown.raws.reduce((sum, raw) => sum + bytesOf(raw), 0).toLocaleString("en");
    const facts = `${response.headers.get("Content-Type")}, ${shown.raws.length} parts, ${size} bytes, ${seconds(shown.milliseconds)}.`;
    const empty = shown.pages === 0 ? ` Nothing has been read in yet: manage ingest ${project.domain} ./docs` : "";
    said.textContent = `Status ${response.status}, ${facts}${error && ` ${error}`}${empty}`;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running || !form.elements.question.value.trim()) return;
    stop.hidden = false;
    try {
      await ask();
    } catch (error) {
      said.textContent =
        error.name === "AbortError" ? "Stopped: the connection is closed, and the model’s with it." : UNREACHABLE;
    }
    shown.draw();
    copyAll.hidden = !shown.raws.length;
    stop.hidden = true;
    running = null;
  });
  form.addEventListener("input", command);
  stop.addEventListener("click", () => running?.abort());
  copyAll.addEventListener("click", () => copy(copyAll, shown.raws.join(""), announce));
  command();
  return command;
}

/** Files, and pasted texts too long for the field: they go with a question instead of into it. */

import { fill, labels } from "../base/labels.js";
import { isTruncated, parseContexts } from "../conversation/context.js";

/** @typedef {import("../conversation/context.js").ContextInput} ContextInput */
/** @typedef {import("./composer.js").Composer} Composer */

/** A pasted text of so many lines or characters is something to point at. */
const LONG_LINES = 8;
const LONG_TEXT = 1_000;
/** The largest file, in bytes. */
const MAX_BYTES = 256 * 1024;

/** @param {string} text */
export const isLong = (text) => text.length > LONG_TEXT || text.trimEnd().split("\n").length >= LONG_LINES;

/**
 * A file of text as something to point at, or the word for what is wrong with it.
 * @param {File} file
 * @returns {Promise<ContextInput | "fileTooLarge" | "fileNotText">}
 */
export async function readTextFile(file) {
  if (file.size > MAX_BYTES) return "fileTooLarge";
  try {
    const value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return value.includes("\0") || !value.trim() ? "fileNotText" : { type: "code", value, name: file.name };
  } catch {
    return "fileNotText"; // or a folder
  }
}

export class PasteAndDrop {
  #composer;
  /** The last long text that was pasted: pasted again, it goes into the field. @type {string | null} */
  #pasted = null;
  /** Whether the keys were those that paste plain text, as the event does not tell. */
  #plain = false;

  /** @param {Composer} composer */
  constructor(composer) {
    this.#composer = composer;
    const { field } = composer;
    field.addEventListener("paste", (event) => this.#paste(event));
    field.addEventListener("input", () => (this.#pasted = null));
    field.addEventListener("keydown", ({ key, shiftKey, ctrlKey, metaKey }) => {
      this.#plain = shiftKey && (ctrlKey || metaKey) && key.toLowerCase() === "v";
    });
  }

  /** Takes files that are dropped anywhere on the panel. @param {HTMLElement} panel @param {(over: boolean) => void} onover */
  acceptDrops(panel, onover) {
    const hasFiles = (/** @type {DragEvent} */ { dataTransfer }) => dataTransfer?.types.includes("Files");
    panel.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      onover(true);
    });
    panel.addEventListener("dragleave", ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && panel.contains(relatedTarget))) onover(false);
    });
    panel.addEventListener("drop", (event) => {
      onover(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.#attachFiles([...(event.dataTransfer?.files ?? [])]);
    });
  }

  /** @param {ClipboardEvent} event */
  #paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const files = [...(event.clipboardData?.files ?? [])];
    const plain = this.#plain;
    this.#plain = false;
    // What is copied from a document often brings an image of itself along.
    if (files.length && (!text || files.some(({ type }) => !type.startsWith("image/")))) {
      event.preventDefault();
      this.#attachFiles(files);
    } else if (!plain && isLong(text) && this.#attachText(text)) {
      event.preventDefault();
    }
  }

  /** Takes a pasted text. Returns whether it does not go into the field. @param {string} text */
  #attachText(text) {
    const { chips } = this.#composer;
    const [item] = parseContexts({ type: "code", value: text, name: labels.pasted });
    const before = chips.items.find(({ value }) => value === item?.value);
    if (before && text === this.#pasted) {
      chips.remove(before);
      return false;
    }
    if (!item || !this.#composer.attach(item)) return false;
    this.#pasted = text;
    this.#composer.showRemark(isTruncated(text) ? labels.cutShort : labels.pastedHint);
    return true;
  }

  /** @param {File[]} files */
  async #attachFiles(files) {
    for (const file of files) {
      const found = await readTextFile(file);
      if (typeof found === "string") this.#composer.showRemark(fill(labels[found], { name: file.name }));
      else if (!this.#composer.attach(found)) break;
      else if (isTruncated(found.value)) this.#composer.showRemark(labels.cutShort);
    }
    this.#composer.field.focus();
  }
}

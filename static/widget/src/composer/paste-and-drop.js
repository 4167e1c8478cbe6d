/** Files and long pasted texts: they become context of a question, not part of its text. */

import { fill, labels } from "../base/labels.js";
import { isTruncated, parseContexts } from "../conversation/context.js";

/** @typedef {import("../conversation/context.js").ContextInput} ContextInput */
/** @typedef {import("./composer.js").Composer} Composer */

/** A pasted text with so many lines or characters becomes context. */
const LONG_LINES = 8;
const LONG_TEXT = 1_000;
/** The largest file, in bytes. */
const MAX_BYTES = 256 * 1024;

/** @param {string} text */
export const isLong = (text) => text.length > LONG_TEXT || text.trimEnd().split("\n").length >= LONG_LINES;

/**
 * The context of a text file, or the label for what is wrong with the file.
 * @param {File} file
 * @returns {Promise<ContextInput | "fileTooLarge" | "fileNotText">}
 */
export async function readTextFile(file) {
  if (file.size > MAX_BYTES) return "fileTooLarge";
  try {
    const value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return value.includes("\0") || !value.trim() ? "fileNotText" : { type: "code", value, name: file.name };
  } catch {
    return "fileNotText"; // or it is a folder
  }
}

export class PasteAndDrop {
  #composer;
  /** The last long text that was pasted. Pasted again, it goes into the field. @type {string | null} */
  #pasted = null;
  /** Whether the pressed keys paste as plain text, which the paste event does not say. */
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

  /** Attaches files that are dropped anywhere on the panel. @param {HTMLElement} panel @param {(over: boolean) => void} onover */
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
    // Text copied from a document often comes with an image of itself.
    if (files.length && (!text || files.some(({ type }) => !type.startsWith("image/")))) {
      event.preventDefault();
      this.#attachFiles(files);
    } else if (!plain && isLong(text) && this.#attachText(text)) {
      event.preventDefault();
    }
  }

  /** Attaches a pasted text. Returns false if it goes into the field. @param {string} text */
  #attachText(text) {
    const { chips } = this.#composer;
    const [item] = parseContexts({ type: "code", value: text, name: labels.pasted });
    const attached = chips.items.find(({ value }) => value === item?.value);
    if (attached && text === this.#pasted) {
      chips.remove(attached);
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
      const result = await readTextFile(file);
      if (typeof result === "string") this.#composer.showRemark(fill(labels[result], { name: file.name }));
      else if (!this.#composer.attach(result)) break;
      else if (isTruncated(result.value)) this.#composer.showRemark(labels.cutShort);
    }
    this.#composer.field.focus();
  }
}

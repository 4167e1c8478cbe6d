/** The reader's selection on the page around the widget. */

import { parseContexts } from "../conversation/context.js";

/** @typedef {import("../conversation/thread.js").Context} Context */

const FIELDS = "input, textarea, select";
/** A shorter selection is not offered, unless it is code. */
const MIN_WORDS = 3;
/** Time after the last change of a selection, in milliseconds. */
const DELAY = 250;

/** Calls back with the current selection and with each later one. @param {(context: Context) => void} onselect @param {AbortSignal} signal */
export function watchSelection(onselect, signal) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const report = () => {
    const context = selectedContext();
    if (context) onselect(context);
  };
  const reportSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(report, DELAY);
  };
  document.addEventListener("selectionchange", reportSoon, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  report();
}

/** The selected text of the page. Text in fields and in the widget is left out. @returns {Context | null} */
function selectedContext() {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed || isField(document.activeElement)) return null;
  const node = selection.getRangeAt(0).commonAncestorContainer;
  const holder = node instanceof Element ? node : node.parentElement;
  if (!holder || isField(holder) || holder.getRootNode() !== document) return null; // the widget's own text is in a shadow root
  for (const field of holder.querySelectorAll("[contenteditable], textarea"))
    if (selection.containsNode(field, true)) return null;
  const pre = holder.closest("pre");
  const value = selection.toString();
  if (!pre && !hasEnoughWords(value)) return null;
  const input = {
    type: pre ? "code" : "textSelection",
    value,
    name: pre ? nameOf(pre) : "",
    path: location.pathname,
    elementId: holder.closest("[id]")?.id,
  };
  return parseContexts(input)[0] ?? null;
}

/** @param {Element | null} element */
function isField(element) {
  return element instanceof HTMLElement && (element.isContentEditable || element.closest(FIELDS) !== null);
}

/** Whether a text has enough words. Not every script separates words by spaces. @param {string} text */
export function hasEnoughWords(text) {
  let n = 0;
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text.slice(0, 1000))) {
    if (isWordLike && ++n >= MIN_WORDS) return true;
  }
  return false;
}

/** The file name of a block of code, or else its language. @param {HTMLElement} pre */
function nameOf(pre) {
  const around = [pre, pre.querySelector("code"), pre.parentElement, pre.parentElement?.parentElement].filter(
    (element) => element instanceof HTMLElement,
  );
  const caption = pre.closest("figure")?.querySelector("figcaption")?.textContent?.trim();
  return caption || fileName(around) || codeLanguage(around);
}

/** @param {Pick<HTMLElement, "dataset" | "title">[]} elements */
export function fileName(elements) {
  for (const { dataset, title } of elements) {
    const name = dataset.filename || dataset.title || title;
    if (name) return name;
  }
  return "";
}

/** @param {Pick<HTMLElement, "dataset" | "className">[]} elements */
export function codeLanguage(elements) {
  for (const { dataset, className } of elements) {
    const named = /(?:^|\s)(?:language|lang|highlight(?:-source)?)-([\w+#.-]+)/.exec(className)?.[1];
    const name = dataset.lang || dataset.language || named || "";
    if (name && !/^(default|none|plain|plaintext|text)$/.test(name)) return name;
  }
  return "";
}

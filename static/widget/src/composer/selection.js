/** What the reader selected on the page around the widget. */

import { parseContexts } from "../conversation/context.js";

/** @typedef {import("../conversation/thread.js").Context} Context */

const FIELDS = "input, textarea, select";
/** A selection of fewer words says little, unless it is code. */
const MIN_WORDS = 3;
/** After the last change of a selection, in milliseconds. */
const DELAY = 250;

/** Tells of what is selected now, and of each selection to come. @param {(found: Context) => void} tell @param {AbortSignal} signal */
export function watchSelection(tell, signal) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const look = () => {
    const found = selectedContext();
    if (found) tell(found);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(look, DELAY);
  };
  document.addEventListener("selectionchange", later, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  look();
}

/** Text of the page, never of a field or of the widget. @returns {Context | null} */
function selectedContext() {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed || isField(document.activeElement)) return null;
  const node = selection.getRangeAt(0).commonAncestorContainer;
  const holder = node instanceof Element ? node : node.parentElement;
  if (!holder || isField(holder) || holder.getRootNode() !== document) return null; // as the widget's own text is not
  for (const field of holder.querySelectorAll("[contenteditable], textarea"))
    if (selection.containsNode(field, true)) return null;
  const pre = holder.closest("pre");
  const value = selection.toString();
  if (!pre && !hasEnoughWords(value)) return null;
  const given = {
    type: pre ? "code" : "textSelection",
    value,
    name: pre ? nameOf(pre) : "",
    path: location.pathname,
    elementId: holder.closest("[id]")?.id,
  };
  return parseContexts(given)[0] ?? null;
}

/** @param {Element | null} element */
function isField(element) {
  return element instanceof HTMLElement && (element.isContentEditable || element.closest(FIELDS) !== null);
}

/** Whether a text has enough words, which not every script parts by spaces. @param {string} text */
export function hasEnoughWords(text) {
  let n = 0;
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text.slice(0, 1000))) {
    if (isWordLike && ++n >= MIN_WORDS) return true;
  }
  return false;
}

/** The name of a block's file, or else of its language. @param {HTMLElement} pre */
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

// How readers open the search dialog: the field in the header, /, ⌘K, Ctrl+K, ?search= and ?assistant=. ⌘K and Ctrl+K
// also close it. Without this file, and on pages without a dialog, the field's form leads to /search.

import { openAssistant, ready } from "../base/assistant.js";
import { closest, find, holdsTarget, isTyping } from "../base/dom.js";
import { reportClick } from "./client.js";

/** @type {Promise<import("./dialog.js").SearchDialog> | null} */
let loading = null;

/** @param {HTMLDialogElement} dialog */
function load(dialog) {
  loading ??= import("./this-site.js").then(({ createDialog }) => createDialog(dialog));
  return loading;
}

/**
 * Opens the dialog. Until its module has loaded it is a plain form.
 * @param {HTMLDialogElement} dialog
 * @param {string} [text] for its field
 * @param {boolean} [prefersAsking] whether the row that asks the assistant is chosen first
 */
function open(dialog, text = "", prefersAsking = false) {
  const field = find(dialog, "[name=q]", HTMLInputElement);
  if (!dialog.open) dialog.showModal();
  if (text) field.value = text;
  field.focus();
  field.select();
  load(dialog).then((search) => search.update(prefersAsking));
}

/** @param {HTMLInputElement} field in the header @param {HTMLDialogElement} dialog */
function connectField(field, dialog) {
  // Works before the dialog's module has loaded.
  find(dialog, "[data-close]", HTMLElement).addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    if (document.activeElement === field) field.select(); // the focus comes back without a caret
  });
  field.addEventListener("pointerenter", () => load(dialog));
  field.addEventListener("focus", () => load(dialog));
  field.addEventListener("click", () => open(dialog, field.value));
  field.addEventListener("input", () => {
    open(dialog, field.value);
    find(dialog, "[name=q]", HTMLInputElement).setSelectionRange(field.value.length, field.value.length);
    field.value = "";
  });
}

/** @param {HTMLDialogElement | null} dialog */
function setUpHeader(dialog) {
  const header = find(document, ".site-search", HTMLElement);
  const field = find(header, "[name=q]", HTMLInputElement);
  find(header, "kbd", HTMLElement).hidden = false;
  if (dialog) connectField(field, dialog);
  document.addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isSlash = event.key === "/" && isPlain;
    const isCommandK =
      event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const inSearch = event.target === field || Boolean(dialog && holdsTarget(dialog, event));
    const isText = isTyping(event) && !(isCommandK && inSearch);
    if (event.defaultPrevented || event.isComposing || isText || !(isSlash || isCommandK)) return;
    event.preventDefault();
    if (dialog?.open && isCommandK) return dialog.close();
    if (dialog) return open(dialog);
    field.focus();
    field.select();
  });
}

/**
 * Follows the parameters of the address, and removes them: the reader may copy or reload it.
 * @param {HTMLDialogElement} dialog
 */
function followAddress(dialog) {
  const address = new URL(location.href);
  const [query, question] = ["search", "assistant"].map((name) => address.searchParams.get(name));
  if (query === null && question === null) return;
  for (const name of ["search", "assistant"]) address.searchParams.delete(name);
  history.replaceState(history.state, "", address);
  if (query !== null) return open(dialog, query.trim());
  const text = question ?? "";
  if (text.trim() === "") ready.then(() => openAssistant());
  else if (document.referrer.startsWith(`${location.origin}/`)) ready.then(() => window.DocsAssistant.ask(text));
  else open(dialog, text.trim(), true); // another site's question costs nothing until the reader confirms it
}

/** Reports which results readers open on the page of all results. @param {string} domain */
function reportClicks(domain) {
  const list = document.querySelector(".results[data-query]");
  if (!(list instanceof HTMLElement)) return;
  list.addEventListener("click", (event) => {
    const link = closest(event, "a", HTMLAnchorElement);
    if (!link) return;
    const position = 1 + Array.from(list.children).findIndex((item) => item === link.closest("li"));
    reportClick({ service: "", domain }, list.dataset.query ?? "", link.pathname, position);
  });
}

const element = document.querySelector(".search-dialog");
const dialog = element instanceof HTMLDialogElement ? element : null;
setUpHeader(dialog);
if (dialog) {
  followAddress(dialog);
  reportClicks(dialog.dataset.domain ?? "");
}

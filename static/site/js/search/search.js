// ⌘K, Ctrl+K, / and the field in the header open the search dialog, where the page has one; so do ?search= and ?assistant=.
// ⌘K and Ctrl+K close it, too.
// Without this file, and without a dialog, the field's form leads to /search.

import { open as openAssistant, ready } from "../base/assistant.js";
import { isTyped } from "../base/dom.js";
import { report } from "./click-report.js";

const header = document.querySelector(".site-search");
const dialog = document.querySelector(".search-dialog");
const list = document.querySelector(".results[data-query]");

let loading = null;

const load = () => (loading ??= import("./dialog.js").then(({ SearchDialog }) => new SearchDialog(dialog)));

/** Opens the dialog, with a text in its field; `ask` chooses the row that asks. Until its script is there it is a form. */
function open(text = "", ask = false) {
  const field = dialog.querySelector("[name=q]");
  if (!dialog.open) dialog.showModal();
  if (text) field.value = text;
  field.focus();
  field.select();
  load().then((search) => search.look(ask));
}

function setUpHeader() {
  const field = header.querySelector("[name=q]");
  header.querySelector("kbd").hidden = false;
  if (dialog) {
    dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close()); // also before its script is there
    dialog.addEventListener("close", () => document.activeElement === field && field.select()); // the focus comes back without a caret
    field.addEventListener("pointerenter", load);
    field.addEventListener("focus", load);
    field.addEventListener("click", () => open(field.value));
    field.addEventListener("input", () => {
      open(field.value);
      dialog.querySelector("[name=q]").setSelectionRange(field.value.length, field.value.length);
      field.value = "";
    });
  }
  document.addEventListener("keydown", (event) => {
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    const commandK =
      event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const inSearch = event.target === field || dialog?.contains(event.target);
    const isText = isTyped(event) && !(commandK && inSearch);
    if (event.defaultPrevented || event.isComposing || isText || !(slash || commandK)) return;
    event.preventDefault();
    if (dialog?.open && commandK) return dialog.close();
    if (dialog) return open();
    field.focus();
    field.select();
  });
}

/** Does what the address asks for, once: it does not stay in the address, to be copied or loaded again. */
function arrive() {
  const address = new URL(location.href);
  const [query, question] = ["search", "assistant"].map((name) => address.searchParams.get(name));
  if (query === null && question === null) return;
  for (const name of ["search", "assistant"]) address.searchParams.delete(name);
  history.replaceState(history.state, "", address);
  if (query !== null) return open(query.trim());
  const ours = document.referrer.startsWith(`${location.origin}/`);
  if (question.trim() === "") ready.then(() => openAssistant());
  else if (ours) ready.then(() => window.DocsAssistant.ask(question));
  else open(question.trim(), true); // another site's question costs nothing before the reader has confirmed it
}

setUpHeader();
if (dialog) arrive();
if (dialog && list) {
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link)
      report(
        dialog.dataset.domain,
        list.dataset.query,
        link.pathname,
        1 + Array.from(list.children).indexOf(link.closest("li")),
      );
  });
}

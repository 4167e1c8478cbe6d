/** The elements of the search dialog on other sites. They have the names that the dialog's own modules look for. */

import { words } from "../../../site/js/search/site.js";
import { drawIcon, h, LENS_SHAPE } from "../base/dom.js";

/** @param {string} name */
const key = (name) => h("kbd", {}, name);

export function buildDialog() {
  const dialog = h(
    "dialog",
    { className: "search-dialog", "aria-label": words.name },
    h(
      "form",
      { role: "search", method: "dialog" },
      h(
        "div",
        { className: "search-bar" },
        drawIcon(LENS_SHAPE),
        h("input", {
          type: "text",
          name: "q",
          maxLength: 400,
          placeholder: words.placeholder,
          role: "combobox",
          "aria-label": words.name,
          "aria-autocomplete": "list",
          "aria-expanded": "false",
          "aria-controls": "search-results",
          autocomplete: "off",
          autocapitalize: "off",
          spellcheck: false,
          enterKeyHint: "go",
        }),
        h("button", { type: "button", "data-close": "", onclick: () => dialog.close() }, words.close),
      ),
      h("div", { className: "search-filters", role: "group", "aria-label": words.narrow, hidden: true }),
      h(
        "div",
        { className: "search-recent", hidden: true },
        h("span", {}, words.recent),
        h("button", { type: "button", "data-clear": "" }, words.clear),
      ),
      h("p", { className: "search-note" }),
      h("div", { className: "search-results", id: "search-results", role: "listbox", "aria-label": words.results }),
      h("p", { className: "search-start" }, words.start),
      h("p", { className: "search-missing", hidden: true }, h("button", { type: "button" })),
      h(
        "p",
        { className: "search-foot", hidden: true },
        h(
          "span",
          { "aria-hidden": "true" },
          key("↑"),
          key("↓"),
          ` ${words.toChoose} `,
          key("Enter"),
          ` ${words.toOpen}`,
        ),
      ),
    ),
    h("p", { className: "visually-hidden", role: "status" }),
  );
  return dialog;
}

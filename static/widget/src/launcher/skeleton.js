/** The look of a panel while it loads. What is written meanwhile is handed on to the real one. */

import { CLOSE_SHAPES, drawIcon, h } from "../base/dom.js";
import { shortcutOf } from "../base/keyboard.js";

/** @typedef {import("../base/options.js").Options} Options */

/**
 * @param {Options} options
 * @param {string} side start or end
 * @param {Record<string, string>} words
 * @param {{ onclose: () => void, onretry: () => void, onask: () => void }} on
 */
export function createSkeleton({ variant, align, shortcuts }, side, words, { onclose, onretry, onask }) {
  const isSheet = matchMedia("(max-width: 639.98px)").matches;
  const covers = isSheet || variant === "modal";
  const field = h("textarea", { rows: 1, placeholder: words.placeholder, "aria-label": words.question });
  const told = h("div", { className: "middle", role: "status" }, words.loading);
  const dialog = h(
    "dialog",
    {
      className: "panel",
      tabIndex: -1,
      "aria-label": words.name,
      oncancel: onclose,
      onkeydown(/** @type {KeyboardEvent} */ event) {
        event.stopPropagation(); // to shortcuts of the page
        if (event.key === "Escape" || (shortcuts && shortcutOf(event))) onclose();
        if (event.key !== "Enter" || event.target !== field || event.isComposing) return;
        event.preventDefault();
        onask();
      },
    },
    h(
      "header",
      {},
      h("h2", {}, words.name),
      h("button", { className: "quiet", "aria-label": words.close, onclick: onclose }, drawIcon("close", CLOSE_SHAPES)),
    ),
    told,
    field,
  );
  Object.assign(dialog.dataset, { form: isSheet ? "sheet" : variant, side, align });
  return {
    dialog,
    field,
    /** @param {boolean} focus */
    show(focus) {
      if (covers) dialog.showModal();
      else dialog.open = true;
      // A field would take from the page what is selected there, which the panel is to see.
      if (focus) (isSheet || !getSelection()?.isCollapsed ? dialog : field).focus();
    },
    fail() {
      const onclick = () => {
        told.replaceChildren(words.loading);
        onretry();
        field.focus();
      };
      told.replaceChildren(words.notLoaded, h("button", { onclick }, words.retry));
    },
  };
}

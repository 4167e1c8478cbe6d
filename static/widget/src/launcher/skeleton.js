/** A placeholder for the panel while it loads. Text that the reader types is passed to the panel. */

import { CLOSE_SHAPE, drawIcon, h } from "../base/dom.js";
import { shortcutOf } from "../base/keyboard.js";

/** @typedef {import("../base/options.js").Options} Options */

/**
 * @param {Options} options
 * @param {string} side start or end
 * @param {Record<string, string>} labels
 * @param {{ onclose: () => void, onretry: () => void, onask: () => void }} on
 */
export function createSkeleton({ variant, align, shortcuts }, side, labels, { onclose, onretry, onask }) {
  const isSheet = matchMedia("(max-width:639.98px)").matches;
  const covers = isSheet || variant === "modal";
  const field = h("textarea", { rows: 1, placeholder: labels.placeholder, ariaLabel: labels.question });
  const status = h("div", { className: "middle", role: "status" }, labels.loading);
  const dialog = h(
    "dialog",
    {
      className: "panel",
      tabIndex: -1,
      ariaLabel: labels.name,
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
      h("h2", {}, labels.name),
      h("button", { className: "quiet", ariaLabel: labels.close, onclick: onclose }, drawIcon(CLOSE_SHAPE)),
    ),
    status,
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
      // A focused field would clear the selection on the page, which the panel offers as context.
      if (focus) (isSheet || !getSelection()?.isCollapsed ? dialog : field).focus();
    },
    fail() {
      const onclick = () => {
        status.replaceChildren(labels.loading);
        onretry();
        field.focus();
      };
      status.replaceChildren(labels.notLoaded, h("button", { onclick }, labels.retry));
    },
  };
}

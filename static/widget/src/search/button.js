/** The button that opens the search, in the elements that a site names for it. */

import { pageLanguage } from "../../../site/js/base/sentences.js";
import { applyStyles, drawIcon, h, LENS_SHAPE } from "../base/dom.js";
import css from "./button.css";
import { readLabels } from "./labels.js";

/** @typedef {{ nonce: string, labels?: string, onopen: () => void, onpoint: () => void }} On */

/** @param {On} on */
function buildButton({ nonce, labels, onopen, onpoint }) {
  const host = h("div");
  host.dataset.docsSearch = "";
  const root = host.attachShadow({ mode: "closed" });
  const name = readLabels(labels).open ?? (pageLanguage() === "de" ? "Suchen" : "Search");
  const isApple = /Mac|iP/.test(navigator.platform);
  const button = h(
    "button",
    {
      type: "button",
      "aria-haspopup": "dialog",
      "aria-keyshortcuts": isApple ? "Meta+K" : "Control+K",
      onclick: onopen,
      onpointerenter: onpoint,
      onfocus: onpoint,
    },
    drawIcon(LENS_SHAPE),
    h("span", {}, name),
    h("kbd", { "aria-hidden": "true" }, isApple ? "⌘K" : "Ctrl K"),
  );
  root.append(button);
  applyStyles(root, [css], nonce);
  return host;
}

/**
 * Puts a button into each of the elements, now and when the site draws them anew.
 * @param {string} selector
 * @param {On} on
 */
export function keepButtons(selector, on) {
  let isPlanned = false;
  const fill = () => {
    isPlanned = false;
    for (const element of document.querySelectorAll(selector)) {
      if (!element.querySelector(":scope > [data-docs-search]")) element.append(buildButton(on));
    }
  };
  const plan = () => {
    if (!isPlanned) requestAnimationFrame(fill);
    isPlanned = true;
  };
  new MutationObserver(plan).observe(document.documentElement, { childList: true, subtree: true });
  plan();
}

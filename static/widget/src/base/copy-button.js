/** A button that copies a text. */

import { icon, iconButton } from "./dom.js";

/**
 * A button that copies a text. It says so with an icon and a bubbling `announce` event. Null if the browser has no
 * clipboard, as on pages without TLS.
 * @param {string} label
 * @param {string} copied what it says afterwards
 * @param {() => string} text
 */
export function copyButton(label, copied, text) {
  if (!navigator.clipboard) return null;
  const button = iconButton(label, "copy", copy, { className: "quiet copy" });
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      return;
    }
    button.replaceChildren(icon("check"));
    button.dispatchEvent(new CustomEvent("announce", { bubbles: true, detail: copied }));
    setTimeout(() => button.replaceChildren(icon("copy")), 1500);
  }
  return button;
}

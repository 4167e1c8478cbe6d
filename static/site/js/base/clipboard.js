// Copies texts to the clipboard.

import { labels } from "./labels.js";

/**
 * Copies a text to the clipboard. For a moment the button says whether it worked.
 * @param {HTMLButtonElement} button
 * @param {string | Promise<string>} text
 * @param {(text: string) => void} announce
 */
export async function copy(button, text, announce) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(await text);
    button.textContent = labels.copied;
  } catch {
    button.textContent = labels.notCopied;
  }
  announce(button.textContent);
  setTimeout(() => {
    button.textContent = label;
    announce("");
  }, 1500);
}

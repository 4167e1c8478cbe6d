/** Keyboard shortcuts that work on the whole page. */

/**
 * The shortcut of the pressed keys: `toggle` (Ctrl or ⌘ I), `fresh` for a new conversation (Ctrl or ⌘ Shift O), or null.
 * @param {KeyboardEvent} event
 * @returns {"toggle" | "fresh" | null}
 */
export function shortcutOf({ key, code, ctrlKey, metaKey, altKey, shiftKey, isComposing }) {
  if (ctrlKey === metaKey || altKey || isComposing) return null;
  // A keyboard for another script has the same key with another letter.
  const letter = (key > "z" ? code.slice(3) : key).toLowerCase();
  if (letter === "i" && !shiftKey) return "toggle";
  return letter === "o" && shiftKey ? "fresh" : null;
}

/** Whether a key goes into a field of the page. @param {Event} event */
export function isTyping(event) {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

/** The keys that work on the whole page. */

/**
 * What the pressed keys ask for: `toggle` (Ctrl or ⌘ I), `fresh` (Ctrl or ⌘ Shift O), or null.
 * @param {KeyboardEvent} event
 * @returns {"toggle" | "fresh" | null}
 */
export function shortcutOf({ key, code, ctrlKey, metaKey, altKey, shiftKey, isComposing }) {
  if (ctrlKey === metaKey || altKey || isComposing) return null;
  // A keyboard of another script has no such letter, but the same key.
  const letter = (key > "z" ? code.slice(3) : key).toLowerCase();
  if (letter === "i" && !shiftKey) return "toggle";
  return letter === "o" && shiftKey ? "fresh" : null;
}

/** Whether something is being written on the page. @param {Event} event */
export function isTyping(event) {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

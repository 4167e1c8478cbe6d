/** Notices changes of the host page's theme: in its attributes, its style sheets, and the reader's preference. */

import { dark } from "./theme.js";

const changed = () => /** @type {any} */ (dark).onchange?.();

const observer = new MutationObserver(changed);

// A site may load another style sheet. Other elements that load have no `rel`. The window does not get these events.
document.addEventListener("load", ({ target }) => /** @type {any} */ (target).rel && changed(), true);

/**
 * Calls back now and when the theme or the direction of writing may have changed. It watches the body that is on the page
 * now. Only the last function is called.
 * @param {() => void} update
 */
export function watchTheme(update) {
  dark.onchange = update;
  for (const element of [document.documentElement, document.body]) observer.observe(element, { attributes: true });
  update();
}

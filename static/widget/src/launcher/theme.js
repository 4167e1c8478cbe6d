/** The theme of the host page: by its attributes and classes, else by its style sheet, else by the reader's preference. */

const dark = matchMedia("(prefers-color-scheme: dark)");

const THEME = /^(.*(theme|mode|scheme)-)?(dark|light)([- ](theme|mode|only))?$/;

/** @returns {string} light or dark */
export function pageTheme() {
  const { documentElement, body } = document;
  return /** @type {string} */ (
    [...documentElement.attributes, ...body.attributes]
      // `data-dark-theme` names the theme of the dark mode only.
      .flatMap(({ name, value }) => (/dark|light|style/.test(name) ? [] : value.split(" ")))
      .concat(getComputedStyle(body).colorScheme, dark.matches ? "dark" : "light")
      .map((mark) => THEME.exec(mark)?.[3])
      .find(Boolean)
  );
}

/**
 * Calls back now and when the theme or the direction of writing may have changed. Returns a function that stops it.
 * @param {() => void} update
 */
export function watchTheme(update) {
  const observer = new MutationObserver(update);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true });
  }
  dark.addEventListener("change", update);
  update();
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", update);
  };
}

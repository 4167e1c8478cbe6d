/** The theme of the host page: by its attributes and classes, else by its style sheet, else by the reader's preference. */

const dark = matchMedia("(prefers-color-scheme: dark)");

/** @returns {string} light or dark */
export function pageTheme() {
  const { documentElement: root, body } = document;
  const scheme = getComputedStyle(root).colorScheme.replace(" only", "");
  return (
    [root.dataset.theme, ...root.classList, body.dataset.theme, ...body.classList, scheme].find(
      (mark) => mark === "dark" || mark === "light",
    ) ?? (dark.matches ? "dark" : "light")
  );
}

/**
 * Calls back now and when the theme or the direction of writing may have changed. Returns a function that stops it.
 * @param {() => void} update
 */
export function watchTheme(update) {
  const observer = new MutationObserver(update);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: ["class", "data-theme", "style", "dir"] });
  }
  dark.addEventListener("change", update);
  update();
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", update);
  };
}

/** Which theme the host page shows: its own mark first, then the reader's preference. */

const DARK = "(prefers-color-scheme: dark)";

/** @returns {"light" | "dark"} */
function current() {
  for (const element of [document.documentElement, document.body]) {
    const named = element?.dataset.theme;
    if (named === "dark" || named === "light") return named;
    if (element?.classList.contains("dark")) return "dark";
    if (element?.classList.contains("light")) return "light";
  }
  return matchMedia(DARK).matches ? "dark" : "light";
}

/**
 * Calls back with the theme now and whenever it changes. Returns a function that ends this.
 * @param {(theme: "light" | "dark") => void} apply
 */
export function watchTheme(apply) {
  const update = () => apply(current());
  const media = matchMedia(DARK);
  const observer = new MutationObserver(update);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: ["class", "data-theme"] });
  }
  media.addEventListener("change", update);
  update();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", update);
  };
}

/**
 * The theme of the host page: by its attributes and classes, else by its style sheets, else by the reader's preference.
 */

export const dark = matchMedia("(prefers-color-scheme: dark)");

const THEME = /^(.*(theme|mode|scheme)-)?(dark|light)([- ](theme|mode|only))?$/m;

/** @returns {string} light or dark */
export function pageTheme() {
  const { documentElement, body } = document;
  const marks = [...documentElement.attributes, ...body.attributes]
    // `data-dark-theme` names the theme of the dark mode only.
    .map(({ name, value }) => (/dark|light|style/.test(name) ? "" : value.replaceAll(" ", "\n")))
    .concat(
      getComputedStyle(body).colorScheme,
      // Most of the brightness is green. A colour that is not opaque begins with `rgba`.
      getComputedStyle(body)
        .backgroundColor.replace(/^rgb\(.+, \d\d?,.*/, "dark")
        .replace(/^rgb\(.*/, "light"),
      dark.matches ? "dark" : "light",
    );
  return /** @type {RegExpExecArray} */ (THEME.exec(marks.join("\n")))[3];
}

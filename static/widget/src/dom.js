/** Small helpers around the DOM. None of them takes markup: text stays text. */

/**
 * An element with properties, listeners (`onclick`) and children. Keys with a dash, and `role`, are attributes.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props]
 * @param {...(Node | string | null | false | undefined)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else if (key.includes("-") || key === "role" || key === "part") element.setAttribute(key, String(value));
    else Object.assign(element, { [key]: value });
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

const SHAPES = {
  ask: ["M20 11.5a7.5 7.5 0 0 1-7.5 7.5c-1.2 0-2.4-.3-3.4-.8L4.5 19.5l1.3-4.1A7.5 7.5 0 1 1 20 11.5Z", "M9.2 11.5h.01M12.5 11.5h.01M15.8 11.5h.01"],
  close: ["m6.5 6.5 11 11", "m17.5 6.5-11 11"],
  compose: ["M11 5H7a2.5 2.5 0 0 0-2.5 2.5V17A2.5 2.5 0 0 0 7 19.5h9.5A2.5 2.5 0 0 0 19 17v-4", "m17.3 4.7 2 2a.6.6 0 0 1 0 .9L12.5 14.4l-3 .6.6-3 6.8-7.2a.4.4 0 0 1 .4-.1Z"],
  send: ["M12 18.5v-13", "m6.5 11 5.5-5.5 5.5 5.5"],
  stop: ["M8 8h8v8H8z"],
  copy: ["M9 9h10v10.5H9z", "M15 9V4.5H5V15h4"],
  check: ["m5.5 12.5 4.2 4.2 8.8-9.2"],
  down: ["M12 5.5v13", "m17.5 13-5.5 5.5L6.5 13"],
  retry: ["M19 12a7 7 0 1 1-2.2-5.1L19 9", "M19 4.5V9h-4.5"],
};

/**
 * A line drawing on a 24 unit grid, hidden from screen readers.
 * @param {keyof typeof SHAPES} name
 */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  svg.setAttribute("data-icon", name);
  for (const shape of SHAPES[name]) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", shape);
    svg.append(path);
  }
  return svg;
}

/**
 * A constructed sheet: the one way to style that no content security policy has to allow.
 * @param {string} css
 */
export function sheet(css) {
  const styles = new CSSStyleSheet();
  styles.replaceSync(css);
  return styles;
}

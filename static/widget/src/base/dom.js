/** Small helpers around the DOM. None of them takes markup: text stays text. */

/**
 * An element with properties, listeners (`onclick`) and children. Keys with a dash are attributes.
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
    else if (key.includes("-")) element.setAttribute(key, /** @type {string} */ (value));
    else Object.assign(element, { [key]: value });
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export const ASK_SHAPE =
  "M20 11.5A7.5 7.5 0 0 1 9.1 18.2l-4.6 1.3 1.3-4.1A7.5 7.5 0 1 1 20 11.5ZM9.2 11.5h.01m3.3 0h.01m3.3 0h.01";
export const CLOSE_SHAPE = "m6.5 6.5 11 11M17.5 6.5l-11 11";
export const CHECK_SHAPE = "m5.5 12.5 4.2 4.2 8.8-9.2";
export const LENS_SHAPE = "M10.5 4.5a6 6 0 1 1 0 12 6 6 0 0 1 0-12ZM15 15l4.5 4.5";

const SHAPES = {
  ask: ASK_SHAPE,
  close: CLOSE_SHAPE,
  compose:
    "M11 5H7a2.5 2.5 0 0 0-2.5 2.5V17A2.5 2.5 0 0 0 7 19.5h9.5A2.5 2.5 0 0 0 19 17v-4M17.3 4.7l2 2a.6.6 0 0 1 0 .9L12.5 14.4l-3 .6.6-3 6.8-7.2a.4.4 0 0 1 .4-.1Z",
  send: "M12 18.5v-13M6.5 11l5.5-5.5 5.5 5.5",
  stop: "M8 8h8v8H8z",
  copy: "M9 9h10v10.5H9zM15 9V4.5H5V15h4",
  check: CHECK_SHAPE,
  down: "M12 5.5v13M17.5 13l-5.5 5.5L6.5 13",
  widen: "M13.5 5.5h5v5M18.5 5.5l-5.5 5.5M10.5 18.5h-5v-5M5.5 18.5l5.5-5.5",
  narrow: "M18.5 10.5h-5v-5M13.5 10.5l5.5-5.5M5.5 13.5h5v5M10.5 13.5l-5.5 5.5",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  back: "M18.5 12h-13M11 6.5l-5.5 5.5 5.5 5.5",
  page: "M13.5 4.5H8A1.5 1.5 0 0 0 6.5 6v12A1.5 1.5 0 0 0 8 19.5h8a1.5 1.5 0 0 0 1.5-1.5V8.5ZM13.5 4.5v4h4",
  chevrons: "m9 8-4 4 4 4M15 8l4 4-4 4",
  quote: "M5 7.5h14M5 12h14M5 16.5h8",
  wrap: "M4.5 6.5h15M4.5 12h11.5a3 3 0 0 1 0 6h-4M14 15.5l-2.5 2.5 2.5 2.5M4.5 18h3",
  clock: "M12 4.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15ZM12 8v4.2l2.8 1.8",
  info: "M12 4.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15ZM12 11.5v4M12 8.5h.01",
  thumb: "M7.5 11v8.5h-3V11h3ZM7.5 11 11 4.5c1.4 0 2.3 1 2 2.4L12.4 10h5a2 2 0 0 1 2 2.4l-1.1 5.5a2 2 0 0 1-2 1.6H7.5",
  retry: "M19 12a7 7 0 1 1-2.2-5.1L19 9M19 4.5V9h-4.5",
};

/**
 * A line drawing on a 24 unit grid, hidden from screen readers.
 * @param {keyof typeof SHAPES} name
 */
export function icon(name) {
  const svg = drawIcon(SHAPES[name]);
  svg.dataset.icon = name;
  return svg;
}

/** A line drawing of another shape. @param {string} shape */
export function drawIcon(shape) {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  path.setAttribute("d", shape);
  svg.append(path);
  return svg;
}

/**
 * A button with only an icon. Its label shows under the pointer.
 * @param {string} label
 * @param {keyof typeof SHAPES} shape
 * @param {() => void} onclick
 * @param {Record<string, unknown>} [more] properties
 */
export const iconButton = (label, shape, onclick, more) =>
  h("button", { type: "button", className: "quiet", "aria-label": label, title: label, onclick, ...more }, icon(shape));

/** A button with text. @param {() => void} onclick @param {...(Node | string)} content */
export const textButton = (onclick, ...content) =>
  h("button", { type: "button", className: "plain", onclick }, ...content);

/** The site's logo. Our icon takes its place if there is none or it cannot be loaded. @param {string} logo address */
export function logoImage(logo) {
  const ours = drawIcon(ASK_SHAPE);
  if (!logo) return ours;
  const image = h("img", { className: "icon", alt: "", src: logo, onerror: () => image.replaceWith(ours) });
  return image;
}

/** A constructed style sheet. @param {string} css */
export function createSheet(css) {
  const styles = new CSSStyleSheet();
  styles.replaceSync(css);
  return styles;
}

/**
 * Adds style sheets to a shadow root. They are constructed sheets, which need no content security policy. Browsers
 * without them get `style` elements with the page's nonce. Returns a function for the first rule of the last sheet,
 * whose values change later; it finds none while the element is not on the page.
 * @param {ShadowRoot} root
 * @param {string[]} sheets CSS
 * @param {string} nonce
 * @returns {() => CSSStyleDeclaration | undefined}
 */
export function applyStyles(root, sheets, nonce) {
  if (root.adoptedStyleSheets) root.adoptedStyleSheets = sheets.map(createSheet);
  else root.prepend(...sheets.map((css) => h("style", { nonce, textContent: css })));
  const last = () => [...(root.adoptedStyleSheets ?? root.styleSheets)].at(-1);
  return () => /** @type {CSSStyleRule | undefined} */ (last()?.cssRules[0])?.style;
}

/** @type {Record<string, CSSStyleSheet>} */
const loadedSheets = {};

/**
 * Adds the style sheet of a module that loads later to such a root, once.
 * @param {ShadowRoot} root
 * @param {string} css
 * @param {string} nonce
 * @param {number} [later] how many sheets apply after it; by default all, and always the last one, which changes
 */
export function addStyles(root, css, nonce, later = Infinity) {
  if (!root.adoptedStyleSheets) {
    const style = h("style", { nonce, textContent: css });
    return root.insertBefore(style, [...root.querySelectorAll("style")].slice(-later)[0]);
  }
  const sheet = (loadedSheets[css] ??= createSheet(css));
  const sheets = [...root.adoptedStyleSheets];
  if (sheets.includes(sheet)) return;
  sheets.splice(Math.max(0, sheets.length - later), 0, sheet);
  root.adoptedStyleSheets = sheets;
}

// Short ways to make elements and to find them.

/**
 * An element with properties and children. A name with a dash, or without a property, is an attribute.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) Reflect.set(element, name, value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * The first element that a selector matches.
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T}
 * @throws {Error} if there is none of this type
 */
export function find(root, selector, type) {
  const element = root.querySelector(selector);
  if (element instanceof type) return element;
  throw new Error(`The page has no ${type.name} ${selector}.`);
}

/**
 * The element in which an event happened, or the nearest one around it that a selector matches.
 * @template {Element} T
 * @param {Event} event
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T | null}
 */
export function closest({ target }, selector, type) {
  const element = target instanceof Element ? target.closest(selector) : null;
  return element instanceof type ? element : null;
}

/** @param {Element} root @param {Event} event */
export const holdsTarget = (root, { target }) => target instanceof Node && root.contains(target);

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/**
 * A form's field by its name.
 * @param {HTMLFormElement} form
 * @param {string} name
 * @returns {Field}
 */
export function fieldOf(form, name) {
  const field = form.elements.namedItem(name);
  const isField =
    field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement;
  if (isField) return field;
  throw new Error(`The form has no field ${name}.`);
}

const SVG = "http://www.w3.org/2000/svg";

/** A line drawing on a grid of 20 by 20. @param {string} shape the path of its lines */
export function icon(shape) {
  const drawing = document.createElementNS(SVG, "svg");
  const attributes = { viewBox: "0 0 20 20", width: "16", height: "16", "aria-hidden": "true", focusable: "false" };
  for (const [name, value] of Object.entries(attributes)) drawing.setAttribute(name, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", shape);
  drawing.append(path);
  return drawing;
}

/**
 * Whether a key goes into a field. A field that was just hidden keeps the focus until the next frame.
 * @param {Event} event
 */
export function isTyping(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return (target.isContentEditable || target.matches("input, textarea, select")) && target.checkVisibility();
}

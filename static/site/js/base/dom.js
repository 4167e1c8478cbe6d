// Elements in one expression.

import { words } from "./labels.js";

/** @param {Record<string, unknown>} facts properties, and attributes where a name has a dash or no property */
export function h(tag, facts = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(facts)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** A drawing of 20 by 20 from the path of its lines. */
export function icon(path) {
  const make = (name, facts) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [fact, value] of Object.entries(facts)) element.setAttribute(fact, value);
    return element;
  };
  const drawing = make("svg", {
    viewBox: "0 0 20 20",
    width: 16,
    height: 16,
    "aria-hidden": "true",
    focusable: "false",
  });
  drawing.append(make("path", { d: path }));
  return drawing;
}

/** A text of the clipboard's, and what became of it as the button's own words for a moment. */
export async function copy(button, text, said) {
  const usual = button.textContent;
  try {
    await navigator.clipboard.writeText(await text);
    button.textContent = words.copied;
  } catch {
    button.textContent = words.notCopied;
  }
  said(button.textContent);
  setTimeout(() => {
    button.textContent = usual;
    said("");
  }, 1500);
}

/** Whether a key is meant for what is written in. A field that was just hidden has the focus until the next frame. */
export function isTyped(event) {
  const target = event.composedPath()[0];
  const isField =
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
  return isField && target.checkVisibility();
}

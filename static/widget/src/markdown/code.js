/** Blocks of code: what language they are in, copying, wrapping, and one task in several languages. */

import { h, icon, tool } from "../base/dom.js";
import { moduleAddress } from "../base/modules.js";
import { language } from "./languages.js";
import { words } from "../base/labels.js";

/** @typedef {import("./parser.js").Branch} Branch */

/** @type {Promise<typeof import("./highlight.js")> | null} */
let loading = null;
/** @type {typeof import("./highlight.js").tokens | null} once it is here */
let tokens = null;

/** A block of code. It is coloured once nothing more comes. @param {Branch} tree */
export const code = (tree) => figure(h("span", {}, language(tree.lang ?? "").name || words.code), [listing(tree)]);

/** Puts more text into a block that is still arriving. @param {HTMLElement} figure @param {Branch} tree */
export function refill(figure, tree) {
  const text = figure.querySelector("code");
  if (text) text.textContent = String(tree.children[0]);
}

/** Code in several languages, of which one is shown at a time. @param {Branch[]} trees */
export function tabs(trees) {
  const names = trees.map(({ lang = "" }) => language(lang).name);
  const listings = trees.map((tree, i) => {
    const pre = listing(tree);
    pre.role = "tabpanel";
    pre.ariaLabel = names[i];
    return pre;
  });
  const buttons = names.map((name, i) => h("button", { role: "tab", onclick: () => choose(i) }, name));
  const list = h(
    "div",
    { className: "tabs", role: "tablist", "aria-label": words.languages, onkeydown: move },
    ...buttons,
  );

  /** @param {number} chosen */
  function choose(chosen) {
    buttons.forEach((button, i) => {
      button.ariaSelected = String(i === chosen);
      button.tabIndex = i === chosen ? 0 : -1;
      listings[i].hidden = i !== chosen;
    });
  }

  /** @param {Event} event */
  function move(event) {
    const { key } = /** @type {KeyboardEvent} */ (event);
    const at = buttons.findIndex((button) => button.tabIndex === 0);
    const forward = getComputedStyle(list).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const to =
      key === "Home"
        ? 0
        : key === "End"
          ? -1
          : key === forward
            ? at + 1
            : /^Arrow(Left|Right)$/.test(key)
              ? at - 1
              : null;
    if (to === null) return;
    event.preventDefault();
    const chosen = (to + buttons.length) % buttons.length;
    choose(chosen);
    buttons[chosen].focus();
  }

  choose(0);
  return figure(list, listings);
}

/** @param {Branch} tree */
function listing({ children, lang = "", open }) {
  const code = h("code", {}, String(children[0]));
  if (!open) colour(code, language(lang).id);
  return h("pre", { tabIndex: 0, dir: "ltr" }, code);
}

/** Colours code, at once or when the highlighter has come. Without it code stays as it is. @param {HTMLElement} code @param {string} id */
async function colour(code, id) {
  const text = code.textContent ?? "";
  try {
    loading ??= import(moduleAddress(HIGHLIGHT_VERSION, "highlight.js"));
    tokens ??= (await loading).tokens;
  } catch {
    loading = null;
    return;
  }
  code.replaceChildren(
    ...tokens(text, id).map(({ text, kind }) => (kind ? h("span", { className: `t-${kind}` }, text) : text)),
  );
}

/** @param {HTMLElement} label @param {HTMLPreElement[]} listings */
function figure(label, listings) {
  const shown = () => listings.find(({ hidden }) => !hidden)?.textContent ?? "";
  const wrap = tool(words.wrap, "wrap", toggle, { "aria-pressed": "false" });
  const body = h("div", {}, ...listings);
  function toggle() {
    wrap.ariaPressed = String(body.classList.toggle("wraps"));
  }
  return h(
    "figure",
    { className: "code" },
    h("figcaption", {}, label, h("span", { className: "tools" }, wrap, copyButton(words.copyCode, shown))),
    body,
  );
}

/**
 * A button that copies a text and says so, by a bubbling `announce` event too. Absent where the browser has no
 * clipboard to offer, as on pages without TLS.
 * @param {string} label
 * @param {() => string} text
 */
export function copyButton(label, text) {
  if (!navigator.clipboard) return null;
  const button = tool(label, "copy", copy, { className: "quiet copy" });
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      return;
    }
    button.replaceChildren(icon("check"));
    button.dispatchEvent(new CustomEvent("announce", { bubbles: true, detail: words.copied }));
    setTimeout(() => button.replaceChildren(icon("copy")), 1500);
  }
  return button;
}

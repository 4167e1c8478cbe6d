/** Blocks of code with their language, buttons to copy and wrap, and tabs for one task in several languages. */

import { copyButton } from "../base/copy-button.js";
import { h, iconButton } from "../base/dom.js";
import { loadModule } from "../base/modules.js";
import { labels } from "./labels.js";
import { findLanguage } from "./languages.js";

/** @typedef {import("./parser.js").MarkdownElement} MarkdownElement */

/** @type {typeof import("./highlight.js").tokenize | null} once it has loaded */
let tokenize = null;

/** A block of code. It is highlighted when it is complete. @param {MarkdownElement} tree */
export const codeBlock = (tree) =>
  codeFigure(h("span", {}, findLanguage(tree.lang ?? "").name || labels.code), [codeListing(tree)]);

/** Updates the text of a block that is incomplete. @param {HTMLElement} figure @param {MarkdownElement} tree */
export function updateCode(figure, tree) {
  const text = figure.querySelector("code");
  if (text) text.textContent = String(tree.children[0]);
}

/** Code in several languages, of which one is shown at a time. @param {MarkdownElement[]} trees */
export function codeTabs(trees) {
  const names = trees.map(({ lang = "" }) => findLanguage(lang).name);
  const listings = trees.map((tree, i) => {
    const pre = codeListing(tree);
    pre.role = "tabpanel";
    pre.ariaLabel = names[i];
    return pre;
  });
  const buttons = names.map((name, i) => h("button", { role: "tab", onclick: () => select(i) }, name));
  const list = h(
    "div",
    { className: "tabs", role: "tablist", "aria-label": labels.languages, onkeydown: moveByKey },
    ...buttons,
  );

  /** @param {number} chosen */
  function select(chosen) {
    buttons.forEach((button, i) => {
      button.ariaSelected = String(i === chosen);
      button.tabIndex = i === chosen ? 0 : -1;
      listings[i].hidden = i !== chosen;
    });
  }

  /** @param {Event} event */
  function moveByKey(event) {
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
    select(chosen);
    buttons[chosen].focus();
  }

  select(0);
  return codeFigure(list, listings);
}

/** @param {MarkdownElement} tree */
function codeListing({ children, lang = "", open }) {
  const code = h("code", {}, String(children[0]));
  if (!open) highlight(code, findLanguage(lang).id);
  return h("pre", { tabIndex: 0, dir: "ltr" }, code);
}

/** Highlights code, when the highlighter has loaded. Without it code stays plain. @param {HTMLElement} code @param {string} id */
async function highlight(code, id) {
  const text = code.textContent ?? "";
  try {
    tokenize ??= /** @type {typeof import("./highlight.js")} */ (await loadModule(HIGHLIGHT_VERSION, "highlight.js"))
      .tokenize;
  } catch {
    return;
  }
  code.replaceChildren(
    ...tokenize(text, id).map(({ text, kind }) => (kind ? h("span", { className: `t-${kind}` }, text) : text)),
  );
}

/** @param {HTMLElement} label @param {HTMLPreElement[]} listings */
function codeFigure(label, listings) {
  const visibleCode = () => listings.find(({ hidden }) => !hidden)?.textContent ?? "";
  const wrap = iconButton(labels.wrap, "wrap", toggle, { "aria-pressed": "false" });
  const body = h("div", {}, ...listings);
  function toggle() {
    wrap.ariaPressed = String(body.classList.toggle("wraps"));
  }
  return h(
    "figure",
    { className: "code" },
    h(
      "figcaption",
      {},
      label,
      h("span", { className: "tools" }, wrap, copyButton(labels.copyCode, labels.copied, visibleCode)),
    ),
    body,
  );
}

// Buttons of a block of code: copy it, ask about it, rate it.

import { announce } from "../base/announce.js";
import { locate, openAssistant, ready } from "../base/assistant.js";
import { copy } from "../base/clipboard.js";
import { find, h, icon } from "../base/dom.js";
import { isStored } from "../base/feedback.js";
import { labels } from "../base/labels.js";
import { setUpThumbs } from "./feedback-form.js";

const THUMB =
  "M2.5 8.5h3v8h-3zM5.5 9l3-6.5c1.4 0 2.2 1 2 2.4L10 8h5.2a1.6 1.6 0 0 1 1.6 2l-1.3 5a2 2 0 0 1-1.9 1.5H5.5";

/** @param {string} className @param {string} value @param {string} label */
const buildThumb = (className, value, label) =>
  h(
    "button",
    {
      type: "button",
      className: `copy thumb ${className}`,
      value,
      ariaLabel: label,
      title: label,
      ariaPressed: "false",
    },
    icon(THUMB),
  );

for (const block of document.querySelectorAll(".code")) {
  const bar = find(block, ".code-bar", HTMLElement);
  const pre = find(block, "pre", HTMLElement);
  const element = find(block, "code", HTMLElement);
  const getCode = () => element.textContent.trimEnd();
  const lang = element.className.replace("language-", "");
  if (isStored) {
    const thumbs = [buildThumb("up", "yes", labels.codeHelped), buildThumb("down", "no", labels.codeDidNotHelp)];
    const note = h("p", { className: "code-wrong", hidden: true });
    setUpThumbs(thumbs, () => ({ code: getCode(), lang, filename: pre.dataset.filename }), note);
    bar.append(...thumbs);
    bar.after(note);
  }
  const copyCode = h("button", { type: "button", className: "copy" }, labels.copy);
  if (navigator.clipboard) {
    copyCode.addEventListener("click", () => copy(copyCode, getCode(), announce));
    bar.append(copyCode); // last: thumbs show under the pointer only
  }
  ready.then(() => {
    const button = h("button", { type: "button", className: "copy" }, labels.ask);
    button.addEventListener("click", () =>
      openAssistant([{ type: "code", value: getCode(), name: pre.dataset.filename ?? lang, ...locate(block) }]),
    );
    if (copyCode.isConnected) copyCode.before(button);
    else bar.append(button);
  });
}

// What can be done with a block of code: copy it, ask about it, say whether it helped.

import { announce } from "../base/announce.js";
import { open, place, ready } from "../base/assistant.js";
import { copy, h, icon } from "../base/dom.js";
import { isKept, rate } from "../base/feedback.js";
import { words } from "../base/labels.js";

const THUMB =
  "M2.5 8.5h3v8h-3zM5.5 9l3-6.5c1.4 0 2.2 1 2 2.4L10 8h5.2a1.6 1.6 0 0 1 1.6 2l-1.3 5a2 2 0 0 1-1.9 1.5H5.5";

const thumb = (helpful, label) =>
  h(
    "button",
    {
      type: "button",
      className: `copy thumb ${helpful === "no" ? "down" : "up"}`,
      value: helpful,
      ariaLabel: label,
      title: label,
      ariaPressed: "false",
    },
    icon(THUMB),
  );

for (const block of document.querySelectorAll(".code")) {
  const bar = block.querySelector(".code-bar");
  const pre = block.querySelector("pre");
  const element = block.querySelector("code");
  const code = () => element.textContent.trimEnd();
  const lang = element.className.replace("language-", "");
  if (navigator.clipboard) {
    const button = h("button", { type: "button", className: "copy" }, words.copy);
    button.addEventListener("click", () => copy(button, code(), announce));
    bar.append(button);
  }
  if (isKept) {
    const thumbs = [thumb("yes", words.codeHelped), thumb("no", words.codeDidNotHelp)];
    const note = h("p", { className: "code-wrong", hidden: true });
    rate(thumbs, () => ({ code: code(), lang, filename: pre.dataset.filename }), note);
    bar.append(...thumbs);
    bar.after(note);
  }
  ready.then(() => {
    const button = h("button", { type: "button", className: "copy" }, words.ask);
    button.addEventListener("click", () =>
      open([{ type: "code", value: code(), name: pre.dataset.filename ?? lang, ...place(block) }]),
    );
    bar.firstElementChild.after(button);
  });
}

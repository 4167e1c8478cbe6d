// Feedback on a page and on blocks of code. Each step is sent when it is made.

import { announce } from "../base/announce.js";
import { find } from "../base/dom.js";
import { feedbackSender } from "../base/feedback.js";
import { labels } from "../base/labels.js";

/** @param {HTMLFormElement} form */
function setUpForm(form) {
  const thumbs = Array.from(form.querySelectorAll("button")).filter(({ name }) => name === "helpful");
  const more = find(form, ".feedback-more", HTMLElement);
  const status = find(form, "[role=status]", HTMLElement);
  const undo = find(form, "[data-undo]", HTMLButtonElement);
  const sendFeedback = feedbackSender({});
  let stored = ""; // the thumb that the service has: `yes`, `no`, or none yet

  /** Shows the fields that belong to a thumb, or none. What is written in them stays. @param {string} thumb */
  function show(thumb) {
    for (const button of thumbs) button.ariaPressed = String(button.value === thumb);
    for (const reasons of more.querySelectorAll("fieldset")) {
      reasons.disabled = reasons.hidden = reasons.dataset.of !== thumb;
    }
    more.hidden = !thumb;
  }

  /** Sends what the form holds. Returns whether it was stored. @param {string} thumb @param {string} thanks */
  async function submit(thumb, thanks) {
    show(thumb);
    const { reason, comment, contact } = Object.fromEntries(new FormData(form));
    const source = reason || comment ? "contextual" : "thumbs_only";
    const problem = await sendFeedback({ source, helpful: thumb === "yes", reason, comment, contact });
    status.textContent = problem || thanks;
    if (!problem) stored = thumb;
    show(stored);
    undo.hidden = !stored;
    return !problem;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const thumb = thumbs.find((button) => button === event.submitter);
    if (thumb) return submit(thumb.value, labels.thanks);
    if (!(await submit(stored, labels.reaches))) return;
    more.hidden = true;
    undo.focus();
  });
  more.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement && target.name === "reason") submit(stored, labels.thanks);
  });
  undo.addEventListener("click", async () => {
    const problem = await sendFeedback({ source: "thumbs_only" });
    status.textContent = problem || labels.takenBack;
    if (problem) return;
    form.reset();
    stored = "";
    show(stored);
    undo.hidden = true;
    thumbs[0].focus();
  });
}

/**
 * Makes thumbs work on something smaller than a page. Pressing a thumb again withdraws it.
 * @param {HTMLButtonElement[]} buttons
 * @param {() => import("../base/feedback.js").Feedback} describe what they are about
 * @param {HTMLElement} note shows what went wrong
 */
export function setUpThumbs(buttons, describe, note) {
  const sendFeedback = feedbackSender({ source: "code_snippet" });
  /** @type {HTMLButtonElement | null} the button that the service has */
  let stored = null;
  const press = (/** @type {HTMLButtonElement | null} */ pressed) => {
    for (const button of buttons) button.ariaPressed = String(button === pressed);
  };
  for (const button of buttons) {
    button.addEventListener("click", async () => {
      const chosen = button.ariaPressed === "true" ? null : button;
      press(chosen);
      const problem = await sendFeedback(chosen ? { ...describe(), helpful: button.value === "yes" } : {});
      if (!problem) stored = chosen;
      press(stored);
      note.textContent = problem;
      note.hidden = !problem;
      announce(problem || (chosen ? labels.thanks : labels.takenBack));
    });
  }
}

const form = document.querySelector("form[data-feedback]");
if (form instanceof HTMLFormElement) setUpForm(form);

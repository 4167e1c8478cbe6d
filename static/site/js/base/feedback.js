// What readers think: of a page, of a block of code, of a search that found nothing. Each step is sent when it is made.

import { announce } from "./announce.js";
import { fill, wait, words } from "./labels.js";

const domain = document.querySelector(".search-dialog")?.dataset.domain;

/** Whether this site has a project that keeps what readers say. */
export const isKept = domain !== undefined;

const random = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function send(said) {
  try {
    const options = { method: "POST", body: JSON.stringify(said), keepalive: true };
    const answer = await fetch(`/discovery/v1/feedback/${domain}`, options);
    if (answer.ok) return "";
    if (answer.status === 429) return fill(words.tooMuchSaid, { wait: wait(answer.headers.get("Retry-After")) });
    return words.notKept;
  } catch {
    return words.notSent;
  }
}

/**
 * A function that sends what a reader says about something, after what they said before. Each call replaces what the
 * one before said; `{}` takes it back. It gives the sentence of what went wrong, empty if nothing did.
 */
export function teller(about) {
  const id = random();
  let before = Promise.resolve();
  return (said) => (before = before.then(() => send({ path: location.pathname, id, ...about, ...said })));
}

function setUpPage(form) {
  const thumbs = Array.from(form.querySelectorAll("[name=helpful]"));
  const more = form.querySelector(".feedback-more");
  const status = form.querySelector("[role=status]");
  const undo = form.querySelector("[data-undo]");
  const tell = teller({});
  let kept = ""; // the thumb that the service has: `yes`, `no`, or none yet

  /** Shows what follows a thumb; without one, the form as it was. What is written in it stays. */
  function show(helpful) {
    for (const thumb of thumbs) thumb.ariaPressed = String(thumb.value === helpful);
    for (const reasons of more.querySelectorAll("fieldset"))
      reasons.disabled = reasons.hidden = reasons.dataset.of !== helpful;
    more.hidden = !helpful;
  }

  /** Sends what the form says. Says whether it is kept. */
  async function say(thumb, thanks) {
    show(thumb);
    const { reason, comment, contact } = Object.fromEntries(new FormData(form));
    const source = reason || comment ? "contextual" : "thumbs_only";
    const wrong = await tell({ source, helpful: thumb === "yes", reason, comment, contact });
    status.textContent = wrong || thanks;
    if (!wrong) kept = thumb;
    show(kept);
    undo.hidden = !kept;
    return !wrong;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (thumbs.includes(event.submitter)) return say(event.submitter.value, words.thanks);
    if (!(await say(kept, words.reaches))) return;
    more.hidden = true;
    undo.focus();
  });
  more.addEventListener("change", (event) => event.target.name === "reason" && say(kept, words.thanks));
  undo.addEventListener("click", async () => {
    const wrong = await tell({ source: "thumbs_only" });
    status.textContent = wrong || words.takenBack;
    if (wrong) return;
    form.reset();
    show((kept = ""));
    undo.hidden = true;
    thumbs[0].focus();
  });
}

/**
 * Thumbs for something smaller than a page: pressing one again takes it back.
 * @param {HTMLButtonElement[]} buttons
 * @param {() => object} about what they are about
 * @param {HTMLElement} note where it is said that something could not be kept
 */
export function rate(buttons, about, note) {
  const tell = teller({ source: "code_snippet" });
  const press = (pressed) => buttons.forEach((each) => (each.ariaPressed = String(each === pressed)));
  let kept = null; // the button that the service knows of
  for (const button of buttons) {
    button.addEventListener("click", async () => {
      const chosen = button.ariaPressed === "true" ? null : button;
      press(chosen);
      const wrong = await tell(chosen ? { ...about(), helpful: button.value === "yes" } : {});
      if (!wrong) kept = chosen;
      press(kept);
      note.textContent = wrong;
      note.hidden = !wrong;
      announce(wrong || (chosen ? words.thanks : words.takenBack));
    });
  }
}

const form = document.querySelector("form[data-feedback]");
if (form) setUpPage(form);

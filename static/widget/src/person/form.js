/**
 * The form to write to a person, in a page over the conversation. A script of its own, which the panel loads when a
 * reader asks for it.
 */

import { addStyles, h } from "../base/dom.js";
import css from "./form.css";
import { WORDS } from "./words.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */
/** @typedef {import("../panel/overlay.js").Overlay} Overlay */
/** @typedef {{ id: string, question: string, answer: string }} Exchange `id` is the service's id of the answer */
/** @typedef {{ token: string, waitSeconds: number }} Form as the service answers */

const MAX_SUBJECT = 200;
const MAX_EXCHANGES = 20;
const MAX_EXCERPT = 160; // characters of an answer
/** For each request, in milliseconds. */
const TIMEOUT = 15_000;

/**
 * Shows the form in the overlay of the panel.
 * @param {Conversation} conversation
 * @param {Overlay} overlay
 * @param {Record<string, string>} labels of the panel
 */
export function show(conversation, overlay, labels) {
  const root = /** @type {ShadowRoot} */ (overlay.element.getRootNode());
  addStyles(root, css, conversation.options.nonce);
  const words = { ...(WORDS[labels.locale.slice(0, 2)] ?? WORDS.en), ...conversation.options.labels };
  overlay.show(labels.person, new PersonForm(conversation, words).elements);
}

class PersonForm {
  #conversation;
  #words;
  #address;
  /** The token of the form and the time it came; null if it could not be loaded. @type {Promise<Form & { at: number } | null>} */
  #form;

  /** @param {Conversation} conversation @param {Record<string, string>} words */
  constructor(conversation, words) {
    this.#conversation = conversation;
    this.#words = words;
    const { domain } = conversation.options;
    this.#address = new URL(`../../discovery/v1/support/${encodeURIComponent(domain)}`, import.meta.url);
    this.#form = this.#begin();
    const exchanges = listExchanges(conversation);
    const { email, subject, message } = (this.fields = {
      email: h("input", { type: "email", autocomplete: "email", maxLength: 254 }),
      subject: h("input", { type: "text", maxLength: MAX_SUBJECT, dir: "auto" }),
      message: h("textarea", { rows: 5, maxLength: 8000, dir: "auto" }),
    });
    subject.value = exchanges.at(-1)?.question.replace(/\s+/g, " ").slice(0, MAX_SUBJECT) ?? "";
    this.homepage = h("input", { type: "text", tabIndex: -1, autocomplete: "off" });
    this.status = h("p", { className: "person-status", id: "person-status", role: "alert" });
    this.button = h("button", { type: "submit", className: "person-send" }, words.personSend);
    this.boxes = exchanges.map(({ id }) => h("input", { type: "checkbox", value: id, checked: true }));
    const rows = exchanges.map(({ question, answer }, index) =>
      h("label", {}, this.boxes[index], h("span", { dir: "auto" }, h("b", {}, question), h("small", {}, answer))),
    );
    const field = (/** @type {string} */ label, /** @type {HTMLElement} */ control) =>
      h("label", { className: "person-field" }, h("span", {}, label), control);
    this.element = h(
      "form",
      { className: "person", noValidate: true, onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      h("p", {}, words.personLead),
      field(words.personEmail, email),
      field(words.personSubject, subject),
      field(words.personMessage, message),
      rows.length
        ? h("fieldset", {}, h("legend", {}, words.personAlong), h("p", {}, words.personAlongHint), ...rows)
        : null,
      h("div", { className: "unseen", "aria-hidden": "true" }, field(words.personEmpty, this.homepage)),
      this.status,
      h("div", { className: "person-foot" }, this.button),
    );
    this.elements = [this.element];
  }

  async #begin() {
    try {
      const response = await fetch(this.#address, { credentials: "omit", signal: AbortSignal.timeout(TIMEOUT) });
      return response.ok ? { .../** @type {Form} */ (await response.json()), at: Date.now() } : null;
    } catch {
      return null;
    }
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    const words = this.#words;
    if (this.button.ariaDisabled === "true" || !this.#check()) return;
    this.button.ariaDisabled = "true";
    this.button.textContent = words.personSending;
    const { status, id } = await this.#send();
    this.button.ariaDisabled = "false";
    this.button.textContent = words.personSend;
    if (id) return this.#thank(id);
    if (status === 400) this.#form = this.#begin(); // the token may be too old
    this.#report(status === 429 ? words.personTooMany : words.personFailed);
  }

  /** Reports the first field that is wrong, and moves the focus there. */
  #check() {
    const { email, subject, message } = this.fields;
    const links = `${subject.value} ${message.value}`.match(/https?:\/\/|www\./gi)?.length ?? 0;
    /** @type {[HTMLInputElement | HTMLTextAreaElement, boolean, string][]} */
    const rules = [
      [email, /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email.value.trim()), this.#words.personWrongEmail],
      [subject, Boolean(subject.value.trim()), this.#words.personWrongSubject],
      [message, Boolean(message.value.trim()) && links <= 5, this.#words.personWrongMessage],
    ];
    const wrong = rules.find(([, isRight]) => !isRight);
    for (const [control, isRight] of rules) {
      control.ariaInvalid = String(!isRight);
      if (control === wrong?.[0]) control.setAttribute("aria-describedby", this.status.id);
      else control.removeAttribute("aria-describedby");
    }
    if (wrong) wrong[0].after(this.status);
    else this.button.parentElement?.before(this.status);
    wrong?.[0].focus();
    this.#report(wrong?.[2] ?? "");
    return !wrong;
  }

  /** @param {string} sentence */
  #report(sentence) {
    this.status.textContent = sentence;
    this.status.scrollIntoView({ block: "nearest" });
  }

  /** Sends it, once the service accepts it. @returns {Promise<{ status: number, id?: string }>} */
  async #send() {
    const form = await this.#form;
    if (!form) {
      this.#form = this.#begin();
      return { status: 0 };
    }
    const wait = form.at + form.waitSeconds * 1000 + 500 - Date.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const { email, subject, message } = this.fields;
    const { thread, fp } = this.#conversation;
    const request = {
      token: form.token,
      email: email.value.trim(),
      subject: subject.value.trim(),
      message: message.value.trim(),
      path: location.pathname,
      threadId: thread.threadId,
      fp,
      messageIds: this.boxes.filter((box) => box.checked).map((box) => box.value),
      homepage: this.homepage.value,
    };
    try {
      // Plain text needs no preflight request.
      const response = await fetch(this.#address, {
        method: "POST",
        headers: { "Content-Type": "text/plain" },
        body: JSON.stringify(request),
        credentials: "omit",
        signal: AbortSignal.timeout(TIMEOUT),
      });
      return { status: response.status, ...(response.ok && (await response.json())) };
    } catch {
      return { status: 0 };
    }
  }

  /** @param {string} id of the request */
  #thank(id) {
    const text = this.#words.personSent.replace("{email}", () => this.fields.email.value.trim()).replace("{id}", id);
    const thanks = h("p", { className: "person-sent", tabIndex: -1, dir: "auto" }, text);
    this.element.replaceWith(thanks);
    thanks.focus(); // screen readers read it
  }
}

/** The questions that have an answer, oldest first. @param {Conversation} conversation @returns {Exchange[]} */
function listExchanges({ thread: { turns } }) {
  const exchanges = turns.flatMap((turn, index) => {
    const before = turns[index - 1];
    if (turn.role !== "assistant" || !turn.messageId || before?.role !== "user") return [];
    const text = turn.text
      .replace(/\]\([^)]*\)|[*_`#[\]]/g, "")
      .replace(/\s+/g, " ")
      .trim();
    const answer = text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
    return [{ id: turn.messageId, question: before.text, answer }];
  });
  return exchanges.slice(-MAX_EXCHANGES);
}

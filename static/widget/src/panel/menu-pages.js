/** What the menu shows in the place of the conversation: other conversations, deletion, and what this all is. */

import { h, plain, tool } from "../base/dom.js";
import { fill, locale, words } from "../base/labels.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */

/** A page that lies over the transcript; the composer stays. It goes when the conversation goes on. */
export class Cover {
  /** What opens it, and gets the focus back. @type {HTMLElement | undefined} */
  opener;

  /** @param {Conversation} conversation @param {{ onleft: () => void, signal: AbortSignal }} on the focus needs a place */
  constructor(conversation, { onleft, signal }) {
    this.title = h("h3", { id: "cover-name", tabIndex: -1 });
    this.body = h("div", { className: "cover-body" });
    this.element = h(
      "section",
      { className: "cover", hidden: true, "aria-labelledby": "cover-name" },
      h(
        "div",
        { className: "cover-head" },
        tool(words.back, "back", () => this.close()),
        this.title,
      ),
      this.body,
    );
    const follow = (/** @type {Event} */ event) => {
      const { before } = /** @type {CustomEvent} */ (event).detail;
      const { chatId, turns } = conversation.thread;
      if (before.chatId !== chatId || before.turns.length !== turns.length) this.close(onleft);
    };
    conversation.addEventListener("change", follow, { signal });
  }

  /** @param {string} title @param {HTMLElement[]} content */
  show(title, content) {
    this.title.textContent = title;
    this.body.replaceChildren(...content);
    this.#open(true);
    this.body.scrollTop = 0;
    this.title.focus();
  }

  /** Returns whether it was open. @param {() => void} [onleft] gives the focus a place; else it goes back to where it was */
  close(onleft = () => this.opener?.focus()) {
    if (this.element.hidden) return false;
    const hadFocus = this.element.matches(":focus-within");
    this.#open(false);
    if (hadFocus) onleft();
    return true;
  }

  /** @param {boolean} open */
  #open(open) {
    this.element.hidden = !open;
    for (const other of this.element.parentElement?.children ?? []) {
      if (other !== this.element) /** @type {HTMLElement} */ (other).inert = open;
    }
  }
}

/** @param {Conversation} conversation */
export function pastPage(conversation) {
  if (!conversation.past.length) return [h("p", {}, words.pastNone)];
  const time = new Intl.DateTimeFormat(locale(), { weekday: "short", hour: "numeric", minute: "2-digit" });
  const items = conversation.past.map(({ chatId, title, at }) => {
    const open = () => conversation.open(chatId);
    const when = h("time", { dateTime: new Date(at).toISOString() }, time.format(at));
    return h("li", {}, h("button", { onclick: open }, h("span", { dir: "auto" }, title), when));
  });
  return [h("ul", { className: "past", role: "list" }, ...items)];
}

/** @param {Conversation} conversation @param {import("../composer/composer.js").Composer} composer @param {Cover} cover */
export function forgetPage(conversation, composer, cover) {
  const forget = async () => {
    yes.disabled = no.disabled = true;
    yes.textContent = words.forgetting;
    const everywhere = await conversation.forget();
    cover.close();
    composer.clear();
    composer.say(everywhere ? words.forgotten : words.forgottenHere);
  };
  const yes = h("button", { className: "danger", onclick: forget }, words.forgetYes);
  const no = plain(() => cover.close(), words.cancel);
  return [h("p", {}, words.forgetWhat), h("div", { className: "choice" }, yes, no)];
}

/** @param {Conversation} conversation */
export function aboutPage({ options }) {
  const kept = options.memory === "tab" ? words.aboutKeptTab : words.aboutKeptDay;
  const parts = [
    [words.aboutAnswers, words.aboutAnswersText],
    [words.aboutKept, `${kept} ${words.aboutKeptThere}`],
    [words.aboutSent, words.aboutSentText],
    [words.aboutLimits, words.aboutLimitsText],
  ];
  return parts.flatMap(([title, text]) => [
    h("h4", {}, title),
    h("p", {}, fill(text, { forget: words.forget, page: words.tellPage })),
  ]);
}

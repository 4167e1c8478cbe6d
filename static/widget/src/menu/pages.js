/** The pages of the menu: past conversations, deletion of data, and information about the assistant. */

import { h, textButton } from "../base/dom.js";

/** @typedef {import("../conversation/conversation.js").Conversation} Conversation */
/** @typedef {{ show(title: string, content: HTMLElement[]): void, close(): void }} Overlay a page over the conversation */
/** @typedef {Pick<typeof import("../base/labels.js"), "labels" | "fill" | "locale">} PanelTexts */
/** @typedef {PanelTexts & { labels: typeof import("./words.js").WORDS }} Texts */

/** @param {Conversation} conversation @param {Texts} texts */
export function buildPastPage(conversation, { labels, locale }) {
  if (!conversation.pastConversations.length) return [h("p", {}, labels.pastNone)];
  const time = new Intl.DateTimeFormat(locale(), { weekday: "short", hour: "numeric", minute: "2-digit" });
  const items = conversation.pastConversations.map(({ chatId, title, at }) => {
    const open = () => conversation.open(chatId);
    const when = h("time", { dateTime: new Date(at).toISOString() }, time.format(at));
    return h("li", {}, h("button", { onclick: open }, h("span", { dir: "auto" }, title), when));
  });
  return [h("ul", { className: "past", role: "list" }, ...items)];
}

/** @param {Conversation} conversation @param {import("../composer/composer.js").Composer} composer @param {Overlay} overlay @param {Texts} texts */
export function buildDeletePage(conversation, composer, overlay, { labels }) {
  const deleteData = async () => {
    confirm.disabled = cancel.disabled = true;
    confirm.textContent = labels.forgetting;
    const isComplete = await conversation.deleteData();
    overlay.close();
    composer.clear();
    composer.showRemark(isComplete ? labels.forgotten : labels.forgottenHere);
  };
  const confirm = h("button", { className: "danger", onclick: deleteData }, labels.forgetYes);
  const cancel = textButton(() => overlay.close(), labels.cancel);
  return [h("p", {}, labels.forgetWhat), h("div", { className: "choice" }, confirm, cancel)];
}

/** @param {Conversation} conversation @param {Texts} texts */
export function buildAboutPage({ options }, { labels, fill }) {
  const storage = options.memory === "tab" ? labels.aboutKeptTab : labels.aboutKeptDay;
  const sections = [
    [labels.aboutAnswers, labels.aboutAnswersText],
    [labels.aboutKept, `${storage} ${labels.aboutKeptThere}`],
    [labels.aboutSent, labels.aboutSentText],
    [labels.aboutLimits, labels.aboutLimitsText],
  ];
  return sections.flatMap(([title, text]) => [
    h("h4", {}, title),
    h("p", {}, fill(text, { forget: labels.forget, page: labels.tellPage })),
  ]);
}

/** The view of a question with its context. */

import { h, icon } from "../base/dom.js";
import { labels } from "../base/labels.js";

export class QuestionView {
  /** @param {import("../conversation/thread.js").Question} question */
  constructor(question) {
    this.turn = question;
    const chips = question.context?.map(({ label, type }) =>
      h("li", {}, icon(type === "code" ? "chevrons" : "quote"), h("span", { dir: "auto" }, label)),
    );
    this.element = h(
      "article",
      { className: "question", tabIndex: -1 },
      h("h3", { className: "unseen" }, labels.asked),
      chips?.length ? h("ul", { className: "pointed", "aria-label": labels.context }, ...chips) : null,
      h("p", { dir: "auto" }, question.text),
    );
  }
}

import assert from "node:assert/strict";
import { it } from "node:test";
import { exportMarkdown } from "../../../static/widget/src/conversation/markdown-export.js";
import { addQuestion, createThread } from "../../../static/widget/src/conversation/thread.js";
import { applyEvent } from "../../../static/widget/src/conversation/thread-events.js";

const DATE = new Date("2026-03-04T05:06:07Z");
const document = (text, answer, sources = []) =>
  exportMarkdown(
    [
      ...sources.map((source) => ({ type: "source-url", ...source })),
      { type: "text-delta", delta: answer },
      { type: "finish" },
    ].reduce(
      (thread, event) => applyEvent(thread, event, 0),
      addQuestion(createThread("c"), { text, questionId: "q", answerId: "a" }),
    ),
    DATE,
  );

it("a conversation is a document with its questions, answers and sources", () => {
  const text = "Run it [1](https://d.example/a).\n\n```suggestions\n(Next)[/next]\n```";
  assert.equal(
    document("How?\n\nSay more.", text, [{ url: "https://d.example/a", title: "Install [a]" }]),
    "# Ask the docs\n\n2026-03-04\n\n## You asked\n\n> How?\n> \n> Say more.\n\n## Answer\n\n" +
      "Run it [1](https://d.example/a).\n\nSources:\n\n1. [Install \\[a\\]](<https://d.example/a>)\n",
  );
});

it("an address or a title does not end its link", () => {
  const made = document("?", "x", [{ url: "https://d.example/a>) [evil](<b", title: "a](x)\n# b" }]);
  assert.match(made, /1\. \[a\\\]\(x\) # b\]\(<https:\/\/d\.example\/a%3E\)%20\[evil\]\(%3Cb>\)\n$/);
});

it("an answer that never came is left out", () => {
  const thread = addQuestion(createThread("c"), { text: "How?", questionId: "q", answerId: "a" });
  assert.equal(exportMarkdown(thread, DATE), "# Ask the docs\n\n2026-03-04\n\n## You asked\n\n> How?\n");
});

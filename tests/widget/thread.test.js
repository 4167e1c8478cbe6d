import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asked, begin, isRunning, lastAnswer, numbered, received, restored, retried, stopped } from "../../static/widget/src/thread.js";

const NOW = 1_000_000;

const START = { type: "start", messageId: "msg_1", messageMetadata: { threadId: "thr_1" } };
const SEARCH = [
  { type: "tool-input-start", toolCallId: "c", toolName: "search" },
  { type: "tool-input-available", toolCallId: "c", toolName: "search", input: { query: "install" } },
];
const FOUND = {
  type: "tool-output-available",
  toolCallId: "c",
  output: [
    { path: "/install", url: "https://docs.example.com/install", metadata: { title: "Install" } },
    { path: "/install", url: "https://docs.example.com/install#pip", metadata: { title: "Install" } },
    { path: "/errors", url: "https://docs.example.com/errors", metadata: {} },
  ],
};
const SOURCE = { type: "source-url", sourceId: "s", url: "https://docs.example.com/install", title: "Install" };
const delta = (text) => ({ type: "text-delta", id: "t", delta: text });
const FINISH = { type: "finish", messageMetadata: { threadId: "thr_1" } };

const question = (thread = begin("chat")) => asked(thread, { text: "How?", questionId: "q", answerId: "a" });
const after = (events, thread = question()) => events.reduce((state, event) => received(state, event, NOW), thread);
const answer = (thread) => lastAnswer(thread);

describe("a thread", () => {
  it("begins empty and keeps its chat id", () => {
    assert.deepEqual(begin("chat"), { chatId: "chat", threadId: null, turns: [] });
  });

  it("takes a question and waits for its answer", () => {
    const thread = question();
    assert.deepEqual(thread.turns[0], { id: "q", role: "user", text: "How?" });
    assert.equal(answer(thread).phase, "sending");
    assert.ok(isRunning(answer(thread)));
  });

  it("goes through the phases that the events tell of", () => {
    const phases = [];
    let thread = question();
    for (const event of [START, ...SEARCH, FOUND, delta("Run "), delta("it."), FINISH]) {
      thread = received(thread, event, NOW);
      phases.push(answer(thread).phase);
    }
    assert.deepEqual(phases, ["sending", "searching", "searching", "reading", "answering", "answering", "done"]);
    assert.equal(answer(thread).text, "Run it.");
    assert.equal(answer(thread).messageId, "msg_1");
    assert.equal(thread.threadId, "thr_1");
  });

  it("names each page that is read once, by title or else by path", () => {
    assert.deepEqual(answer(after([FOUND])).reading, ["Install", "/errors"]);
  });

  it("learns where the site begins from what was found", () => {
    const found = (path, url) => answer(after([{ type: "tool-output-available", output: [{ path, url }] }])).site;
    assert.equal(answer(after([FOUND])).site, "https://docs.example.com");
    assert.equal(found("/install", "https://example.com/docs/install#pip"), "https://example.com/docs");
    assert.equal(found("/über", "https://example.com/%C3%BCber"), "", "else it is not known");
    assert.equal(found(undefined, undefined), "");
  });

  it("learns its id from any of the events that carry it", () => {
    for (const event of [START, { type: "data-thread", data: { threadId: "thr_1" } }]) {
      assert.equal(after([event]).threadId, "thr_1");
    }
    assert.equal(after([delta("x"), FINISH]).threadId, "thr_1");
  });

  it("tells when the service began another thread than the one asked for", () => {
    const first = after([START, delta("x"), FINISH]);
    assert.equal(answer(first).restarted, false);
    const second = after([{ ...START, messageMetadata: { threadId: "thr_2" } }], question(first));
    assert.equal(second.threadId, "thr_2");
    assert.equal(answer(second).restarted, true);
  });

  it("keeps each source once and in order", () => {
    const other = { type: "source-url", url: "https://docs.example.com/errors" };
    assert.deepEqual(answer(after([SOURCE, delta("a"), other, SOURCE])).sources, [
      { url: SOURCE.url, title: "Install" },
      { url: other.url, title: other.url },
    ]);
  });

  it("says so when something other than the usual model answered", () => {
    assert.equal(answer(after([{ type: "data-status", data: { rung: "model" } }])).notice, null);
    const status = { type: "data-status", data: { rung: "extractive", reason: "no_model" }, transient: true };
    assert.deepEqual(answer(after([status])).notice, { rung: "extractive", reason: "no_model" });
  });

  it("keeps the scope beside an earlier notice", () => {
    const thread = after([
      { type: "data-status", data: { rung: "second_model" } },
      { type: "data-status", data: { rung: "second_model", version: "v2", indexedAt: "2026-01-01T00:00:00Z", pages: 12 } },
    ]);
    assert.deepEqual(answer(thread).scope, { version: "v2", indexedAt: "2026-01-01T00:00:00Z", pages: 12 });
    assert.equal(answer(thread).notice.rung, "second_model");
  });

  it("keeps the text that came before an error", () => {
    const thread = after([START, delta("Half"), { type: "error", errorText: "The model went away.", status: 503 }]);
    assert.equal(answer(thread).text, "Half");
    assert.equal(answer(thread).phase, "failed");
    assert.deepEqual(answer(thread).failure, { text: "The model went away.", status: 503, readyAt: null });
  });

  it("knows when a limit ends", () => {
    const thread = after([{ type: "error", errorText: "Too many.", status: 429, retryAfter: 42 }]);
    assert.equal(answer(thread).failure.readyAt, NOW + 42_000);
  });

  it("counts an answer without text as failed", () => {
    assert.equal(answer(after([START, FINISH])).phase, "failed");
  });

  it("is stopped by the reader and by the service", () => {
    assert.equal(answer(stopped(after([delta("Half")]))).phase, "stopped");
    assert.equal(answer(after([delta("Half"), { type: "abort" }])).phase, "stopped");
  });

  it("ignores what it does not know and what comes too late", () => {
    const running = after([START]);
    for (const type of ["start-step", "finish-step", "text-start", "data-other", "nonsense"]) {
      assert.equal(received(running, { type }, NOW), running);
    }
    const done = after([delta("x"), FINISH]);
    assert.equal(received(done, delta("more"), NOW), done);
    assert.equal(received(begin("c"), delta("x"), NOW).turns.length, 0);
  });

  it("survives events with wrong types in them", () => {
    const events = [
      { type: "start", messageMetadata: 7, messageId: {} },
      { type: "tool-output-available", output: { results: [] } },
      { type: "tool-output-available", output: [null, 3, { metadata: { title: 9 } }] },
      { type: "text-delta", delta: null },
      { type: "source-url", url: 4 },
      { type: "data-status", data: null },
      { type: "data-thread" },
      { type: "error", errorText: {}, status: "x", retryAfter: "soon" },
    ];
    assert.deepEqual(answer(after(events)).failure, { text: "", status: 0, readyAt: null });
  });

  it("keeps the identity of turns that did not change", () => {
    const first = after([delta("x"), FINISH]);
    const second = after([delta("y")], question(first));
    assert.equal(second.turns[1], first.turns[1]);
  });
});

describe("asking again", () => {
  it("replaces a failed answer and keeps the question", () => {
    const again = retried(after([START, delta("Half"), { type: "error", errorText: "x", status: 503 }]), "b");
    assert.equal(again.question.text, "How?");
    assert.equal(again.thread.turns.length, 2);
    assert.equal(again.thread.turns[1].id, "b");
    assert.equal(again.thread.turns[1].text, "");
    assert.equal(again.thread.threadId, "thr_1");
  });

  it("does nothing while an answer runs or when nothing was asked", () => {
    assert.equal(retried(question(), "b"), null);
    assert.equal(retried(begin("chat"), "b"), null);
  });
});

describe("a saved thread", () => {
  const saved = (thread) => restored(JSON.parse(JSON.stringify(thread)));

  it("comes back as it was", () => {
    const thread = after([START, SOURCE, delta("x"), FINISH]);
    assert.deepEqual(saved(thread), thread);
  });

  it("comes back with a running answer stopped", () => {
    assert.equal(answer(saved(after([delta("Half")]))).phase, "stopped");
  });

  it("is refused when it is no thread", () => {
    for (const value of [null, 1, "x", {}, { chatId: "c" }, { chatId: "c", turns: [null] }, { chatId: "c", turns: [{ id: "a", role: "assistant", text: "x" }] }]) {
      assert.equal(restored(value), null);
    }
  });
});

describe("numbers of sources", () => {
  const a = { url: "https://d.example/a#x", title: "A" };
  const b = { url: "https://d.example/b", title: "B" };

  it("are those of the text", () => {
    const text = "One [2](https://d.example/a#x), two [1](https://d.example/b#y).";
    assert.deepEqual(numbered(text, [a, b]).map(({ title, number }) => [title, number]), [["B", 1], ["A", 2]]);
  });

  it("go on where the text stops", () => {
    assert.deepEqual(numbered("[1](https://d.example/b)", [a, b]).map(({ title, number }) => [title, number]), [["B", 1], ["A", 2]]);
    assert.deepEqual(numbered("", [a, b]).map(({ number }) => number), [1, 2]);
  });

  it("are given once each", () => {
    const c = { url: "https://d.example/a#z", title: "C" };
    const numbers = numbered("[1](https://d.example/a#x)", [a, c]).map(({ number }) => number);
    assert.deepEqual(numbers, [1, 2]);
  });
});

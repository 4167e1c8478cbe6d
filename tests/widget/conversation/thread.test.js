import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  addQuestion,
  createThread,
  isRunning,
  lastAnswer,
  numberSources,
  queueAnswer,
  rateAnswer,
  replaceQuestion,
  restartAnswer,
  sendQueued,
  stopAnswer,
} from "../../../static/widget/src/conversation/thread.js";
import { applyEvent } from "../../../static/widget/src/conversation/thread-events.js";
import { parseThread } from "../../../static/widget/src/conversation/thread-parser.js";

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
    {
      path: "/install",
      url: "https://docs.example.com/install",
      content: "Run it.",
      metadata: { title: "Install", section: "Install" },
    },
    { path: "/install", url: "https://docs.example.com/install#pip", metadata: { title: "Install" } },
    { path: "/errors", url: "https://docs.example.com/errors", metadata: {} },
  ],
};
const SOURCE = { type: "source-url", sourceId: "s", url: "https://docs.example.com/install", title: "Install" };
const delta = (text) => ({ type: "text-delta", id: "t", delta: text });
const FINISH = { type: "finish", messageMetadata: { threadId: "thr_1" } };

const question = (thread = createThread("chat")) =>
  addQuestion(thread, { text: "How?", questionId: "q", answerId: "a" });
const after = (events, thread = question()) => events.reduce((state, event) => applyEvent(state, event, NOW), thread);
const answer = (thread) => lastAnswer(thread);

describe("a thread", () => {
  it("begins empty and keeps its chat id", () => {
    assert.deepEqual(createThread("chat"), { chatId: "chat", threadId: null, turns: [] });
  });

  it("takes a question and waits for its answer", () => {
    const thread = question();
    assert.deepEqual(thread.turns[0], { id: "q", role: "user", text: "How?", context: [] });
    assert.equal(answer(thread).phase, "sending");
    assert.ok(isRunning(answer(thread)));
  });

  it("goes through the phases that the events tell of", () => {
    const phases = [];
    let thread = question();
    for (const event of [START, ...SEARCH, FOUND, delta("Run "), delta("it."), FINISH]) {
      thread = applyEvent(thread, event, NOW);
      phases.push(answer(thread).phase);
    }
    assert.deepEqual(phases, ["sending", "sending", "searching", "reading", "answering", "answering", "done"]);
    assert.equal(answer(thread).text, "Run it.");
    assert.equal(answer(thread).messageId, "msg_1");
    assert.equal(thread.threadId, "thr_1");
  });

  it("knows why an answer was cut, and keeps it in the store", () => {
    for (const finishReason of ["length", "content-filter"]) {
      const thread = after([START, delta("Run"), { ...FINISH, finishReason }]);
      assert.deepEqual([answer(thread).phase, answer(thread).cut], ["done", finishReason]);
      assert.equal(answer(parseThread(JSON.parse(JSON.stringify(thread)))).cut, finishReason);
    }
    assert.equal(answer(after([START, delta("Run"), FINISH])).cut, "");
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
      {
        type: "data-status",
        data: { rung: "second_model", version: "v2", indexedAt: "2026-01-01T00:00:00Z", pages: 12 },
      },
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

  it("waits for the end of a limit, unless there is text already or it will not pass", () => {
    const limit = { type: "error", errorText: "Too many.", status: 429, retryAfter: 42 };
    const thread = after([limit]);
    assert.equal(answer(thread).phase, "waiting");
    assert.equal(answer(thread).failure.readyAt, NOW + 42_000);
    assert.ok(isRunning(answer(thread)));
    assert.equal(answer(after([{ ...limit, status: 503 }])).phase, "waiting");
    assert.equal(answer(after([START, delta("Half"), limit])).phase, "failed");
    assert.equal(answer(after([{ ...limit, retryAfter: undefined }])).phase, "failed");
    assert.equal(answer(after([{ ...limit, retryAfter: 3600 }])).phase, "waiting");
    assert.deepEqual(answer(after([{ ...limit, retryAfter: 3601 }])).failure, {
      text: "Too many.",
      status: 429,
      readyAt: null,
    });
    assert.equal(answer(after([{ ...limit, status: 401 }])).phase, "failed");
    const again = answer(sendQueued(thread));
    assert.deepEqual([again.phase, again.failure], ["sending", null]);
  });

  it("keeps what the search found for the cards of citations", () => {
    const found = {
      ...FOUND,
      output: [
        ...FOUND.output,
        {
          url: "https://docs.example.com/errors#limits",
          content: "Wait.",
          metadata: { title: "Errors", section: "Limits" },
        },
      ],
    };
    assert.deepEqual(answer(after([found])).passages, [
      { url: "https://docs.example.com/install", title: "Install", breadcrumb: ["Install"], text: "Run it." },
      { url: "https://docs.example.com/install#pip", title: "Install", breadcrumb: ["Install"], text: "" },
      { url: "https://docs.example.com/errors", title: "https://docs.example.com/errors", breadcrumb: [], text: "" },
      {
        url: "https://docs.example.com/errors#limits",
        title: "Errors",
        breadcrumb: ["Errors", "Limits"],
        text: "Wait.",
      },
    ]);
  });

  it("knows a refusal, by the ladder or by the model, from an answer", () => {
    const status = (data, ...before) => answer(after([...before, { type: "data-status", data }])).refused;
    assert.equal(status({ rung: "nearest_pages" }), true);
    assert.equal(status({ rung: "nearest_pages" }, SOURCE), false);
    assert.equal(status({ rung: "model", refused: true }), true);
    assert.equal(status({ rung: "model", reason: "the model found no answer in the passages" }), false);
    assert.equal(status({ rung: "model", refused: "true" }), false);
    assert.equal(status({ rung: "extractive", reason: "no model" }), false);
  });

  it("counts every event of an answer, and no other, to go on after", () => {
    const events = [START, { type: "start-step" }, { type: "data-status", data: {} }, delta("x")];
    assert.equal(answer(after(events)).seen, 4);
    const lost = applyEvent(after(events), { type: "reconnecting" }, NOW);
    assert.deepEqual([answer(lost).seen, answer(lost).reconnecting], [4, true]);
    const back = applyEvent(lost, delta("y"), NOW);
    assert.deepEqual([answer(back).seen, answer(back).reconnecting, answer(back).text], [5, false, "xy"]);
  });

  it("waits for the network", () => {
    const thread = queueAnswer(question());
    assert.equal(answer(thread).phase, "queued");
    assert.ok(isRunning(answer(thread)));
    assert.equal(answer(sendQueued(thread)).phase, "sending");
  });

  it("learns its ids even when it was stopped before it began", () => {
    const late = applyEvent(stopAnswer(question()), START, NOW);
    assert.deepEqual([late.threadId, answer(late).messageId, answer(late).phase], ["thr_1", "msg_1", "stopped"]);
    assert.equal(applyEvent(late, { ...START, messageId: "msg_2" }, NOW), late);
  });

  it("keeps what its reader thinks of any of its answers", () => {
    const feedback = { helpful: false, reason: "Incomplete", comment: "" };
    const thread = rateAnswer(question(after([delta("x"), FINISH])), "a", feedback);
    assert.deepEqual(thread.turns[1].feedback, feedback);
    assert.equal(rateAnswer(thread, "a", null).turns[1].feedback, null);
  });

  it("counts an answer without text as failed", () => {
    assert.equal(answer(after([START, FINISH])).phase, "failed");
  });

  it("is stopped by the reader and by the service", () => {
    assert.equal(answer(stopAnswer(after([delta("Half")]))).phase, "stopped");
    assert.equal(answer(after([delta("Half"), { type: "abort" }])).phase, "stopped");
  });

  it("counts, and else ignores, what it does not know, and ignores what comes too late", () => {
    const running = after([START]);
    for (const type of ["start-step", "finish-step", "text-start", "data-other", "nonsense"]) {
      assert.deepEqual(answer(applyEvent(running, { type }, NOW)), { ...answer(running), seen: 2 });
    }
    const done = after([delta("x"), FINISH]);
    assert.equal(applyEvent(done, delta("more"), NOW), done);
    assert.equal(applyEvent(createThread("c"), delta("x"), NOW).turns.length, 0);
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

describe("searches that the model asks for", () => {
  const call = (toolCallId, toolName, input) => [
    { type: "tool-input-start", toolCallId, toolName },
    { type: "tool-input-available", toolCallId, toolName, input },
  ];
  const result = (toolCallId, ...pages) => ({
    type: "tool-output-available",
    toolCallId,
    output: pages.map((name) => ({
      path: `/${name}`,
      url: `https://docs.example.com/${name}#top`,
      content: "Words.",
      metadata: { title: `Title of ${name}` },
    })),
  });
  const STEP = [{ type: "finish-step" }, { type: "start-step" }];
  const begin = [START, ...call("c1", "search", { query: "How?" }), result("c1", "install"), ...STEP];
  const activity = (thread) => [answer(thread).phase, answer(thread).reading];
  const searches = (thread) => answer(thread).searches.map(({ isPage, text }) => [isPage, text]);

  it("are kept in order, and the service's own search is not among them", () => {
    let thread = after(begin);
    assert.deepEqual(searches(thread), []);
    thread = after([...call("c2", "search", { query: "retries", version: "2" })], thread);
    assert.deepEqual([answer(thread).phase, searches(thread)], ["searching", [[false, "retries"]]]);
    thread = after([result("c2", "errors"), ...STEP, ...call("c3", "read_page", { path: "/errors" })], thread);
    assert.deepEqual(activity(thread), ["reading", ["Title of errors"]], "its title is known before the page is read");
    thread = after([result("c3", "errors"), ...STEP, { type: "text-start" }, delta("So."), FINISH], thread);
    assert.deepEqual(searches(thread), [
      [false, "retries"],
      [true, "Title of errors"],
    ]);
    assert.deepEqual([answer(thread).phase, answer(thread).text], ["done", "So."]);
  });

  it("are the model's own even when the service found nothing", () => {
    const thread = after([START, ...SEARCH, { ...FOUND, output: [] }, ...call("c2", "search", { query: "retries" })]);
    assert.deepEqual(searches(thread), [[false, "retries"]]);
  });

  it("name a page by its path until it is read, and drop it if there is none", () => {
    let thread = after([
      ...begin,
      ...call("c2", "read_page", { path: "/faq" }),
      ...call("c3", "read_page", { path: "/x" }),
    ]);
    assert.deepEqual(searches(thread), [
      [true, "/faq"],
      [true, "/x"],
    ]);
    thread = after([result("c2", "faq"), result("c3")], thread);
    assert.deepEqual(searches(thread), [[true, "Title of faq"]]);
  });

  it("add to the passages for the cards of citations", () => {
    const thread = after([
      ...begin,
      delta("Let me see."),
      ...call("c2", "search", { query: "x" }),
      result("c2", "errors"),
    ]);
    assert.deepEqual(
      answer(thread).passages.map(({ title }) => title),
      ["Title of install", "Title of errors"],
    );
    assert.equal(answer(thread).site, "https://docs.example.com");
  });

  it("show between two parts of the text, which are two paragraphs", () => {
    let thread = after([...begin, { type: "text-start", id: "txt_1" }, delta("Let me see.")]);
    assert.equal(answer(thread).text, "Let me see.");
    thread = after([{ type: "text-end", id: "txt_1" }, ...call("c2", "search", { query: "x" })], thread);
    assert.equal(answer(thread).phase, "searching");
    thread = after([result("c2", "errors"), ...STEP, { type: "text-start", id: "txt_2" }, delta("Found.")], thread);
    assert.deepEqual([answer(thread).phase, answer(thread).text], ["answering", "Let me see.\n\nFound."]);
  });

  it("survive wrong types, and come back from the store", () => {
    const thread = after([
      ...begin,
      ...call("c2", "search", { query: 7 }),
      ...call(undefined, "read_page", null),
      ...call("c4", "search", { query: "x" }),
      FINISH,
    ]);
    assert.deepEqual(searches(thread), [[false, "x"]]);
    const [, read] = parseThread(JSON.parse(JSON.stringify(thread))).turns;
    assert.deepEqual(read.searches, [{ callId: "c4", isPage: false, text: "x" }]);
    const { searches: _, ...old } = answer(thread);
    const turns = [thread.turns[0], old];
    assert.deepEqual(
      parseThread({ ...thread, turns }).turns[1].searches,
      [],
      "one that was stored before there were any",
    );
  });
});

describe("asking again", () => {
  const failed = () => after([START, delta("Half"), { type: "error", errorText: "x", status: 503 }]);

  it("replaces a failed answer and keeps the question", () => {
    const before = failed();
    const again = restartAnswer(before, "b");
    assert.equal(again.turns.length, 2);
    assert.equal(again.turns[0], before.turns[0]);
    assert.deepEqual([answer(again).id, answer(again).text, answer(again).replaces], ["b", "", "msg_1"]);
    assert.equal(again.threadId, "thr_1");
  });

  it("still replaces it when the second try never began", () => {
    const refused = applyEvent(restartAnswer(failed(), "b"), { type: "error", errorText: "No.", status: 500 }, NOW);
    assert.equal(answer(restartAnswer(refused, "c")).replaces, "msg_1");
  });

  it("takes another question in the place of the last one", () => {
    const first = after([START, delta("x"), FINISH]);
    const thread = replaceQuestion(applyEvent(question(first), { ...START, messageId: "msg_2" }, NOW), {
      text: "Why?",
      questionId: "r",
      answerId: "b",
    });
    assert.equal(thread, null, "not while an answer runs");
    const done = [{ ...START, messageId: "msg_2" }, delta("y"), FINISH].reduce(
      (t, event) => applyEvent(t, event, NOW),
      question(first),
    );
    const again = replaceQuestion(done, { text: "Why?", questionId: "r", answerId: "b" });
    assert.deepEqual(again.turns.slice(0, 2), first.turns);
    assert.deepEqual(again.turns[2], { id: "r", role: "user", text: "Why?", context: [] });
    assert.deepEqual([again.turns.length, answer(again).id, answer(again).replaces], [4, "b", "msg_2"]);
  });

  it("does nothing while an answer runs or when nothing was asked", () => {
    assert.equal(restartAnswer(question(), "b"), null);
    assert.equal(restartAnswer(createThread("chat"), "b"), null);
    assert.equal(replaceQuestion(createThread("chat"), { text: "x", questionId: "q", answerId: "b" }), null);
  });
});

describe("a saved thread", () => {
  const saved = (thread) => parseThread(JSON.parse(JSON.stringify(thread)));
  const whole = () =>
    after(
      [
        START,
        ...SEARCH,
        FOUND,
        { type: "tool-input-available", toolCallId: "d", toolName: "search", input: { query: "pip" } },
        { type: "data-status", data: { rung: "extractive", reason: "x", version: "v2", indexedAt: "y", pages: 3 } },
        SOURCE,
        delta("x"),
        FINISH,
      ],
      addQuestion(createThread("chat"), {
        text: "How?",
        context: [{ type: "code", value: "x", label: "a.py", path: "/a", elementId: "c1" }],
        questionId: "q",
        answerId: "a",
      }),
    );

  it("comes back as it was", () => {
    const thread = rateAnswer(whole(), "a", { helpful: true, reason: "", comment: "Good" });
    assert.deepEqual(saved(thread), thread);
  });

  it("comes back with its last answer still running, waiting or queued", () => {
    const running = after([START, delta("Half")]);
    assert.deepEqual(saved(running), running);
    assert.equal(answer(saved(applyEvent(running, { type: "reconnecting" }, NOW))).reconnecting, true);
    const ended = { ...answer(after([START, delta("Yes."), FINISH])), reconnecting: true };
    assert.equal(answer(saved({ ...running, turns: [running.turns[0], ended] })).reconnecting, false);
    const waiting = after([{ type: "error", errorText: "No.", status: 429, retryAfter: 9 }]);
    assert.deepEqual(saved(waiting), waiting);
    assert.deepEqual(saved(queueAnswer(question())), queueAnswer(question()));
  });

  it("has no answer running but the last one, and none that waits for nothing", () => {
    const odd = { ...question(question()), turns: [] };
    odd.turns = [
      ...after([delta("x")]).turns,
      { id: "q2", role: "user", text: "?", context: [] },
      { ...answer(question()), id: "a2", phase: "waiting" },
    ];
    assert.deepEqual(
      saved(odd).turns.map((turn) => turn.phase),
      [undefined, "stopped", undefined, "stopped"],
    );
  });

  it("comes back from before there were so many fields", () => {
    const old = {
      chatId: "c",
      turns: [
        { id: "q", role: "user", text: "?" },
        { id: "a", role: "assistant", text: "x", phase: "done" },
      ],
    };
    const { threadId, turns } = parseThread(old);
    assert.equal(threadId, null);
    assert.deepEqual(turns[1], {
      ...answer(addQuestion(createThread("c"), { text: "?", questionId: "q", answerId: "a" })),
      text: "x",
      phase: "done",
    });
  });

  it("is refused when it is no thread", () => {
    const q = { id: "q", role: "user", text: "?" };
    const a = { id: "a", role: "assistant", text: "x", phase: "done" };
    const turns = [
      [null],
      [q],
      [a, q],
      [q, q],
      [q, { ...a, id: "q" }],
      [q, { ...a, phase: "dancing" }],
      [q, { ...a, text: 7 }],
      [{ ...q, text: {} }, a],
      "qa",
      { length: 2 },
    ];
    assert.ok(parseThread({ chatId: "c", turns: [q, a] }));
    for (const value of [
      null,
      undefined,
      1,
      "x",
      [],
      {},
      { chatId: "c" },
      { chatId: 7, turns: [] },
      { chatId: "x".repeat(300), turns: [] },
      ...turns.map((list) => ({ chatId: "c", turns: list })),
    ]) {
      assert.equal(parseThread(value), null, JSON.stringify(value));
    }
  });

  it("never throws, whatever one puts into it", () => {
    const junk = [
      null,
      0,
      -1,
      Infinity,
      "",
      "x",
      "y".repeat(2_000_000),
      true,
      [],
      [null],
      [[]],
      {},
      { url: 1 },
      { toString: 1 },
      { __proto__: null, length: 3 },
    ];
    const fields = Object.keys(answer(whole()));
    for (const field of fields) {
      for (const value of junk) {
        const thread = structuredClone(whole());
        thread.turns[1][field] = value;
        const back = parseThread(thread);
        if (back) assert.deepEqual(saved(back), back, `${field} is sound`);
        thread.turns[0].context = [
          value,
          { type: value, value, label: value },
          { type: "code", value: "x", label: value, path: value },
        ];
        thread.threadId = value;
        parseThread(thread);
      }
    }
  });
});

describe("numbers of sources", () => {
  const a = { url: "https://d.example/a#x", title: "A" };
  const b = { url: "https://d.example/b", title: "B" };

  it("are those of the text", () => {
    const text = "One [2](https://d.example/a#x), two [1](https://d.example/b#y).";
    assert.deepEqual(
      numberSources(text, [a, b]).map(({ title, number }) => [title, number]),
      [
        ["B", 1],
        ["A", 2],
      ],
    );
  });

  it("go on where the text stops", () => {
    assert.deepEqual(
      numberSources("[1](https://d.example/b)", [a, b]).map(({ title, number }) => [title, number]),
      [
        ["B", 1],
        ["A", 2],
      ],
    );
    assert.deepEqual(
      numberSources("", [a, b]).map(({ number }) => number),
      [1, 2],
    );
  });

  it("are given once each", () => {
    const c = { url: "https://d.example/a#z", title: "C" };
    const numbers = numberSources("[1](https://d.example/a#x)", [a, c]).map(({ number }) => number);
    assert.deepEqual(numbers, [1, 2]);
  });
});

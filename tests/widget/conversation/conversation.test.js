import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";

// A page of which only what a conversation looks at is there.

const page = new EventTarget();
const document = Object.assign(new EventTarget(), { hidden: false });
const network = { onLine: true };
const place = { pathname: "/guide" };
Object.assign(globalThis, { addEventListener: page.addEventListener.bind(page), document, location: place });
Object.defineProperty(globalThis, "navigator", { value: network, configurable: true });
const { Conversation } = await import("../../../static/widget/src/conversation/conversation.js");
const { setLabels } = await import("../../../static/widget/src/base/labels.js");

const START = { type: "start", messageId: "msg_1", messageMetadata: { threadId: "thr_1" } };
const delta = (text) => ({ type: "text-delta", delta: text });
const FINISH = { type: "finish" };
const LIMIT = { type: "error", errorText: "Too many.", status: 429, retryAfter: 42 };
const SECRETS = ["How?", "Yes.", "Never!", "a comment"];

/** A store in memory, with what another tab may do to it. */
const shelf = () => {
  const kept = { saved: null, news: null, past: [], forgotten: false };
  return {
    kept,
    load: () => [kept.news?.thread ?? kept.saved, (kept.news = null)][0],
    save: (thread) => (kept.saved = JSON.parse(JSON.stringify(thread))),
    loadChanged: () => kept.news,
    listPast: () => kept.past,
    switchTo: () => kept.saved,
    fp: () => "reader",
    wasDeleted: () => [kept.forgotten, (kept.forgotten = false)][0],
    deleteAll: () => (kept.saved = null),
    watch: (changed) => (kept.changed = changed),
    runExclusive: async (run) => run(),
  };
};

/** A way to the service that only writes down what is wanted of it. */
const service = () => {
  const done = [];
  return {
    done,
    asked: () => done.filter(([what]) => what === "ask").map(([, question]) => question),
    ask(question, listener) {
      done.push(["ask", question]);
      this.say = (...events) => events.forEach(listener);
    },
    resume(answer, listener) {
      done.push(["resume", answer]);
      this.say = (...events) => events.forEach(listener);
    },
    stop: () => done.push(["stop"]),
    close: () => done.push(["close"]),
    rate: async (feedback) => (done.push(["rate", feedback]), true),
    forget: async (whose) => (done.push(["forget", whose]), true),
  };
};

let talk, client, store, hooks;
const answer = () => talk.thread.turns.at(-1);
const settle = () => new Promise((done) => setImmediate(done));
const pass = async (ms) => {
  mock.timers.tick(ms);
  await settle();
};
function begin(options = {}) {
  talk = new Conversation({ key: "k", filter: {}, ...options }, { client, store });
  talk.addEventListener("hook", ({ detail }) => hooks.push([detail.name, detail.detail]));
  return settle();
}
const reload = () => {
  talk.destroy();
  client = service();
  return begin();
};

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_700_000_000_000 });
  network.onLine = true;
  document.hidden = false;
  client = service();
  store = shelf();
  hooks = [];
  return begin();
});
afterEach(() => {
  for (const secret of SECRETS) assert.ok(!JSON.stringify(hooks).includes(secret), "hooks carry no words of a reader");
  talk.destroy();
  mock.timers.reset();
});

describe("a question", () => {
  it("carries what was chosen and pointed at, and no more", async () => {
    talk.destroy();
    await begin({ filter: { version: "v2", language: "" } });
    talk.ask(" How? ", [{ type: "code", value: "x = 1", label: "a.py · 1 line", path: "/a", elementId: "c1" }]);
    const [question] = client.asked();
    assert.deepEqual(question, {
      key: "k",
      fp: "reader",
      id: talk.thread.chatId,
      trigger: "submit-message",
      messages: [{ id: talk.thread.turns[0].id, role: "user", parts: [{ type: "text", text: "How?" }] }],
      currentPath: "/guide",
      filter: { version: "v2" },
      context: [{ type: "code", value: "x = 1", path: "/a", elementId: "c1" }],
      suggestions: true,
    });
  });

  it("says nothing of the page or a filter where there is nothing to say", () => {
    talk.sharesPage = false;
    talk.ask("How?");
    assert.deepEqual(
      Object.keys(client.asked()[0]).filter((key) => ["filter", "context", "currentPath", "threadId"].includes(key)),
      [],
    );
  });

  it("whose answer never began is asked again in its place, the first one at least", () => {
    talk.ask("How?");
    client.say({ type: "error", errorText: "", status: 0 });
    talk.retry();
    client.say(START, delta("Yes."), FINISH);
    talk.ask("And?");
    client.say({ type: "error", errorText: "", status: 0 });
    talk.retry();
    assert.deepEqual(
      client.asked().map(({ trigger, messageId }) => [trigger, messageId]),
      [
        ["submit-message", undefined],
        ["regenerate-message", undefined],
        ["submit-message", undefined],
        ["submit-message", undefined], // without an id it would replace the answer before, if this one is unknown
      ],
    );
  });

  it("is one at a time", () => {
    assert.equal(talk.ask("How?"), true);
    assert.equal(talk.ask("And?"), false);
    assert.equal(client.asked().length, 1);
  });

  it("that is asked again, or edited, takes the place of the one before", () => {
    talk.ask("How?");
    client.say(START, delta("Yes."), FINISH);
    talk.retry();
    client.say({ ...LIMIT, retryAfter: undefined });
    talk.edit("Never!", []);
    const [, second, third] = client.asked();
    assert.deepEqual([second.trigger, second.messageId, second.threadId], ["regenerate-message", "msg_1", "thr_1"]);
    assert.deepEqual([third.messageId, third.messages[0].parts[0].text], ["msg_1", "Never!"]);
    assert.equal(talk.thread.turns.length, 2);
  });

  it("goes on with an answer that was stopped, in the service's words whatever the button says", () => {
    setLabels({ proceed: "Weiter" });
    talk.ask("How?");
    client.say(START, delta("Yes."));
    talk.stop();
    talk.continueAnswer();
    setLabels({});
    assert.equal(client.asked()[1].messages[0].parts[0].text, "Continue");
    assert.equal(talk.thread.turns.length, 4);
  });

  it("does not take the events of another", () => {
    talk.ask("How?");
    const late = client.say;
    talk.stop();
    talk.restart();
    talk.ask("How?");
    late(START, delta("Yes."));
    assert.equal(answer().text, "");
  });
});

describe("without a network", () => {
  it("a question waits, is sent once, and survives a reload", async () => {
    network.onLine = false;
    talk.ask("How?");
    assert.equal(answer().phase, "queued");
    await reload();
    await pass(5_000);
    assert.deepEqual(client.asked(), []);
    network.onLine = true;
    page.dispatchEvent(new Event("online"));
    page.dispatchEvent(new Event("online"));
    await pass(60_000);
    assert.equal(client.asked().length, 1);
    assert.equal(answer().phase, "sending");
  });

  it("it can be taken back", async () => {
    network.onLine = false;
    talk.ask("How?");
    talk.stop();
    network.onLine = true;
    page.dispatchEvent(new Event("online"));
    await pass(60_000);
    assert.deepEqual([client.asked(), answer().phase], [[], "stopped"]);
  });
});

describe("a question that waits in two tabs", () => {
  it("is sent by one of them", async () => {
    network.onLine = false;
    talk.ask("How?");
    const thread = structuredClone(talk.thread);
    thread.turns[1].phase = "sending";
    store.kept.news = { thread, at: Date.now() };
    store.kept.changed();
    network.onLine = true;
    page.dispatchEvent(new Event("online"));
    await settle();
    assert.deepEqual(client.asked(), []);
    thread.turns[1] = { ...thread.turns[1], phase: "searching", messageId: "msg_1" };
    store.kept.changed();
    assert.deepEqual(
      client.done.map(([what]) => what),
      ["resume"],
    );
  });
});

describe("a limit", () => {
  const limited = () => {
    talk.ask("How?");
    client.say(LIMIT);
  };

  it("is waited for, and again when it is not over", async () => {
    limited();
    assert.equal(answer().phase, "waiting");
    await pass(41_000);
    assert.equal(client.asked().length, 1);
    await pass(1_000);
    assert.equal(client.asked().length, 2);
    client.say(LIMIT);
    await pass(42_000);
    assert.equal(client.asked().length, 3);
    client.say(START, delta("Yes."), FINISH);
    assert.equal(answer().phase, "done");
    assert.deepEqual(
      hooks.map(([name]) => name),
      ["ask", "limit", "limit", "answer"],
    );
    assert.deepEqual(hooks[1][1], { seconds: 42 });
  });

  it("ends unseen only when the page is looked at again", async () => {
    limited();
    document.hidden = true;
    await pass(100_000);
    assert.equal(client.asked().length, 1);
    document.hidden = false;
    document.dispatchEvent(new Event("visibilitychange"));
    await settle();
    assert.equal(client.asked().length, 2);
  });

  it("goes on after a reload, also one that comes late", async () => {
    limited();
    await reload();
    await pass(10_000);
    assert.equal(client.asked().length, 0);
    mock.timers.setTime(Date.now() + 3_600_000);
    await pass(1);
    assert.equal(client.asked().length, 1);
  });

  it("need not be waited for", async () => {
    limited();
    talk.stop();
    await pass(100_000);
    assert.deepEqual([client.asked().length, answer().phase], [1, "stopped"]);
  });

  it("keeps what was to be replaced", async () => {
    talk.ask("How?");
    client.say(START, delta("Yes."), FINISH);
    talk.retry();
    client.say(LIMIT);
    await reload();
    await pass(42_000);
    assert.equal(client.asked()[0].messageId, "msg_1");
  });
});

describe("an answer that is lost with the process that made it", () => {
  const lost = { type: "error", errorText: "The answer broke off.", status: 0 };

  it("is asked for again in its place, once", () => {
    talk.ask("How?");
    client.say(START, delta("Ye"), { type: "reconnecting" }, delta("s"), lost);
    const [, again] = client.asked();
    assert.deepEqual([again.trigger, again.messageId, answer().phase], ["regenerate-message", "msg_1", "sending"]);
    assert.ok(!hooks.some(([name]) => name === "error"));
    client.say({ ...START, messageId: "msg_2" }, { type: "reconnecting" }, lost);
    assert.deepEqual([client.asked().length, answer().phase], [2, "failed"]);
  });

  it("is not asked for again when a page is loaded, perhaps a day later", async () => {
    talk.ask("How?");
    client.say(START, delta("Ye"));
    await reload();
    client.say(lost);
    assert.deepEqual([client.asked(), answer().phase], [[], "failed"]);
  });

  it("differs from one that fails on a connection that holds", () => {
    talk.ask("How?");
    client.say(START, { type: "reconnecting" }, delta("Yes."), FINISH);
    talk.ask("And?");
    client.say({ ...START, messageId: "msg_2" }, lost);
    assert.deepEqual([client.asked().length, answer().phase], [2, "failed"]);
  });
});

describe("a reload", () => {
  it("goes on with the answer where it was", async () => {
    talk.ask("How?");
    client.say(START, delta("Ye"));
    page.dispatchEvent(new Event("pagehide"));
    const { chatId } = talk.thread;
    await reload();
    assert.deepEqual(client.done, [
      ["resume", { key: "k", fp: "reader", id: chatId, threadId: "thr_1", messageId: "msg_1", after: 2 }],
    ]);
    client.say(delta("s."), FINISH);
    assert.deepEqual([answer().text, answer().phase], ["Yes.", "done"]);
  });

  it("without a last word from the page goes on from what was saved", async () => {
    talk.ask("How?");
    client.say(START, delta("Yes."));
    await reload();
    const [, { after }] = client.done[0];
    assert.equal(after, answer().seen);
    assert.ok(after >= 1);
    assert.equal(answer().text, after === 1 ? "" : "Yes.");
  });
});

describe("another tab", () => {
  const theirs = (change) => {
    const thread = structuredClone(talk.thread);
    change(thread);
    store.kept.news = { thread, at: Date.now() };
  };
  const asking = (phase, messageId) => (thread) =>
    thread.turns.push(
      { id: "q2", role: "user", text: "Never!" },
      { id: "a2", role: "assistant", phase, text: "", messageId },
    );
  beforeEach(() => {
    talk.ask("How?");
    client.say(START, delta("Yes."), FINISH);
  });

  it("is followed when it went on with the conversation", () => {
    theirs(asking("done", "msg_2"));
    store.kept.changed();
    assert.equal(talk.thread.turns.length, 4);
    assert.equal(client.done.length, 1);
  });

  it("is read along while an answer comes in there", () => {
    theirs(asking("answering", "msg_2"));
    store.kept.changed();
    assert.equal(client.done.at(-1)[0], "resume");
  });

  it("is waited for where it has just asked", () => {
    theirs(asking("sending", null));
    store.kept.changed();
    assert.equal(talk.ask("And?"), false);
    assert.equal(talk.thread.turns.length, 2);
    mock.timers.setTime(Date.now() + 60_000);
    assert.equal(talk.ask("And?"), false, "that tab is gone: what it asked is lost, or can be read along");
    assert.equal(client.done.at(-1)[0], "resume");
  });

  it("is not followed by a page that nobody sees", () => {
    document.hidden = true;
    theirs(asking("answering", "msg_2"));
    store.kept.changed();
    assert.equal(talk.thread.turns.length, 2);
    document.hidden = false;
    document.dispatchEvent(new Event("visibilitychange"));
    assert.equal(talk.thread.turns.length, 4);
  });

  it("does not disturb an answer that comes in here", () => {
    talk.ask("And?");
    theirs((thread) => (thread.turns = thread.turns.slice(0, 2)));
    store.kept.changed();
    assert.equal(talk.thread.turns.length, 4);
  });

  it("that deletes everything empties this one, too", () => {
    store.kept.forgotten = true;
    store.kept.changed();
    assert.deepEqual(talk.thread.turns, []);
  });
});

describe("hooks and what else is told", () => {
  it("tell how an answer came about", async () => {
    talk.ask("How?");
    await pass(1_500);
    client.say(
      START,
      { type: "reconnecting" },
      { type: "source-url", url: "https://d.example/" },
      delta("Yes."),
      FINISH,
    );
    assert.deepEqual(hooks, [
      ["ask", {}],
      ["reconnect", {}],
      ["answer", { rung: "model", sources: 1, refused: false, ms: 1_500 }],
    ]);
  });

  it("tell what failed", () => {
    talk.ask("How?");
    client.say({ type: "error", errorText: "Yes.", status: 0 });
    talk.retry();
    client.say({ type: "error", errorText: "Yes.", status: 401 });
    assert.deepEqual(hooks, [
      ["ask", {}],
      ["error", { status: 0, kind: "connection" }],
      ["retry", {}],
      ["error", { status: 401, kind: "service" }],
    ]);
  });

  it("a thumb is shown at once and taken back when it is not kept", async () => {
    talk.ask("How?");
    client.say(START, delta("Yes."), FINISH);
    const { id } = answer();
    talk.rate(id, { helpful: false, reason: "", comment: "a comment" });
    assert.equal(answer().feedback.comment, "a comment");
    await settle();
    assert.deepEqual(client.done.at(-1), [
      "rate",
      { source: "contextual", path: "/guide", messageId: "msg_1", helpful: false, comment: "a comment" },
    ]);
    assert.equal(await talk.rate(id, answer().feedback), true);
    client.rate = async () => false;
    talk.rate(id, { helpful: true, reason: "", comment: "" });
    const isKept = talk.rate(id, null);
    assert.equal(answer().feedback, null);
    assert.equal(await isKept, false);
    assert.equal(answer().feedback.comment, "a comment", "what the service has");
    assert.equal(store.kept.saved.turns[1].feedback.comment, "a comment");
  });

  it("deleting waits for a first question to be known by an id, but not for long", async () => {
    talk.ask("How?");
    let gone = talk.deleteData();
    await settle();
    assert.equal(client.done.at(-1)[0], "ask", "nothing is stopped yet");
    client.say(START);
    await pass(100);
    assert.equal(await gone, true);
    assert.deepEqual(client.done.slice(1, 3), [["stop"], ["forget", { key: "k", fp: "reader", threadId: "thr_1" }]]);
    talk.ask("How?");
    talk.stop();
    gone = talk.deleteData();
    await pass(3_000);
    assert.equal(await gone, true);
    assert.deepEqual(talk.thread.turns, []);
  });

  it("deleting asks for every thread that is known", async () => {
    talk.ask("How?");
    client.say(START, delta("Yes."), FINISH);
    store.kept.past = [
      { chatId: "x", threadId: "thr_x", title: "", at: 1 },
      { chatId: "y", threadId: "", title: "", at: 1 },
    ];
    client.forget = async (whose) => (client.done.push(["forget", whose]), whose.threadId === "thr_1");
    assert.equal(await talk.deleteData(), false);
    assert.deepEqual(
      client.done.filter(([what]) => what === "forget").map(([, { threadId }]) => threadId),
      ["thr_1", "thr_x"],
    );
    assert.deepEqual([talk.thread.turns, store.kept.saved], [[], null]);
    assert.deepEqual(hooks.slice(-2), [
      ["forget", {}],
      ["error", { status: 0, kind: "forget" }],
    ]);
  });
});

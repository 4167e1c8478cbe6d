import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

/** As a browser's, with room for so many characters; its keys can be listed. */
class Storage {
  static room = Infinity;
  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  }
  setItem(key, value) {
    const others = Object.entries(this)
      .filter(([name]) => name !== key)
      .map(([, other]) => other.length);
    if (others.reduce((sum, length) => sum + length, value.length) > Storage.room)
      throw new Error("QuotaExceededError");
    this[key] = value;
  }
  removeItem(key) {
    delete this[key];
  }
}

globalThis.window = globalThis;
const fresh = (kind) =>
  Object.defineProperty(globalThis, kind, { value: new Storage(), configurable: true, writable: true });
fresh("localStorage");
fresh("sessionStorage");
const { randomId, createStore } = await import("../../../static/widget/src/conversation/store.js");

const thread = (chatId, text = "How?") => ({
  chatId,
  threadId: `thr_${chatId}`,
  turns: [{ id: "q", role: "user", text }, { id: "a" }],
});
const HOUR = 60 * 60 * 1000;

/** What another tab sees: the same lasting storage, its own session. */
function inAnotherTab(run) {
  const mine = globalThis.sessionStorage;
  fresh("sessionStorage");
  try {
    return run(createStore("acme"));
  } finally {
    globalThis.sessionStorage = mine;
  }
}

describe("the store", () => {
  let now = 1_700_000_000_000;
  beforeEach(() => {
    Storage.room = Infinity;
    fresh("localStorage");
    fresh("sessionStorage");
    now = 1_700_000_000_000;
    Date.now = () => now;
  });

  it("keeps a conversation for a day", () => {
    createStore("acme").save(thread("one"));
    now += 23 * HOUR;
    assert.deepEqual(createStore("acme").load(), thread("one"));
    now += 2 * HOUR;
    assert.equal(createStore("acme").load(), null);
    assert.deepEqual(createStore("acme").listPast(), []);
    assert.deepEqual(Object.keys(localStorage), [], "what is too old is gone");
  });

  it("keeps those of each domain apart", () => {
    createStore("acme").save(thread("one"));
    assert.equal(createStore("other").load(), null);
    assert.notEqual(createStore("acme").fp(), createStore("other").fp());
  });

  it("lists conversations, newest first, and goes back to one", () => {
    const mine = createStore("acme");
    for (const name of ["one", "two", "three"]) {
      now += 1000;
      mine.save(thread(name, `${name}?`));
    }
    assert.deepEqual(
      mine.listPast().map(({ chatId, threadId, title }) => [chatId, threadId, title]),
      [
        ["three", "thr_three", "three?"],
        ["two", "thr_two", "two?"],
        ["one", "thr_one", "one?"],
      ],
    );
    assert.deepEqual(mine.switchTo("one"), thread("one", "one?"));
    assert.deepEqual(createStore("acme").load(), thread("one", "one?"), "also after a reload");
  });

  it("keeps ten at most and drops the oldest", () => {
    for (let i = 0; i < 14; i++) {
      now += 1000;
      createStore("acme").save(thread(`c${i}`));
    }
    assert.deepEqual(
      createStore("acme")
        .listPast()
        .map(({ chatId }) => chatId),
      [13, 12, 11, 10, 9, 8, 7, 6, 5, 4].map((i) => `c${i}`),
    );
  });

  it("drops old ones when there is no room, and then keeps what is left in memory", () => {
    const mine = createStore("tight");
    mine.save(thread("one", "x".repeat(200)));
    now += 1000;
    mine.save(thread("two", "y".repeat(200)));
    Storage.room = 900;
    now += 1000;
    mine.save(thread("three", "z".repeat(400)));
    assert.deepEqual(
      mine.listPast().map(({ chatId }) => chatId),
      ["three", "two"],
    );
    Storage.room = 1;
    mine.save(thread("three", "changed"));
    assert.equal(mine.load().turns[0].text, "changed", "not the older one that could be kept");
  });

  it("is not led astray by what others put there", () => {
    for (const junk of ["{", "7", "null", '{"at":"x"}', '{"at":1e400,"thread":1}', `{"at":${now}}`]) {
      localStorage.setItem("docs-assistant:acme:thread:x", junk);
      assert.doesNotThrow(() => [
        createStore("acme").load(),
        createStore("acme").listPast(),
        createStore("acme").loadChanged(),
      ]);
    }
  });

  it("serves the page without any storage", () => {
    Object.defineProperty(globalThis, "localStorage", {
      get: () => {
        throw new Error("SecurityError");
      },
      configurable: true,
    });
    Object.defineProperty(globalThis, "sessionStorage", {
      get: () => {
        throw new Error("SecurityError");
      },
      configurable: true,
    });
    const mine = createStore("nowhere");
    mine.save(thread("one"));
    assert.deepEqual(mine.load(), thread("one"));
    assert.equal(mine.fp(), mine.fp());
    assert.equal(mine.wasDeleted(), false);
    mine.deleteAll();
    assert.equal(mine.load(), null);
  });

  it("leaves nothing in the browser with the memory of a tab", () => {
    const mine = createStore("acme", "tab");
    mine.save(thread("one"));
    mine.fp();
    assert.deepEqual(Object.keys(localStorage), []);
    assert.deepEqual(createStore("acme", "tab").load(), thread("one"));
    assert.equal(createStore("acme", "tab").fp(), mine.fp());
  });

  it("gives a new tab the newest conversation and each its own after that", () => {
    const mine = createStore("acme");
    mine.save(thread("mine"));
    inAnotherTab((theirs) => {
      now += 1000;
      assert.deepEqual(theirs.load(), thread("mine"));
      theirs.save({ chatId: "theirs", threadId: null, turns: [] });
      assert.equal(theirs.load(), null, "a new conversation stays new");
      theirs.save(thread("theirs"));
    });
    assert.deepEqual(createStore("acme").load(), thread("mine"));
  });

  it("tells what another tab has made of a conversation until it is loaded, and not what this one did", () => {
    const mine = createStore("acme");
    mine.save(thread("one"));
    assert.equal(mine.loadChanged(), null);
    inAnotherTab((theirs) => {
      assert.deepEqual(theirs.load(), thread("one"));
      theirs.save(thread("one", "Theirs?"));
    });
    assert.deepEqual(mine.loadChanged(), { chatId: "one", at: now, thread: thread("one", "Theirs?") });
    assert.deepEqual(mine.load(), thread("one", "Theirs?"));
    assert.equal(mine.loadChanged(), null);
  });

  it("tells a new tab what becomes of the conversation that it took over", () => {
    createStore("acme").save(thread("one"));
    const mine = globalThis.sessionStorage;
    inAnotherTab((theirs) => {
      theirs.load();
      const session = globalThis.sessionStorage;
      globalThis.sessionStorage = mine;
      createStore("acme").save(thread("one", "Changed?"));
      globalThis.sessionStorage = session;
      assert.deepEqual(theirs.loadChanged().thread, thread("one", "Changed?"));
    });
  });

  it("knows when another tab has deleted everything", () => {
    const mine = createStore("acme");
    const fp = mine.fp();
    mine.save(thread("one"));
    inAnotherTab((theirs) => {
      assert.equal(theirs.fp(), fp);
      theirs.deleteAll();
      assert.notEqual(theirs.fp(), fp);
      assert.equal(theirs.wasDeleted(), false);
    });
    assert.equal(mine.wasDeleted(), true);
    assert.equal(mine.wasDeleted(), false);
  });

  it("forgets all of the reader", () => {
    const mine = createStore("acme");
    mine.fp();
    mine.saveDraft({ text: "x" });
    mine.save(thread("one"));
    createStore("other").fp();
    mine.deleteAll();
    assert.deepEqual(Object.keys(localStorage), ["docs-assistant:other:fp"]);
    assert.deepEqual(Object.keys(sessionStorage), []);
    assert.equal(mine.loadDraft(), null);
  });

  it("makes ids that nobody can guess", () => {
    assert.match(randomId(), /^[0-9a-f]{32}$/);
    assert.notEqual(randomId(), randomId());
  });
});

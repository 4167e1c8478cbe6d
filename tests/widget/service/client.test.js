import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";

// A browser of which only the network matters.

class Sockets extends EventTarget {
  static OPEN = 1;
  static all = [];
  /** What a new socket does: it opens, it fails, or it does nothing. */
  static way = "open";
  readyState = 0;
  sent = [];
  constructor(url) {
    super();
    if (Sockets.way === "throw") throw new Error("SecurityError");
    this.url = url;
    Sockets.all.push(this);
    if (Sockets.way !== "hang") queueMicrotask(() => (Sockets.way === "open" ? this.open() : this.drop()));
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  say(...events) {
    for (const event of events) this.onmessage?.({ data: typeof event === "string" ? event : JSON.stringify(event) });
  }
  drop() {
    this.readyState = 3;
    this.onclose?.();
  }
  close() {
    this.readyState = 3;
  }
}

class Requests {
  static all = [];
  constructor(url, init) {
    Object.assign(this, { url: new URL(url), init, body: init.body ? JSON.parse(init.body) : null });
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    init.signal?.addEventListener("abort", () => this.reject(new Error("AbortError")));
    Requests.all.push(this);
  }
  /** Begins a stream. */
  stream() {
    const body = new ReadableStream({ start: (pipe) => (this.pipe = pipe) });
    this.init.signal.addEventListener("abort", () => this.cut());
    this.resolve(new Response(body));
  }
  say(...events) {
    for (const event of events)
      this.pipe.enqueue(new TextEncoder().encode(`: ping\n\ndata: ${JSON.stringify(event)}\n\n`));
  }
  end() {
    this.pipe.enqueue(new TextEncoder().encode("data: [DONE]\n\n"));
    this.pipe.close();
  }
  cut() {
    try {
      this.pipe.error(new Error("network"));
    } catch {}
  }
}

const session = new Map();
const page = new EventTarget();
Object.assign(globalThis, {
  WebSocket: Sockets,
  fetch: (url, init) => new Requests(url, init).promise,
  addEventListener: page.addEventListener.bind(page),
  window: {
    sessionStorage: {
      getItem: (key) => session.get(key) ?? null,
      setItem: (key, value) => session.set(key, value),
      removeItem: (key) => session.delete(key),
    },
  },
});
const network = { onLine: true };
Object.defineProperty(globalThis, "navigator", { value: network, configurable: true });
const { Client } = await import("../../../static/widget/src/service/client.js");

const START = { type: "start", messageId: "msg_1", messageMetadata: { threadId: "thr_1" } };
const delta = (text) => ({ type: "text-delta", id: "t", delta: text });
const FINISH = { type: "finish" };
const QUESTION = { key: "svc_dsc_k", fp: "reader", id: "chat/1", trigger: "submit-message", messages: [] };
const IDS = { key: "svc_dsc_k", fp: "reader", threadId: "thr_1", messageId: "msg_1" };

/** Lets everything happen that waits for nothing but its turn. */
const settle = async () => {
  for (let i = 0; i < 30; i++) await Promise.resolve();
  await new Promise((done) => setImmediate(done));
};
const pass = async (ms) => {
  mock.timers.tick(ms);
  await settle();
};

let client, heard;
const types = () => heard.map((event) => event.type);
const said = () =>
  heard
    .filter((event) => event.type === "text-delta")
    .map((event) => event.delta)
    .join("");
const ask = async () => {
  client.ask(QUESTION, (event) => heard.push(event));
  await settle();
};
const socket = () => Sockets.all.at(-1);
const request = () => Requests.all.at(-1);

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_700_000_000_000 });
  Sockets.all = [];
  Sockets.way = "open";
  Requests.all = [];
  session.clear();
  network.onLine = true;
  heard = [];
  client = new Client("https://assistant.example/widget.js", "acme");
});
afterEach(() => {
  client.close();
  mock.timers.reset();
});

describe("over a socket", () => {
  it("the token of the reader goes along, also to resume", async () => {
    client.ask({ ...QUESTION, readerToken: "a.b.c" }, (event) => heard.push(event));
    await settle();
    assert.equal(socket().sent[0].readerToken, "a.b.c");
    socket().say(START);
    socket().drop();
    await pass(200);
    assert.deepEqual(socket().sent[0], { type: "resume", ...IDS, readerToken: "a.b.c", after: 1 });
  });

  it("a question goes out and its events come in", async () => {
    await ask();
    assert.equal(socket().url, "wss://assistant.example/discovery/v1/assistant/acme/socket");
    assert.deepEqual(socket().sent, [{ type: "ask", ...QUESTION }]);
    socket().say(START, delta("Yes."), FINISH);
    assert.deepEqual(heard, [START, delta("Yes."), FINISH]);
    assert.deepEqual(Requests.all, []);
  });

  it("a page's own way to write arrays changes nothing", async () => {
    Array.prototype.toJSON = () => "[]";
    try {
      await ask();
      client.rate({ list: [1] });
      assert.deepEqual([Array.isArray(socket().sent[0].messages), request().body], [true, { list: [1] }]);
      assert.equal([].toJSON(), "[]", "it is left to the page");
    } finally {
      delete Array.prototype.toJSON;
    }
  });

  it("the next question takes the same socket, and an idle one is closed", async () => {
    await ask();
    socket().say(START, FINISH);
    await ask();
    assert.equal(Sockets.all.length, 1);
    socket().say(START, FINISH);
    await pass(60_000);
    assert.equal(socket().readyState, 3);
    await ask();
    assert.equal(Sockets.all.length, 2);
  });

  it("an answer goes on where its connection was lost", async () => {
    await ask();
    socket().say(START, delta("Half"));
    socket().drop();
    assert.equal(types().at(-1), "reconnecting");
    await pass(200);
    assert.deepEqual(socket().sent, [{ type: "resume", ...IDS, after: 2 }]);
    socket().say(delta(" and half."), FINISH);
    assert.equal(said(), "Half and half.");
    assert.equal(types().at(-1), "finish");
  });

  it("attempts grow rarer and end, and then the answer is lost", async () => {
    await ask();
    socket().say(START);
    Sockets.way = "fail";
    socket().drop();
    const times = [];
    for (let ms = 0; ms < 30_000 && types().at(-1) !== "error"; ms += 100) {
      const before = Sockets.all.length;
      await pass(100);
      request()?.reject(new Error("offline"));
      await settle();
      if (Sockets.all.length > before) times.push(ms + 100);
    }
    assert.deepEqual(times, [200, 1_000, 3_000, 7_000, 13_000, 19_000]);
    assert.deepEqual(heard.at(-1), {
      type: "error",
      errorText: "The connection was lost before the answer was complete.",
      status: 0,
    });
  });

  it("it is tried at once when the network comes back, also where the connection seems to live", async () => {
    await ask();
    socket().say(START, delta("a"));
    const dead = socket();
    page.dispatchEvent(new Event("online"));
    await pass(0);
    assert.deepEqual(socket().sent, [{ type: "resume", ...IDS, after: 2 }]);
    dead.say(delta("twice"));
    socket().say(delta("b"), FINISH);
    assert.equal(said(), "ab");
  });

  it("a network that goes is told at once, though its connection seems to live, and its return is waited for", async () => {
    await ask();
    socket().say(START, delta("a"));
    const dead = socket();
    network.onLine = false;
    page.dispatchEvent(new Event("offline"));
    assert.equal(types().at(-1), "reconnecting");
    assert.equal(dead.readyState, 3);
    await pass(50_000);
    assert.equal(Sockets.all.length, 1);
    Sockets.way = "fail";
    for (let minute = 0; minute < 10; minute++) {
      await pass(60_000);
      request()?.reject(new Error("offline"));
      await settle();
    }
    assert.deepEqual(
      types().filter((type) => type === "error"),
      [],
      "it is not given up",
    );
    Sockets.way = "open";
    network.onLine = true;
    page.dispatchEvent(new Event("online"));
    await pass(0);
    assert.deepEqual(socket().sent, [{ type: "resume", ...IDS, after: 2 }]);
    dead.say(delta("twice"));
    socket().say(delta("b"), FINISH);
    assert.equal(said(), "ab");
  });

  it("a network that goes before the answer began leaves its connection a chance", async () => {
    await ask();
    network.onLine = false;
    page.dispatchEvent(new Event("offline"));
    socket().say(START, FINISH);
    assert.deepEqual(types(), ["start", "finish"]);
    await ask();
    await pass(20_000);
    assert.equal(heard.at(-1).errorText, "You are offline.");
  });

  it("without a network no attempt is wasted", async () => {
    await ask();
    socket().say(START);
    network.onLine = false;
    socket().drop();
    await pass(50_000);
    assert.equal(Sockets.all.length, 1);
    network.onLine = true;
    page.dispatchEvent(new Event("online"));
    await pass(0);
    assert.equal(Sockets.all.length, 2);
    socket().say(FINISH);
    assert.equal(types().at(-1), "finish");
  });

  it("what can no longer be resumed is lost", async () => {
    await ask();
    socket().say(START);
    socket().drop();
    await pass(200);
    socket().say({ type: "error", errorText: "Gone.", status: 404 });
    assert.equal(heard.at(-1).errorText, "The connection was lost before the answer was complete.");
  });

  it("a question that was sent and not answered is never sent again", async () => {
    await ask();
    socket().drop();
    await pass(30_000);
    assert.deepEqual(types(), ["error"]);
    assert.deepEqual([Sockets.all.length, Requests.all.length], [1, 0]);
  });

  it("what is no JSON breaks the connection, and nothing else does", async () => {
    await ask();
    socket().say(START, "3", "null", "{}", delta("a"));
    assert.deepEqual(types(), ["start", "text-delta"]);
    socket().say("<html>");
    assert.equal(types().at(-1), "reconnecting");
  });

  it("silence ends a question that is not answered, and sends an answer over another connection", async () => {
    await ask();
    await pass(20_000);
    assert.equal(heard.at(-1).errorText, "The assistant stopped responding.");
    heard = [];
    await ask();
    socket().say(START);
    await pass(30_000);
    assert.deepEqual(types(), ["start", "reconnecting"]);
    await pass(200);
    assert.deepEqual(socket().sent, [{ type: "resume", ...IDS, after: 1 }]);
    for (let tries = 0; tries < 20; tries++) await pass(20_000);
    assert.match(heard.at(-1).errorText, /connection was lost/, "it is given up when each stays silent");
  });

  it("stop ends the answer; only its ids are still told", async () => {
    await ask();
    client.stop();
    assert.deepEqual(socket().sent.at(-1), { type: "stop" });
    socket().say(START, delta("late"), { type: "abort" }, FINISH);
    assert.deepEqual(types(), ["start"]);
    await ask();
    assert.equal(Sockets.all.length, 1, "it is free again");
  });

  it("a question right after a stop takes another socket", async () => {
    await ask();
    client.stop();
    const old = socket();
    await ask();
    old.say(START, delta("old"), FINISH);
    assert.notEqual(socket(), old);
    socket().say(delta("new"));
    assert.equal(said(), "new");
  });

  it("a stop before there is a connection means that nothing is ever asked", async () => {
    Sockets.way = "hang";
    await ask();
    client.stop();
    socket().open();
    await pass(30_000);
    assert.deepEqual([socket().sent, Requests.all, heard], [[], [], []]);
  });

  it("a stop while the connection is sought goes by a request", async () => {
    await ask();
    socket().say(START);
    socket().drop();
    client.stop();
    assert.equal(request().url.pathname, "/discovery/v2/assistant/acme/stop");
    assert.deepEqual(request().body, { fp: "reader", threadId: "thr_1", messageId: "msg_1" });
    await pass(30_000);
    assert.equal(Sockets.all.length, 1);
  });
});

describe("where sockets do not get through", () => {
  for (const way of ["fail", "throw", "hang"]) {
    it(`the same question goes by a request (${way})`, async () => {
      Sockets.way = way;
      await ask();
      if (way === "hang") {
        assert.deepEqual(Requests.all, []);
        await pass(3_000);
        socket().open();
        assert.deepEqual(socket().sent, [], "too late");
      }
      assert.equal(request().url.href, "https://assistant.example/discovery/v2/assistant/acme/message");
      assert.equal(request().init.headers.Authorization, "Bearer svc_dsc_k");
      const { key, ...body } = QUESTION;
      assert.deepEqual(request().body, { ...body, resumable: true });
      request().stream();
      request().say(START, delta("Yes."), FINISH);
      request().end();
      await settle();
      assert.deepEqual(heard, [START, delta("Yes."), FINISH]);
    });
  }

  it("the token of the reader goes in a header, also to resume", async () => {
    Sockets.way = "fail";
    client.ask({ ...QUESTION, readerToken: "a.b.c" }, (event) => heard.push(event));
    await settle();
    assert.equal(request().init.headers["X-Reader-Token"], "a.b.c");
    assert.equal("readerToken" in request().body, false);
    request().stream();
    request().say(START);
    await settle();
    request().cut();
    await settle();
    await pass(200);
    assert.match(request().url.pathname, /\/stream$/);
    assert.equal(request().init.headers["X-Reader-Token"], "a.b.c");
  });

  const blocked = async () => {
    Sockets.way = "fail";
    await ask();
    request().stream();
    request().say(START);
    await settle();
  };

  it("this page and this tab stay with requests for a while", async () => {
    await blocked();
    request().say(FINISH);
    await settle();
    Sockets.way = "open";
    const { length } = Sockets.all;
    await ask();
    const again = new Client("https://assistant.example/widget.js", "acme");
    again.ask(QUESTION, () => {});
    await settle();
    assert.equal(Sockets.all.length, length);
    mock.timers.setTime(Date.now() + 11 * 60_000);
    const later = new Client("https://assistant.example/widget.js", "acme");
    later.ask(QUESTION, () => {});
    assert.equal(Sockets.all.length, length + 1);
    again.close();
    later.close();
  });

  it("a service that is away blocks nothing", async () => {
    Sockets.way = "fail";
    await ask();
    request().reject(new Error("refused"));
    await settle();
    assert.equal(heard[0].errorText, "The assistant could not be reached.");
    Sockets.way = "open";
    await ask();
    assert.equal(Sockets.all.length, 2);
    assert.equal(session.size, 0);
  });

  it("a refusal is the event that the socket would have sent", async () => {
    Sockets.way = "fail";
    await ask();
    const body = { error: "The request is not valid.", details: [{ message: "fp: is required" }] };
    request().resolve(new Response(JSON.stringify(body), { status: 429, headers: { "Retry-After": "42" } }));
    await settle();
    assert.deepEqual(heard, [
      { type: "error", errorText: "The request is not valid. fp: is required.", status: 429, retryAfter: 42 },
    ]);
    await ask();
    request().resolve(new Response("<html>", { status: 502 }));
    await settle();
    assert.deepEqual(heard[1], { type: "error", errorText: "", status: 502 });
    for (const [later, seconds] of [
      [new Date(Date.now() + 90_000).toUTCString(), 90],
      [new Date(0).toUTCString(), undefined],
      ["soon", undefined],
    ]) {
      await ask();
      request().resolve(new Response("", { status: 503, headers: { "Retry-After": later } }));
      await settle();
      assert.equal(heard.pop().retryAfter, seconds);
    }
    await ask();
    request().stream();
    request().say({ type: "error", errorText: "It broke off." });
    await settle();
    assert.deepEqual(heard[2], { type: "error", errorText: "It broke off.", status: 503 });
  });

  it("an answer that broke off is read again, and what was seen is passed over", async () => {
    await blocked();
    request().say(delta("Half"));
    await settle();
    request().cut();
    await settle();
    assert.equal(types().at(-1), "reconnecting");
    await pass(200);
    assert.equal(request().url.pathname, "/discovery/v2/assistant/acme/message/chat%2F1/stream");
    request().stream();
    request().say(START, delta("Half"), delta(" and half."), FINISH);
    await settle();
    assert.equal(said(), "Half and half.");
    assert.equal(types().filter((type) => type === "start").length, 1);
  });

  it("an end that was all there is to tell is told", async () => {
    await blocked();
    request().cut();
    await settle();
    await pass(200);
    request().stream();
    request().say(START, FINISH);
    await settle();
    assert.deepEqual(types(), ["start", "reconnecting", "finish"]);
  });

  it("an end is told even where more was seen than there is", async () => {
    Sockets.way = "fail";
    client.resume({ key: "k", fp: "f", id: "c", threadId: "thr_1", messageId: "msg_1", after: 9 }, (event) =>
      heard.push(event),
    );
    await settle();
    request().stream();
    request().say(START, delta("x"), FINISH);
    await settle();
    assert.deepEqual(types(), ["finish"]);
  });

  it("a stream that just ends is a lost connection", async () => {
    await blocked();
    request().end();
    await settle();
    assert.equal(types().at(-1), "reconnecting");
  });

  for (const [what, reply] of Object.entries({
    "nothing to resume": (one) => one.resolve(new Response(null, { status: 204 })),
    "another answer": (one) => (one.stream(), one.say({ ...START, messageId: "msg_2" }, delta("other"), FINISH)),
  })) {
    it(`${what} means that the answer is lost`, async () => {
      await blocked();
      request().cut();
      await settle();
      await pass(200);
      reply(request());
      await settle();
      assert.deepEqual(types(), ["start", "reconnecting", "error"]);
      assert.match(heard.at(-1).errorText, /connection was lost/);
    });
  }

  it("a proxy without a service behind it is tried again", async () => {
    await blocked();
    request().cut();
    await settle();
    await pass(200);
    request().resolve(new Response("", { status: 502 }));
    await settle();
    const { length } = Requests.all;
    await pass(800);
    assert.equal(Requests.all.length, length + 1);
  });

  it("stop tells the service and reads no further", async () => {
    await blocked();
    const [reading] = Requests.all;
    client.stop();
    assert.equal(request().url.pathname, "/discovery/v2/assistant/acme/stop");
    assert.deepEqual(request().body, { fp: "reader", threadId: "thr_1", messageId: "msg_1" });
    assert.equal(reading.init.signal.aborted, true);
  });

  it("a stop before the answer began waits for its ids, also while the next question is asked", async () => {
    Sockets.way = "fail";
    await ask();
    const [first] = Requests.all;
    client.stop();
    await ask();
    assert.equal(first.init.signal.aborted, false);
    first.stream();
    first.say(START, delta("late"));
    await settle();
    const stops = Requests.all.filter(({ url }) => url.pathname.endsWith("/stop"));
    assert.deepEqual(
      stops.map(({ body }) => body),
      [{ fp: "reader", threadId: "thr_1", messageId: "msg_1" }],
    );
    assert.equal(first.init.signal.aborted, true);
    assert.deepEqual(heard, []);
  });
});

describe("on another page", () => {
  it("an answer goes on", async () => {
    client.resume(
      { key: "svc_dsc_k", fp: "reader", id: "chat/1", threadId: "thr_1", messageId: "msg_1", after: 7 },
      (event) => heard.push(event),
    );
    await settle();
    assert.deepEqual(socket().sent, [{ type: "resume", ...IDS, after: 7 }]);
    socket().say(delta("x"), FINISH);
    assert.deepEqual(types(), ["text-delta", "finish"]);
  });

  it("one that had not begun is lost", () => {
    client.resume({ key: "k", fp: "f", id: "c", threadId: null, messageId: null, after: 0 }, (event) =>
      heard.push(event),
    );
    assert.deepEqual(types(), ["error"]);
    assert.deepEqual(Sockets.all, []);
  });
});

describe("beside a question", () => {
  it("feedback goes without asking the service first whether it may", async () => {
    const kept = client.rate({ helpful: true });
    assert.equal(request().url.href, "https://assistant.example/discovery/v1/feedback/acme");
    assert.deepEqual([request().init.keepalive, request().init.headers], [true, { "Content-Type": "text/plain" }]);
    request().resolve(new Response(null, { status: 204 }));
    assert.equal(await kept, true);
    const lost = client.rate({ helpful: true });
    request().reject(new Error("offline"));
    assert.equal(await lost, false);
  });

  it("a conversation is deleted with its key", async () => {
    const gone = client.forget({ key: "k", fp: "f", threadId: "t" });
    assert.equal(request().url.pathname, "/discovery/v1/assistant/acme/forget");
    assert.deepEqual([request().init.headers.Authorization, request().body], ["Bearer k", { fp: "f", threadId: "t" }]);
    request().resolve(new Response(null, { status: 503 }));
    assert.equal(await gone, false);
  });
});

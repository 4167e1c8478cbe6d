import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { starters } from "../../static/widget/src/starters.js";

/** The service says this. @param {unknown} said @param {number} [status] */
const says = (said, status = 200) => mock.method(globalThis, "fetch", async () => Response.json(said, { status }));
const ask = () => starters("https://service.example/widget.js", "acme");

describe("starter questions", () => {
  /** @type {import("node:test").Mock<typeof console.warn>} */
  let warn;
  beforeEach(() => (warn = mock.method(console, "warn", () => {})));
  afterEach(() => mock.restoreAll());

  it("come from the host of the loader, without cookies", async () => {
    const { mock: fetched } = says({ enabled: true, starterQuestions: ["How?", "Why?"] });
    assert.deepEqual(await ask(), ["How?", "Why?"]);
    const [url, how] = fetched.calls[0].arguments;
    assert.equal(String(url), "https://service.example/discovery/v1/widget/acme");
    assert.deepEqual(how, { credentials: "omit" });
    assert.equal(warn.mock.callCount(), 0);
  });

  it("are none on a page that may not use the widget, which is told why once", async () => {
    says({ enabled: false, reason: "Add it." });
    assert.deepEqual(await ask(), []);
    assert.deepEqual(warn.mock.calls.map((call) => call.arguments), [["Docs assistant: Add it."]]);
  });

  it("are none without a word when they cannot be had", async () => {
    says({ error: "No such domain." }, 404);
    assert.deepEqual(await ask(), []);
    mock.method(globalThis, "fetch", async () => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    assert.deepEqual(await ask(), []);
    mock.method(globalThis, "fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
    assert.deepEqual(await ask(), []);
    assert.equal(warn.mock.callCount(), 0);
  });
});

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { validateOptions as checkedFor, DEFAULTS, parseTagOptions } from "../../../static/widget/src/base/options.js";

const PAGE = "https://acme.example/guide";
const SCRIPT = "https://service.example/widget.js";

/** @param {unknown} given */
const checked = (given) => checkedFor(given, SCRIPT);

describe("options", () => {
  /** @type {import("node:test").Mock<typeof console.warn>} */
  let warn;
  beforeEach(() => {
    warn = mock.method(console, "warn", () => {});
    Object.assign(globalThis, {
      CSS: { supports: (/** @type {string} */ _, /** @type {string} */ value) => !value.includes("no") },
      location: new URL(PAGE),
      document: {
        createElement: () => ({
          set href(/** @type {string} */ value) {
            this.origin = new URL(value, PAGE).origin;
          },
        }),
      },
    });
  });
  afterEach(() => {
    mock.restoreAll();
    for (const name of ["CSS", "location", "document"]) delete (/** @type {any} */ (globalThis)[name]);
  });

  const told = () => warn.mock.calls.map((call) => call.arguments.map(String).join(" "));

  it("may each be what the defaults are", () => {
    assert.deepEqual(checked(DEFAULTS), DEFAULTS);
    assert.equal(warn.mock.callCount(), 0);
  });

  it("are taken when they are right", () => {
    const given = {
      variant: "panel",
      theme: "dark",
      accent: "oklch(0.6 0.2 40)",
      radius: 0,
      font: "Inter, sans-serif",
      side: "left",
      align: "top",
      logo: "/logo.svg",
      zIndex: 10,
      nonce: "abc",
      memory: "tab",
      readerToken: "a.b.c",
      shortcuts: false,
      labels: { name: "Ask" },
      starterQuestions: ["How?"],
      filter: { version: "2" },
      hooks: { event() {} },
      support: "https://docs-service.example/support/acme",
    };
    assert.deepEqual(checked(given), given);
    assert.deepEqual(Object.keys(given).sort(), Object.keys(DEFAULTS).sort(), "this test knows them all");
    assert.equal(warn.mock.callCount(), 0);
  });

  for (const [name, value, allowed] of /** @type {[string, unknown, string][]} */ ([
    ["variant", "popup", "widget, panel, modal"],
    ["theme", true, "system, light, dark"],
    ["accent", "no colour", "a CSS color"],
    ["accent", "var(--brand)", "a CSS color"],
    ["accent", "transparent", "a CSS color"],
    ["accent", "currentColor", "a CSS color"],
    ["accent", "rgb(from CurrentColor r g b)", "a CSS color"],
    ["accent", null, "a CSS color"],
    ["radius", 99, "a number from 0 to 32"],
    ["radius", NaN, "a number from 0 to 32"],
    ["radius", "8", "a number from 0 to 32"],
    ["font", "no}font", "a CSS font-family"],
    ["side", "bottom", "start, end, left, right"],
    ["align", "left", "bottom, top"],
    ["logo", 1, "of this origin or the service's"],
    ["logo", "https://elsewhere.example/logo.png", "of this origin or the service's"],
    ["logo", "data:image/png;base64,AA==", "of this origin or the service's"],
    ["zIndex", "10", "a whole number"],
    ["zIndex", NaN, "a whole number"],
    ["zIndex", 1.5, "a whole number"],
    ["nonce", 1, "a string"],
    ["memory", "year", "day, tab"],
    ["shortcuts", "no", "a boolean"],
    ["labels", null, "an object of strings"],
    ["labels", { name: 1 }, "an object of strings"],
    ["starterQuestions", { 0: "How?" }, "an array of strings"],
    ["starterQuestions", ["How?", 2], "an array of strings"],
    ["filter", { version: 2 }, "an object of strings"],
    ["filter", ["2"], "an object of strings"],
    ["hooks", "track", "an object of functions"],
    ["hooks", { event: "track" }, "an object of functions"],
    ["hooks", () => {}, "an object of functions"],
  ])) {
    it(`are left out when they are wrong, and the console says why: ${name} ${typeof value === "object" ? JSON.stringify(value) : value}`, () => {
      assert.deepEqual(checked({ [name]: value }), {});
      assert.equal(told().length, 1);
      assert.ok(told()[0].includes(`the option ${name} must be ${allowed}`), told()[0]);
    });
  }

  it("may be of the service's origin, or have parts that are undefined", () => {
    const given = {
      logo: "https://service.example/logo.png",
      filter: { version: "2", tag: undefined },
      hooks: { error: undefined },
    };
    assert.deepEqual(checked(given), given);
    assert.equal(warn.mock.callCount(), 0);
  });

  it("may be given by anyone as anything", () => {
    for (const given of [null, undefined, 1, true, []]) assert.deepEqual(checked(given), {});
    assert.equal(warn.mock.callCount(), 0);
    assert.deepEqual(checked("a"), {});
    assert.equal(told().length, 1);
  });

  it("have names that are known", () => {
    assert.deepEqual(checked({ colour: "red", toString: 1 }), {});
    assert.deepEqual(told(), [
      "Docs assistant: there is no option colour.",
      "Docs assistant: there is no option toString.",
    ]);
  });

  it("are left to others when they are undefined", () => {
    assert.deepEqual(checked({ variant: undefined, colour: undefined }), {});
    assert.equal(warn.mock.callCount(), 0);
  });

  it("come from the tag", () => {
    const data = {
      domain: "acme",
      key: "k",
      variant: "modal",
      radius: "4",
      zIndex: "7",
      shortcuts: "false",
      version: "2",
      tag: "cli",
      other: "x",
      hooks: "x",
    };
    const { domain, key, ...rest } = parseTagOptions(data);
    assert.deepEqual([domain, key], ["acme", "k"]);
    assert.deepEqual(checked(rest), {
      variant: "modal",
      radius: 4,
      zIndex: 7,
      shortcuts: false,
      filter: { version: "2", language: undefined, tag: "cli" },
    });
    assert.equal(warn.mock.callCount(), 0);
  });

  it("of the tag are told of when they are wrong", () => {
    assert.deepEqual(
      checked({
        ...parseTagOptions({ radius: "wide", shortcuts: "no", side: "under" }),
        domain: undefined,
        key: undefined,
      }),
      {},
    );
    assert.equal(told().length, 3);
  });
});

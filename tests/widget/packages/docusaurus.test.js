/** The plugin for Docusaurus: what it adds to a page, and which options it refuses. */

import assert from "node:assert/strict";
import test from "node:test";
import docsService from "../../../static/packages/docusaurus/index.js";

const OPTIONS = { service: "https://docs.acme.example/", domain: "acme", key: "k" };

const tagOf = (options) => docsService({}, options).injectHtmlTags().headTags[0].attributes;

test("a page gets the tag with search button and assistant", () => {
  assert.deepEqual(tagOf(OPTIONS), {
    async: true,
    src: "https://docs.acme.example/search.js",
    "data-domain": "acme",
    "data-key": "k",
    "data-container": "[data-docs-service-search]",
    "data-assistant": "",
  });
});

test("attributes are added to the tag, objects as JSON", () => {
  const tag = tagOf({ ...OPTIONS, assistant: false, attributes: { accent: "#0a6b5d", labels: { open: "Zoeken" } } });
  assert.equal("data-assistant" in tag, false);
  assert.equal(tag["data-accent"], "#0a6b5d");
  assert.equal(tag["data-labels"], '{"open":"Zoeken"}');
});

test("a tag that names a version is not told that of the page", () => {
  assert.equal(docsService({}, OPTIONS).getClientModules().length, 1);
  assert.equal(docsService({}, { ...OPTIONS, attributes: { version: "2.0" } }).getClientModules().length, 0);
});

test("a missing or an unknown option ends the build with its name", () => {
  const validate = (options) => docsService.validateOptions({ options });
  assert.deepEqual(validate({ id: "default", ...OPTIONS }), OPTIONS);
  assert.throws(() => validate({ ...OPTIONS, key: "" }), /needs the option "key"/);
  assert.throws(() => validate({ ...OPTIONS, domian: "acme" }), /has no option "domian"/);
});

test("a change of version keeps the language and the tag of the filter", async (t) => {
  const script = { dataset: { language: "de", tag: "guide" } };
  const updates = [];
  globalThis.document = {
    head: {},
    querySelector: () => ({ content: "2.0" }),
    querySelectorAll: () => [script],
  };
  globalThis.window = { DocsAssistant: { update: (options) => updates.push(options) } };
  globalThis.MutationObserver = class {
    observe() {}
  };
  t.after(() => {
    for (const name of ["document", "window", "MutationObserver"]) delete globalThis[name];
  });
  await import("../../../static/packages/docusaurus/version.js");
  assert.equal(script.dataset.version, "2.0");
  assert.deepEqual(updates, [{ filter: { version: "2.0", language: "de", tag: "guide" } }]);
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import { labels, locale, setLabels } from "../../../static/widget/src/base/labels.js";
import { WORDS } from "../../../static/widget/src/menu/words.js";

it("every sentence is declared as a label, and nothing else is", async () => {
  const declarations = await readFile(new URL("../../../static/widget/widget.d.ts", import.meta.url), "utf8");
  const declared = /type Label =([^;]+);/.exec(declarations)?.[1] ?? "";
  const known = Object.keys({ ...labels, ...WORDS });
  assert.deepEqual(Array.from(declared.matchAll(/"(\w+)"/g), ([, name]) => name).sort(), known.sort());
  assert.deepEqual(setLabels(Object.fromEntries([...known, "bogus"].map((name) => [name, name]))), ["bogus"]);
  setLabels({});
});

it("times and numbers are of the language that the labels name, or of the browser where they name none", () => {
  assert.deepEqual(locale(), ["en"]);
  setLabels({ locale: "de" });
  assert.equal((32_000).toLocaleString(locale()), "32.000");
  setLabels({ locale: "no such language" });
  assert.equal(locale(), undefined);
  setLabels({});
  assert.deepEqual(locale(), ["en"]);
});

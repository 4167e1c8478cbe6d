import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isLong, readTextFile } from "../../../static/widget/src/composer/paste-and-drop.js";
import { codeLanguage, fileName, hasEnoughWords } from "../../../static/widget/src/composer/selection.js";
import { isTruncated, pageName, parseContexts } from "../../../static/widget/src/conversation/context.js";

const label = (given) => parseContexts(given)[0].label;

describe("something to point at", () => {
  it("is code or a selection, and is called after its name, its lines or its words", () => {
    assert.equal(label({ type: "code", value: "a\nb\n", name: "app.py" }), "app.py · 2 lines");
    assert.equal(label({ type: "code", value: "a" }), "Code · 1 line");
    assert.equal(label({ value: "One\n two" }), "“One two”");
    assert.equal(label({ value: "x", label: "  So it\nis  " }), "So it is");
    assert.equal(parseContexts({ type: "image", value: "x" })[0].type, "textSelection");
  });

  it("keeps the indentation of its first line, and loses empty lines around it", () => {
    assert.equal(parseContexts({ type: "code", value: "\n  if a:\n    b\n\n" })[0].value, "  if a:\n    b");
  });

  it("is cut between characters, and so is its label", () => {
    const [{ value, label }] = parseContexts({ value: "😀".repeat(40_000) });
    assert.equal([...value].length, 32_000);
    assert.ok(value.isWellFormed?.() ?? true);
    assert.equal([...label].length, 32 + 3);
    assert.ok(isTruncated("x".repeat(32_001)) && !isTruncated("😀".repeat(32_000)));
  });

  it("says where it is only when that is a text", () => {
    assert.deepEqual(parseContexts({ value: "x", path: "/a", elementId: "b" })[0], {
      type: "textSelection",
      value: "x",
      label: "“x”",
      path: "/a",
      elementId: "b",
    });
    assert.deepEqual(Object.keys(parseContexts({ value: "x", path: 1, elementId: "" })[0]), ["type", "value", "label"]);
  });

  it("is none when there is no text in it", () => {
    assert.deepEqual(parseContexts([null, undefined, "text", 5, {}, { value: 5 }, { value: " \n " }]), []);
    assert.deepEqual(parseContexts(undefined), []);
  });
});

describe("a page", () => {
  it("is called by its title without the name of its site", () => {
    for (const parted of ["Labels · Acme", "Labels | Acme", "Labels – Acme", "Labels — Acme", " Labels - Acme"]) {
      assert.equal(pageName(parted), "Labels");
    }
    assert.equal(pageName("Pre-printed labels"), "Pre-printed labels");
    assert.equal(pageName(" "), "");
  });
});

describe("a paste", () => {
  it("is long from eight lines or a thousand characters on", () => {
    assert.ok(!isLong(Array(7).fill("x").join("\n") + "\n\n"));
    assert.ok(isLong(Array(8).fill("x").join("\n")));
    assert.ok(!isLong("x".repeat(1000)));
    assert.ok(isLong("x".repeat(1001)));
  });
});

describe("a file", () => {
  it("is taken when it is a text of at most 256 KB", async () => {
    assert.deepEqual(await readTextFile(new File(["Größe"], "a.txt")), { type: "code", value: "Größe", name: "a.txt" });
    assert.equal(await readTextFile(new File([new Uint8Array(256 * 1024 + 1)], "a")), "fileTooLarge");
    assert.equal(await readTextFile(new File([new Uint8Array([0x47, 0xff, 0xfe])], "a")), "fileNotText");
    assert.equal(await readTextFile(new File(["a\0b"], "a")), "fileNotText");
    assert.equal(await readTextFile(new File([" "], "a")), "fileNotText");
  });
});

describe("a selection", () => {
  it("needs three words, also in scripts without spaces", () => {
    assert.ok(!hasEnoughWords("two words!"));
    assert.ok(hasEnoughWords("these three words"));
    assert.ok(hasEnoughWords("これは本です"));
    assert.ok(!hasEnoughWords("— … —"));
  });

  it("takes the name of code from around it", () => {
    const around = (className, dataset = {}) => [
      { className: "", dataset: {}, title: "" },
      { className, dataset, title: "" },
    ];
    assert.equal(codeLanguage(around("hljs language-python")), "python");
    assert.equal(codeLanguage(around("lang-c++")), "c++");
    assert.equal(codeLanguage(around("highlight highlight-source-shell")), "shell");
    assert.equal(codeLanguage(around("", { lang: "go" })), "go");
    assert.equal(codeLanguage(around("language-plaintext")), "");
    assert.equal(codeLanguage(around("slang-x")), "");
    assert.equal(fileName(around("", { filename: "app.py" })), "app.py");
    assert.equal(fileName(around("language-python")), "");
  });
});

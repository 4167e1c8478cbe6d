import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tokenize as tokensOf } from "../../../static/widget/src/markdown/highlight.js";
import { findLanguage } from "../../../static/widget/src/markdown/languages.js";
import { assertCheap, ordinaryCost } from "./cost.js";
import { rounds } from "./rounds.js";

const tokens = (code, lang) => tokensOf(code, findLanguage(lang).id);

const kinds = (code, lang) =>
  Object.fromEntries(
    tokens(code, lang)
      .filter(({ kind }) => kind)
      .map(({ text, kind }) => [text.trim(), kind]),
  );
const LANGUAGES = [
  "bash",
  "css",
  "diff",
  "go",
  "html",
  "ini",
  "js",
  "json",
  "py",
  "rust",
  "sql",
  "toml",
  "ts",
  "xml",
  "yaml",
];

describe("colours of code", () => {
  it("tell words apart", () => {
    const python = kinds('def run(n):  # go\n    return "x" + n', "python");
    assert.deepEqual([python.def, python.run, python["# go"], python['"x"']], ["kwd", "func", "cmnt", "str"]);
    const sql = kinds("SELECT name FROM users WHERE id = 7 -- one", "sql");
    assert.deepEqual([sql.SELECT, sql["7"], sql["-- one"]], ["kwd", "num", "cmnt"]);
    assert.equal(kinds("const a = `x`;", "JavaScript").const, "kwd");
    assert.equal(kinds('{"a": true}', "json").true, "bool");
  });

  it("know languages by their names and others by their own", () => {
    assert.deepEqual(
      ["sh", "YML", "tsx", "c++", "cobol", "", "constructor", "__proto__"].map((lang) => findLanguage(lang).name),
      ["Bash", "YAML", "TypeScript", "C++", "cobol", "", "constructor", "__proto__"],
    );
    assert.deepEqual(tokens("x", "cobol"), [{ text: "x", kind: "" }]);
  });

  it("change no letter of hostile code, and take no time for it", () => {
    const pieces = [
      "a",
      "a=",
      "<a a='",
      '"',
      "\\",
      "`${",
      "/*",
      "#",
      "<!--",
      "<style>",
      "<script>",
      "$(",
      "1.",
      "\n ",
      "[a",
      "x: |\n",
      'f"{',
      "--",
      "\t",
      "<!DOCTYPE",
      "é",
      "\u{1f600}",
    ];
    const ordinary = 'const name = "text"; // a comment\nif (name.length > 3) run(name, 42);\n'
      .repeat(70)
      .slice(0, 5_000);
    const ROUNDS = rounds(10, 60);
    const limit = ROUNDS * 50 * ordinaryCost(() => tokens(ordinary, "js"));
    let seed = 3;
    const check = (lang) => {
      for (let i = 0; i < ROUNDS; i++) {
        seed = (seed * 48_271) % 2_147_483_647;
        const pair = pieces[seed % pieces.length] + pieces[(seed >> 8) % pieces.length];
        const code = pair.repeat(5_000).slice(0, 5_000);
        assert.equal(
          tokens(code, lang)
            .map(({ text }) => text)
            .join(""),
          code,
        );
      }
    };
    for (const lang of LANGUAGES) assertCheap(lang, () => check(lang), limit);
    assert.equal(tokens("const a".repeat(1_000), "js").length, 1);
  });
});

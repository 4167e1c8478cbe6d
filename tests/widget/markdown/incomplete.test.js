import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { splitSuggestions } from "../../../static/widget/src/markdown/addresses.js";
import { completeMarkdown } from "../../../static/widget/src/markdown/incomplete.js";
import { firstSentence, parseBlocks, StreamingParser } from "../../../static/widget/src/markdown/parser.js";
import { assertCheap, ordinaryCost } from "./cost.js";
import { rounds } from "./rounds.js";

const BASE = "https://docs.example.com/";
const SIZE = 16 * 1024;
const many = (piece) => piece.repeat(Math.ceil(SIZE / piece.length)).slice(0, SIZE);
const pieces = [
  "[",
  "]",
  "[]",
  "![",
  "](",
  "[a](",
  "[a]( x ",
  "[a](<",
  '[a](b "',
  "[a]: b\n",
  "[[a]",
  "[ ] ",
  "[^1]",
  "[*`",
  "![`](",
  "*[`<&|_~> ",
  "`",
  "` ",
  "`a``b```",
  "```",
  "```\n",
  "*",
  "*a ",
  "**a ",
  "*a**b*",
  "_",
  "_a ",
  "**_",
  "~",
  "~~a ",
  "-a_",
  "|",
  "| ",
  "|a|\n",
  "<",
  "<a ",
  "<a href='",
  "<!--",
  "</",
  "&",
  "&#",
  "&amp",
  '"',
  "'",
  "(",
  "!",
  "\\",
  "\\[",
  "-",
  "- ",
  "- a\n",
  "- - ",
  "  - a\n",
  "1. ",
  "1. a\n",
  ">",
  "> ",
  "> a\n",
  "> - ",
  "#",
  "# ",
  "=",
  "a\n=\n",
  ":",
  "http://",
  "www.",
  "a@b.",
  "a@",
  "\n",
  " \n",
  "a\n",
  "a ",
];
/** @type {Record<string, string>} */
const texts = {
  "code spans behind an open bracket": `The range is [0, 10) and uses ${many("`a`, ")}`,
  "a line of blanks": `Text\n${many(" ")}x`,
  "a line of tabs": `Text\n${many("\t")}x`,
  "blanks in a row of a table": `| a |\n|---|\n| ${many(" ")}x`,
  "blanks in a link": `[a](b${many(" ")}x`,
  "blanks behind a title": `[a](b "c"${many(" ")}x`,
  "tildes and a backtick": `${many("~")}\``,
  "brackets of links, and more behind them": `${many("[a](")} b c`,
  ...Object.fromEntries(pieces.map((piece) => [JSON.stringify(piece), many(piece)])),
};

const ways = {
  completeMarkdown,
  partial: (/** @type {string} */ text) => parseBlocks(text, { base: BASE, partial: true }),
  whole: (/** @type {string} */ text) => parseBlocks(text, { base: BASE }),
  suggestions: (/** @type {string} */ text) => splitSuggestions("```suggestions\n" + text, BASE),
  firstSentence,
};
/** Hostile text may cost this many times what ordinary text of the same size costs; fixed faults cost far more. */
const MAX_RATIO = 25;
const ordinary = many("A sentence with **bold** words, `code` and a [link](page).\n\n- one\n- two\n\n");

const limit = MAX_RATIO * ordinaryCost(() => ways.whole(ordinary));

describe("hostile text costs no more than some multiple of ordinary text", () => {
  for (const [name, text] of Object.entries(texts)) {
    it(name, () => {
      for (const [way, read] of Object.entries(ways)) assertCheap(way, () => read(text), limit);
    });
  }

  it("in as many pieces as it may come", () => {
    const PIECES = rounds(20, 100);
    const stream = (/** @type {string} */ text) => {
      const growing = new StreamingParser();
      for (let at = 1; at <= PIECES; at++)
        growing.parse(text.slice(0, Math.ceil((SIZE * at) / PIECES)), { base: BASE, partial: at < PIECES });
    };
    for (const name of ["code spans behind an open bracket", "a line of blanks", '"[a]("', '"*a "', '"- a\\n"', '"!"'])
      assertCheap(name, () => stream(texts[name]), (PIECES / 10) * limit); // no piece holds up the page for long
  });
});

describe("text that nests deeper than anybody reads", () => {
  const depth = (tree) => (typeof tree === "string" ? 0 : 1 + Math.max(0, ...tree.children.map(depth)));
  const said = (tree) => (typeof tree === "string" ? tree : tree.children.map(said).join(""));
  for (const text of [
    `${"> ".repeat(4_000)}end`,
    `${"- ".repeat(4_000)}end`,
    `${"1. ".repeat(4_000)}end`,
    `${"*a **b ".repeat(500)}end${"** *".repeat(500)}`,
  ]) {
    it(`${text.slice(0, 12)}… is shallow, and nothing of it is lost`, () => {
      const trees = parseBlocks(text, { base: BASE })
        .map(({ tree }) => tree)
        .filter(Boolean);
      assert.ok(Math.max(...trees.map(depth)) < 60);
      assert.match(trees.map(said).join(""), /end/);
    });
  }
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildQuote, findPassage, parseTextFragment } from "../../../static/widget/src/transcript/quote.js";

const PAGE = "https://docs.example.com/limits";
const passage = (url, text) => ({ url, title: "Limits", breadcrumb: [], text });

describe("the words a link names", () => {
  const links = {
    "#a:~:text=ten%20per%20minute": { start: "ten per minute", end: "" },
    "#a:~:text=the%20limit-,ten%2C%20or%20so,a%20minute": { start: "ten, or so", end: "a minute" },
    "#:~:text=ten,minute,-then%20stop": { start: "ten", end: "minute" },
    "#a:~:text=one&text=two": { start: "one", end: "" },
    "#a": null,
    "": null,
    "#a:~:text=%E0%A4%A": null,
    "#a:~:text=": null,
  };
  for (const [part, expected] of Object.entries(links))
    it(JSON.stringify(part), () => assert.deepEqual(parseTextFragment(PAGE + part), expected));
});

describe("a citation's passage", () => {
  const passages = [
    passage(`${PAGE}#a`, "Nothing here."),
    passage(`${PAGE}#b`, "Keys may ask TEN per\n minute."),
    passage("https://docs.example.com/other#a", "ten per minute"),
  ];

  it("is of its section, and else of its page; what holds the words goes before", () => {
    assert.equal(findPassage(`${PAGE}#a`, passages), passages[0]);
    assert.equal(findPassage(`${PAGE}#a:~:text=ten%20per`, passages), passages[1]);
    assert.equal(findPassage(`${PAGE}#c:~:text=absent`, passages), passages[0]);
    assert.equal(findPassage("https://docs.example.com/none", passages), null);
  });

  it("is quoted with its words marked, in any case", () => {
    assert.deepEqual(buildQuote(`${PAGE}#b:~:text=ten%20per,minute`, passages[1]), {
      before: "Keys may ask ",
      marked: "TEN per minute",
      after: ".",
    });
  });

  it("is cut at words around them", () => {
    const long = passage(PAGE, `${"before ".repeat(60)}needle ${"after ".repeat(60)}`);
    const { before, marked, after } = buildQuote(`${PAGE}#:~:text=needle`, long);
    assert.equal(marked, "needle");
    assert.match(before, /^… (before ){10,20}$/);
    assert.match(after, /^ (after ){10,20}…$/);
  });

  it("gives way to the words themselves where it does not hold them", () => {
    assert.deepEqual(buildQuote(`${PAGE}#:~:text=first%20words,last`, passages[0]), {
      before: "",
      marked: "first words … last",
      after: "",
    });
    assert.deepEqual(buildQuote(`${PAGE}#:~:text=only`, null), { before: "", marked: "only", after: "" });
    assert.equal(buildQuote(PAGE, null), null);
    assert.deepEqual(buildQuote(PAGE, passages[0]), { before: "Nothing here.", marked: "", after: "" });
  });
});

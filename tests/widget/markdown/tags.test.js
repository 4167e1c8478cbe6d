import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StreamingParser } from "../../../static/widget/src/markdown/parser.js";
import { normalizeMarkdown } from "../../../static/widget/src/markdown/tags.js";
import { assertCheap } from "./cost.js";

const options = (partial) => ({ base: "https://docs.example.com/", partial });
const short = (tree) =>
  typeof tree === "string"
    ? tree
    : `${tree.tag}${tree.lang ? `.${tree.lang}` : ""}(${tree.children.map(short).join("")})`;
const show = (text) => new StreamingParser().parse(text, options(false)).map(short).join(" ");

/** Everything that a reader sees while a text arrives letter by letter. */
function states(text) {
  const parser = new StreamingParser();
  return Array.from(text, (_, i) =>
    parser
      .parse(text.slice(0, i + 1), options(true))
      .map(short)
      .join(" "),
  );
}

describe("Markdown as models write it and the service escapes it", () => {
  for (const [text, tree] of [
    ["**注意（必読）。**再起動", "p(strong(注意（必読）。)再起動)"],
    ["これは**「重要」**です", "p(これはstrong(「重要」)です)"],
    ["**스크립트(script)**를 실행", "p(strong(스크립트(script))를 실행)"],
    ["使用**Docker**容器", "p(使用strong(Docker)容器)"],
    ["`**x)**를` 2 * 3 * 4", "p(code(**x)**를) 2 * 3 * 4)"],
    ["```\n**x)**를\n```", "pre(**x)**를)"],
    ["\\<kbd>Ctrl\\</kbd>+\\<kbd>C\\</kbd>", "p(kbd(Ctrl)+kbd(C))"],
    ["H\\<sub>2\\</sub>O, x\\<sup>**2**\\</sup>", "p(Hsub(2)O, xsup(strong(2)))"],
    ["\\<kbd>open, \\</sub> and \\<sub>", "p(kbd(open,  and sub()))"],
    ["| a |\n|-|\n| x\\<br>y\\<br/>z |", "table(thead(tr(th(a)))tbody(tr(td(xbr()ybr()z))))"],
    ["a\n\\<br>\nb", "p(a) p(b)"],
    ["\\<details>\n\\<summary>More\\</summary>\n\ntext\n\n\\</details>\n\nend", "p(strong(More)) p(text) p(end)"],
    ["> \\[!NOTE]\n> Take **care**.", "blockquote.note(p(strong(Note))p(Take strong(care).))"],
    ["> [!warning] Hot\n> - a", "blockquote.warning(p(strong(Warning))p(Hot)ul(li(span(a))))"],
    ["> [!OTHER]\n> x", "blockquote(p([!OTHER]\nx))"],
    ["&le; &rsquo; &constructor;", "p(≤ ’ &constructor;)"],
    ["`\\<kbd>` `<br>`", "p(code(<kbd>) code(<br>))"],
    ["\\<kbd onclick=x>a \\<script>b\\</script> \\<img src=x>", "p(<kbd onclick=x>a <script>b</script> <img src=x>)"],
  ]) {
    it(JSON.stringify(text), () => assert.equal(show(text), tree));
  }

  it("shows no half of a tag, a call-out or a table while it arrives", () => {
    const texts = [
      "Press \\<kbd>Ctrl\\</kbd> now",
      "> \\[!NOTE]\n> Hi",
      "name | age\n--- | ---\nx | y\n",
      "Before:\n\n| name | age |\n| --- | --- |\n| x | y |\n",
    ];
    for (const state of texts.flatMap(states)) assert.doesNotMatch(state, /[<\\!|]|--/, state);
  });

  it("keeps a line with a bar that heads no table", () => {
    assert.equal(states("use a | b in it\nand more").at(-1), "p(use a | b in it\nand more)");
    assert.equal(states("use `a | b` in it").at(-1), "p(use code(a | b) in it)");
  });

  it("takes no time for hostile text", () => {
    for (const piece of ["*a", "**a ", "* ", "\\<kbd>", "\\<br>\n", "\\</sub>", "あ*", "> [!note]\n", "a | b\n"]) {
      const text = piece.repeat(20_000 / piece.length);
      assertCheap(piece, () => normalizeMarkdown(text), 60);
      assertCheap(piece, () => show(text), 4_000);
    }
  });
});

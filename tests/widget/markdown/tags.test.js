import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foldQuotes } from "../../../static/widget/src/markdown/fold.js";
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
    [
      "\\<details>\n\\<summary>More `x`\\</summary>\n\ntext\n\n\\</details>\n\nend",
      "details(summary(More code(x))p(text)) p(end)",
    ],
    ["\\<details open>\\<summary>A\\</summary>b\\</details>\nc", "details(summary(A)p(b)) p(c)"],
    ["- a\n\n  \\<details>\n\n  b\n\n  \\</details>\n- c", "ul(li(p(a)details(p(b)))li(p(c)))"],
    ["\\<details>\n\na\n\n\\<details>\n\nb", "details(p(a)details(p(b)))"],
    ["The \\<details> element\n\n\\</details>\n\nx\ue001", "p(The <details> element) p(x)"],
    ["> \\[!NOTE]\n> Take **care**.", "blockquote.note(p(strong(Note))p(Take strong(care).))"],
    ["> [!warning] Hot\n> - a", "blockquote.warning(p(strong(Warning))p(Hot)ul(li(span(a))))"],
    ["> [!OTHER]\n> x", "blockquote(p([!OTHER]\nx))"],
    ["&le; &rsquo; &constructor;", "p(≤ ’ &constructor;)"],
    ["`\\<kbd>` `<br>`", "p(code(<kbd>) code(<br>))"],
    ["\\<kbd onclick=x>a \\<script>b\\</script> \\<img src=x>", "p(<kbd onclick=x>a <script>b</script> <img src=x>)"],
  ]) {
    it(JSON.stringify(text), () => assert.equal(show(text), tree));
  }

  for (const [text, tree] of [
    ["$a_1*b_2*c$ and $x$", "p($a_1*b_2*c$ and $x$)"],
    ["\\(x_i^2 * y_j * z\\) or \\[a_1 = \\frac{b}{c}\\]", "p(\\(x_i^2 * y_j * z\\) or \\[a_1 = \\frac{b}{c}\\])"],
    ["$$\na\n= b_{*}\n- c*d* \\<e\n$$\n\nnext", "p($$ a = b_{*} - c*d* <e $$) p(next)"],
    ["| $a|b$ | c |\n|-|-|\n| 1 | 2 |", "table(thead(tr(th($a|b$)th(c)))tbody(tr(td(1)td(2))))"],
    ["It costs $5 and *$6* a month, $ x $ or $7.", "p(It costs $5 and em($6) a month, $ x $ or $7.)"],
    ["$HOME/_x_ and $PATH, \\[optional\\] \\*", "p($HOME/em(x) and $PATH, [optional] *)"],
    ["`$a_1*b*$` \\(*x*\\)", "p(code($a_1*b*$) \\(*x*\\))"],
    ["```sh\necho $A_$B_ $$ \\(*x*\\)\n```\n$x_1$ *y*", "pre.sh(echo $A_$B_ $$ \\(*x*\\)) p($x_1$ em(y))"],
  ]) {
    it(`keeps formulas as they are: ${JSON.stringify(text)}`, () => assert.equal(show(text), tree));
  }

  it("folds each quote but the first, up to its citation", () => {
    const quote = (name, text) => `**${name}**\n\n${text} [1](https://docs.example.com/a)\n\n`;
    const text = `Closest:\n\n${quote("A", "a")}${quote("B", "**npm**\n\nb")}${quote("C", "c `x`")}See also:\n\n- d`;
    const blocks = foldQuotes(new StreamingParser().parse(text, options(false)));
    assert.equal(
      blocks.map(short).join(" "),
      "p(Closest:) p(strong(A)) p(acite(1)) details(summary(strong(B)span(npm))p(strong(npm))p(bcite(1))) " +
        "details(summary(strong(C)span(c x))p(c code(x)cite(1))) p(See also:) ul(li(span(d)))",
    );
  });

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
    for (const piece of [
      "*a",
      "**a ",
      "* ",
      "\\<kbd>",
      "\\<br>\n",
      "\\</sub>",
      "あ*",
      "> [!note]\n",
      "a | b\n",
      "$a",
      "$$",
      "\\(x",
      "\\[=",
      "` ``",
    ]) {
      const text = piece.repeat(20_000 / piece.length);
      assertCheap(piece, () => normalizeMarkdown(text), 60);
      assertCheap(piece, () => show(text), 4_000);
    }
  });
});

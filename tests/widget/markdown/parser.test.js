import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolveAddress, splitSuggestions } from "../../../static/widget/src/markdown/addresses.js";
import { completeMarkdown } from "../../../static/widget/src/markdown/incomplete.js";
import { firstSentence, isEqual, parseBlocks, StreamingParser } from "../../../static/widget/src/markdown/parser.js";
import { assertCheap, ordinaryCost } from "./cost.js";
import { rounds } from "./rounds.js";

const BASE = "https://docs.example.com/guide";

/** A tree in short: `p(some em(text))`. */
const short = (tree) =>
  typeof tree === "string"
    ? tree
    : `${tree.tag}${tree.href ? `<${tree.href}>` : ""}(${tree.children.map(short).join("")})`;
const show = (text, partial = false) =>
  parseBlocks(text, { base: BASE, partial })
    .filter(({ tree }) => tree)
    .map(({ tree }) => short(tree))
    .join(" ");
const tags = (tree) => (typeof tree === "string" ? [] : [tree.tag, ...tree.children.flatMap(tags)]);
const said = (tree) => (typeof tree === "string" ? tree : tree.children.map(said).join(""));

describe("Markdown", () => {
  it("becomes a tree", () => {
    assert.equal(
      show("# A\n\nOne **two** *three* `four` ~~five~~"),
      "h4(A) p(One strong(two) em(three) code(four) del(five))",
    );
    assert.equal(show("- a\n- b\n  - c"), "ul(li(span(a))li(span(b)ul(li(span(c)))))");
    assert.equal(show("> q\n\n---"), "blockquote(p(q)) hr()");
    assert.equal(show("| a | b |\n|---|---|\n| 1 | 2 |"), "table(thead(tr(th(a)th(b)))tbody(tr(td(1)td(2))))");
  });

  it("keeps where an ordered list starts, and the language of code", () => {
    assert.equal(parseBlocks("3. c", { base: BASE })[0].tree.start, 3);
    const [{ tree }] = parseBlocks('```py title="x"\nprint(1)\n```', { base: BASE });
    assert.deepEqual([tree.tag, tree.lang, tree.children], ["pre", "py", ["print(1)"]]);
  });

  it("decodes entities in text and leaves them in code", () => {
    assert.equal(show("a &amp; b &#60; `&amp;`"), "p(a & b < code(&amp;))");
    assert.equal(show("AT&T &unknown;"), "p(AT&T &unknown;)");
  });

  it("shows HTML as the text it is", () => {
    const hostile =
      'x <img src=x onerror="alert(1)"> <script>alert(1)</script> y<br>z\n\n<div onclick="a()">b</div>\n\n<!-- c -->';
    const trees = parseBlocks(hostile, { base: BASE })
      .map(({ tree }) => tree)
      .filter(Boolean);
    assert.deepEqual([...new Set(trees.flatMap(tags))], ["p", "br"]);
    assert.match(said(trees[0]), /<img src=x onerror="alert\(1\)">/);
  });

  it("turns citations into superscripts and other links into links", () => {
    assert.equal(show("So [1](https://d.example/a#b)."), "p(Socite<https://d.example/a#b>(1).)");
    assert.equal(show("[the page](/x)"), "p(a<https://docs.example.com/x>(the page))");
  });

  it("follows links to the web and to mail only", () => {
    for (const href of [
      "javascript:alert(1)",
      "JaVaScRiPt:x",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc",
      "blob:https://a/b",
      "&#106;avascript:x",
      "java\nscript:x",
      "https://docs.example.com@evil.example/",
      "https://a:b@evil.example/",
      "intent:x",
      "//user@evil.example",
    ]) {
      assert.equal(resolveAddress(href, BASE), null, href);
      assert.ok(!show(`[x](<${href}>) [1](<${href}>)`).includes("<javascript"), href);
    }
    assert.equal(resolveAddress("mailto:a@b.example", BASE), "mailto:a@b.example");
  });

  it("drops images to their alternative text", () => {
    assert.equal(show("![A *chart*](https://evil.example/x.png?q=secret)"), "p(A *chart*)");
  });

  it("shows images of the documentation, once nothing can change them", () => {
    const images = new Set(["https://docs.example.com"]);
    const image = (text, partial) =>
      new StreamingParser().parse(text, { base: BASE, images, partial }).map(short).join(" ");
    assert.equal(image("![A](/x.png)"), "p(img<https://docs.example.com/x.png>(A))");
    assert.equal(image("![A](/x.png)", true), "p(A)");
    assert.equal(image("![A](/x.png)\n\nB", true), "p(img<https://docs.example.com/x.png>(A)) p(B)");
    for (const src of [
      "https://evil.example/x.png",
      "data:image/png;base64,x",
      "javascript:x",
      "//evil.example/x",
      "https://docs.example.com@evil.example/x",
    ]) {
      assert.equal(image(`![A](${src})`), "p(A)", src);
    }
  });

  it("drops what turns the order of letters around", () => {
    assert.equal(show("a\u202eb &#x202e;c `d\u2066e`\n\n```\nf\u202eg\n```"), "p(ab c code(de)) pre(fg)");
  });

  it("makes tabs of code that follows on code in another language", () => {
    const fence = (lang, code) => `\`\`\`${lang}\n${code}\n\`\`\`\n\n`;
    const read = (text, partial = false) =>
      new StreamingParser().parse(text, { base: BASE, partial }).map(short).join(" ");
    assert.equal(read(fence("python", "a") + fence("js", "b") + fence("go", "c")), "tabs(pre(a)pre(b)pre(c))");
    assert.equal(read(fence("python", "a") + fence("py", "b")), "pre(a) pre(b)");
    assert.equal(read(fence("bash", "a") + fence("json", "b")), "pre(a) pre(b)");
    assert.equal(read(`${fence("python", "a")}Or:\n\n${fence("js", "b")}`), "pre(a) p(Or:) pre(b)");
    assert.equal(read(fence("python", "a") + "```js\nb", true), "pre(a) pre(b)");
  });

  it("says its first sentence plainly", () => {
    assert.equal(firstSentence("# Hi\n\n**Run** it[1](https://a.b/c). Then `go`."), "Run it.");
    assert.equal(firstSentence("**Run** v1.2 it [1](https://a.b/c). Then go."), "Run v1.2 it.");
    assert.equal(firstSentence("**Quickstart › Your own project**\n\nSet the\nproject. Then go."), "Set the project.");
    assert.equal(firstSentence("**Quickstart** [1](https://a.b/c)\n\n```\nx\n```\n\nRun it."), "Run it.");
    assert.equal(firstSentence("# Hi"), "Hi");
    assert.equal(firstSentence(""), "");
  });

  it("covers a text with its blocks", () => {
    const text = "# A\n\nb\n\n- c\n\n- d\n\n```\ne\n\nf\n```\n\n| g | h |\n|--|--|\n| i | j |\n\n> k\n";
    assert.equal(
      parseBlocks(text, { base: BASE })
        .map(({ raw }) => raw)
        .join(""),
      text,
    );
  });
});

describe("pages to read next", () => {
  it("leave the text and become links", () => {
    const text = "Done.\n\n```suggestions\n(Install it)[/install]\n(Bad)[javascript:x]\nnoise\n```";
    assert.deepEqual(splitSuggestions(text, BASE), {
      body: "Done.\n",
      suggestions: [{ label: "Install it", href: "https://docs.example.com/install" }],
    });
  });

  it("lead to pages of a site that lives in a folder", () => {
    const { suggestions } = splitSuggestions("```suggestions\n(A)[/a#b]\n```", BASE, "https://example.com/docs");
    assert.deepEqual(suggestions, [{ label: "A", href: "https://example.com/docs/a#b" }]);
  });

  it("stand at the end and lead nowhere else", () => {
    for (const text of [
      "```suggestions\n(Log in)[https://evil.example]\n(Log in)[//evil.example]\n```",
      "```suggestions\n(Log in)[/a]\n```\n\nAnd on.",
      "````text\n```suggestions\n(Log in)[/a]\n```\n````",
    ])
      assert.deepEqual(splitSuggestions(text, BASE).suggestions, []);
  });

  it("never show while they arrive", () => {
    const text = "Done.\n\n```suggestions\n(Install it)[/install]\n```";
    for (let n = 1; n <= text.length; n++) {
      const { body } = splitSuggestions(text.slice(0, n), BASE);
      assert.match(show(body, true), /^(p\(D?o?n?e?\.?\))?$/, text.slice(0, n));
    }
  });
});

describe("text that is still arriving", () => {
  const settled = {
    "Some **bo": "Some **bo**",
    "Some **": "Some ",
    "Some **bold*": "Some **bold**",
    "Some **bold** and": "Some **bold** and",
    "A *b **c": "A *b **c***",
    "A `co": "A `co`",
    "A ``co`d`": "A ``co`d``",
    "A `": "A ",
    "~~go": "~~go~~",
    "2 * 3 * 4": "2 * 3 * 4",
    snake_case_name: "snake_case_name",
    "See [1": "See ",
    "See [1](https://a.b/c": "See ",
    "See [1](https://a.b/c)": "See [1](https://a.b/c)",
    "**See [1](ht": "**See**",
    "a [note] b": "a [note] b",
    "at https://docs.exam": "at ",
    "x <https://a": "x ",
    "a < b": "a < b",
    "AT&am": "AT",
    "text\\": "text",
    "One\n\n#": "One\n\n",
    "One\n\n-": "One\n\n",
    "One\n\n12.": "One\n\n",
    "One\n--": "One\n",
    "One\n\n```": "One\n\n",
    "One\n\n```py": "One\n\n",
    "```py\nx = [1": "```py\nx = [1",
    "```py\nx\n``": "```py\nx\n",
    "```py\nx\n```": "```py\nx\n```",
    "- a **b": "- a **b**",
    "- *a\n- b": "- *a\n- b",
    "| a | b |": "",
    "| a | b |\n|--": "",
    "| a | b |\n|--|--|\n| **x": "| a | b |\n|--|--|\n| **x**",
  };
  for (const [text, expected] of Object.entries(settled)) {
    it(`${JSON.stringify(text)} shows ${JSON.stringify(expected)}`, () =>
      assert.equal(completeMarkdown(text), expected));
  }

  const answers = [
    "To **install** *Acme*, run `pip install acme` [1](https://docs.example.com/install#pip). Then:\n\n1. Open **Settings** [2](https://docs.example.com/a_(b)).\n2. Press `Save`.\n\n```bash\npip install acme  # **not** bold\n```\n\n| Option | Meaning |\n| --- | :-: |\n| `--fast` | **quick** |\n\nSee [the guide](https://docs.example.com/guide) or ***both***.",
    '## Step one\n\n- First **item**\n- Second with ~~old~~ text\n  - Nested `code`\n\n> A *quote*.\n\n```js\nconst a = `x`;\n```\nDone & [x](/y "title")!',
  ];
  /** Syntax outside code, where it would be a flash of something raw. */
  const raw = (tree) =>
    typeof tree === "string"
      ? (/\*\*|`|~~|\]\(|^#|\||https?:/.exec(tree)?.[0] ?? "")
      : ["pre", "code"].includes(tree.tag)
        ? ""
        : tree.children.map(raw).join("");
  answers.forEach((answer, n) => {
    it(`never flashes syntax (answer ${n + 1})`, () => {
      for (let i = 1; i <= answer.length; i++) {
        for (const { tree } of parseBlocks(answer.slice(0, i), { base: BASE, partial: true })) {
          assert.equal(tree ? raw(tree) : "", "", JSON.stringify(answer.slice(Math.max(0, i - 30), i)));
        }
      }
    });

    it(`never makes a link of half a link (answer ${n + 1})`, () => {
      const links = (tree) =>
        typeof tree === "string" ? [] : [...(tree.href ? [tree.href] : []), ...tree.children.flatMap(links)];
      const all = (text, partial) =>
        parseBlocks(text, { base: BASE, partial }).flatMap(({ tree }) => (tree ? links(tree) : []));
      const whole = new Set(all(answer, false));
      for (let i = 1; i <= answer.length; i++) {
        for (const href of all(answer.slice(0, i), true)) assert.ok(whole.has(href), href);
      }
    });
  });

  it("is settled quickly even when it is hostile", () => {
    const ordinary = "A sentence with **bold** words, `code` and a [link](page).\n\n".repeat(500);
    const limit = 50 * ordinaryCost(() => parseBlocks(ordinary, { base: BASE }));
    for (const piece of ["[", "*a ", "`", "**_", "![", "<a ", "[a](", "| ", "> ", "- ", "\\"])
      assertCheap(piece, () => completeMarkdown(piece.repeat(5_000)), limit);
  });
});

describe("anything at all", () => {
  const pieces = [
    "**",
    "*",
    "_",
    "~~",
    "`",
    "```",
    "```js\n",
    "```py\n",
    "~~~",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "# ",
    "---\n",
    "| a | b |\n|---|:-:|\n",
    "|",
    "[",
    "](",
    ")",
    "[1](https://docs.example.com/a#b:~:text=c)",
    "![x](https://evil.example/y.png)",
    "[a](javascript:alert(1))",
    "[b]: data:text/html,x\n",
    "[b]",
    "<https://a@b.example>",
    "<script>",
    "</script>",
    "<img src=x onerror=y>",
    "<!--",
    "-->",
    "<br>",
    "&#106;",
    "&lt;",
    "&amp",
    "\\",
    "\u202e",
    "\u0000",
    "\ud83d",
    "\ude00",
    "https://evil.example/",
    "www.a.b",
    "mailto:x@y.z",
    "\r\n",
    "\r",
    "word",
    "word ",
    "é",
    "[x]: <java\nscript:x>\n",
    "(/a)[/b]",
    "- [x] ",
    "<a href='x'>",
    "\u00a0",
    "[^1]",
  ];
  const TAGS = new Set(
    "p span h4 h5 h6 pre tabs blockquote ul ol li table thead tbody tr th td hr strong em del code br a cite img".split(
      " ",
    ),
  );
  const images = new Set(["https://docs.example.com"]);
  let seed = 11;
  const random = (n) => (seed = (seed * 48_271) % 2_147_483_647) % n;

  const check = (tree) => {
    if (typeof tree === "string") return;
    assert.ok(TAGS.has(tree.tag), tree.tag);
    if (tree.href !== undefined) {
      const url = new URL(tree.href);
      assert.match(url.protocol, /^(https?|mailto):$/);
      assert.equal(url.username + url.password, "");
      if (tree.tag === "img") assert.equal(url.origin, "https://docs.example.com");
    }
    assert.doesNotMatch(tree.lang ?? "", /[^\w+#.-]/);
    assert.ok(!tree.children.some((child) => typeof child === "string" && /[\u202a-\u202e\u2066-\u2069]/.test(child)));
    tree.children.forEach(check);
  };

  it("never throws, holds only what is allowed, and ends as if it had come at once", () => {
    for (let n = 0; n < rounds(250, 1_500); n++) {
      const text = Array.from({ length: 2 + random(24) }, () => pieces[random(pieces.length)]).join("");
      const growing = new StreamingParser();
      for (let cut = random(6); cut < text.length; cut += 1 + random(12))
        growing.parse(text.slice(0, cut), { base: BASE, images, partial: true }).forEach(check);
      const grown = growing.parse(text, { base: BASE, images });
      const whole = new StreamingParser().parse(text, { base: BASE, images });
      grown.forEach(check);
      assert.ok(
        grown.length === whole.length && grown.every((tree, i) => isEqual(tree, whole[i])),
        JSON.stringify(text),
      );
      splitSuggestions(text, BASE);
      firstSentence(text);
    }
  });

  it("reads a finished block once, however long the text grows", () => {
    const growing = new StreamingParser();
    const text = "A **word**.\n\n- one\n- two\n\n```js\nx\n```\n\n".repeat(20);
    let before = [];
    for (let cut = 1; cut < text.length; cut += 7) {
      const now = growing.parse(text.slice(0, cut), { base: BASE, partial: true });
      before.slice(0, -2).forEach((tree, i) => {
        assert.strictEqual(now[i], tree);
      });
      before = now;
    }
    assert.equal(before.length, 60);
  });

  it("shows the same while it grows as all of it that is there, for text that defines no references", () => {
    for (let n = 0; n < 300; n++) {
      const text = Array.from(
        { length: 2 + random(20) },
        () =>
          [
            "**bold** ",
            "word ",
            "\n\n",
            "\n",
            "- item\n",
            "`code` ",
            "[1](/a) ",
            "```js\nx\n```\n",
            "# head\n",
            "> quote\n",
          ][random(10)],
      ).join("");
      const growing = new StreamingParser();
      for (let cut = 1; cut < text.length; cut += 1 + random(9))
        growing.parse(text.slice(0, cut), { base: BASE, partial: true });
      const grown = growing.parse(text, { base: BASE, partial: true }).map(short).join(" ");
      assert.equal(
        grown,
        new StreamingParser().parse(text, { base: BASE, partial: true }).map(short).join(" "),
        JSON.stringify(text),
      );
    }
  });
});

it("a long paragraph keeps its syntax and citations, and all of its words", () => {
  const sentence =
    "The **key** opens one project [1](https://docs.example.com/keys#part:~:text=opens%20one%20project%2C%20and%20nothing%20else%20at%20all). ";
  const [{ tree }] = parseBlocks(sentence.repeat(60), { base: "https://docs.example.com/" });
  const tags = tree.children.map((child) => child.tag ?? "text");
  assert.equal(tags.filter((tag) => tag === "cite").length, 60);
  assert.equal(tags.filter((tag) => tag === "strong").length, 60);
  assert.ok(!JSON.stringify(tree.children.filter((child) => typeof child === "string")).includes("**"));
});

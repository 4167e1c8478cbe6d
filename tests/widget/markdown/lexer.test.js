import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { markedLexer } from "../../../static/widget/marked-lexer.mjs";
import { build } from "../../../static/widget/node_modules/esbuild/lib/main.js";
import { Lexer as Published } from "../../../static/widget/node_modules/marked/lib/marked.esm.js";
import { rounds } from "./rounds.js";

const widget = new URL("../../../static/widget/", import.meta.url).pathname;
const { outputFiles } = await build({
  stdin: { contents: 'export { Lexer } from "marked";', resolveDir: widget },
  bundle: true,
  write: false,
  format: "esm",
  tsconfigRaw: {},
  plugins: [markedLexer(`${widget}node_modules/marked/lib/marked.esm.js.map`)],
});
const { Lexer } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);

const EVERYTHING = `Setext
======

* a
  1. b
     - [x] c

> q
lazy

| a | b |
|:--|--:|
| \`x|y\` | 1 |

<div>html</div>

[ref]: https://a.example "t"

A **b _c_ ~~d~~** \`e\` [f](g "h") ![i](j) <https://k.example> https://l.example www.m.example n@o.example [ref] &amp; \\*  
break

~~~js
code
~~~

***
    indented
`;

describe("the lexer that is bundled from marked's sources", () => {
  it("is without the renderer", () => {
    assert.doesNotMatch(outputFiles[0].text, /blockquote>|class _?Renderer/);
  });

  it("gives the tokens of the published one", async () => {
    const pages = new URL("../../../docsite/site/content/", import.meta.url);
    const names = (await readdir(pages)).filter((name) => name.endsWith(".md"));
    const texts = await Promise.all(names.map((name) => readFile(new URL(name, pages), "utf8")));
    for (const text of [...texts, EVERYTHING]) {
      const step = Math.ceil(text.length / rounds(4, 25));
      for (let end = text.length; end > 0; end -= step) {
        const part = text.slice(0, end);
        assert.deepEqual(new Lexer({ gfm: true }).lex(part), new Published({ gfm: true }).lex(part));
      }
    }
  });
});

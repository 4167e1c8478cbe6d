/** Bundles the widget, the search and the view script into dist/, and fails when one outgrows its budget. */

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { minify } from "terser";
import { markedLexer } from "./marked-lexer.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A style sheet arrives in the script as minified text, ready to be adopted by a shadow root. */
const styles = {
  name: "styles",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      // Values of custom properties are kept as they are written, blanks and all.
      return { contents: code.trim().replace(/([:,]) | (\/) /g, "$1$2"), loader: "text" };
    });
  },
};

/** The parser's licence asks to go where the parser goes: it is served beside it. */
const LICENCES = "licences.txt";
const licence = (await readFile(here("node_modules/marked/LICENSE"), "utf8"))
  .split(/^## /m)
  .find((part) => part.startsWith("Marked"));
if (!licence) throw new Error("The licence of marked is not where it was.");

/** What addresses and tags say of a file: it is served at `/widget/<version>/<name>`, for good. */
function identity(content) {
  const hash = (algorithm, encoding) => createHash(algorithm).update(content).digest(encoding);
  return {
    version: hash("sha256", "hex").slice(0, 12),
    integrity: `sha384-${hash("sha384", "base64")}`,
    bytes: content.length,
    gzip: gzipSync(content, { level: 9 }).length,
  };
}

const manifest = {};

/** Bundles one script, and fails when it is over its budget (KB, gzipped). */
async function bundle(name, entry, format, budget, { banner = "", define = {} } = {}) {
  const { outputFiles } = await build({
    entryPoints: [here(entry)],
    format,
    bundle: true,
    write: false,
    target: "es2022",
    charset: "utf8",
    minify: true,
    tsconfigRaw: {}, // not one that lies above the checkout
    define,
    plugins: [styles, markedLexer(here("node_modules/marked/lib/marked.esm.js.map"))],
  });
  // A second minifier takes off another hundredth. What it may not do makes repetitions that gzip finds.
  const compress = {
    passes: 3,
    inline: 1,
    lhs_constants: false,
    if_return: false,
    sequences: false,
    pure_getters: true,
  };
  const { code } = await minify(outputFiles[0].text, { module: format === "esm", ecma: 2020, compress });
  const content = Buffer.from(banner + code);
  await writeFile(here(`dist/${name}`), content);
  manifest[name] = identity(content);
  const size = manifest[name].gzip / 1024;
  console.log(`${name}  ${size.toFixed(1)} of ${budget} KB gzip`);
  if (size > budget) {
    console.error(`${name} is over its budget.`);
    process.exitCode = 1;
  }
  return manifest[name];
}

await mkdir(here("dist"), { recursive: true });
const highlight = await bundle("highlight.js", "src/markdown/highlight.js", "esm", 6);
await writeFile(here(`dist/${LICENCES}`), licence.trim() + "\n");
const card = await bundle("citation-card.js", "src/transcript/citation-card.js", "esm", 3);
const personForm = await bundle("person-form.js", "src/person/form.js", "esm", 4);
const menu = await bundle("menu.js", "src/menu/list.js", "esm", 4);
const markdown = await bundle("markdown.js", "src/markdown/main.js", "esm", 20, {
  banner: `/*! Holds marked, MIT: /widget/${LICENCES} */\n`,
  define: { HIGHLIGHT_VERSION: JSON.stringify(highlight.version) },
});
const panel = await bundle("panel.js", "src/panel/panel.js", "esm", 30, {
  define: {
    MARKDOWN_VERSION: JSON.stringify(markdown.version),
    CITATION_CARD_VERSION: JSON.stringify(card.version),
    PERSON_FORM_VERSION: JSON.stringify(personForm.version),
    MENU_VERSION: JSON.stringify(menu.version),
  },
});
const searchDialog = await bundle("search-dialog.js", "src/search/element.js", "esm", 12);
const deflect = await bundle("deflect.js", "src/search/deflect.js", "esm", 4);
await bundle("search.js", "src/search/tag.js", "iife", 3, {
  define: {
    SEARCH_DIALOG_VERSION: JSON.stringify(searchDialog.version),
    DEFLECT_VERSION: JSON.stringify(deflect.version),
  },
});
await bundle("widget.js", "src/launcher/loader.js", "iife", 6, {
  define: { PANEL_VERSION: JSON.stringify(panel.version) },
});
await writeFile(here("dist/manifest.json"), JSON.stringify(manifest, null, 2) + "\n");
await bundle("views.js", "../page-views/views.js", "iife", 1.1);

/** Bundles the loader, the panel and the view script into dist/, and fails when one outgrows its budget. */
import { build, transform } from "esbuild";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A style sheet arrives in the script as minified text, ready to be adopted by a shadow root. */
const styles = {
  name: "styles",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code.trim(), loader: "text" };
    });
  },
};

/** The parser's licence asks to go wherever the parser goes. */
const licence = (await readFile(here("node_modules/marked/LICENSE"), "utf8")).split(/^## /m).find((part) => part.startsWith("Marked"));
if (!licence) throw new Error("The licence of marked is not where it was.");

const bundles = [
  { name: "widget.js", entry: "src/loader.js", format: "iife", budget: 6, banner: "" },
  { name: "panel.js", entry: "src/panel.js", format: "esm", budget: 45, banner: `/*! ${licence.trim()}\n*/` },
  { name: "views.js", entry: "src/views.js", format: "iife", budget: 1, banner: "" },
];

for (const { name, entry, format, budget, banner } of bundles) {
  const outfile = here(`dist/${name}`);
  await build({
    entryPoints: [here(entry)],
    outfile,
    format,
    bundle: true,
    minify: true,
    target: "es2022",
    charset: "utf8",
    banner: { js: banner },
    plugins: [styles],
  });
  const size = gzipSync(await readFile(outfile)).length / 1024;
  console.log(`${name}  ${size.toFixed(1)} of ${budget} KB gzip`);
  if (size > budget) {
    console.error(`${name} is over its budget.`);
    process.exitCode = 1;
  }
}

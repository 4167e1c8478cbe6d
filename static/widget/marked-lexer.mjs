/**
 * A plugin for esbuild that imports marked's lexer from its own sources.
 *
 * The package's module makes an instance of the whole parser as it loads, so a bundler can leave nothing of it out. Its
 * source map holds the TypeScript files as they were written. Bundled from these, only the lexer and its rules remain:
 * 11.4 KB gzip, and not 14.8. The options that `parser.js` sets are constants, so branches for others are left out.
 */
import { readFile } from "node:fs/promises";
import { posix } from "node:path";

const ENTRY = 'export { _Lexer as Lexer } from "./src/Lexer.ts";';
const NAMESPACE = "marked";

/** @type {Record<string, string>} */
const CONSTANT_OPTIONS = { gfm: "true", breaks: "false", pedantic: "false", silent: "false", hooks: "undefined" };

/** Rules of other dialects, which no bundler leaves out by itself: it cannot know that making them changes nothing. */
const OTHER_RULES = /(Pedantic|Breaks)(Core)?\b/;

/** @param {string} source @returns {string} */
const withConstantOptions = (source) =>
  source
    .replace(/this\.options\.(gfm|breaks|pedantic|silent|hooks)\b/g, (_, name) => CONSTANT_OPTIONS[name])
    .replace(/this\.options\.extensions\?\.(?:block|startBlock|inline|startInline)\b/g, "undefined")
    .replace(/^const (\w+)\b[\s\S]*?;\n(?=\n|$)/gm, (rule, name) => (OTHER_RULES.test(name) ? "" : rule))
    .replace(/^ {2}(?:pedantic|breaks): \w+,\n/gm, "")
    .replace(/^ {2}(?:escape(?:Test|Replace)|numericCharacterReferenceOr)\w*: .*\n/gm, "") // of the renderer
    .replace(/^ {2}static [\s\S]*?^ {2}\}\n/gm, "");

/** @param {string} file path of marked's source map */
async function readSources(file) {
  const { sources, sourcesContent } = JSON.parse(await readFile(file, "utf8"));
  const files = sources.map((name, i) => [posix.join("lib", name), withConstantOptions(sourcesContent[i])]);
  return new Map([...files, ["index.ts", ENTRY]]);
}

/** @param {string} file path of marked's source map */
export const markedLexer = (file) => ({
  name: "marked-lexer",
  setup({ onStart, onResolve, onLoad }) {
    let sources = new Map();
    onStart(async () => {
      sources = await readSources(file);
    });
    onResolve({ filter: /^marked$/ }, () => ({ path: "index.ts", namespace: NAMESPACE }));
    onResolve({ filter: /^\./, namespace: NAMESPACE }, ({ path, importer }) => ({
      path: posix.join(posix.dirname(importer), path),
      namespace: NAMESPACE,
    }));
    onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({ contents: sources.get(path), loader: "ts" }));
  },
});

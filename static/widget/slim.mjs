/**
 * Scripts in fewer characters. The Markdown parser is a third of the panel, of which only the lexer is used, and of
 * that only one dialect: what is left away here is a seventh of it. A test holds its tokens to those of the whole.
 */
import { readFile } from "node:fs/promises";
import { minify } from "terser";

/** Rules of the lexer that nothing uses can go: making one has no effect. */
const pure_funcs = ({ expression }) => expression.property !== "getRegex";

/** A script a twentieth smaller than esbuild makes it. */
export async function slim(script, format) {
  const compress = { passes: 2, inline: 1, lhs_constants: false, pure_funcs };
  return (await minify(script, { module: format === "esm", ecma: 2020, compress })).code;
}

/** A property that is a regular expression. Those of the lexer that are named nowhere else were its renderer's, and can go, too. */
const EXPRESSION = /\b(\w+):\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\/\w*,/g;

/** What the lexer is never told to do otherwise: without the rules and branches of its other dialects it is a tenth smaller. */
const SETTLED = { breaks: "false", extensions: "null", gfm: "true", hooks: "null", pedantic: "false", silent: "false" };

/**
 * A plugin of esbuild that cuts marked down to its lexer. The rest would stay in the bundle, because of the instance that
 * marked makes of itself.
 */
export const lexer = {
  name: "lexer",
  setup({ onLoad }) {
    onLoad({ filter: /marked\.esm\.js$/ }, async ({ path }) => {
      const parser = await readFile(path, "utf8");
      const instance = parser.search(/var \w+=new \w+;function \w+\(\w+,\w+\)\{return/);
      const name = /\b(\w+) as Lexer\b/.exec(parser)?.[1];
      let code = parser.slice(0, instance).replace(/this\.options\.(\w+)\b(?!=)/g, (whole, option) => SETTLED[option] ?? whole);
      const dialects = [...code.matchAll(/,(?:breaks|pedantic):(\w+)(?=[,}])/g)];
      for (const [entry, rules] of dialects) {
        code = code.replace(entry, "").replace(new RegExp(`,${rules}=\\{\\.{3}\\w+,.*?\\}(?=,\\w+=)`, "s"), "");
      }
      if (instance < 0 || !name || dialects.length !== 3) throw new Error("The insides of marked are not as they were.");
      const kept = await slim(`${code}export{${name} as Lexer};`, "esm");
      const contents = kept.replace(EXPRESSION, (whole, key) => (kept.split(new RegExp(`\\b${key}\\b`)).length > 2 ? whole : ""));
      return { contents, loader: "js" };
    });
  },
};

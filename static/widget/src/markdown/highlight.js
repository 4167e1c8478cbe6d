/**
 * Splits code into tokens of a few kinds, for colours. A script of its own, which the panel loads with the first block
 * of code.
 */

import bash from "@speed-highlight/core/languages/bash.js";
import css from "@speed-highlight/core/languages/css.js";
import diff from "@speed-highlight/core/languages/diff.js";
import go from "@speed-highlight/core/languages/go.js";
import html from "@speed-highlight/core/languages/html.js";
import ini from "@speed-highlight/core/languages/ini.js";
import js from "@speed-highlight/core/languages/js.js";
import json from "@speed-highlight/core/languages/json.js";
import py from "@speed-highlight/core/languages/py.js";
import rs from "@speed-highlight/core/languages/rs.js";
import toml from "@speed-highlight/core/languages/toml.js";
import ts from "@speed-highlight/core/languages/ts.js";
import yaml from "@speed-highlight/core/languages/yaml.js";
import { tokenizeWith } from "@speed-highlight/core/tokenize";

/** @typedef {{ text: string, kind: string }} Token */

/** SQL of our own: the grammar of the package is larger than all others together. */
const sql = [
  { type: "cmnt", match: /--.*|\/\*[\s\S]*?\*\//g },
  { expand: "str" },
  { expand: "num" },
  {
    type: "kwd",
    match:
      /\b(select|insert|update|delete|into|values|set|from|where|and|or|not|null|is|in|like|between|exists|join|left|right|inner|outer|full|cross|on|using|as|distinct|group|by|order|having|limit|offset|union|all|create|alter|drop|table|view|index|unique|primary|foreign|key|references|default|constraint|if|case|when|then|else|end|begin|commit|rollback|returning|with|asc|desc)\b/gi,
  },
  { type: "func", match: /\b\w+(?=\()/g },
  { type: "oper", match: /[=<>!+*/%|-]+/g },
];

/** By the ids of `languages.js`. @type {Record<string, any>} */
const GRAMMARS = { bash, css, diff, go, html, ini, js, json, py, rs, sql, toml, ts, xml: html, yaml };

/** The longest code that is highlighted, in characters: some expressions of the grammars take quadratic time. */
const MAX_LENGTH = 5_000;

/**
 * Splits code into tokens. Joined, their texts are the code.
 * @param {string} code
 * @param {string} id of its language
 * @returns {Token[]}
 */
export function tokenize(code, id) {
  const grammar = Object.hasOwn(GRAMMARS, id) && GRAMMARS[id];
  if (!grammar || code.length > MAX_LENGTH) return [{ text: code, kind: "" }];
  /** @type {Token[]} */
  const tokens = [];
  tokenizeWith(
    code,
    grammar,
    (text, kind = /** @type {any} */ ("")) => {
      const last = tokens.at(-1);
      if (last?.kind === kind) last.text += text;
      else if (text) tokens.push({ text, kind });
    },
    { languages: { css, js, py, ts } },
  );
  return tokens;
}

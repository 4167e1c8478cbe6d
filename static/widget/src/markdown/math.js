/**
 * Mathematics is shown as it is written, with its delimiters: there is no library that reads TeX and is small enough.
 * So what Markdown would take for emphasis, a table or a link in it is escaped.
 */

const FENCE = /^(?:\s|>|[-*+]\s|\d{1,3}[.)]\s)*(`{3,}|~{3,})/;
/** A code span, or a formula: `$$…$$`, `\[…\]`, `\(…\)`, or `$…$`, which is money if a digit follows. Each has a limit. */
const SPAN =
  /(?<!`)(`+)(?!`)[\s\S]{1,2000}?(?<!`)\1(?!`)|\$\$[^$]{1,2000}\$\$|\\\[(?:(?!\\[[\]]|\n\n)[\s\S]){1,2000}\\\]|\\\((?:(?!\\[()]|\n\n)[\s\S]){1,500}\\\)|(?<![\\$\w])\$(?=[^\s$])[^$\n]{1,500}(?<=[^\s\\])\$(?![\w$])/g;
/** A formula in brackets has one of these. Otherwise its brackets were only escaped. */
const SIGN = /[\\^_{}=+*/<>]/;

/** The text with its formulas as plain text. Code stays as it is. @param {string} text */
export function escapeMath(text) {
  if (!/\$|\\[[(]/.test(text)) return text;
  let fence = "";
  const parts = text.split(/(?<=\n)/);
  /** @type {string[]} */
  const done = [];
  let prose = "";
  for (const line of parts) {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (!fence && !mark) {
      prose += line;
      continue;
    }
    done.push(prose.replace(SPAN, escapeSpan), line);
    prose = "";
    if (!fence) fence = mark;
    else if (mark.startsWith(fence) && !line.trim().replaceAll(fence[0], "")) fence = "";
  }
  return done.join("") + prose.replace(SPAN, escapeSpan);
}

/** @param {string} span */
function escapeSpan(span) {
  if (span[0] === "`" || (span[0] === "\\" && !SIGN.test(span.slice(2, -2)))) return span;
  return span
    .replace(/\\([<`~&!])/g, "$1") // the service's own escapes
    .replace(/\s+/g, " ")
    .replace(/[\\`*_~[\]<>|&!]/g, "\\$&");
}

/**
 * Completes Markdown that is still arriving. Characters whose meaning is undecided are held back, and open marks are
 * closed, so that readers see no raw syntax, and half a link never becomes a link.
 */

/*
 * Answers may be hostile, so no expression here may match the same characters in two ways. Each reads a text once. Texts
 * that are read again for every character are cut to a length first.
 */
/** The markers before the text of a line. Nothing may follow in this expression, or it would backtrack. */
const PREFIX = /^(?:\s|>|[-*+]\s|\d{1,3}[.)]\s)*/;
const FENCE = /^(?:`{3,}(?=[^`]*$)|~{3,})/;
/** A last line that may become a heading, list item, rule, table, underline of a heading, or fence. */
const UNDECIDED = /^(?:#{1,6}|[-*+=_:|\s]+|\d{1,3}[.)]?|`{1,2}|~{1,2}|\[[ xX]?\]?|\\?\[!\w*\\?\]?)?$/;
/** Lines that end emphasis. */
const BOUNDARY = /^\s*(?:$|#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s|\||>)/;

const RUN = /^(.)\1*/;
const LABEL = /^\[(?:\\.|`[^`]*`|[^[\]\\`]|\[[^\]]*\])*\]/;
const TARGET = /^\((?:<[^<>]*>|(?:[^()\s<]|\([^()\s]*\))*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;
const OPEN_TARGET = /^\((?:<[^<>]*|(?:[^\s<]\S*|<[^<>]*>)?(?:\s+(?:"[^"]*(?:"\s*)?|'[^']*(?:'\s*)?)?)?)$/;
/** A longer label is not waited for: it is a bracket in the text. The same for the target of a link. */
const MAX_LABEL = 200;
const MAX_TARGET = 2_000;

/**
 * The part of a text that can be shown, with its open marks closed.
 * @param {string} text
 */
export function completeMarkdown(text) {
  const end = text.lastIndexOf("\n") + 1;
  const whole = text.slice(0, end).split("\n");
  const last = text.slice(end);

  const fence = findOpenFence(whole);
  if (fence) return /^\s*(`+|~+)$/.test(last) && !closesFence(last, fence) ? text.slice(0, end) : text;
  const rest = last.slice(prefixLength(last)).trimEnd();
  const undecided = last && (FENCE.test(rest) || UNDECIDED.test(rest));
  return completeInline(dropOpenTable(undecided ? text.slice(0, end) : text));
}

/** Length of the markers before the text of a line. @param {string} line */
const prefixLength = (line) => PREFIX.exec(line)?.[0].length ?? 0;

/** The fence that is open after some lines. @param {string[]} lines */
function findOpenFence(lines) {
  let fence = "";
  for (const line of lines) {
    if (fence) {
      if (closesFence(line, fence)) fence = "";
    } else {
      fence = FENCE.exec(line.slice(prefixLength(line)))?.[0] ?? "";
    }
  }
  return fence;
}

/** @param {string} line @param {string} fence */
function closesFence(line, fence) {
  const marks = line.trim();
  return marks.length >= fence.length && marks === fence[0].repeat(marks.length);
}

/** Drops a header row until the row of dashes below it is complete. Bars may stand between its cells only. @param {string} text */
function dropOpenTable(text) {
  const start = text.lastIndexOf("\n\n") + 1;
  const lines = text.slice(start).split("\n");
  const isDashes = (/** @type {string} */ line) => /^[\s:|-]*$/.test(line);
  if (lines.slice(0, -1).some((line, i) => i && line.includes("-") && isDashes(line))) return text;
  const at = lines.length > 1 && isDashes(lines[lines.length - 1]) ? lines.length - 2 : lines.length - 1;
  if (!/^\s*\||[^\\]\|/.test(lines[at].replace(/`[^`]*`/g, ""))) return text;
  return text.slice(0, start) + lines.slice(0, at).join("\n");
}

/** Holds back or closes what is open in the last paragraph, item or cell. @param {string} text */
function completeInline(text) {
  const start = growingTextStart(text);
  return text.slice(0, start) + closeInline(text.slice(start));
}

/** The start of the paragraph, item or cell that is still growing. @param {string} text */
function growingTextStart(text) {
  let end = text.length;
  for (;;) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(start, end);
    if (BOUNDARY.test(line) || start === 0) {
      const cell = line.startsWith("|") ? line.trimEnd().replace(/\|$/, "").lastIndexOf("|") + 1 : 0;
      const marker = prefixLength(line);
      return start + Math.max(cell, marker + (/^#{1,6}\s/.exec(line.slice(marker, marker + 7))?.[0].length ?? 0));
    }
    end = start - 1;
  }
}

/** @param {string} text */
function closeInline(text) {
  /** @type {{ mark: string, at: number }[]} */
  const open = [];
  let cut = text.length;
  for (let i = 0; i < cut; ) {
    const c = text[i];
    if (c === "\\") {
      if (i + 1 === text.length || (text.length - i < 12 && /^\\<\/?[a-z]*\s?\/?$/i.test(text.slice(i)))) cut = i;
      i += 2;
    } else if (c === "`") {
      const run = RUN.exec(text.slice(i))?.[0] ?? "";
      const inside = i + run.length;
      const close = findRun(text, inside, run);
      if (close < 0) {
        let to = text.length;
        while (text[to - 1] === "`" && to > inside) to--;
        const code = text.slice(inside, to);
        return code.trim() ? text.slice(0, inside) + code + run + closers(open) : closeEmphasis(text.slice(0, i), open);
      }
      i = close + run.length;
    } else if (c === "[" || (c === "!" && text[i + 1] === "[")) {
      const link = linkLength(text.slice(c === "!" ? i + 1 : i));
      if (link === "undecided") cut = i;
      else i += (link || 1) + (c === "!" && link ? 1 : 0);
    } else if (c === "<" && text.length - i < MAX_LABEL && /^<(?:[a-z/!][^<>]*)?$/i.test(text.slice(i))) {
      cut = i;
    } else if (c === "&" && /^&#?\w{0,10}$/.test(text.slice(i, i + 13))) {
      cut = i;
    } else if (
      /[hw]/.test(c) &&
      text.length - i < MAX_TARGET &&
      !/\w/.test(text[i - 1] ?? "") &&
      /^(?:https?:\/\/|www\.)\S*$/.test(text.slice(i))
    ) {
      cut = i;
    } else if (c === "*" || c === "_" || c === "~") {
      const run = RUN.exec(text.slice(i))?.[0] ?? "";
      const left = applyEmphasis(open, run, i, text[i - 1] ?? " ", text[i + run.length]);
      if (left !== null) cut = left;
      i += run.length;
    } else {
      i++;
    }
  }
  return closeEmphasis(text.slice(0, cut), open);
}

/** The position of the next run of exactly these backticks; -1 if there is none. @param {string} text @param {number} from @param {string} run */
function findRun(text, from, run) {
  for (const match of text.slice(from).matchAll(/`+/g)) if (match[0] === run) return from + match.index;
  return -1;
}

/** Length of the link at the start of a text; 0 if there is none. @param {string} text */
function linkLength(text) {
  const label = LABEL.exec(text.slice(0, MAX_LABEL))?.[0];
  if (!label) return text.length < MAX_LABEL ? "undecided" : 0;
  const rest = text.slice(label.length, MAX_TARGET);
  if (!rest) return "undecided";
  if (rest[0] !== "(") return 0;
  const target = TARGET.exec(rest)?.[0];
  if (target) return label.length + target.length;
  return text.length < MAX_TARGET && OPEN_TARGET.test(rest) ? "undecided" : 0;
}

/**
 * Opens and closes emphasis at one run of marks. Returns where to cut the text if the run is undecided, else null.
 * @param {{ mark: string, at: number }[]} open
 * @param {string} run
 * @param {number} at
 * @param {string} before
 * @param {string | undefined} after undefined at the end of the text
 */
function applyEmphasis(open, run, at, before, after) {
  let left = run.length;
  if (/\S/.test(before)) {
    for (let top = open.at(-1); top?.mark[0] === run[0] && top.mark.length <= left; top = open.at(-1)) {
      left -= top.mark.length;
      open.pop();
    }
  }
  if (left === 0) return null;
  if (after === undefined) return at + run.length - left;
  const inWord = /\w/.test(before) && /\w/.test(after);
  const opens =
    /\S/.test(after) && left <= 3 && !(inWord && (run[0] === "_" || left === 1)) && !(run[0] === "~" && left !== 2);
  if (opens) open.push({ mark: run[0].repeat(left), at: at + run.length - left });
  return null;
}

/** @param {{ mark: string }[]} open */
const closers = (open) =>
  open
    .map(({ mark }) => mark)
    .reverse()
    .join("");

/** The text with its emphasis closed. Emphasis without text yet is dropped. @param {string} text @param {{ mark: string, at: number }[]} open */
function closeEmphasis(text, open) {
  if (!open.length) return text;
  let kept = text.trimEnd();
  for (let top = open.at(-1); top && top.at + top.mark.length >= kept.length; top = open.at(-1)) {
    kept = kept.slice(0, top.at).trimEnd();
    open.pop();
  }
  return kept + closers(open);
}

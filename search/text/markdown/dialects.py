"""Block rules for the Markdown extensions of documentation generators.

- `indented`: `!!! note "Title"`, `??? tip` and `=== "Tab"` with the indented text below (Python-Markdown, Material for
  MkDocs); `[^1]: Note` and `: Meaning` with theirs (footnotes, definition lists)
- `directive`: `:::note Title` (Docusaurus, VitePress), `::: module.name` (mkdocstrings), `/// tip | Title` (PyMdown)
- `definition`: `[name]: target`, which generators also take within a paragraph
- `hidden`: `<!--`, `<script>`, `<style>` and `<svg>` over several lines
- `html_table`: `<table>` to `</table>`, with blank lines in it

An `indented` token opens and closes, and holds blocks; the others stand alone. `info` has the title as Markdown, and
`content` of a `hidden` token has the text before and after the hidden part on its first and last line.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock

_ADMONITION = re.compile(r'(?:!!!|\?\?\?\+?)\s*[\w-]+(?:\s+[\w-]+)*(?:\s+"(.*)")?$')
_TAB = re.compile(r'===[!+]?\s+"(.+)"$')
_NOTE = re.compile(r"(?:\[\^[^\]\s]+\]:\s*|:\s{1,3}(?=\S))")
_BLOCK = re.compile(r"/{3,}(?:\s*[\w-]+)?(?:\s*\|\s*(.+))?$")
_OPTION = re.compile(r"[\w-]+:")
_DIRECTIVE = re.compile(r":{3,}\s*+([\w.-]*+)\s*+(?:\[(.*?)\])?\s*+(?:\{[^{}]*\})?\s*+(.*)$")
_DEFINITION = re.compile(r"\[([^\]^][^\]]{0,300})\]:\s*<?([^\s<>]+)>?(?:\s+[\"'(].*)?$")
_SILENT_ELEMENT = re.compile(r"<(script|style|svg)\b", re.IGNORECASE)
_TABLE = re.compile(r"<(/?)table(?![\w-])", re.IGNORECASE)
_BLOCK_START = re.compile(r"```|~~~|#{1,6}[ \t]")
_KINDS = frozenset(
    (
        *("note", "tip", "info", "warning", "danger", "caution", "important", "details", "success", "error", "hint"),
        *("question", "example", "seealso", "code-group", "tabs", "tab", "steps", "card", "cards", "secondary"),
        *("v-pre", "raw"),
    )
)
_MAX_LINE = 2_000  # characters; a longer one is text
_CODE_SPAN = re.compile(r"\\.|(?<!`)(`++)(?!`).*?(?<!`)\1(?!`)")
_STARTS = frozenset("!?=[:/<")
_INTERRUPTED: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def add_dialects(parser: MarkdownIt) -> None:
    """Teach a parser the dialects."""
    parser.block.ruler.after("fence", "dialect", _dialect, _INTERRUPTED)


def _dialect(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin, stop = state.bMarks[start] + state.tShift[start], state.eMarks[start]
    has_comment = state.src.find("<!--", begin, stop) >= 0
    if begin >= stop or (state.src[begin] not in _STARTS and not has_comment):
        return False
    if state.is_code_block(start):
        return False
    first = state.src[begin]
    if first == "<" and _TABLE.search(state.src, begin, stop) and _table(state, start, end, silent):
        return True
    if stop - begin > _MAX_LINE:
        return False
    line = state.src[begin:stop].rstrip()
    if first in "!?=" and (opened := _ADMONITION.match(line) or _TAB.match(line)):
        return silent or _indented(state, start, end, _bold(opened[1]), 0)
    if first in "[:" and (note := _NOTE.match(line)):
        return silent or _indented(state, start, end, "", note.end())
    if first == "[" and (definition := _DEFINITION.match(line)):
        return silent or _push(state, "definition", start, start + 1, definition[1], definition[2])
    if first == ":" and line.startswith(":::") and (directive := _DIRECTIVE.match(line)):
        return silent or _directive(state, start, end, line, directive)
    if first == "/" and (block := _BLOCK.match(line)):
        last = start + 1
        while last < end and state.sCount[last] - state.sCount[start] >= 4 and _OPTION.match(_text(state, last)):
            last += 1
        return silent or _push(state, "directive", start, last, _bold(block[1]))
    return _comment(state, start, end, silent, line) if has_comment or first == "<" else False


def _push(state: StateBlock, kind: str, start: int, end: int, info: str = "", content: str = "") -> bool:
    token = state.push(kind, "", 0)
    token.map, token.info, token.content = [start, end], info, content
    state.line = end
    return True


def _bold(title: str | None) -> str:
    title = (title or "").strip()
    return f"**{title}**" if title and "**" not in title else title


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _indented(state: StateBlock, start: int, end: int, title: str, marker: int) -> bool:
    """A line and the text below that is indented by four more columns. Text may stand behind a `marker`."""
    indent = state.sCount[start] + 4
    last = start + 1
    while last < end and (state.isEmpty(last) or state.sCount[last] >= indent):
        last += 1
    token = state.push("indented_open", "", 1)
    token.map, token.info = [start, last], title
    token.meta["marker"] = marker
    before = (state.parentType, state.lineMax, state.blkIndent, state.tShift[start], state.sCount[start])
    state.parentType, state.lineMax, state.blkIndent = "indented", last, indent
    if marker:
        state.tShift[start] += marker
        state.sCount[start] = indent
    state.md.block.tokenize(state, start if marker else start + 1, last)
    state.parentType, state.lineMax, state.blkIndent, state.tShift[start], state.sCount[start] = before
    state.push("indented_close", "", -1)
    state.line = last
    return True


def _directive(state: StateBlock, start: int, end: int, line: str, found: re.Match[str]) -> bool:
    """A line of colons. It gives the following block a title; for mkdocstrings, the name of the documented object."""
    kind, bracketed, rest = found.groups()
    last = start + 1
    title = _bold(bracketed or rest)
    if kind and kind not in _KINDS and not title and ":::" + kind != line:
        title = f"`{kind}`"
        while last < end and not state.isEmpty(last) and state.sCount[last] - state.sCount[start] >= 4:  # its options
            last += 1
    return _push(state, "directive", start, last, title)


def _comment(state: StateBlock, start: int, end: int, silent: bool, line: str) -> bool:
    """A comment or an element without text that ends on a later line. One that never ends is text."""
    element = _SILENT_ELEMENT.match(line)
    closing = f"</{element[1].lower()}" if element else "-->"
    shown = _CODE_SPAN.sub(lambda span: " " * len(span[0]), line)
    opened = 0 if element else shown.find("<!--", shown.rfind("-->") + 1)
    if opened < 0 or (element and closing in line.lower()):
        return False
    if f"{closing} {end}" in state.env:  # an earlier search found no end
        return False
    for last in range(start + 1, end):
        text = _text(state, last)
        at = text.lower().find(closing)
        if at >= 0:
            behind = text[at + 3 :] if closing == "-->" else text[at:].partition(">")[2]
            around = "\n".join(filter(str.strip, (line[:opened], behind)))
            return silent or _push(state, "hidden", start, last + 1, content=around)
    state.env[f"{closing} {end}"] = True
    return False


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """An HTML table. One that never ends, or holds code, headings or tables, is text with tags."""
    if f"table {end}" in state.env:  # an earlier search found no end
        return False
    depth = 0
    for last in range(start, end):
        text = _text(state, last)
        if _BLOCK_START.match(text):
            return False
        for tag in _TABLE.finditer(text):
            depth += -1 if tag[1] else 1
            if depth not in (0, 1):
                return False
        if not depth:
            content = state.getLines(start, last + 1, state.sCount[start], False)
            return silent or _push(state, "html_table", start, last + 1, content=content)
    state.env[f"table {end}"] = True
    return False

"""Turn the Markdown of a site into plain Markdown that can be quoted anywhere."""

import re
from collections.abc import Iterator
from html import unescape

from search.text.markdown.reader import MAX_PARAGRAPH, parse_site
from search.text.markdown.tables import convert_tables
from search.text.markdown.writer import code_span, subscript, superscript

_MARKER = re.compile(r"(?<!\s)(\s*+)(?:\[\^[^\[\]\s]+\]:\s*|:\s{1,3})")  # of a footnote or of the meaning of a term
# Attributes of the block above, files to include, a table of contents, abbreviations: Python-Markdown and extensions.
_HIDDEN = re.compile(
    r"\s*(?:\{[*!].*[*!]\}|;?-+8<-+.*|\[\[?_?toc_?\]\]?|\*\[[^\]]+\]:.*|\{:?\s*[.#][^{}]*\})\s*$", re.IGNORECASE
)
# A line that a template should have filled in: `__PLACEHOLDER__`, or another such name where Markdown would show it.
_PLACEHOLDER = re.compile(
    r"\s*(?:__(?:[A-Z0-9]+_)*PLACEHOLDER(?:_[A-Z0-9]+)*__|\\_\\_[A-Z][A-Z0-9]*(?:\\_[A-Z0-9]+)*\\_\\_)\s*$"
)
_FOOTNOTE_MARK = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_ALERT = re.compile(r"(?m)^([^\S\n]*+(?:>[^\S\n]*+)++)\[!\w+\][+-]?[ \t]*(.*)$")
_TASK = re.compile(r"(?m)^([^\S\n]*+(?:[-*+]|\d{1,9}[.)])[^\S\n]++)\[[ xX]\]\s")

_MARKED = re.compile(r"[<\[`{:\\]|~~")
_PROTECTED = re.compile(
    r"\\[!-/:-@\[-`{-~]"  # an escaped character
    r"|(?<!`)(`++)((?:[^`\n]|\n(?![^\S\n]*+(?:[-*+#>|]|\d++[.)])\s)|(?!\1(?!`))`++)+?)(?<!`)\1(?!`)"  # a code span
    r"|<(?:https?://|mailto:)[^\s<>]*>"  # an address
)
_COMMENT = re.compile(  # one without an end is text, like all behind it
    r"(?:^([ \t>]*+)(?=<!--))?<!--(?:.*?-->([ \t]*+\n)?|(.*+))", re.DOTALL | re.MULTILINE
)
_HIGHLIGHT = re.compile(r"(?<!`)(`++)#!\w+ ")
_ELEMENT = re.compile(r"<(script|style|svg|strike|del|s)(?![\w-])[^<>]*>", re.IGNORECASE)
_DELETIONS = frozenset(("strike", "del", "s"))
_DELETED = re.compile(r"(?<![~\\])~~(?=[^\s~])((?:[^~\n]|\n(?!\n)){1,1000}+)(?<!\s)~~(?!~)")
_CODE_ELEMENT = re.compile(
    r"<(code|kbd|samp|tt)>([^<>\n`\x00]{1,300})</\1>(?=(<(?:code|kbd|samp|tt)>|`)?)", re.IGNORECASE
)
_RAISED = re.compile(r"<sup>\s*+([^<>\n]{1,60}+)\s*+</sup>", re.IGNORECASE)
_LOWERED = re.compile(r"(\S)<sub>\s*+([^<>\n]{1,60}+)\s*+</sub>", re.IGNORECASE)
_HEADING = re.compile(r"(?m)^([ ]{0,3})<h([1-6])\b([^<>]*)>(.{0,1000}?)</h\2>\s*$", re.IGNORECASE)
_SUMMARY = re.compile(r"<summary\b[^<>]*>(.{0,1000}?)</summary>", re.DOTALL | re.IGNORECASE)
_ID = re.compile(r"""\bid\s*=\s*["']?([\w:.-]+)""")
_ALT = re.compile(r"""\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_ANCHOR = re.compile(
    r"<a\s[^<>]{0,500}?\bhref\s*=\s*([\"'])([^\"'<>\s]{1,1000})\1[^<>]{0,500}>([^<>\[\]]{1,300})</a>", re.IGNORECASE
)
_TAG = re.compile(r"</?([a-zA-Z][\w.:-]*+)(?:\s(?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}'|[\"']){0,4000}+)?/?>")
_ATTRIBUTES = r"(?:\{[^{}\n]*\})?"
_TITLE = r"(?:\"[^\"]*\"|'[^']*'|\([^()]*\))"
_IMAGE = re.compile(
    r"!\[([^\[\]]{0,1000}+)\](?:\(\s*+(?:<?[^()\s<>]*+(?:\([^()\s]*\)[^()\s]*+)*>?(?:\s++" + _TITLE + r")?"
    r"|(?<=\s)" + _TITLE + r")\s*+\)|\[[^\[\]]{0,300}\])" + _ATTRIBUTES
)  # fmt: skip
_LABEL = r"\[((?:[^\[\]]|\[[^\[\]]{0,300}+\]){0,1000}+)\]"
_LINK = re.compile(
    _LABEL + r"\(\s*+(?:(?:<([^<>\n]*)>|((?:[^()\s<>]|\([^()\s]*\))*+))(?:\s++" + _TITLE + r")?|(?<=\s)" + _TITLE
    + r")\s*+\)" + _ATTRIBUTES
)  # fmt: skip
_TARGET = re.compile(r"(?:https?://|mailto:|(?![a-zA-Z][\w+.-]*:|//))[^\s<>]+")
_REFERENCE = re.compile(r"(?<![\w\]])" + _LABEL + r"(?:\[([^\[\]]{0,300}+)\]|(?![\[(]))" + _ATTRIBUTES)
_SITE = re.compile(
    r"\{%.{0,500}?%\}|\{\{[<%].{0,500}?[%>]\}\}|\{\{[-\w\s.|()]{1,100}\}\}"  # template tags
    r"|:(?:material|fontawesome|octicons|simple)-[\w-]+:" + _ATTRIBUTES  # icons
    + r"|(?<![^\s|(*])(?::[a-z][a-z0-9_+-]{0,40}:)+(?![^\s|),.!*])"  # emoji by name
    r"|(?m:(?<=[^\s#])[ ]?\{:?[ ]*\.[\w-][^{}\n#]*\}[ ]*$)"  # classes at the end of a line, not a heading's id
    r"|(?<=\x00)\{:?[ ]*[.#][\w-][^{}\n]*\}"  # classes of a code span
)  # fmt: skip
_BLOCK_ELEMENTS = """
    address article aside blockquote body br caption center dd details div dl dt figcaption figure footer form h1 h2
    h3 h4 h5 h6 head header hr html li main nav ol option p pre section select summary table tbody td textarea tfoot
    th thead title tr ul"""
_INLINE = """
    a abbr audio b bdi bdo big button canvas cite code col colgroup data datalist del dfn dialog em embed fieldset
    font i iframe img input ins kbd label legend link map mark math menu meta meter nobr noscript object output param
    path picture progress q rp rt ruby s samp script slot small source span strike strong style sub sup svg template
    time track tt u var video wbr g"""
BLOCK_ELEMENTS = frozenset(_BLOCK_ELEMENTS.split())
ELEMENTS = BLOCK_ELEMENTS | frozenset(_INLINE.split())


def clean(markdown: str) -> str:
    """Markdown that can be quoted anywhere: no comments, HTML tags, images or site-specific syntax.

    Relative links stay for `search.retrieval.links`, which knows where they lead. The
    titles of admonitions and tabs stay as bold lines and their text moves to the
    left; code is left as it is. Takes time in proportion to the length.
    """
    source = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return "\n".join(_Cleaner(source).lines())


class _Cleaner:
    """One walk over the blocks: code goes straight to the result, prose in paragraphs through `_inline`."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.left = source.split("\n")
        self.at = 0  # the first line that no block has handled yet
        self.columns = 0  # indentation by the admonitions and tabs around
        self.done: list[str | list[str]] = []  # a list is a paragraph still to be cleaned
        self.references: dict[str, str] = {}

    def lines(self) -> Iterator[str]:
        """The cleaned lines."""
        self._walk()
        for item in self.done:
            if isinstance(item, str):
                yield item
            else:
                for piece in _pieces(item):
                    yield from _inline(piece, self.references).split("\n")

    def _walk(self) -> None:
        for token in parse_site(self.source):
            if token.type == "indented_close":
                self.columns -= 4
            if not token.map:
                continue
            first, last = token.map
            if token.type == "indented_open":
                self._skip_to(first)
                self._open(first, token.info, bool(token.meta["marker"]))
            elif token.type in ("fence", "code_block"):
                self._skip_to(first)
                self.done += [cut(line, self.columns) for line in self.left[first:last]]
                self.at = last
            elif token.type in ("paragraph", "heading_open", "rows", "hr"):
                self._skip_to(first)
                self.done.append([self._prose(line) for line in self.left[first:last] if not _is_hidden(line)])
                self.at = last
            elif token.type == "html_table":
                self._skip_to(first)
                self._table(width(cut(self.left[first], self.columns)), token.content)
                self.at = last
            elif token.type in ("directive", "hidden", "definition"):
                self._skip_to(first)
                if token.type == "directive":
                    self._title(width(cut(self.left[first], self.columns)), token.info)
                elif token.type == "definition":
                    self.references.setdefault(_key(token.info), token.content)
                elif token.content:
                    self.done.append(token.content.split("\n"))
                self.at = last
        self._skip_to(len(self.left))

    def _open(self, line: int, title: str, has_text: bool) -> None:
        """An admonition or tab has a title; a footnote or meaning has text behind its marker."""
        if has_text:
            self.done.append("")
            text = _MARKER.sub(r"\1", cut(self.left[line], self.columns), count=1)
            self.left[line] = " " * (self.columns + 4) + text
        else:
            self._title(width(cut(self.left[line], self.columns)), title)
            self.at = line + 1
        self.columns += 4

    def _skip_to(self, line: int) -> None:
        """Lines of no block: they are blank, or only the marks of a quote or list."""
        self.done += [[self._prose(one)] if one.strip() else "" for one in self.left[self.at : line]]
        self.at = max(self.at, line)

    def _prose(self, line: str) -> str:
        line = cut(line, self.columns)
        return " " * width(line) + line.strip() + ("  " if line.endswith("  ") and line.strip() else "")

    def _table(self, indent: int, source: str) -> None:
        self.done.append("")
        for block in convert_tables(_COMMENT.sub(_drop_comment, source)).split("\n\n"):
            self.done += [[" " * indent + line for line in block.split("\n")], ""]

    def _title(self, indent: int, title: str) -> None:
        self.done.append("")
        if title:
            self.done += [[" " * indent + title], ""]


def width(line: str) -> int:
    """How far a line is indented, in columns; a tab reaches the next multiple of four."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


def cut(line: str, columns: int) -> str:
    """The line, moved to the left by so many columns or as far as it goes."""
    at = gone = 0
    while gone < columns and at < len(line) and line[at] in " \t":
        gone += 1 if line[at] == " " else 4 - gone % 4
        at += 1
    return " " * (gone - columns) + line[at:]


def _pieces(lines: list[str]) -> Iterator[str]:
    """A paragraph, or a long table in several pieces that end with a line."""
    piece: list[str] = []
    size = 0
    for line in lines:
        if piece and size + len(line) > MAX_PARAGRAPH:
            yield "\n".join(piece)
            piece, size = [], 0
        piece.append(line)
        size += len(line)
    yield "\n".join(piece)


def _inline(prose: str, references: dict[str, str]) -> str:
    """Drop tags, images and links of unknown schemes, outside code spans."""
    if len(prose) > MAX_PARAGRAPH:
        return _TAG.sub(_tag, prose) if prose.lstrip()[:1] in "<|" else prose
    if not _MARKED.search(prose):
        return prose
    spans: list[str] = []

    def protect(text: str) -> str:
        spans.append(text)
        return f"\x00{len(spans) - 1}\x00"

    prose = _PROTECTED.sub(lambda span: protect(_HIGHLIGHT.sub(r"\1", span[0])), prose)
    is_heading = prose.lstrip().startswith("#")  # its anchor has the words of deletions, too
    if "~~" in prose and not is_heading:
        prose = _DELETED.sub("", prose)
    if "<" in prose:
        prose = _COMMENT.sub(_drop_comment, prose)
        prose = _CODE_ELEMENT.sub(lambda found: protect(code_span(unescape(found[2]))) + " " * bool(found[3]), prose)
        margin = re.match(r"(\s*)<[/a-zA-Z]", prose)
        prose = _drop_elements(prose, but=_DELETIONS if is_heading else frozenset())
        prose = _RAISED.sub(lambda found: superscript(found[1].strip()), prose)
        prose = _LOWERED.sub(lambda found: found[1] + subscript(found[1], found[2].strip()), prose)
        separator = " " if prose.lstrip().startswith("|") else "\n\n"
        prose = _SUMMARY.sub(lambda found: f"{separator}**{_TAG.sub('', found[1]).strip()}**{separator}", prose)
        prose = _HEADING.sub(_heading, prose)
        prose = _ANCHOR.sub(lambda found: _link(found[3], found[2]), prose)
        prose = _TAG.sub(_tag, prose)
        if margin:  # the lines of an HTML block may be indented as they like
            prose = re.sub(rf"(?m)^{margin[1]}\s+(?=\S)", margin[1], prose)
    if "[" in prose:
        prose = _TASK.sub(r"\1", _ALERT.sub(_alert, prose))
        prose = _FOOTNOTE_MARK.sub("", prose)
        prose = _IMAGE.sub(r"\1", prose)
        prose = _LINK.sub(lambda found: _link(found[1], found[2] or found[3] or ""), prose)
        prose = _REFERENCE.sub(lambda found: _resolve_reference(found, references, spans), prose)
    if "{" in prose or ":" in prose:
        prose = _SITE.sub("", prose)
    while "\x00" in prose:  # a restored link may hold another code span
        prose = re.sub("\x00(\\d+)\x00", lambda mark: spans[int(mark[1])], prose)
    return "\n".join(line if line.endswith("  ") and line.strip() else line.rstrip() for line in prose.split("\n"))


def _drop_comment(comment: re.Match[str]) -> str:
    """Nothing for a comment, and nothing for its line if it fills the line."""
    margin, line_end, text = comment.groups()
    if text is not None:
        return comment[0]
    return (margin or "") + (line_end or "") if margin is None or line_end is None else ""


def _drop_elements(prose: str, but: frozenset[str]) -> str:
    """Drop scripts, styles, drawings and deletions with their content. One without an end is left to `_TAG`."""
    kept: list[str] = []
    at = 0
    unclosed = set(but)
    for element in _ELEMENT.finditer(prose):
        name = element[1].lower()
        if element.start() < at or name in unclosed:
            continue
        if end := re.compile(rf"</{name}\s*+>", re.IGNORECASE).search(prose, element.end()):
            kept.append(prose[at : element.start()])
            at = end.end()
        else:
            unclosed.add(name)
    return "".join([*kept, prose[at:]])


def _tag(tag: re.Match[str]) -> str:
    name = tag[1].lower()
    if name == "img":
        alt = _ALT.search(tag[0])
        return (alt[1] or alt[2] or alt[3] or "") if alt else ""
    if name in BLOCK_ELEMENTS:
        return " "
    named = tag[1] == name and "-" not in name[1:2] and not any(mark in tag[0] for mark in " =\n")
    return f"\\{tag[0]}" if named and name not in ELEMENTS else ""  # `<your-key>` is text, not an element


def _heading(found: re.Match[str]) -> str:
    """An HTML heading as Markdown. Generators give it no anchor of their own."""
    anchor = _ID.search(found[3])
    return f"\n{'#' * int(found[2])} {found[4].strip()} {{ #{anchor[1] if anchor else ''} }}\n"


def _alert(alert: re.Match[str]) -> str:
    return f"{alert[1]}**{alert[2].strip()}**\n{alert[1]}" if alert[2].strip() else alert[1]


def _link(text: str, target: str) -> str:
    """A link whose target is on the web, a mail address or on the site; else its text."""
    label = text.strip()
    if not label or not _TARGET.fullmatch(target):
        return text
    before, _, after = text.partition(label)
    return f"{before}[{label}]({target}){after}"


def _resolve_reference(found: re.Match[str], references: dict[str, str], spans: list[str]) -> str:
    """`[text][name]`: a link as the page defines it, or one that the site's generator resolves to a code name."""
    text, name = found[1], found[2]
    key = re.sub("\x00(\\d+)\x00", lambda mark: spans[int(mark[1])], name or text)
    if target := references.get(_key(key)):
        return _link(text, target)
    return found[0] if name is None or len(text) < 2 or text.isdigit() else text


def _key(name: str) -> str:
    return " ".join(name.lower().split())


def _is_hidden(line: str) -> bool:
    """Whether readers do not see a line of prose, or should not."""
    return bool(_HIDDEN.match(line) or _PLACEHOLDER.match(line))

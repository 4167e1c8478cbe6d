"""Markdown as sites write it to Markdown that can be quoted anywhere."""

import re
from collections.abc import Iterable

LONGEST = 20_000  # characters of one paragraph that are looked into; more is data, not prose

_FENCE = re.compile(r"((?:\s|>|[-*+]\s|\d{1,9}[.)]\s)*)(`{3,}(?=[^`]*$)|~{3,})")
_ADMONITION = re.compile(r'(\s*)(?:!!!|\?\?\?\+?)\s*[\w-]+(?:\s+[\w-]+)*(?:\s+"(.*)")?\s*$')
_TAB = re.compile(r'(\s*)===[!+]?\s+"(.+)"\s*$')
_BLOCK = re.compile(r"\s*/{3,}(?:\s*[\w-]+)?(?:\s*\|\s*(.+))?\s*$")
_OPTION = re.compile(r"\s{4,}[\w-]+:")
_DIRECTIVE = re.compile(r"\s*:{3,}\s*([\w.-]*)\s*(?:\[(.*?)\])?\s*(?:\{[^{}]*\})?\s*(.*?)\s*$")
_FOOTNOTE = re.compile(r"(\s{0,3})\[\^[^\]\s]+\]:\s*(.*)")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_MEANING = re.compile(r"(\s*):\s{1,3}(\S.*)")  # of a term in a definition list
_DEFINITION = re.compile(r"\s{0,3}\[([^\]^][^\]]{0,300})\]:\s*<?([^\s<>]+)>?(?:\s+[\"'(].*)?\s*$")
_INVISIBLE = re.compile(
    r"\s*(?:\{[*!].*[*!]\}|;?-+8<-+.*|\[\[?_?toc_?\]\]?|\*\[[^\]]+\]:.*|\{:?\s*[.#][^{}]*\})\s*$", re.IGNORECASE
)
_NO_TEXT = re.compile(r"\s*<(script|style|svg)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_ALERT = re.compile(r"(?m)^(\s*(?:>\s*)+)\[!\w+\][+-]?[ \t]*(.*)$")
_TASK = re.compile(r"(?m)^(\s*(?:[-*+]|\d{1,9}[.)])\s+)\[[ xX]\]\s")

_MARKED = re.compile(r"[<\[`{:\\]")
_ASIDE = re.compile(
    r"\\[!-/:-@\[-`{-~]"  # an escaped character
    r"|(?<!`)(`++)((?:[^`\n]|\n(?!\s*(?:[-*+#>|]|\d+[.)])\s)|(?!\1(?!`))`+)+?)(?<!`)\1(?!`)"  # a code span
    r"|<(?:https?://|mailto:)[^\s<>]*>"  # an address
)
_HIGHLIGHT = re.compile(r"(`+)#!\w+ ")
_ELEMENT = re.compile(r"<(script|style|svg)\b[^<>]*>(?:(?!</\1).){0,9000}</\1\s*>", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(r"(?m)^([ ]{0,3})<h([1-6])\b([^<>]*)>(.{0,1000}?)</h\2>\s*$", re.IGNORECASE)
_SUMMARY = re.compile(r"<summary\b[^<>]*>(.{0,1000}?)</summary>", re.DOTALL | re.IGNORECASE)
_ID = re.compile(r"""\bid\s*=\s*["']?([\w:.-]+)""")
_ALT = re.compile(r"""\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_ANCHOR = re.compile(
    r"<a\s[^<>]{0,500}?\bhref\s*=\s*([\"'])([^\"'<>\s]{1,1000})\1[^<>]{0,500}>([^<>\[\]]{1,300})</a>", re.IGNORECASE
)
_TAG = re.compile(r"</?([a-zA-Z][\w.:-]*+)(?:\s(?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}'|[\"']){0,4000}+)?/?>")
_ATTRIBUTES = r"(?:\{[^{}\n]*\})?"
_IMAGE = re.compile(
    r"!\[([^\[\]]{0,1000}+)\](?:\(\s*<?[^()\s<>]*+(?:\([^()\s]*\)[^()\s]*+)*>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
    r"|\[[^\[\]]{0,300}\])" + _ATTRIBUTES
)
_LABEL = r"\[((?:[^\[\]]|\[[^\[\]]{0,300}+\]){0,1000}+)\]"
_LINK = re.compile(
    _LABEL + r"\(\s*(?:<([^<>\n]*)>|((?:[^()\s<>]|\([^()\s]*\))*+))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
    + _ATTRIBUTES
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
APART = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "div"),
        *("dl", "dt", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header"),
        *("hr", "html", "li", "main", "nav", "ol", "option", "p", "pre", "section", "select", "summary", "table"),
        *("tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "ul"),
    )
)
_INLINE = frozenset(
    (
        *("a", "abbr", "audio", "b", "bdi", "bdo", "big", "button", "canvas", "cite", "code", "col", "colgroup"),
        *("data", "datalist", "del", "dfn", "dialog", "em", "embed", "fieldset", "font", "i", "iframe", "img"),
        *("input", "ins", "kbd", "label", "legend", "link", "map", "mark", "math", "menu", "meta", "meter", "nobr"),
        *("noscript", "object", "output", "param", "path", "picture", "progress", "q", "rp", "rt", "ruby", "s"),
        *("samp", "script", "slot", "small", "source", "span", "strike", "strong", "style", "sub", "sup", "svg"),
        *("template", "time", "track", "tt", "u", "var", "video", "wbr", "g"),
    )
)
ELEMENTS = APART | _INLINE
_KINDS = frozenset(
    (
        *("note", "tip", "info", "warning", "danger", "caution", "important", "details", "success", "error", "hint"),
        *("question", "example", "seealso", "code-group", "tabs", "tab", "steps", "card", "cards", "secondary"),
        *("v-pre", "raw"),
    )
)


def clean(markdown: str) -> str:
    """Markdown that can be quoted anywhere: no comments, HTML tags, images or site-specific syntax.

    Relative links stay for `search.retrieval.links`, which knows where they lead. The
    titles of admonitions and tabs stay as bold lines and their text moves to the
    left; code is left as it is. Takes time in proportion to the length.
    """
    return "\n".join(_Cleaner(markdown).lines())


class _Cleaner:
    """One walk over the lines: code goes straight to the result, prose in paragraphs through `_inline`."""

    def __init__(self, markdown: str) -> None:
        self.source = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").split("\n")
        self.done: list[str | list[str]] = []  # a list is a paragraph still to be cleaned
        self.paragraph: list[str] = []
        self.indents: list[int] = []  # where the text of each open admonition or tab begins
        self.references: dict[str, str] = {}
        self.in_list = False
        self.documented = False  # what follows says how a module is shown, and is not shown itself

    def lines(self) -> Iterable[str]:
        """The cleaned lines."""
        self._walk()
        for item in self.done:
            if isinstance(item, str):
                yield item
            else:
                for piece in _pieces(item):
                    yield from _inline(piece, self.references).split("\n")

    def _walk(self) -> None:
        fence: Fence | None = None
        options = False  # of a block that was just opened
        ends = _last_ends(self.source)
        until = ""  # what ends the comment or element that is being left out
        for number, line in enumerate(self.source):
            if until:
                _, found, line = line.partition(until)
                if not found:
                    continue
                line = line.lstrip(" >") if until != "-->" else line  # what closes the end tag
                until = ""
            bare = line.strip()
            if not bare:
                if fence:
                    self.done.append(cut(line, 4 * len(self.indents)))
                else:
                    self._gap()
                continue
            indent = width(line)
            while self.indents and indent < self.indents[-1]:
                self.indents.pop()
                if fence and fence.depth > len(self.indents):
                    fence = None
            line = cut(line, 4 * len(self.indents))
            if fence:
                if not fence.goes_on(line):
                    fence = None
                elif fence.closes(line):
                    self.done.append(line)
                    fence = None
                    continue
                else:
                    self.done.append(line)
                    continue
            if opened := fence_of(line, len(self.indents)):
                fence = opened
                self._gap(blank=False)
                self.done.append(line)
                options = False
                continue
            if "<!--" in line:
                line, until = _uncommented(line, number < ends["-->"])
                bare = line.strip()
                if not bare:
                    self._gap(blank=False)
                    continue
            if bare.startswith("<") and (element := _NO_TEXT.match(line)):
                end = f"</{element[1].lower()}"
                if end not in line.lower() and number < ends[end]:
                    until = end
                    continue
            if options and _OPTION.match(line):
                continue
            if self.documented and line.startswith("    "):
                continue
            self.documented = False
            options = self._opens(line, bare, indent)
            if not options:
                self._prose(line, bare)
        self._gap(blank=False)

    def _opens(self, line: str, bare: str, indent: int) -> bool:
        """Whether a line is site syntax and no prose; it is then dealt with."""
        first = bare[0]
        if first in "!?=" and (opened := _ADMONITION.match(line) or _TAB.match(line)):
            self._title(opened[1], opened[2])
            self.indents.append(indent + 4)
        elif first == "/" and (block := _BLOCK.match(line)):
            self._title(line[: width(line)], block[1])
        elif first == ":" and bare.startswith(":::") and (directive := _DIRECTIVE.match(line)):
            kind, bracketed, rest = directive.groups()
            if kind and kind not in _KINDS and not bracketed and not rest and ":::" + kind != bare:
                self._title("", f"`{kind}`", mark="")  # the name of what is documented here
                self.documented = True
            else:
                self._title(line[: width(line)], bracketed or rest)
        elif first == "[" and (note := _FOOTNOTE.match(line)):
            self._gap()
            self.indents.append(indent + 4)
            self.paragraph.append(note[1] + note[2])
        elif first == "[" and (definition := _DEFINITION.match(line)):
            self.references.setdefault(_key(definition[1]), definition[2])
        elif first == ":" and (meaning := _MEANING.match(line)):
            self._gap()
            self.indents.append(indent + 4)
            self.paragraph.append(meaning[1] + meaning[2])
        else:
            return bool(_INVISIBLE.match(line))
        return True

    def _prose(self, line: str, bare: str) -> None:
        line = " " * width(line) + bare + ("  " if line.endswith("  ") else "")  # two spaces break a line
        if not self.paragraph:
            if line.startswith("    ") and not self.in_list:
                self.done.append(line)  # indented code
                return
            if _ITEM.match(line):
                self.in_list = True
            elif not line.startswith(" "):
                self.in_list = False
        self.paragraph.append(line)

    def _title(self, margin: str, title: str | None, mark: str = "**") -> None:
        self._gap()
        if title and title.strip():
            title = title.strip()
            mark = "" if "**" in title else mark
            self.done += [[f"{margin}{mark}{title}{mark}"], ""]

    def _gap(self, blank: bool = True) -> None:
        if self.paragraph:
            self.done.append(self.paragraph)
            self.paragraph = []
        if blank:
            self.done.append("")


class Fence:
    """An open code fence. `depth` says how many containers it stands in."""

    def __init__(self, prefix: str, mark: str, depth: int) -> None:
        self.prefix, self.mark, self.depth = prefix, mark, depth

    def closes(self, line: str) -> bool:
        """Whether the line ends the code."""
        bare = line.strip(" \t>" if ">" in self.prefix else " \t")
        return bare.startswith(self.mark) and not bare.strip(self.mark[0])

    def goes_on(self, line: str) -> bool:
        """False when the quote that holds the code is over."""
        return ">" not in self.prefix or line.lstrip().startswith(">")


def fence_of(line: str, depth: int = 0) -> Fence | None:
    """The fence that a line opens."""
    if "```" not in line and "~~~" not in line:
        return None
    found = _FENCE.match(line)
    return Fence(found[1], found[2], depth) if found else None


def width(line: str) -> int:
    """How far a line is indented, in columns; a tab reaches the next multiple of four."""
    columns = 0
    for character in line:
        if character == " ":
            columns += 1
        elif character == "\t":
            columns += 4 - columns % 4
        else:
            break
    return columns


def cut(line: str, columns: int) -> str:
    """The line, moved to the left by so many columns or as far as it goes."""
    at = gone = 0
    while gone < columns and at < len(line) and line[at] in " \t":
        gone += 1 if line[at] == " " else 4 - gone % 4
        at += 1
    return " " * (gone - columns) + line[at:]


def _last_ends(lines: list[str]) -> dict[str, int]:
    """The last line that could end a comment or an element: one that never ends is text."""
    ends = dict.fromkeys(("-->", "</script", "</style", "</svg"), -1)
    for number, line in enumerate(lines):
        if ">" in line or "</" in line:
            for end in ends:
                if end in line.lower():
                    ends[end] = number
    return ends


def _uncommented(line: str, ends_later: bool) -> tuple[str, str]:
    """A line without its comments, and what ends the one it leaves open."""
    spans = [(span.start(), span.end()) for span in _ASIDE.finditer(line[:LONGEST])]
    kept, at = "", 0
    while (start := line.find("<!--", at)) >= 0:
        if inside := next((end for begin, end in spans if begin <= start < end), 0):
            kept += line[at:inside]
            at = inside
            continue
        end = line.find("-->", start)
        if end < 0:
            return (kept + line[at:start], "-->") if ends_later else (kept + line[at:], "")
        kept += line[at:start]
        at = end + 3
    return kept + line[at:], ""


def _pieces(lines: list[str]) -> Iterable[str]:
    """A paragraph, or a long table in several pieces that end with a line."""
    piece: list[str] = []
    size = 0
    for line in lines:
        if piece and size + len(line) > LONGEST:
            yield "\n".join(piece)
            piece, size = [], 0
        piece.append(line)
        size += len(line)
    yield "\n".join(piece)


def _inline(prose: str, references: dict[str, str]) -> str:
    """Drop tags, images, links of strange schemes and the like, outside code spans."""
    if len(prose) > LONGEST or not _MARKED.search(prose):
        return prose
    spans: list[str] = []

    def put_aside(span: re.Match[str]) -> str:
        spans.append(_HIGHLIGHT.sub(r"\1", span[0]))
        return f"\x00{len(spans) - 1}\x00"

    prose = _ASIDE.sub(put_aside, prose)
    if "<" in prose:
        margin = re.match(r"(\s*)<[/a-zA-Z]", prose)
        prose = _ELEMENT.sub("", prose)
        apart = " " if prose.lstrip().startswith("|") else "\n\n"
        prose = _SUMMARY.sub(lambda found: f"{apart}**{_TAG.sub('', found[1]).strip()}**{apart}", prose)
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
        prose = _REFERENCE.sub(lambda found: _referred(found, references, spans), prose)
    if "{" in prose or ":" in prose:
        prose = _SITE.sub("", prose)
    while "\x00" in prose:  # a code span may stand within a link that was put back
        prose = re.sub("\x00(\\d+)\x00", lambda mark: spans[int(mark[1])], prose)
    return "\n".join(line if line.endswith("  ") and line.strip() else line.rstrip() for line in prose.split("\n"))


def _tag(tag: re.Match[str]) -> str:
    name = tag[1].lower()
    if name == "img":
        alt = _ALT.search(tag[0])
        return (alt[1] or alt[2] or alt[3] or "") if alt else ""
    if name in APART:
        return " "
    named = tag[1] == name and "-" not in name[1:2] and not any(mark in tag[0] for mark in " =\n")
    return f"\\{tag[0]}" if named and name not in ELEMENTS else ""  # `<your-key>` is a word, not an element


def _heading(found: re.Match[str]) -> str:
    anchor = _ID.search(found[3])
    return f"\n{'#' * int(found[2])} {found[4].strip()}{f' {{ #{anchor[1]} }}' if anchor else ''}\n"


def _alert(alert: re.Match[str]) -> str:
    return f"{alert[1]}**{alert[2].strip()}**\n{alert[1]}" if alert[2].strip() else alert[1]


def _link(text: str, target: str) -> str:
    """A link where its target is of the web, mail or a place on the site, else its text. It takes no more words."""
    label = text.strip()
    if not label or not _TARGET.fullmatch(target):
        return text
    before, _, after = text.partition(label)
    return f"{before}[{label}]({target}){after}"


def _referred(found: re.Match[str], references: dict[str, str], spans: list[str]) -> str:
    """`[text][name]`: a link as the page defines it, or one that the site's generator resolves to a code name."""
    text, name = found[1], found[2]
    key = re.sub("\x00(\\d+)\x00", lambda mark: spans[int(mark[1])], name or text)
    if target := references.get(_key(key)):
        return _link(text, target)
    return found[0] if name is None or len(text) < 2 or text.isdigit() else text


def _key(name: str) -> str:
    return " ".join(name.lower().split())

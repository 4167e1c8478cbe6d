"""MyST, the Markdown of Sphinx, to plain Markdown: directives, references, and the anchors of headings.

A directive is read as reStructuredText. If its content is prose, the content stays Markdown behind it.
"""

import re

from search.sources import rst
from search.sources.markdown.front_matter import front_matter
from search.sources.myst.links import resolve
from search.sources.myst.outline import LABEL, Ids, heading_in, visible
from search.sources.rst.directives import VERBATIM
from search.sources.rst.includes import MAX_CODE, select_lines, text_of
from search.sources.rst.scope import MAX_INCLUDES, Scope, TooMuch
from search.sources.rst.site import MAX_PARSED, MAX_WRITTEN, Site
from search.text.markdown.plain_text import slug

_FENCE = re.compile(r"(\s*)(`{3,}|~{3,}|:{3,})\s*(?:\{([\w:+.-]+)\})?\s*(.*)$")
_OPTION = re.compile(r"\s*:?([\w-]+):(?:\s+(.*))?$")
_COMMENT = re.compile(r"%|\+\+\+(?:\s|$)|\s*<!--")
_EXPLICIT = re.compile(r"\{#([\w:.\\-]+)\}$")
_ROLE = re.compile(r"\{([\w:.+-]{1,60})\}(?=`)")
_WHOLE = VERBATIM | {"csv-table", "literalinclude", "autosummary", "code-cell", "math"}  # their content is no Markdown


def read(source: str, site: Site, page: str) -> rst.Text:
    """A page; as it is written where it would take too long or grow too large. Raises ValueError for its front matter.

    Front matter is for Sphinx: only what describes the page is taken.
    """
    front, body = front_matter(source)
    meta = {"nosearch": ""} if "nosearch" in front else {}
    own = front.get("myst")
    for described in (own.get("html_meta") if isinstance(own, dict) else None, front):
        if isinstance(described, dict) and isinstance(described.get("description"), str):
            meta["description"] = described["description"]
    try:
        markdown = _Reader(body, site, page).markdown()
    except TooMuch:
        return rst.Text(body, meta)
    return rst.Text(markdown if len(markdown) <= MAX_WRITTEN else body, meta)


class _Reader:
    """One walk over the lines of a page and of the files that it includes."""

    def __init__(self, source: str, site: Site, page: str) -> None:
        self.lines = source.split("\n")[::-1]  # those ahead, the next one last
        self.site = site
        self.page = page
        self.out: list[str] = []
        self.paragraph: list[str] = []
        self.fences: list[str] = []  # the open ones
        self.scope = Scope(site, page)
        self.ids = Ids(site.smart)
        self.slugs: set[str] = set()
        self.level = 0  # of the last heading
        self.budget = MAX_PARSED  # characters for included files and for docutils

    def markdown(self) -> str:
        while self.lines:
            self._line(self.lines.pop())
        self._end_paragraph()
        return "\n".join(self.out)

    def _line(self, line: str) -> None:
        heading = heading_in(line, " ".join(self.paragraph))
        fence, label, comment = _FENCE.match(line), LABEL.match(line), _COMMENT.match(line)
        if not heading and not fence and not label and not comment and line.strip():
            self.paragraph.append(line)
            return
        if heading and not line.startswith("#"):  # the paragraph is the heading
            self.paragraph = []
        self._end_paragraph()
        if heading:
            self._heading(*heading)
        elif fence:
            self._fence(*fence.groups(default=""))
        elif label:
            self.ids.label(label[1])
        elif comment:
            while "<!--" in comment[0] and "-->" not in line and self.lines:
                line = self.lines.pop()
        else:
            self.out.append("")

    def _end_paragraph(self) -> None:
        if self.paragraph:
            self.ids.labels = []
            self.out += resolve("\n".join(self.paragraph), self.site, self.page).split("\n")
            self.paragraph = []

    def _heading(self, level: int, source: str) -> None:
        """A heading, with its anchor where GitHub would give it another."""
        explicit = _EXPLICIT.search(source)
        source = _EXPLICIT.sub("", source).rstrip()
        text = visible(source)
        anchor, usual = explicit[1] if explicit else self.ids.heading(text), slug(text)
        is_usual = (usual == anchor and usual not in self.slugs) or (level == 1 and not self.level)
        self.slugs.add(usual)
        shown = resolve(source, self.site, self.page)
        self.out.append(f"{'#' * level} {shown}" if is_usual else f"{'#' * level} {shown} {{#{anchor}}}")
        self.level = level

    def _fence(self, indent: str, marks: str, name: str, argument: str) -> None:
        """A fence that opens or closes something."""
        kind = name.lower().rpartition(":")[2]
        if not name and not argument and self.fences and marks.startswith(self.fences[-1]):
            self.fences.pop()
            self.out.append("")
        elif not name and marks[0] == ":":
            self.fences.append(marks)
        elif not name:
            self.out += [f"{indent}{marks}{argument}", *self._body(marks), f"{indent}{marks}"]
        elif name == "eval-rst":
            self._rst("\n".join(self._body(marks)))
        elif kind == "include":
            options = self._options()
            self._body(marks)
            self._include(argument, options)
        else:
            self.out.append("")
            options = self._options()
            lines = [f".. {name}:: {argument}", *(f"   :{option}: {text}" for option, text in options.items())]
            if kind in _WHOLE or kind.startswith("auto"):
                body = [_ROLE.sub(r":\1:", line) if kind == "glossary" else line for line in self._body(marks)]
                lines += ["", *(f"   {line.removeprefix(indent)}" for line in body)]
            else:
                self.fences.append(marks)
            self._rst("\n".join(lines), indent)
            self.out.append("")

    def _options(self) -> dict[str, str]:
        """The options at the start of a directive: fields, or lines between dashes."""
        options: dict[str, str] = {}
        is_yaml = bool(self.lines) and self.lines[-1].strip() == "---"
        if is_yaml:
            self.lines.pop()
        while self.lines and (is_yaml or self.lines[-1].lstrip().startswith(":")):
            if is_yaml and self.lines[-1].strip() == "---":
                self.lines.pop()
                break
            found = _OPTION.match(self.lines[-1])
            if not found:
                break
            options[found[1].lower()] = (found[2] or "").strip().strip("\"'")
            self.lines.pop()
        return options

    def _body(self, marks: str) -> list[str]:
        """The lines up to the end of a fence."""
        found: list[str] = []
        while self.lines:
            line = self.lines.pop()
            bare = line.strip()
            if bare.startswith(marks) and not bare.strip(marks[0]):
                break
            found.append(line)
        return found

    def _rst(self, source: str, indent: str = "") -> None:
        """A part in reStructuredText."""
        self.budget -= len(source) + 500  # docutils takes a while to begin
        if self.budget >= 0:
            text = rst.read(source, self.site, self.page, self.level or 1, self.scope)
            self.out += [f"{indent}{line}" if line else "" for line in text.markdown.split("\n")]

    def _include(self, reference: str, options: dict[str, str]) -> None:
        """Another file, whose lines are read as if they stood here."""
        self.scope.includes += 1
        text = "\n".join(select_lines(text_of(self.site, reference, self.page).split("\n"), options))
        self.budget -= len(text)
        if self.scope.includes > MAX_INCLUDES or self.budget < 0:
            return
        if "literal" in options or "code" in options:
            self.out += [f"~~~~~~{options.get('code', '')}", text[:MAX_CODE], "~~~~~~"]
        elif options.get("parser", "").startswith(("rst", "restructuredtext")):
            self._rst(text)
        else:
            self.lines += text.split("\n")[::-1]

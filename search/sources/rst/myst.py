"""MyST, the Markdown of Sphinx, as plain Markdown: its directives, its references, the anchors of its headings."""

import re

from search.sources import rst
from search.sources.rst import myst_links
from search.sources.rst.directives import CHANGES, NOTES
from search.sources.rst.includes import MOST_CODE, chosen, text_at
from search.sources.rst.inline import code, escaped
from search.sources.rst.myst_outline import LABEL, UNDERLINE, Ids, heading_in, visible
from search.sources.rst.objects import anchor_of, kind_of, read
from search.sources.rst.scope import MOST_INCLUDED, Scope, TooMuch, Work
from search.sources.rst.site import MOST_PARSED, MOST_WRITTEN, Site
from search.text.markdown.visible import slug

_FENCE = re.compile(r"(\s*)(`{3,}|~{3,}|:{3,})\s*(?:\{([\w:+.-]+)\})?\s*(.*)$")
_OPTION = re.compile(r"\s*:([\w-]+):(?:\s+(.*))?$")
_YAML = re.compile(r"\s*([\w-]+):\s*(.*)$")
_COMMENT = re.compile(r"%|\+\+\+(?:\s|$)")
_CODE = frozenset(["code", "code-block", "code-cell", "sourcecode", "prompt", "math", "parsed-literal"])
_PYTHON = frozenset(["doctest", "testcode"])
_OF_RST = frozenset(["toctree", "literalinclude", "csv-table", "autosummary"])
_HIDDEN = frozenset(["index", "contents", "currentmodule", "module", "meta", "raw", "testsetup", "testcleanup"])
_LAYOUT = frozenset(["figure", "image", "container", "div", "grid", "grid-item", "tab-set", "only", "rst-class"])
_EXPLICIT = re.compile(r"\{#([\w:.\\-]+)\}$")


def to_markdown(source: str, site: Site, page: str) -> str:
    """A page whose directives are text, code or nothing, and whose headings name their anchors; as it is written
    when that would take too long, or be too long.
    """
    try:
        markdown = _Reader(source, site, page).markdown()
    except TooMuch:
        return source
    return markdown if len(markdown) <= MOST_WRITTEN else source


class _Reader:
    """One walk over the lines of a page and of what it includes."""

    def __init__(self, source: str, site: Site, page: str) -> None:
        self.lines = source.split("\n")[::-1]  # those that are still to be read, the next one last
        self.site = site
        self.page = page
        self.out: list[str] = []
        self.text: list[str] = []  # the paragraph that is being read
        self.open: list[str] = []  # the fences around
        self.scope = Scope(site, page, Work())
        self.ids = Ids(site.smart)
        self.slugs: set[str] = set()
        self.level = 0  # of the last heading
        self.included = 0
        self.patience = MOST_PARSED  # characters that may be included, or read by docutils

    def markdown(self) -> str:
        while self.lines:
            self._line(self.lines.pop())
        self._end_text()
        return "\n".join(self.out)

    def _line(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence:
            self._end_text()
            self._fence(line, *fence.groups(default=""))
        elif _COMMENT.match(line):
            self._end_text()
        elif line.lstrip().startswith("<!--"):
            self._end_text()
            while "-->" not in line and self.lines:
                line = self.lines.pop()
        elif label := LABEL.match(line):
            self._end_text()
            self.ids.label(label[1])
        elif heading := heading_in(line):
            self._end_text()
            self._heading(*heading)
        elif self.text and UNDERLINE.match(line):
            text, self.text = " ".join(self.text), []
            self._heading(1 if line[0] == "=" else 2, text)
        elif line.strip():
            self.text.append(line)
        else:
            self._end_text()
            self.out.append("")

    def _end_text(self) -> None:
        if self.text:
            self.ids.waiting = []
            self.out += myst_links.resolved("\n".join(self.text), self.site, self.page).split("\n")
            self.text = []

    def _heading(self, level: int, written: str) -> None:
        """A heading, with its anchor where GitHub would give it another."""
        explicit = _EXPLICIT.search(written)
        written = _EXPLICIT.sub("", written).rstrip()
        shown = visible(written)
        text = myst_links.resolved(written, self.site, self.page)
        anchor, github = explicit[1] if explicit else self.ids.heading(shown), slug(shown)
        told = "" if github == anchor and github not in self.slugs else f" {{#{anchor}}}"
        self.slugs.add(github)
        self.out.append(f"{'#' * level} {text}{told if self.level or level > 1 else ''}")
        self.level = level

    def _fence(self, line: str, indent: str, marks: str, name: str, argument: str) -> None:
        """A fence that opens or closes something."""
        if not name and not argument and self.open and marks.startswith(self.open[-1]):
            self.open.pop()
            self.out.append("")
            return
        name = name.lower()
        kind = name.rsplit(":", 1)[-1]
        if not name and marks[0] == ":":
            self.open.append(marks)
        elif not name:
            self._code(indent, argument, self._body(marks))
        elif kind in _CODE or kind in _PYTHON:
            language = "python" if kind in _PYTHON else "latex" if kind == "math" else argument
            self._code(indent, language, _parted(self._body(marks))[1])
        elif name == "eval-rst":
            self._of_rst("\n".join(self._body(marks)))
        elif kind == "include":
            self._include(argument, _parted(self._body(marks))[0])
        elif kind == "glossary":
            self._glossary(_parted(self._body(marks))[1])
        elif kind in _HIDDEN:
            self._body(marks)
        elif kind in _OF_RST or kind.startswith("auto"):
            body = "".join(f"\n   {one}" for one in self._body(marks))
            self._of_rst(f".. {name}:: {argument}{body}")
        else:
            self._directive(marks, name, argument)

    def _directive(self, marks: str, name: str, argument: str) -> None:
        """A directive with text in it, which is read on as part of the page."""
        self.open.append(marks)
        domain, described = kind_of(name, self.scope, self.site.objects)
        kind = name.rsplit(":", 1)[-1]
        if described:
            signed = read(domain, described, argument, self.scope)
            self._heading(min(self.level + 1, 6), f"{code(signed.name)} {{#{escaped(signed.anchor)}}}")
            self.out += ["", code(signed.shown)]
            self.level -= 1
        elif kind in CHANGES:
            version, _, text = argument.partition(" ")
            self.text = [f"{CHANGES[kind]} {version}{f': {text}' if text else ''}"]
        elif kind in NOTES:
            self.out += ["", f"**{NOTES[kind]}**", ""]
            self.text = [argument] if argument else []
        elif argument and kind not in _LAYOUT:
            self.text = [f"**{argument}**"]
        self._end_text()
        self.out.append("")
        in_yaml = bool(self.lines) and self.lines[-1].strip() == "---"
        if in_yaml:
            self.lines.pop()
        while self.lines and (in_yaml or _OPTION.match(self.lines[-1])):
            in_yaml = in_yaml and self.lines[-1].strip() != "---"
            self.lines.pop()

    def _glossary(self, body: list[str]) -> None:
        """Terms at the margin become headings, and their indented meanings the text below."""
        lines: list[str] = []
        margin = 0
        for line in body:
            if line.strip() and not line.startswith(" "):
                lines += [
                    f"{'#' * min(self.level + 1, 6)} {line} {{#{escaped(anchor_of(f'term-{visible(line)}'))}}}",
                    "",
                ]
                margin = 0
            else:
                margin = margin or len(line) - len(line.lstrip())
                lines.append(line[min(margin, len(line) - len(line.lstrip())) :])
        self.lines += lines[::-1]

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

    def _code(self, indent: str, language: str, body: list[str]) -> None:
        longest = max((len(run) for line in body for run in re.findall("`{3,}", line)), default=2)
        fence = "`" * (longest + 1)
        self.out += [f"{indent}{fence}{language}", *body, f"{indent}{fence}"]

    def _of_rst(self, source: str) -> None:
        """Something in reStructuredText."""
        self.patience -= len(source) + 500  # docutils takes a while to begin
        if self.patience < 0:
            return
        self.out += ["", *rst.read(source, self.site, self.page, self.level or 1, self.scope.work).markdown.split("\n")]

    def _include(self, reference: str, options: dict[str, str]) -> None:
        """Another file, whose lines are read as if they stood here."""
        self.included += 1
        text = "\n".join(chosen(text_at(self.site, reference, self.page).split("\n"), options))
        self.patience -= len(text)
        if self.included > MOST_INCLUDED or self.patience < 0:
            return
        if "literal" in options or "code" in options:
            self._code("", options.get("code", ""), text[:MOST_CODE].split("\n"))
        elif options.get("parser", "").startswith(("rst", "restructuredtext")):
            self._of_rst(text)
        else:
            self.lines += text.split("\n")[::-1]


def _parted(body: list[str]) -> tuple[dict[str, str], list[str]]:
    """The options of a directive, as fields or between dashes, and its content."""
    options: dict[str, str] = {}
    at = 0
    if body and body[0].strip() == "---":
        pattern, at = _YAML, 1
    else:
        pattern = _OPTION
    while at < len(body) and (found := pattern.match(body[at])):
        options[found[1].lower()] = (found[2] or "").strip().strip("\"'")
        at += 1
    if pattern is _YAML:
        at += 1
    while at < len(body) and not body[at].strip():
        at += 1
    return options, body[at:]

"""Convert MyST, the Markdown of Sphinx, to plain Markdown: directives, references, anchors of headings.

A directive is converted as reStructuredText. If its content is prose, the content stays Markdown and follows it.
"""

import re
from contextlib import suppress

from docsite.core.access.readers import EVERYBODY
from search.sources import Problem, rst
from search.sources.markdown.front_matter import get_groups, split_front_matter
from search.sources.myst.links import resolve
from search.sources.myst.outline import LABEL, Ids, find_heading, strip_markup
from search.sources.rst.directives import VERBATIM, names_code
from search.sources.rst.includes import MAX_CODE, read_text, select_lines
from search.sources.rst.scope import MAX_INCLUDES, PageTooComplex, Scope
from search.sources.rst.site import MAX_MARKDOWN, MAX_PARSED, Site
from search.text.markdown.plain_text import slug

_FENCE = re.compile(r"(\s*)(`{3,}|~{3,}|:{3,})\s*(?:\{([\w:+.-]+)\})?\s*(.*)$")
_OPTION = re.compile(r"\s*:?([\w-]+):(?:\s+(.*))?$")
_COMMENT = re.compile(r"%|\+\+\+(?:\s|$)|\s*<!--")
_EXPLICIT = re.compile(r"\{#([\w:.\\-]+)\}$")
_ROLE = re.compile(r"\{([\w:.+-]{1,60})\}(?=`)")
_VERBATIM = VERBATIM | {
    "csv-table",
    "literalinclude",
    "autosummary",
    "code-cell",
    "math",
}  # their content is no Markdown


def convert(source: str, site: Site, page: str) -> rst.MarkdownPage:
    """A page in plain Markdown. A page that takes too long or becomes too large stays as it is.

    Only `nosearch`, `groups` and the description are used of the front matter. Raises ValueError if it is wrong.
    """
    front, body = split_front_matter(source)
    meta = {"nosearch": str(front["nosearch"])[:10]} if "nosearch" in front else {}
    if (groups := get_groups(front)) is not None:
        meta["groups"] = ", ".join(groups) or EVERYBODY
    myst = front.get("myst")
    for fields in (myst.get("html_meta") if isinstance(myst, dict) else None, front):
        if isinstance(fields, dict) and isinstance(fields.get("description"), str):
            meta["description"] = fields["description"]
    converter = _Converter(body, site, page)
    problems = converter.scope.problems
    markdown: str | None = None
    with suppress(PageTooComplex):
        markdown = converter.markdown()
    if markdown is None or len(markdown) > MAX_MARKDOWN:
        markdown = body
        problems.append(rst.PLAIN_TEXT)
    return rst.MarkdownPage(markdown, meta, tuple(problems))


class _Converter:
    """One walk over the lines of a page and of the files that it includes."""

    def __init__(self, source: str, site: Site, page: str) -> None:
        self.lines = source.split("\n")[::-1]  # that follow, in reverse order
        self.site = site
        self.page = page
        self.output: list[str] = []
        self.paragraph: list[str] = []
        self.open_fences: list[str] = []
        self.scope = Scope(site, page)
        self.ids = Ids(site.smart_quotes)
        self.slugs: set[str] = set()
        self.level = 0  # of the last heading
        self.budget = MAX_PARSED  # characters for included files and for docutils

    def markdown(self) -> str:
        while self.lines:
            self._line(self.lines.pop())
        self._end_paragraph()
        return "\n".join(self.output)

    def _line(self, line: str) -> None:
        heading = find_heading(line, " ".join(self.paragraph))
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
            self.output.append("")

    def _end_paragraph(self) -> None:
        if self.paragraph:
            self.ids.labels = []
            self.output += resolve("\n".join(self.paragraph), self.site, self.page).split("\n")
            self.paragraph = []

    def _heading(self, level: int, source: str) -> None:
        """A heading. It names its anchor if GitHub would give it another one."""
        explicit = _EXPLICIT.search(source)
        source = _EXPLICIT.sub("", source).rstrip()
        text = strip_markup(source)
        anchor, default = explicit[1] if explicit else self.ids.heading(text), slug(text)
        is_default = (default == anchor and default not in self.slugs) or (level == 1 and not self.level)
        self.slugs.add(default)
        heading = f"{'#' * level} {resolve(source, self.site, self.page)}"
        self.output.append(heading if is_default else f"{heading} {{#{anchor}}}")
        self.level = level

    def _fence(self, indent: str, marks: str, name: str, argument: str) -> None:
        """A fence that opens or closes a directive or a block of code."""
        kind = name.lower().rpartition(":")[2]
        if not name and not argument and self.open_fences and marks.startswith(self.open_fences[-1]):
            self.open_fences.pop()
            self.output.append("")
        elif not name and marks[0] == ":":
            self.open_fences.append(marks)
        elif not name:
            self.output += [f"{indent}{marks}{argument}", *self._body(marks), f"{indent}{marks}"]
        elif name == "eval-rst":
            self._append_rst("\n".join(self._body(marks)))
        elif kind == "include":
            options = self._options()
            self._body(marks)
            self._include(argument, options)
        else:
            self.output.append("")
            options = self._options()
            lines = [f".. {name}:: {argument}", *(f"   :{option}: {text}" for option, text in options.items())]
            if kind in _VERBATIM or kind.startswith("auto") or names_code(kind):
                body = [_ROLE.sub(r":\1:", line) if kind == "glossary" else line for line in self._body(marks)]
                lines += ["", *(f"   {line.removeprefix(indent)}" for line in body)]
            else:
                self.open_fences.append(marks)
            self._append_rst("\n".join(lines), indent)
            self.output.append("")

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
            option = _OPTION.match(self.lines[-1])
            if not option:
                break
            options[option[1].lower()] = (option[2] or "").strip().strip("\"'")
            self.lines.pop()
        return options

    def _body(self, marks: str) -> list[str]:
        """Take the lines up to the end of a fence."""
        body: list[str] = []
        while self.lines:
            line = self.lines.pop()
            bare = line.strip()
            if bare.startswith(marks) and not bare.strip(marks[0]):
                break
            body.append(line)
        return body

    def _append_rst(self, source: str, indent: str = "") -> None:
        """Append a part that is reStructuredText."""
        self.budget -= len(source) + 500  # docutils takes a while to begin
        if self.budget >= 0:
            part = rst.convert(source, self.site, self.page, self.level or 1, self.scope)
            self.output += [f"{indent}{line}" if line else "" for line in part.markdown.split("\n")]

    def _include(self, reference: str, options: dict[str, str]) -> None:
        """Read the lines of another file as if they were here."""
        self.scope.include_count += 1
        included = read_text(self.site, reference, self.page)
        if not included:
            self.scope.problems.append(Problem("include", reference))
        text = "\n".join(select_lines(included.split("\n"), options))
        self.budget -= len(text)
        if self.scope.include_count > MAX_INCLUDES or self.budget < 0:
            return
        if "literal" in options or "code" in options:
            self.output += [f"~~~~~~{options.get('code', '')}", text[:MAX_CODE], "~~~~~~"]
        elif options.get("parser", "").startswith(("rst", "restructuredtext")):
            self._append_rst(text)
        else:
            self.lines += text.split("\n")[::-1]

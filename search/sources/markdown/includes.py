"""Files that pages include, in the syntax of each generator."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from search.sources.files import read_text_in_folder
from search.sources.markdown.front_matter import split_front_matter
from search.text.markdown.reader import fence, fenced_lines

MAX_BYTES = 1024 * 1024  # of one file that is taken in
MAX_TOTAL = 4 * 1024 * 1024  # characters that a page may take in, with the margins that they get
MAX_FILES = 200  # that a page may name, counted each time
MAX_DEPTH = 5
MAX_LINE = 1000  # characters of a line that names a file

_SNIPPET = re.compile(r"([ \t]*)-+8<-+[ \t]+[\"']([^\"'\n]+)[\"'][ \t]*$")
_SNIPPET_BLOCK = re.compile(r"([ \t]*)-+8<-+[ \t]*$")
_SECTION = re.compile(r"-8<-+[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_LINES = re.compile(r"(.+?):(\d*(?::\d*)?(?:,\d*(?::\d*)?)*)$")
_NAMED = re.compile(r"(.+?):([A-Za-z][\w-]*)$")
_CODE_FILE = re.compile(r"([ \t]*)\{\*[ \t]+(\S+)((?:[ \t]+\w+\[[^\]\n]*\])*)[ \t]*\*\}[ \t]*$")
_PLAIN_FILE = re.compile(r"([ \t]*)\{!>?([^!\n]+)!\}[ \t]*$")
_RANGES = re.compile(r"\bln\[([\d:, ]*)\]")
_VITEPRESS_PART = re.compile(
    r"([ \t]*)<!--[ \t]*@include:[ \t]*([^\s{}#>]+)(?:#([\w-]+))?(?:\{(\d*,?\d*)\})?[ \t]*-->[ \t]*$"
)
_VITEPRESS_CODE = re.compile(
    r"([ \t]*)<<<[ \t]*([^\s{}#\[]+)(?:#([\w-]+))?(?:[ \t]*\{[^{}\n]*\})?(?:[ \t]*\[[^\]\n]*\])?[ \t]*$"
)
_REGION = re.compile(r"\W*+(?:end)?region\b[ \t]*+[\w-]*+\W*$")  # an editor's mark around some lines
_STATEMENT = re.compile(r"import\s.*[\"'][\s;]*$")
_IMPORT = re.compile(r"import\s+([A-Z]\w*)\s+from\s+[\"']([^\"'\n]+\.mdx?)[\"']\s*;?\s*$")
_COMPONENT = re.compile(r"([ \t]*)<([A-Z]\w*)(\s[^<>]*)?(?:/>|>\s*</\2\s*>)[ \t]*$")
_FILE_ATTRIBUTE = re.compile(r"\bfile\s*=\s*[\"']([^\"'\n]+)[\"']")


@dataclass(frozen=True)
class Includes:
    """Includes files below `root`, looked up in each of `bases` in turn.

    `kind` is the generator whose syntax is expanded. Where that generator does so, the page's own folder is tried,
    too.
    """

    kind: str
    root: Path
    bases: tuple[Path, ...]

    def expand(self, text: str, file: Path) -> str:
        """The text of the page in `file` with its includes. The line of a file that cannot be read stays."""
        return _Expansion(self).expand(text, file, ())


@dataclass
class _Expansion:
    """The expansion of one page. Limits count over all depths, so that includes cannot multiply."""

    includes: Includes
    room: int = MAX_TOTAL
    files: int = MAX_FILES
    texts: dict[Path, str] = field(default_factory=dict)

    def expand(self, text: str, file: Path, above: tuple[Path, ...]) -> str:
        """The text of `file` with its includes. `above` are the files that include it."""
        line_of = _WAYS.get(self.includes.kind)
        if not line_of or len(above) >= MAX_DEPTH or not _HINTS[self.includes.kind].search(text):
            return text
        return "\n".join(line_of(self, text.split("\n"), file, (*above, file.resolve())))

    def load(self, name: str, file: Path, above: tuple[Path, ...]) -> tuple[Path, str] | None:
        """The file of a name and its text; None for what is outside, missing, too large, no text, or in itself."""
        if not self.files:
            return None
        self.files -= 1
        for base in (file.parent, *self.includes.bases) if name.startswith(".") else self.includes.bases:
            try:
                place = (base / name.lstrip("/")).resolve()
                if place in above:
                    continue
                if place not in self.texts:
                    self.texts[place] = read_text_in_folder(self.includes.root, place, MAX_BYTES)
            except (ValueError, RuntimeError):  # there is none, or it has a strange name
                continue
            text = self.texts[place]
            if len(text) > self.room:
                return None
            self.room -= len(text)
            return place, text
        return None

    def page(self, name: str, file: Path, above: tuple[Path, ...]) -> str | None:
        """The Markdown of a file, which may take in others."""
        found = self.load(name, file, above)
        return self.expand(_body(found[1]).strip("\n"), found[0], above) if found else None

    def indent(self, text: str, margin: str) -> list[str]:
        """The lines of a text with a margin, as long as there is room for that."""
        lines = text.split("\n")
        self.room -= len(margin) * len(lines)
        return [margin + line if line else "" for line in lines] if self.room >= 0 else lines

    def indent_code(self, text: str, place: Path, margin: str) -> list[str]:
        """Code in a fence that is longer than those within it."""
        return self.indent(fence(text, place.suffix[1:]), margin)


def _mkdocs(work: _Expansion, lines: list[str], file: Path, above: tuple[Path, ...]) -> list[str]:
    """Snippets, `{* code *}` as FastAPI's site has it, and `{! file !}`. Snippets are taken into code, too."""
    out: list[str] = []
    block = False
    for line in lines:
        if _match(_SNIPPET_BLOCK, line):
            block = not block
        elif block:
            margin, name = line[: len(line) - len(line.lstrip())], line.strip()
            text = None if not name or name.startswith(";") else _snippet(work, name, file, above)
            out += work.indent(text, margin) if text is not None else []
        elif found := _match(_SNIPPET, line):
            text = _snippet(work, found[2], file, above)
            out += [line] if text is None else work.indent(text, found[1])
        elif found := _match(_CODE_FILE, line):
            code = work.load(found[2], file, above)
            ranges = _RANGES.search(found[3])
            out += (
                [line]
                if not code
                else work.indent_code(_lines(code[1], ranges[1] if ranges else ""), code[0], found[1])
            )
        elif found := _match(_PLAIN_FILE, line):
            text = work.page(found[2].strip(), file, above)
            out += [line] if text is None else work.indent(text, found[1])
        else:
            out.append(line)
    return out


def _match(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The match of a pattern in a line that is not too long."""
    return pattern.match(line) if len(line) <= MAX_LINE else None


def _snippet(work: _Expansion, name: str, file: Path, above: tuple[Path, ...]) -> str | None:
    """A file, its lines `:2:5` or its section `:name`."""
    if "://" in name or not work.files:
        return None
    section = lines = ""
    if found := _LINES.match(name):
        name, lines = found[1], found[2] if "," in found[2] or ":" in found[2] else f"{found[2]}:"
    elif found := _NAMED.match(name):
        name, section = found[1], found[2]
    taken = work.load(name, file, above)
    if not taken:
        return None
    place, text = taken
    text = _section(text, section) if section else _lines(text, lines)
    text = "\n".join(line for line in text.split("\n") if not _SECTION.search(line))
    return work.expand(text, place, above)


def _section(text: str, name: str) -> str:
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        mark = _SECTION.search(line)
        if mark and mark[2] == name:
            inside = mark[1] == "start"
        elif inside and not mark:
            kept.append(line)
    return "\n".join(kept)


def _vitepress(work: _Expansion, lines: list[str], file: Path, above: tuple[Path, ...]) -> list[str]:
    """`<!--@include: ./part.md-->`, and `<<< @/file.py` for code."""
    out: list[str] = []
    code = fenced_lines("\n".join(lines))
    for number, line in enumerate(lines):
        outside = number not in code
        if outside and (found := _match(_VITEPRESS_PART, line)):
            taken = work.load(_from_source(found[2]), file, above)
            if taken:
                text = _lines(_region(_body(taken[1]), found[3]), (found[4] or "").replace(",", ":"))
                out += work.indent(work.expand(text, taken[0], above), found[1])
            else:
                out.append(line)
        elif outside and (found := _match(_VITEPRESS_CODE, line)):
            taken = work.load(_from_source(found[2]), file, above)
            out += [line] if not taken else work.indent_code(_region(taken[1], found[3]), taken[0], found[1])
        else:
            out.append(line)
    return out


def _from_source(name: str) -> str:
    return name[2:] if name.startswith("@/") else name if name.startswith(("/", ".")) else f"./{name}"


def _region(text: str, name: str | None) -> str:
    """The lines between `region name` and its `endregion`; without a name all lines but such marks."""
    if not name:
        return "\n".join(line for line in text.split("\n") if not _REGION.match(line))
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        if re.search(rf"\bregion\s+{re.escape(name)}\b", line):
            inside = True
        elif inside and "endregion" in line:
            break
        elif inside:
            kept.append(line)
    return "\n".join(kept)


def _mdx(work: _Expansion, lines: list[str], file: Path, above: tuple[Path, ...]) -> list[str]:
    """Components that are imported from Markdown, and `<Snippet file="x.mdx" />`."""
    out: list[str] = []
    imported: dict[str, str] = {}
    code = fenced_lines("\n".join(lines), is_mdx=True)
    for number, line in enumerate(lines):
        outside = number not in code
        name = ""
        found = None
        if outside and _match(_STATEMENT, line):
            if found := _IMPORT.match(line):
                imported[found[1]] = found[2].removeprefix("@site")
            if len(above) > 1:  # within another page's text it would be read as words
                continue
        elif outside and (found := _match(_COMPONENT, line)):
            attribute = _FILE_ATTRIBUTE.search(found[3] or "")
            if found[2] == "Snippet" and attribute:
                name = f"snippets/{attribute[1].lstrip('/')}"
            else:
                name = imported.get(found[2], "")
        text = work.page(name, file, above) if name else None
        out += [line] if text is None or not found else work.indent(text, found[1])
    return out


def _body(text: str) -> str:
    """A file's text without its front matter."""
    try:
        return split_front_matter(text)[1]
    except ValueError:
        return text


def _lines(text: str, ranges: str) -> str:
    """Lines of a text by their numbers, as `2:5,9:` or `7`; all of them without ranges. No more than it has."""
    lines = text.removesuffix("\n").split("\n")
    kept: list[str] = []
    room = len(text) + 1
    for piece in ranges.replace(" ", "").split(",") if ranges else [":"]:
        first, colon, last = piece.partition(":")
        start = int(first[:9] or 1)
        end = int(last[:9] or len(lines)) if colon else start
        chosen = lines[max(start, 1) - 1 : end]
        room -= sum(len(line) + 1 for line in chosen)
        if room < 0:
            break
        kept += chosen
    return "\n".join(kept)


_Way = Callable[[_Expansion, list[str], Path, tuple[Path, ...]], list[str]]
_WAYS: dict[str, _Way] = {"mkdocs": _mkdocs, "vitepress": _vitepress, "mdx": _mdx}
_HINTS = {
    "mkdocs": re.compile(r"-8<-|\{[*!]"),
    "vitepress": re.compile("@include:|<<<"),
    "mdx": re.compile(r"<Snippet\b|(?m:^import\s)"),
}

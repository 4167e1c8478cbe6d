"""Expand files that pages include, in the syntax of each generator."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from search.sources import Problem
from search.sources.files import read_text_in_folder, resolve_links
from search.sources.markdown.front_matter import split_front_matter
from search.sources.markdown.slugs import VITEPRESS, extract_section
from search.text.markdown.reader import fence, fenced_lines

MAX_BYTES = 1024 * 1024  # of one included file
MAX_TOTAL = 4 * 1024 * 1024  # characters that one page may include, with their indentation
MAX_FILES = 200  # that one page may include, with repeats
MAX_DEPTH = 5
MAX_LINE = 1000  # characters of an include line

_SNIPPET = re.compile(r"([ \t]*)-+8<-+[ \t]+[\"']([^\"'\n]+)[\"'][ \t]*$")
_SNIPPET_BLOCK = re.compile(r"([ \t]*)-+8<-+[ \t]*$")
_SECTION = re.compile(r"-8<-+[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_WITH_LINES = re.compile(r"(.+?):(\d*(?::\d*)?(?:,\d*(?::\d*)?)*)$")
_WITH_SECTION = re.compile(r"(.+?):([A-Za-z][\w-]*)$")
_LINES = re.compile(r"(?=.)(\d{0,9})(:)?(\d{0,9})")
_CODE_FILE = re.compile(r"([ \t]*)\{\*[ \t]+(\S+)((?:[ \t]+\w+\[[^\]\n]*\])*)[ \t]*\*\}[ \t]*$")
_PLAIN_FILE = re.compile(r"([ \t]*)\{!>?([^!\n]+)!\}[ \t]*$")
_RANGES = re.compile(r"\bln\[([\d:, ]*)\]")
_VITEPRESS_PART = re.compile(
    r"([ \t]*)<!--[ \t]*@include:[ \t]*([^\s{}#>]+)(?:#([\w-]+))?(?:\{(\d*,?\d*)\})?[ \t]*-->[ \t]*$"
)
_VITEPRESS_CODE = re.compile(
    r"([ \t]*)<<<[ \t]*([^\s{}#\[]+)(?:#([\w-]+))?(?:[ \t]*\{[^{}\n]*\})?(?:[ \t]*\[[^\]\n]*\])?[ \t]*$"
)
_REGION = re.compile(r"\W*+(?:end)?region\b[ \t]*+[\w-]*+\W*$")  # an editor's region mark
_HUGO_FILE = re.compile(r"([ \t]*)\{\{[<%]\s*(readfile|include|code_sample|codenew|code)\s([^<>{}]*?)/?[>%]\}\}[ \t]*$")
_HUGO_END = re.compile(r"\{\{[<%][ \t]{0,9}/[ \t]{0,9}(\w{1,50})")
_HUGO_NAME = re.compile(r"(?:^|\bfile\s*+=)\s*+[\"`]?([\w./-]+\.\w+)[\"`]?")
_IMPORT_STATEMENT = re.compile(r"\s*import\s.*[\"'][\s;]*$")
_IMPORT = re.compile(
    r"(?m)^[ \t]{0,100}import\s{1,9}([A-Z]\w{0,100})(?:\s{0,9},\s{0,9}\{[^{}]{0,500}\})?"
    r"\s{1,9}from\s{1,9}[\"']([^\"'\n]{1,300}\.mdx?)[\"']"
)
_ALIAS = re.compile(r"@site(?=/)|[@~](?=/)")  # of the site's folder, or of its `src`
_COMPONENT = re.compile(r"([ \t]*)<([A-Z]\w*)(\s[^<>]*)?(?:/>|>\s*</\2\s*>)[ \t]*$")
_FILE_ATTRIBUTE = re.compile(r"\bfile\s*=\s*[\"']([^\"'\n]+)[\"']")
_MDBOOK = re.compile(
    r"(\\?)\{\{[ \t]{0,9}#(include|rustdoc_include|playground|playpen|title)[ \t]+([^{}\n]{1,500}+)\}\}"
)
_MDBOOK_PART = re.compile(r"\s*([^:\s]+)(?::(\d{0,9})(:?)(\d{0,9})|:([\w-]+))?(?!\S)")
_MDBOOK_MARK = re.compile(r"\bANCHOR(_END)?:\s{0,9}([\w-]+)")


@dataclass(frozen=True)
class _Directive:
    """Text that includes a file, or what `select` returns of it. `line`, perhaps empty, stays if it is unreadable."""

    line: str
    margin: str
    name: str
    select: Callable[[str], str] = lambda text: text.strip("\n")
    is_code: bool = False
    keeps_front_matter: bool = False


@dataclass(frozen=True)
class Includes:
    """Includes files that lie in `root`, and searches them in each of `bases` in turn.

    `syntax` is the generator whose include syntax is expanded. Some syntaxes also search the page's own folder.
    """

    syntax: str
    root: Path
    bases: tuple[Path, ...]

    def expand(self, text: str, file: Path, problems: list[Problem]) -> str:
        """The text of the page in `file` with its includes. One that cannot be read is a problem.

        Its line stays; in the syntax of Hugo, of mdBook and of blocks of snippets it is left out.
        """
        return _Expansion(self, problems).expand(text, file, ())


@dataclass
class _Expansion:
    """The expansion of one page. The limits are for all levels together, so that includes cannot multiply."""

    includes: Includes
    problems: list[Problem]
    chars_left: int = MAX_TOTAL
    files_left: int = MAX_FILES
    texts: dict[Path, str] = field(default_factory=dict)

    def expand(self, text: str, file: Path, including_files: tuple[Path, ...]) -> str:
        """The text of `file` with its includes. `including_files` include it, directly or not."""
        hint, read, separator = _SYNTAXES[self.includes.syntax]
        if len(including_files) >= MAX_DEPTH or not hint.search(text):
            return text
        files = (*including_files, resolve_links(file))
        pieces: list[str] = []
        for piece in read(text, bool(including_files)):
            pieces += [piece] if isinstance(piece, str) else self.include(piece, file, files)
        return separator.join(pieces)

    def include(self, directive: _Directive, file: Path, including_files: tuple[Path, ...]) -> list[str]:
        """The text of the file that a directive names, with its margin unless the limit of characters is reached."""
        found = self.load(directive.name, file, including_files)
        if not found:
            self.problems.append(Problem("include", directive.name))
            return [directive.line] if directive.line else []
        path, text = found
        text = directive.select(text if directive.keeps_front_matter else _remove_front_matter(text))
        text = fence(text, path.suffix[1:]) if directive.is_code else self.expand(text, path, including_files)
        lines, margin = text.split("\n"), directive.margin
        self.chars_left -= len(margin) * len(lines)
        return ["\n".join(margin + line if line else "" for line in lines) if self.chars_left >= 0 else text]

    def load(self, name: str, file: Path, including_files: tuple[Path, ...]) -> tuple[Path, str] | None:
        """Find a file by its name. None if it is missing, outside of `root`, too large, no text, or includes itself."""
        if not self.files_left or "://" in name:
            return None
        self.files_left -= 1
        for base in (file.parent, *self.includes.bases) if name.startswith(".") else self.includes.bases:
            try:
                path = resolve_links(base / name.lstrip("/"))
                if path in including_files or ".git" in path.parts:  # where a checkout may have a token
                    continue
                if path not in self.texts:
                    self.texts[path] = read_text_in_folder(self.includes.root, path, MAX_BYTES)
            except ValueError:  # the file is missing, or its name is invalid
                continue
            text = self.texts[path]
            if len(text) > self.chars_left:
                return None
            self.chars_left -= len(text)
            return path, text
        return None


def _read_mkdocs(text: str, is_included: bool) -> Iterator[str | _Directive]:
    """Yield the lines: snippets, also in code, `{* code *}` as on FastAPI's site, and `{! file !}` are directives."""
    block = False
    for line in text.split("\n"):
        if _match(_SNIPPET_BLOCK, line):
            block = not block
        elif block:
            name = line.strip()
            if name and not name.startswith(";"):
                yield _build_snippet("", line[: len(line) - len(line.lstrip())], name)
        elif found := _match(_SNIPPET, line):
            yield _build_snippet(line, found[1], found[2])
        elif found := _match(_CODE_FILE, line):
            ranges = _RANGES.search(found[3])
            select = partial(extract_lines, ranges=ranges[1] if ranges else "")
            yield _Directive(line, found[1], found[2], select, is_code=True, keeps_front_matter=True)
        elif found := _match(_PLAIN_FILE, line):
            yield _Directive(line, found[1], found[2].strip())
        else:
            yield line


def _match(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """Match a pattern, unless the line is too long."""
    return pattern.match(line) if len(line) <= MAX_LINE else None


def _build_snippet(line: str, margin: str, name: str) -> _Directive:
    """A file, its lines (`:2:5`) or its section (`:name`), without the marks of sections."""
    section = lines = ""
    if found := _WITH_LINES.match(name):
        name, lines = found[1], found[2] if "," in found[2] or ":" in found[2] else f"{found[2]}:"
    elif found := _WITH_SECTION.match(name):
        name, section = found[1], found[2]

    def select(text: str) -> str:
        text = _extract_section(text, section) if section else extract_lines(text, lines)
        return "\n".join(line for line in text.split("\n") if not _SECTION.search(line))

    return _Directive(line, margin, name, select, keeps_front_matter=True)


def _extract_section(text: str, name: str) -> str:
    selected: list[str] = []
    is_inside = False
    for line in text.split("\n"):
        mark = _SECTION.search(line)
        if mark and mark[2] == name:
            is_inside = mark[1] == "start"
        elif is_inside and not mark:
            selected.append(line)
    return "\n".join(selected)


def _read_vitepress(text: str, is_included: bool) -> Iterator[str | _Directive]:
    """Yield the lines: `<!--@include: ./part.md-->`, and `<<< @/file.py` for code, are directives."""
    code = fenced_lines(text)
    for number, line in enumerate(text.split("\n")):
        part = code_file = None
        if number not in code:
            part, code_file = _match(_VITEPRESS_PART, line), _match(_VITEPRESS_CODE, line)
        found = part or code_file
        if not found:
            yield line
            continue
        name = found[2][2:] if found[2].startswith("@/") else found[2] if found[2][0] in "/." else f"./{found[2]}"
        lines = (part[4] or "").replace(",", ":") if part else ""
        select = partial(_extract_region, name=found[3], lines=lines)
        yield _Directive(line, found[1], name, select, is_code=not part, keeps_front_matter=not part)


def _extract_region(text: str, name: str | None, lines: str) -> str:
    """Some lines between `region name` and its `endregion`, or below the heading with that anchor.

    Without a name, those of the text without marks of regions.
    """
    if not name:
        return extract_lines("\n".join(line for line in text.split("\n") if not _REGION.match(line)), lines)
    selected: list[str] = []
    is_inside = False
    for line in text.split("\n"):
        if re.search(rf"\bregion\s+{re.escape(name)}\b", line):
            is_inside = True
        elif is_inside and "endregion" in line:
            break
        elif is_inside:
            selected.append(line)
    section = "\n".join(selected) if selected else extract_section(text, name, VITEPRESS)
    return extract_lines(section, lines).strip("\n")


def _read_mdbook(text: str, is_included: bool) -> Iterator[str | _Directive]:
    """Yield what stands between the tags of mdBook, which are directives wherever they stand, also in code."""
    at = 0
    for tag in _MDBOOK.finditer(text):
        yield text[at : tag.start()]
        at = tag.end()
        escape, kind, argument = tag.groups()
        part = _MDBOOK_PART.match(argument)
        if escape:
            yield tag[0][1:]
        elif part and kind != "title":
            name = part[1] if part[1].startswith(".") else f"./{part[1]}"
            yield _Directive("", "", name, partial(_select_mdbook, part, kind), keeps_front_matter=True)
    yield text[at:]


def _select_mdbook(part: re.Match[str], kind: str, text: str) -> str:
    """The lines `:2:5` or those between the comments `ANCHOR: name` and `ANCHOR_END: name`, without such comments."""
    _, start, colon, end, name = part.groups()
    selected: list[str] = []
    is_inside = not name
    for line in (text if start is None else extract_lines(text, f"{start}{colon}{end}")).split("\n"):
        if mark := _MDBOOK_MARK.search(line):
            is_inside = not mark[1] if mark[2] == name else is_inside
        elif is_inside:
            selected.append(line)
    text = "\n".join(selected).strip("\n")
    return fence(text, "rust") if kind.startswith("play") else text


def _read_mdx(text: str, is_included: bool) -> Iterator[str | _Directive]:
    """Yield the lines: components that are imported from Markdown, and `<Snippet file="x.mdx" />`, are directives.

    An `import` in an included file would be read as text, so it is left out.
    """
    code = fenced_lines(text, is_mdx=True)
    lines = text.split("\n")
    prose = "\n".join("" if number in code else line for number, line in enumerate(lines))
    imports = {name: _ALIAS.sub("", path) for name, path in _IMPORT.findall(prose)}
    for number, line in enumerate(lines):
        name, component = "", None
        if is_included and number not in code and _match(_IMPORT_STATEMENT, line):
            continue
        if number not in code and (component := _match(_COMPONENT, line)):
            attribute = _FILE_ATTRIBUTE.search(component[3] or "") if component[2] == "Snippet" else None
            name = f"snippets/{attribute[1].lstrip('/')}" if attribute else imports.get(component[2], "")
        yield _Directive(line, component[1], name) if component and name else line


def _read_hugo(text: str, is_included: bool) -> Iterator[str | _Directive]:
    """Yield the lines: `{{% readfile file="x.md" %}}`, and `code_sample` for code, are directives.

    A shortcode with an end tag has its own text, such as `code`, whose file is only a title.
    """
    code = fenced_lines(text)
    closed = set(_HUGO_END.findall(text))
    for number, line in enumerate(text.split("\n")):
        found = _match(_HUGO_FILE, line)
        name = _HUGO_NAME.search(found[3]) if found else None
        if not found or not name or found[2] in closed:
            yield line
            continue
        is_code = not name[1].endswith((".md", ".html")) or 'code="true"' in found[3]
        is_inside = number in code
        path = name[1] if name[1][0] in "/." else f"./{name[1]}"
        yield _Directive("", found[1], path, is_code=is_code and not is_inside, keeps_front_matter=is_code or is_inside)


def _remove_front_matter(text: str) -> str:
    """The text of a file without its front matter."""
    try:
        return split_front_matter(text)[1]
    except ValueError:
        return text


def extract_lines(text: str, ranges: str) -> str:
    """The lines with these numbers, such as `2:5,9:` or `7`; all lines without ranges. Never longer than the text.

    What is no range is left out.
    """
    lines = text.removesuffix("\n").split("\n")
    selected: list[str] = []
    chars_left = len(text) + 1
    for piece in map(_LINES.fullmatch, ranges.replace(" ", "").split(",") if ranges else [":"]):
        if not piece:
            continue
        start = int(piece[1] or 1)
        end = int(piece[3] or len(lines)) if piece[2] else start
        chosen = lines[max(start, 1) - 1 : end]
        chars_left -= sum(len(line) + 1 for line in chosen)
        if chars_left < 0:
            break
        selected += chosen
    return "\n".join(selected)


# By generator: what a text with directives contains, its pieces, and what stands between them. The functions know
# whether the text itself is included.
_SYNTAXES: dict[str, tuple[re.Pattern[str], Callable[[str, bool], Iterator[str | _Directive]], str]] = {
    "mkdocs": (re.compile(r"-8<-|\{[*!]"), _read_mkdocs, "\n"),
    "vitepress": (re.compile("@include:|<<<"), _read_vitepress, "\n"),
    "hugo": (re.compile(r"\{\{[<%]\s*(?:readfile|include|code)"), _read_hugo, "\n"),
    "mdbook": (re.compile(r"\{\{\s*#"), _read_mdbook, ""),
    "mdx": (re.compile(r"<Snippet\b|(?m:^[ \t]*import\s)"), _read_mdx, "\n"),
}

"""Expand files that pages include, in the syntax of each generator."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from search.sources.files import read_text_in_folder, resolve_links
from search.sources.markdown.front_matter import split_front_matter
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
_IMPORT_STATEMENT = re.compile(r"import\s.*[\"'][\s;]*$")
_IMPORT = re.compile(r"import\s+([A-Z]\w*)\s+from\s+[\"']([^\"'\n]+\.mdx?)[\"']\s*;?\s*$")
_COMPONENT = re.compile(r"([ \t]*)<([A-Z]\w*)(\s[^<>]*)?(?:/>|>\s*</\2\s*>)[ \t]*$")
_FILE_ATTRIBUTE = re.compile(r"\bfile\s*=\s*[\"']([^\"'\n]+)[\"']")


@dataclass(frozen=True)
class Includes:
    """Includes files that lie in `root`, and searches them in each of `bases` in turn.

    `syntax` is the generator whose include syntax is expanded. Some syntaxes also search the page's own folder.
    """

    syntax: str
    root: Path
    bases: tuple[Path, ...]

    def expand(self, text: str, file: Path) -> str:
        """The text of the page in `file` with its includes. An include that cannot be read stays as it is."""
        return _Expansion(self).expand(text, file, ())


@dataclass
class _Expansion:
    """The expansion of one page. The limits are for all levels together, so that includes cannot multiply."""

    includes: Includes
    chars_left: int = MAX_TOTAL
    files_left: int = MAX_FILES
    texts: dict[Path, str] = field(default_factory=dict)

    def expand(self, text: str, file: Path, including_files: tuple[Path, ...]) -> str:
        """The text of `file` with its includes. `including_files` include it, directly or not."""
        expand_lines = _EXPANDERS.get(self.includes.syntax)
        if not expand_lines or len(including_files) >= MAX_DEPTH or not _HINTS[self.includes.syntax].search(text):
            return text
        return "\n".join(expand_lines(self, text.split("\n"), file, (*including_files, resolve_links(file))))

    def load(self, name: str, file: Path, including_files: tuple[Path, ...]) -> tuple[Path, str] | None:
        """Find a file by its name. None if it is missing, outside of `root`, too large, no text, or includes itself."""
        if not self.files_left:
            return None
        self.files_left -= 1
        for base in (file.parent, *self.includes.bases) if name.startswith(".") else self.includes.bases:
            try:
                path = resolve_links(base / name.lstrip("/"))
                if path in including_files:
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

    def expand_file(self, name: str, file: Path, including_files: tuple[Path, ...]) -> str | None:
        """The Markdown of a file with its own includes, without front matter; None if it cannot be read."""
        found = self.load(name, file, including_files)
        return self.expand(_remove_front_matter(found[1]).strip("\n"), found[0], including_files) if found else None

    def indent(self, text: str, margin: str) -> list[str]:
        """The lines of a text with a margin; without it once the limit of characters is reached."""
        lines = text.split("\n")
        self.chars_left -= len(margin) * len(lines)
        return [margin + line if line else "" for line in lines] if self.chars_left >= 0 else lines

    def indent_code(self, text: str, path: Path, margin: str) -> list[str]:
        """The lines of a fence with the code."""
        return self.indent(fence(text, path.suffix[1:]), margin)


def _expand_mkdocs(expansion: _Expansion, lines: list[str], file: Path, including_files: tuple[Path, ...]) -> list[str]:
    """Expand snippets, also in code, `{* code *}` as on FastAPI's site, and `{! file !}`."""
    out: list[str] = []
    block = False
    for line in lines:
        if _match(_SNIPPET_BLOCK, line):
            block = not block
        elif block:
            margin, name = line[: len(line) - len(line.lstrip())], line.strip()
            text = None if not name or name.startswith(";") else _load_snippet(expansion, name, file, including_files)
            out += expansion.indent(text, margin) if text is not None else []
        elif found := _match(_SNIPPET, line):
            text = _load_snippet(expansion, found[2], file, including_files)
            out += [line] if text is None else expansion.indent(text, found[1])
        elif found := _match(_CODE_FILE, line):
            code = expansion.load(found[2], file, including_files)
            ranges = _RANGES.search(found[3])
            out += (
                [line]
                if not code
                else expansion.indent_code(_extract_lines(code[1], ranges[1] if ranges else ""), code[0], found[1])
            )
        elif found := _match(_PLAIN_FILE, line):
            text = expansion.expand_file(found[2].strip(), file, including_files)
            out += [line] if text is None else expansion.indent(text, found[1])
        else:
            out.append(line)
    return out


def _match(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """Match a pattern, unless the line is too long."""
    return pattern.match(line) if len(line) <= MAX_LINE else None


def _load_snippet(expansion: _Expansion, name: str, file: Path, including_files: tuple[Path, ...]) -> str | None:
    """The text of a file, of its lines (`:2:5`) or of its section (`:name`); None if it cannot be read."""
    if "://" in name or not expansion.files_left:
        return None
    section = lines = ""
    if found := _WITH_LINES.match(name):
        name, lines = found[1], found[2] if "," in found[2] or ":" in found[2] else f"{found[2]}:"
    elif found := _WITH_SECTION.match(name):
        name, section = found[1], found[2]
    loaded = expansion.load(name, file, including_files)
    if not loaded:
        return None
    path, text = loaded
    text = _extract_section(text, section) if section else _extract_lines(text, lines)
    text = "\n".join(line for line in text.split("\n") if not _SECTION.search(line))
    return expansion.expand(text, path, including_files)


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


def _expand_vitepress(
    expansion: _Expansion, lines: list[str], file: Path, including_files: tuple[Path, ...]
) -> list[str]:
    """Expand `<!--@include: ./part.md-->`, and `<<< @/file.py` for code."""
    out: list[str] = []
    code = fenced_lines("\n".join(lines))
    for number, line in enumerate(lines):
        is_outside_code = number not in code
        if is_outside_code and (found := _match(_VITEPRESS_PART, line)):
            loaded = expansion.load(_resolve_vitepress_name(found[2]), file, including_files)
            if loaded:
                region = _extract_region(_remove_front_matter(loaded[1]), found[3])
                text = _extract_lines(region, (found[4] or "").replace(",", ":"))
                out += expansion.indent(expansion.expand(text, loaded[0], including_files), found[1])
            else:
                out.append(line)
        elif is_outside_code and (found := _match(_VITEPRESS_CODE, line)):
            loaded = expansion.load(_resolve_vitepress_name(found[2]), file, including_files)
            if loaded:
                out += expansion.indent_code(_extract_region(loaded[1], found[3]), loaded[0], found[1])
            else:
                out.append(line)
        else:
            out.append(line)
    return out


def _resolve_vitepress_name(name: str) -> str:
    return name[2:] if name.startswith("@/") else name if name.startswith(("/", ".")) else f"./{name}"


def _extract_region(text: str, name: str | None) -> str:
    """The lines between `region name` and its `endregion`; without a name all lines except such marks."""
    if not name:
        return "\n".join(line for line in text.split("\n") if not _REGION.match(line))
    selected: list[str] = []
    is_inside = False
    for line in text.split("\n"):
        if re.search(rf"\bregion\s+{re.escape(name)}\b", line):
            is_inside = True
        elif is_inside and "endregion" in line:
            break
        elif is_inside:
            selected.append(line)
    return "\n".join(selected)


def _expand_mdx(expansion: _Expansion, lines: list[str], file: Path, including_files: tuple[Path, ...]) -> list[str]:
    """Expand components that are imported from Markdown files, and `<Snippet file="x.mdx" />`."""
    out: list[str] = []
    imports: dict[str, str] = {}
    code = fenced_lines("\n".join(lines), is_mdx=True)
    for number, line in enumerate(lines):
        is_outside_code = number not in code
        name = ""
        found = None
        if is_outside_code and _match(_IMPORT_STATEMENT, line):
            if found := _IMPORT.match(line):
                imports[found[1]] = found[2].removeprefix("@site")
            if len(including_files) > 1:  # inside another page, the statement would be read as text
                continue
        elif is_outside_code and (found := _match(_COMPONENT, line)):
            attribute = _FILE_ATTRIBUTE.search(found[3] or "")
            if found[2] == "Snippet" and attribute:
                name = f"snippets/{attribute[1].lstrip('/')}"
            else:
                name = imports.get(found[2], "")
        text = expansion.expand_file(name, file, including_files) if name else None
        out += [line] if text is None or not found else expansion.indent(text, found[1])
    return out


def _remove_front_matter(text: str) -> str:
    """The text of a file without its front matter."""
    try:
        return split_front_matter(text)[1]
    except ValueError:
        return text


def _extract_lines(text: str, ranges: str) -> str:
    """The lines with these numbers, such as `2:5,9:` or `7`; all lines without ranges. Never longer than the text."""
    lines = text.removesuffix("\n").split("\n")
    selected: list[str] = []
    chars_left = len(text) + 1
    for piece in ranges.replace(" ", "").split(",") if ranges else [":"]:
        first, colon, last = piece.partition(":")
        start = int(first[:9] or 1)
        end = int(last[:9] or len(lines)) if colon else start
        chosen = lines[max(start, 1) - 1 : end]
        chars_left -= sum(len(line) + 1 for line in chosen)
        if chars_left < 0:
            break
        selected += chosen
    return "\n".join(selected)


_Expander = Callable[[_Expansion, list[str], Path, tuple[Path, ...]], list[str]]
_EXPANDERS: dict[str, _Expander] = {"mkdocs": _expand_mkdocs, "vitepress": _expand_vitepress, "mdx": _expand_mdx}
_HINTS = {
    "mkdocs": re.compile(r"-8<-|\{[*!]"),
    "vitepress": re.compile("@include:|<<<"),
    "mdx": re.compile(r"<Snippet\b|(?m:^import\s)"),
}

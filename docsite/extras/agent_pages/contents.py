"""The list of a project's pages, in sections (llmstxt.org). A list that would be too long has nested ones."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project
from docsite.extras.agent_pages.pages import Place, list_documents, measure_key, name_file
from docsite.site.for_programs import agent_files
from search.retrieval import index_state

MAX_CHARACTERS = 50_000  # of a list: tools of agents cut longer texts
MAX_DESCRIPTION = 200
_ROOM = 2_000  # of them for the title, notes and headings of a part
_TOP = "Pages"
_MAX_CACHE_BYTES = 16 * 1024 * 1024

_lists: SizedCache[tuple[object, ...], Sequence[str]] = SizedCache()


@dataclass(frozen=True)
class _Page:
    path: str
    title: str
    description: str


@dataclass(frozen=True)
class _Section:
    """Pages below one heading. `folder`: they may have a list of their own, to which `line` leads."""

    heading: str
    lines: list[str]
    folder: str = ""
    line: str = ""

    @property
    def size(self) -> int:
        """Its characters."""
        return len(self.heading) + 6 + sum(len(line) + 1 for line in self.lines)


def write_contents(place: Place, folder: str, part: int = 0) -> str | None:
    """The list of the pages in a folder, or one part of a list that has parts. None where there are no pages."""
    project = place.project
    key = (project.pk, index_state.get_scope(project), folder, place.url, project.docs_url, project.name)
    files = _lists.get(key)
    if files is None:
        files = _write_files(place, folder, _list_pages(project, folder))
        if files:  # strangers write names of folders without pages
            _lists.put(key, files, (sum(map(len, files)) + measure_key(key)) * 2, _MAX_CACHE_BYTES)
    return files[part] if part < len(files) else None


def _list_pages(project: Project, folder: str) -> list[_Page]:
    rows = list_documents(project, folder).values_list("path", "title", "description")
    return [_Page(path, " ".join(title.split()), _shorten(description)) for path, title, description in rows]


def _shorten(description: str) -> str:
    text = " ".join(description.split())
    return text if len(text) <= MAX_DESCRIPTION else f"{text[:MAX_DESCRIPTION].rpartition(' ')[0]}…"


def _write_files(place: Place, folder: str, pages: Sequence[_Page]) -> list[str]:
    """The list, and after it the parts of it, if it needs parts."""
    if not pages:
        return []
    sections = _build_sections(place, folder, pages)
    notes = [
        "Each page is Markdown at the address that ends in `.md`. Its front matter names the page that people read.",
        f"The documentation is at {place.project.docs_url}.",
    ]
    title = place.project.name
    if folder == "/":
        home = next((page for page in pages if page.path == "/"), None)
        summary = (home and home.description) or f"The documentation of {title}."
        optional = agent_files.write_entry(*agent_files.ALL_PAGES, place.build_url("/llms-full.txt"))
        sections.append(_Section("Optional", [optional]))
    else:
        title = f"{title}: {_name_folder(folder, pages)}"
        summary = f"The pages below {place.project.url_of(folder)}."

    def write(chosen: Sequence[_Section]) -> str:
        return agent_files.write_list(title, summary, notes, [(one.heading, one.lines) for one in chosen if one.lines])

    sections = _nest(sections, MAX_CHARACTERS - len(write([])) - _ROOM)
    text = write(sections)
    if len(text) < MAX_CHARACTERS:
        return [text]
    parts = _pack([line for section in sections for line in section.lines], MAX_CHARACTERS - _ROOM - len(write([])))
    addresses = [place.build_url(posixpath.join(folder, f"llms-{number}.txt")) for number in range(1, len(parts) + 1)]
    entries = [agent_files.write_entry(f"Part {number}", "", url) for number, url in enumerate(addresses, 1)]
    return [write([_Section(_TOP, entries)]), *(write([_Section(_TOP, lines)]) for lines in parts)]


def _build_sections(place: Place, folder: str, pages: Sequence[_Page]) -> list[_Section]:
    """The pages by the folders directly below this one. Pages that are in none of them come first."""
    groups: dict[str, list[_Page]] = defaultdict(list)
    for page in pages:
        groups[_find_child(folder, page.path)].append(page)
    top: list[_Page] = []
    sections = []
    for child, group in groups.items():
        if child == folder or len(group) == 1:
            top += group
            continue
        name = _name_folder(child, group)
        line = agent_files.write_entry(
            _escape(name), f"A list of {len(group)} pages", place.build_url(f"{child}/llms.txt")
        )
        sections.append(_Section(name, [_write_line(place, page) for page in group], child, line))
    return [_Section(_TOP, [_write_line(place, page) for page in top]), *sections]


def _find_child(folder: str, path: str) -> str:
    """The folder directly below `folder` that a page is in, or whose page it is."""
    if path == folder:
        return folder
    start = "" if folder == "/" else folder
    return f"{start}/{path[len(start) + 1 :].partition('/')[0]}"


def _write_line(place: Place, page: _Page) -> str:
    return agent_files.write_entry(_escape(page.title), page.description, place.build_url(name_file(page.path)))


def _name_folder(folder: str, pages: Sequence[_Page]) -> str:
    """What a folder is called: the title of its page, else its own name."""
    title = next((page.title for page in pages if page.path == folder), "")
    return title or re.sub(r"[-_]+", " ", posixpath.basename(folder)).strip().capitalize() or folder


def _escape(text: str) -> str:
    """A text as the label of a link."""
    return re.sub(r"([\[\]\\])", r"\\\1", text)


def _nest(sections: list[_Section], room: int) -> list[_Section]:
    """The sections, of which the largest have a list of their own until the others fit."""
    excess = sum(section.size for section in sections) - room
    nested = set()
    for section in sorted((one for one in sections if one.folder), key=lambda one: -one.size):
        if excess <= 0:
            break
        nested.add(section.folder)
        excess -= section.size - len(section.line) - 1
    lists = [section.line for section in sections if section.folder in nested]
    kept = [section for section in sections if section.folder not in nested]
    return [*kept[:1], _Section("Lists of pages", lists), *kept[1:]] if lists else kept


def _pack(lines: Sequence[str], room: int) -> list[list[str]]:
    """The lines in parts, each of which fits."""
    parts: list[list[str]] = [[]]
    size = 0
    for line in lines:
        if size + len(line) + 1 > room and parts[-1]:
            parts.append([])
            size = 0
        parts[-1].append(line)
        size += len(line) + 1
    return parts

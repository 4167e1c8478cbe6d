"""The Markdown of a page: all that the index has of it, with its title, version, last change and public address."""

import json
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project
from docsite.site.for_programs import agent_files
from search.hits import Hit
from search.models import Document
from search.retrieval import index_state, links
from search.text.markdown.cleaning import clean

MAX_CACHE_BYTES = 32 * 1024 * 1024  # of the pages that agents read lately, of all projects
BATCH = 5  # pages of a long file that are loaded at once: the first ones must be there within 300 ms
_IN_PATH = "/-._~!$&'*+,;=:@"

_pages: SizedCache[tuple[object, ...], str] = SizedCache()


@dataclass(frozen=True)
class Place:
    """Where agents read the pages of a project: below `url`, which has no slash at its end.

    `is_site`: that is the project's own site, behind an edge file. Else it is this service.
    """

    project: Project
    url: str
    is_site: bool

    def build_url(self, file: str) -> str:
        """The address of a file, which begins with a slash."""
        return self.url + quote(file, safe=_IN_PATH)


def name_file(path: str) -> str:
    """The file with the Markdown of a page.

    >>> name_file("/"), name_file("/guide/install")
    ('/index.md', '/guide/install.md')
    """
    return "/index.md" if path == "/" else f"{path}.md"


def find_page(place: Place, address: str) -> str | None:
    """The Markdown of the page at a path or an address, or None. Only a page that the present reader sees."""
    project = place.project
    path = links.page_of(project, project.path_of(address))
    return _write_pages(place, [path]).get(path)


def _write_pages(place: Place, paths: Sequence[str]) -> dict[str, str]:
    """The Markdown of those pages of some paths that there are, in this order."""
    project = place.project
    state = project.pk, index_state.get_scope(project), place.url, project.docs_url  # before the pages are read
    texts = {path: _pages.get((*state, path)) for path in paths}
    missing = [path for path, text in texts.items() if text is None]
    for document in Document.objects.filter(project=project, path__in=missing) if missing else ():
        key, text = (*state, document.path), write_page(place, document)
        _pages.put(key, text, (len(text) + measure_key(key)) * 2, MAX_CACHE_BYTES)
        texts[document.path] = text
    return {path: text for path, text in texts.items() if text is not None}


def measure_key(key: tuple[object, ...]) -> int:
    """About the characters of a key of a cache, parts of which strangers write."""
    return len(repr(key))


def write_page(place: Place, document: Document) -> str:
    """The Markdown of a page. Links to other pages are relative; on the site itself they are whole addresses."""
    project = place.project
    title, body = _split_title(clean(document.content), document.title)
    hit = Hit(
        document.path,
        url="",
        title=title,
        section="",
        breadcrumb=(),
        body=body,
        excerpt="",
        score=1.0,
        version=document.version or None,
        language=document.language or None,
    )

    def build_url(path: str, anchor: str, address: str) -> str:
        if place.is_site:
            target = place.build_url(name_file(path))
        else:
            folder = posixpath.dirname(name_file(document.path))
            target = quote(posixpath.relpath(name_file(path), folder), safe=_IN_PATH)
        return f"{target}#{quote(anchor, safe=_IN_PATH)}" if anchor else target

    (linked,) = links.rewrite(project, [hit], build_url)
    facts = {
        "title": title,
        "url": project.url_of(document.path, address=document.address),
        "version": document.version,
        "language": document.language,
        "last_modified": f"{document.ingested_at:%Y-%m-%d}",
    }
    head = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items() if value)
    page = agent_files.write_page(title, document.description, place.build_url("/llms.txt"), linked.body.strip())
    return f"---\n{head}\n---\n\n{page}\n"


def _split_title(markdown: str, title: str) -> tuple[str, str]:
    """The headline of a page and the text below it. Without a headline, the title stands for it.

    Hashes and attributes (`{#id}`) at the end of the headline are no part of it.
    """
    line, _, below = markdown.lstrip().partition("\n")
    if not line.startswith(("# ", "#\t")):
        return title, markdown
    headline = line[1:].strip()
    if not (text := headline.rstrip("#")) or text != text.rstrip():
        headline = text.rstrip()
    start = headline.rfind("{")
    if start >= 0 and headline.find("}", start) == len(headline) - 1:
        headline = headline[:start].rstrip()
    return headline or title, below


def list_documents(project: Project, folder: str) -> QuerySet[Document]:
    """The page of a folder and the pages in it, by path."""
    documents = Document.objects.filter(project=project).order_by("path")
    if folder == "/":
        return documents
    inside = f"{folder}/"  # a comparison that sees upper and lower case, also in SQLite
    return documents.alias(start=Substr("path", 1, len(inside))).filter(Q(path=folder) | Q(start=inside))


def load_batch(place: Place, folder: str, after: str) -> tuple[str, str]:
    """The Markdown of the next pages in a folder, by path, after one of them; and the last path. Empty at the end."""
    following = list_documents(place.project, folder).filter(path__gt=after)
    paths = list(following.values_list("path", flat=True)[:BATCH])
    return "\n".join(_write_pages(place, paths).values()), paths[-1] if paths else ""

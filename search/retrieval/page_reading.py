"""One page of the documentation, section by section, for a model that wants to read it."""

from collections.abc import Sequence

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit, PageText
from search.models import Document, Section
from search.retrieval import index_state
from search.retrieval.excerpts import build_beginning
from search.retrieval.links import make_absolute, page_of
from search.retrieval.stored_pages import StoredPage, StoredSection
from search.text.shared_texts import intern

MAX_ADDRESS = 2000  # characters
MAX_CHARACTERS = 60_000  # of the sections that are loaded
MAX_SECTIONS = 500


def read_page(project: Project, address: str, filters: Filters = Filters()) -> PageText | None:
    """The page at a path or an address, with absolute links. None where there is none that passes the filters.

    A page without version or language passes each filter for it.
    """
    with snapshot():
        path = page_of(project, project.path_of(address[:MAX_ADDRESS]))
        document = Document.objects.filter(project=project, path=path).defer("content").first()
        if document is None or not _passes(project, document, filters):
            return None
        sections: list[Section] = []
        further_headings: list[str] = []
        size = 0
        for section in Section.objects.on_page(project, path)[:MAX_SECTIONS]:
            size += len(section.body)
            if size <= MAX_CHARACTERS or not sections:
                sections.append(section)
            elif section.heading and section.heading not in further_headings[-1:]:
                further_headings.append(section.heading)
        hits = make_absolute(project, _build_hits(project, document, sections))
    return PageText(path, tuple(hit for hit in hits if hit.body.strip()), tuple(further_headings))


def _passes(project: Project, document: Document, filters: Filters) -> bool:
    version, language = (filters.version or "").lower(), (filters.language or "").lower()
    if version == "latest":
        version = index_state.get_state(project).latest_version
    return (
        (not version or document.version.lower() in ("", version))
        and (not language or document.language.lower() in ("", language))
        and (not filters.tag or filters.tag.lower() in (tag.lower() for tag in document.tags))
    )


def _build_hits(project: Project, document: Document, sections: Sequence[Section]) -> list[Hit]:
    stored = {
        one.position: StoredSection(one.heading, one.anchor, intern(one.text), one.trail, intern(one.body), one.digest)
        for one in sections
    }
    facets = document.version, document.language, document.address, document.tags
    page = StoredPage(project, document.path, document.title, document.description, *facets, stored)
    score = 1.0  # the model asked for this page
    return [
        page.build_hit(
            section,
            score,
            build_beginning(section.text or document.description or document.title),
            text=section.text,
            above=page.list_above(position),
        )
        for position, section in stored.items()
    ]

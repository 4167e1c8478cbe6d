"""Prepare a reader's search: parse the query, and find out which language, version and page the reader prefers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from docsite.core.tenants.models import Project
from search.hits import Filters
from search.models import Document, SearchSettings
from search.postings.search_index import SearchIndex
from search.retrieval import index_state, parsing
from search.retrieval.links import page_of
from search.retrieval.meaning import Meaning
from search.retrieval.ranking import Preferences
from search.text import glossary
from search.text.language import detect_language
from search.text.owner_words import find_promoted, parse_synonyms
from search.text.terms import Query, facet


@dataclass(frozen=True)
class SearchPlan:
    """A parsed query with all that a search of the index needs. `question` is its text, with the previous questions.

    `selected` holds the ids of sections of the reader's page that the question is about. With `only_current_page` no
    other page may answer it. `cited_paths` are pages that the answer before cites. `site_language` is that of the
    site's front page. `promoted_path` is the page that the owner promotes for the query, if any.
    """

    project: Project
    question: str
    query: Query
    preferences: Preferences
    index: SearchIndex
    indexed_at: datetime | None = None
    page_count: int = 0
    is_for_answer: bool = False
    meaning: Meaning | None = None
    only_current_page: bool = False
    selected: frozenset[int] = frozenset()
    cited_paths: Sequence[str] = ()
    site_language: str = ""
    promoted_path: str = ""

    @property
    def prefers_other_language(self) -> bool:
        """Whether the reader or the question prefers another language than that of the site's front page."""
        languages = (self.preferences.language, detect_language(self.question))
        return bool(self.site_language) and any(language not in ("", self.site_language) for language in languages)


def plan_search(
    project: Project,
    text: str,
    filters: Filters = Filters(),
    context: Sequence[str] = (),
    current_path: str = "",
    previous_questions: str = "",
    in_site_language: bool = False,
) -> SearchPlan:
    """Parse a query with the words of the index. Call it in the same database snapshot as the search.

    Without a filter, readers prefer the language of their question, if it is clear and pages have it, else that of the
    page that they are on, else the front page's; and the version of that page, else the latest one. With
    `in_site_language` they prefer the front page's language, and the query is translated into it if that is English.
    """
    state = index_state.get_state(project)
    version = state.latest_version if (filters.version or "").lower() == "latest" else filters.version
    languages = (filters.language[:2].lower(), "en") if filters.language else state.languages
    facets = _required_facets(filters, version)
    site_language = state.site_language.lower()
    asked_language = "" if in_site_language or not site_language else detect_language(text)
    asked_language = asked_language if asked_language in languages else ""
    query_languages = (site_language[:2],) if in_site_language else languages
    owner = SearchSettings.for_project(project)
    promoted_path = find_promoted(owner.promotions, text, languages)
    synonyms = parse_synonyms(owner.synonyms, tuple(languages))
    if "en" in query_languages and not filters.language:
        text, previous_questions = _translate(text, query_languages), _translate(previous_questions, query_languages)
    language = (filters.language or site_language)[:2].lower()
    query = parsing.parse(text, state.vocabulary, languages, facets, context, previous_questions, synonyms, language)
    page = _load_facets(project, current_path) if current_path else ("", "")
    if page is None:  # the reader may use an earlier address of the page
        current_path = page_of(project, current_path)
        page = _load_facets(project, current_path)
    page_language, page_version = page or ("", "")
    preferences = Preferences(
        (filters.language or asked_language or ("" if in_site_language else page_language) or site_language).lower(),
        "" if version else (page_version or state.latest_version).lower(),
        current_path,
    )
    question = f"{previous_questions} {text}".strip()
    return SearchPlan(
        project,
        question,
        query,
        preferences,
        index_state.get_index(project, state),
        state.indexed_at,
        state.page_count,
        site_language=site_language,
        promoted_path=promoted_path,
    )


def _translate(text: str, languages: Sequence[str]) -> str:
    """The text in English, if it is in none of these languages."""
    language = detect_language(text)
    return text if language in languages else glossary.translate(text, language)


def _load_facets(project: Project, path: str) -> tuple[str, str] | None:
    """Language and version of a page; None when there is no such page."""
    return Document.objects.filter(project=project, path=path).values_list("language", "version").first()


def _required_facets(filters: Filters, version: str | None) -> list[list[str]]:
    """The facet terms that a section must have. A page without version or language belongs to each of them."""
    facets = []
    if version:
        facets.append([facet("v", version), facet("v", "")])
    if filters.language:
        facets.append([facet("l", filters.language), facet("l", "")])
    if filters.tag:
        facets.append([facet("t", filters.tag)])
    return facets

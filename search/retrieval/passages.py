"""Search for the assistant: the sections to write an answer from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from operator import attrgetter

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit
from search.models import Document, Section
from search.retrieval import answerability, links, parsing, selection
from search.retrieval.excerpts import Highlighters
from search.retrieval.meaning import read_meaning
from search.retrieval.plan import SearchPlan, plan_search
from search.retrieval.selection import SELECTED_SCORE, ScoredSection
from search.retrieval.stored_pages import Place, StoredPage, load_pages, load_sections
from search.text import analysis, references
from search.text.language import detect_language
from search.text.terms import Query, Term

NAMED_SCORE = 0.9  # the minimum score of a section whose heading is a name in the selected code
MIN_SELECTION = 8  # characters of a selection that are enough to find its section
MAX_NAMES = 200  # names of the selected code that are looked for
MAX_PIECES = 200  # selections and their lines that are looked for
MAX_PAGE_SECTIONS = 500  # sections of the page that the reader is on
MIN_NEIGHBOUR = 120  # characters of a section beside a passage; less than that says nothing alone
SURE_CHANCE = 0.65  # from which words alone find the passages as well as words and meaning do
# Steps on the page from a passage to sections that often hold the rest of an answer, the likeliest first.
NEIGHBOURS = (1, -1, 2)
MIN_CORRECTED = 6  # characters; a shorter word with a corrected spelling does not show what a question is about

# "What is this page about?", in the languages that sites are most often written in.
_THIS_PAGE = re.compile(
    r"\b(?:this|current)\s+(?:page|article|guide|tutorial|document)\b|\besta\s+(?:página|guía)\b"
    r"|\bdieser?\s+(?:Seite|Anleitung)\b|\bcette\s+page\b|\bquesta\s+pagina\b|このページ|本页|这个页面",
    re.IGNORECASE,
)

# "Explain this code": words that ask about a text in front of the reader, and words that name such a text.
_POINTING = frozenset(word for words in analysis.LANGUAGES.values() for word in words.get("pointing", "").split())


@dataclass(frozen=True)
class Passages:
    """Sections to answer from, best first, and the chance (0..1) that they answer the question.

    With `is_foreign`, the question is in another language than the sections and shares few words with them, so the
    chance says nothing. `indexed_at` and `page_count` are those of the index. `neighbours` are the sections around
    them on their pages.
    """

    hits: list[Hit]
    chance: float
    is_foreign: bool
    indexed_at: datetime | None
    neighbours: Sequence[Hit] = ()
    page_count: int = 0


def find_passages(
    project: Project,
    query: str,
    *,
    filters: Filters = Filters(),
    limit: int = 5,
    context: Sequence[str] = (),
    current_path: str = "",
    previous_questions: str = "",
    cited_paths: Sequence[str] = (),
    max_characters: int = 0,
    uses_meaning: bool = True,
) -> Passages:
    """The best sections of at most `limit` pages, best first: two of a page, `limit` of an only one.

    `previous_questions` are those that the query follows up, if it does, and `cited_paths` the pages that the answer
    before cites. Words of `context` (selected text, code) count less than those of the question, unless it has few.
    The reader's page and the pages beside it are preferred, and the page comes first where "it" can mean nothing else;
    a section of the page that holds the selection comes first, or nearly so. Passages and neighbours have at
    most `max_characters` of Markdown together; 0: no neighbours. Links in the bodies are absolute. Only the first
    passage of each page has an excerpt. Without `uses_meaning` no sentence vector is asked for.
    """
    context = _cut(context, parsing.MAX_CONTEXT)
    with snapshot():
        page_first = bool(current_path) and not (context or previous_questions) and references.may_mean_page(query)
        alone = found = _search(project, query, filters, limit, previous_questions, cited_paths)
        if context or current_path:
            subject = previous_questions
            if page_first:  # a question such as "How do I install it?" is about it
                titles = Document.objects.filter(project=project, path=current_path).values_list("title", flat=True)
                subject = titles.first() or ""
            found = _search(project, query, filters, limit, subject, cited_paths, context, current_path)
        # Page and selection choose among the passages. They make no answer likelier.
        chance = min(alone.chance, found.chance)
        plan, best = (alone.plan, alone.sections) if _is_off_topic(found, alone) else (found.plan, found.sections)
        if uses_meaning and chance < SURE_CHANCE and (meaning := read_meaning(project, plan.question)):
            best = find_best(replace(plan, meaning=meaning), _count_sections(limit))
        best = selection.keep_pages(found.plan, best, found.sections, _count_sections(limit))
        first = list(dict.fromkeys(section.candidate.document_id for section in best))[:limit]
        best = [section for section in best if section.candidate.document_id in first]
        if page_first:
            best = _put_page_first(found.plan, best)
        places = [(section.candidate.document_id, section.candidate.position) for section in best]
        around_all = ((page, position + step) for step in NEIGHBOURS for page, position in places)
        places_around = [place for place in dict.fromkeys(around_all) if place not in places] if max_characters else []
        pages = load_pages(project, places, places_around)
        passages = [(section, _build_passage(pages[section.candidate.document_id], section)) for section in best]
        passages = _put_named_first(plan, passages, context)
        hits = [hit for _, hit in passages]
        around = _choose_neighbours(pages, places_around, best, max_characters - sum(len(hit.body) for hit in hits))
        if _is_answered_by_selection(found.plan, alone.plan, passages):
            chance = max(chance, SELECTED_SCORE)  # the question is about the documentation's own words
        hits = _add_excerpts(plan, pages, hits)
        absolute = links.make_absolute(project, [*hits, *around])
        return Passages(
            absolute[: len(hits)],
            chance,
            alone.is_foreign and found.is_foreign,
            plan.indexed_at,
            absolute[len(hits) :],
            plan.page_count,
        )


_ScoredHit = tuple[ScoredSection, Hit]  # a section, and the same with its text


@dataclass(frozen=True)
class _Found:
    """What a search found: sections, best first, and the chance that they answer."""

    plan: SearchPlan
    sections: list[ScoredSection]
    chance: float
    is_foreign: bool


def _search(
    project: Project,
    query: str,
    filters: Filters,
    limit: int,
    previous_questions: str,
    cited_paths: Sequence[str],
    context: Sequence[str] = (),
    current_path: str = "",
) -> _Found:
    """Search in the reader's language and, if its pages do not answer, in the site's language."""
    whole = f"{query} "  # its last word ends, too, and is not completed
    least_weight = parsing.PREVIOUS if previous_questions and references.continues(query) else 1.0

    def search(in_site_language: bool) -> _Found:
        plan = plan_search(project, whole, filters, context, current_path, previous_questions, in_site_language)
        plan = replace(_turn_to_page(plan, query, context, limit), cited_paths=cited_paths)
        sections = find_best(plan, _count_sections(limit))
        return _Found(plan, sections, _estimate_chance(plan, sections, least_weight), _is_foreign(query, sections))

    found = search(in_site_language=False)
    is_open = not filters.language and not found.plan.only_current_page
    if is_open and found.chance < answerability.MIN_CHANCE and found.plan.prefers_other_language:
        found = max(found, search(in_site_language=True), key=attrgetter("chance"))
    return found


def _count_sections(limit: int) -> int:
    return max(limit, answerability.PASSAGES)


def _is_off_topic(found: _Found, alone: _Found) -> bool:
    """Whether page or selection put a page first that the question alone does not find, in its language and version."""
    if not (found.sections and alone.sections) or found.plan.only_current_page or found.plan.query.is_about_context:
        return False
    first, other = found.sections[0].candidate, alone.sections[0].candidate
    is_like = (first.language, first.version) == (other.language, other.version)
    return is_like and all(section.candidate.document_id != first.document_id for section in alone.sections)


def _is_foreign(query: str, sections: Sequence[ScoredSection]) -> bool:
    """Whether the question is in another language than the best section. A language that is not known is no other."""
    if not sections or sections[0].score < answerability.MIN_PASSAGE_SCORE:
        return False
    return detect_language(query) not in ("", (sections[0].candidate.language or "en")[:2].lower())


def _cut(texts: Sequence[str], max_characters: int) -> list[str]:
    """The first texts, the last one cut, so that they have at most so many characters together."""
    kept: list[str] = []
    for text in texts:
        if max_characters <= 0:
            break
        kept.append(text[:max_characters])
        max_characters -= len(text)
    return kept


def find_best(plan: SearchPlan, limit: int) -> list[ScoredSection]:
    """The best sections of at most `limit` pages, best first. Call it inside a database snapshot."""
    per_page = limit if plan.only_current_page else 2
    return selection.rank(replace(plan, is_for_answer=True), limit, per_page)


def load_compared(project: Project, sections: Sequence[ScoredSection]) -> list[Hit]:
    """The best sections with their texts: the chance of an answer is estimated from them.

    What stands above and below them is not loaded. At most two are of one page, unless all are, so the best section of
    another page is among them.
    """
    first = sections[: answerability.PASSAGES]
    loaded = load_sections(project, [section.candidate.section_id for section in first])
    return [_build_passage(loaded[section.candidate.section_id][0], section) for section in first]


def _put_page_first(plan: SearchPlan, sections: list[ScoredSection]) -> list[ScoredSection]:
    """The sections, first those of the reader's page, if they hold a word of the question."""
    here = [section for section in sections if section.candidate.path == plan.preferences.current_path]
    if not here or not selection.is_about(plan, [section.candidate for section in here]):
        return sections
    return [*here, *(section for section in sections if section.candidate.path != plan.preferences.current_path)]


def _build_passage(page: StoredPage, section: ScoredSection) -> Hit:
    position = section.candidate.position
    return page.build_passage(position, section.score, following=page.list_following(position))


def _choose_neighbours(
    pages: Mapping[int, StoredPage], places: Sequence[Place], sections: Sequence[ScoredSection], max_characters: int
) -> list[Hit]:
    """The first of the places whose sections have some text, and together at most `max_characters` of Markdown.

    They get their pages' scores.
    """
    scores = {one.candidate.document_id: one.score for one in reversed(sections)}
    chosen = []
    for page, position in places:
        section = pages[page].sections.get(position)
        if section and section.text and MIN_NEIGHBOUR <= len(section.body) <= max_characters:
            max_characters -= len(section.body)
            chosen.append(pages[page].build_passage(position, scores[page]))
    return chosen


def _add_excerpts(plan: SearchPlan, pages: Mapping[int, StoredPage], hits: Sequence[Hit]) -> list[Hit]:
    """The hits, the first one of each page with its excerpt: readers are shown only that one."""
    left = {page.path: page for page in pages.values()}
    highlighters = Highlighters(plan.query.marks)
    shown = []
    for hit in hits:
        page = left.pop(hit.path, None)
        shown.append(replace(hit, excerpt=page.build_excerpt(hit.text, highlighters)[0]) if page else hit)
    return shown


def _estimate_chance(plan: SearchPlan, sections: Sequence[ScoredSection], least_weight: float) -> float:
    """The chance that the passages answer, by words only.

    Some section is always nearest in meaning, also to a question about something else.
    """
    if not _is_about(plan, sections, least_weight):
        return 0.0
    query = plan.query
    if least_weight < 1.0:  # its own words may be about the conversation
        held = [term for term in query.terms if _holds(plan, sections, term)]
        query = replace(query, terms=held, unknown_words=())
    return answerability.estimate_chance(query, load_compared(plan.project, sections))


def _holds(plan: SearchPlan, sections: Sequence[ScoredSection], term: Term) -> bool:
    spellings = [spelling for spelling, _ in term.spellings]
    return any(plan.index.holds(section.candidate.place, spellings) for section in sections)


def _is_about(plan: SearchPlan, sections: Sequence[ScoredSection], least_weight: float) -> bool:
    """Whether a passage holds a word of the question itself; True without any word.

    A question that only continues a previous one has its words, too, by their `least_weight`.

    A short word with a corrected spelling does not count: `bake` is not `base`.
    """
    words = [term.spellings for term in plan.query.terms if term.weight >= least_weight]
    own = [
        spelling
        for word in words
        for spelling, certainty in word
        if certainty >= parsing.SYNONYM or len(spelling) >= MIN_CORRECTED
    ]
    return not words or any(plan.index.holds(section.candidate.place, own) for section in sections)


def _put_named_first(plan: SearchPlan, passages: list[_ScoredHit], context: Sequence[str]) -> list[_ScoredHit]:
    """The passages in a new order: headings that are a name in the selected code, texts with such a name, the rest."""
    if not plan.query.is_about_context:
        return passages
    names = [name for value in context for name in analysis.code_names(value)][:MAX_NAMES]
    wanted = {analysis.name_of(name) for name in names}

    def least_score(hit: Hit) -> float:
        if wanted.intersection(analysis.names_of(hit.section)):
            return NAMED_SCORE
        return SELECTED_SCORE if any(name in hit.text for name in names) else 0.0

    least = [least_score(hit) for _, hit in passages]
    order = sorted(range(len(passages)), key=lambda at: -least[at])
    raised = [
        (section, replace(hit, score=max(hit.score, score)))
        for (section, hit), score in zip(passages, least, strict=True)
    ]
    return [raised[at] for at in order]


def _is_answered_by_selection(plan: SearchPlan, alone: SearchPlan, passages: Sequence[_ScoredHit]) -> bool:
    """Whether the question is about what the reader points at, and the documentation contains that.

    The sections that hold the selection, or are named in the selected code, must also hold all words of the question
    except those that point: "what does this option do?", but not "where is the station?".
    """
    pointed = [section for section, _ in passages if section.candidate.section_id in plan.selected]
    if not pointed and plan.query.is_about_context and passages and passages[0][1].score >= SELECTED_SCORE:
        pointed = [passages[0][0]]
    return bool(pointed) and all(
        any(plan.index.holds(section.candidate.place, spellings) for section in pointed)
        for spellings in _list_own_words(alone.query)
    )


def _list_own_words(query: Query) -> list[list[str]]:
    """The spellings of each word of a question, except for words that point at a text or ask about it."""
    return [
        [spelling for spelling, _ in term.spellings]
        for term in query.terms
        if term.weight == 1.0 and not term.is_minor and term.word.lower() not in _POINTING
    ]


def _turn_to_page(plan: SearchPlan, query: str, context: Sequence[str], limit: int) -> SearchPlan:
    """The plan, with the sections of the reader's page that the question is about, if it is about some."""
    current_path = plan.preferences.current_path
    if current_path and context:
        return replace(plan, selected=_find_selected(plan.project, current_path, context))
    if current_path and _THIS_PAGE.search(query):
        beginning = _find_beginning(plan, limit)
        is_only = bool(beginning) or len(plan.query.terms) < parsing.MIN_TERMS
        return replace(plan, only_current_page=is_only, selected=beginning)
    return plan


def _find_selected(project: Project, path: str, context: Sequence[str]) -> frozenset[int]:
    """The id of the section that holds the selected text, or a whole line of it."""
    pieces = (_flatten(piece) for value in context for piece in (value, *value.split("\n")))
    wanted = list(islice((piece for piece in pieces if len(piece) >= MIN_SELECTION), MAX_PIECES))
    on_page = Section.objects.on_page(project, path)
    rows = [(pk, _flatten(text)) for pk, text in on_page.values_list("pk", "text")[:MAX_PAGE_SECTIONS]]
    for piece in wanted:
        if holding := [pk for pk, text in rows if piece in text]:
            return frozenset(holding[:1])
    return frozenset()


def _find_beginning(plan: SearchPlan, limit: int) -> frozenset[int]:
    """The ids of the first sections of the reader's page, for a question like "summarize this page"."""
    if _list_own_words(plan.query):
        return frozenset()
    on_page = Section.objects.on_page(plan.project, plan.preferences.current_path)
    return frozenset(on_page.values_list("pk", flat=True)[:limit])


def _flatten(text: str) -> str:
    return " ".join(text.split()).casefold()

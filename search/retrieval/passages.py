"""Search for the assistant: the sections to write an answer from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit, NextSection
from search.models import Section
from search.retrieval import answerability, links, parsing, selection
from search.retrieval.meaning import read_meaning
from search.retrieval.neighbours import find_neighbours
from search.retrieval.page_search import build_hits
from search.retrieval.plan import SearchPlan, plan_search
from search.retrieval.selection import SELECTED_SCORE, ScoredSection
from search.text import analysis

MAX_ABOVE = 250_000  # characters of a page that are loaded above its passages
NAMED_SCORE = 0.9  # the minimum score of a section whose heading is a name in the selected code
MIN_SELECTION = 8  # characters of a selection that are enough to find its section
MAX_CODE = 10_000  # characters of a selection in which names are looked for
MAX_PAGE_SECTIONS = 500  # sections of the page that the reader is on
FOLLOWING = 3  # sections
SURE_CHANCE = 0.8  # from which words alone find the passages as well as words and meaning do
MIN_CORRECTED = 6  # characters; a shorter word with a corrected spelling does not show what a question is about

# "What is this page about?", in the languages that sites are most often written in.
_THIS_PAGE = re.compile(
    r"\b(?:this|current)\s+(?:page|article|guide|tutorial|document)\b|\besta\s+(?:página|guía)\b"
    r"|\bdieser?\s+(?:Seite|Anleitung)\b|\bcette\s+page\b|\bquesta\s+pagina\b|このページ|本页|这个页面",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Passages:
    """Sections to answer from, best first, the chance (0..1) that they answer the question, and their index time.

    `neighbours` are the sections around them on their pages.
    """

    hits: list[Hit]
    chance: float
    indexed_at: datetime | None
    neighbours: Sequence[Hit] = ()


def find_passages(
    project: Project,
    query: str,
    *,
    filters: Filters = Filters(),
    limit: int = 5,
    context: Sequence[str] = (),
    current_path: str = "",
    previous_questions: str = "",
    max_characters: int = 0,
) -> Passages:
    """The best sections of at most `limit` pages, at most two of a page, best first.

    `previous_questions` are those that the query follows up, if it does. Words of
    `context` (selected text, code) count less than the words of a long question.
    The reader's page and the pages beside it are preferred; a section of the page that
    holds the selection comes first, or nearly so. Passages and
    neighbours have at most `max_characters` of Markdown together; 0: no neighbours. Links in the bodies are absolute.
    """
    with snapshot():
        whole = f"{query} "  # its last word ends, too, and is not completed
        plan = plan_search(project, whole, filters, context, current_path, previous_questions)
        if current_path and context:
            plan = replace(plan, selected=_find_selected(project, current_path, context))
        elif current_path and _THIS_PAGE.search(query):
            beginning = _find_beginning(plan, limit)
            is_only = bool(beginning) or _asks_only_about_page(plan)
            plan = replace(plan, only_current_page=is_only, selected=beginning)
        limit_or_more = max(limit, answerability.PASSAGES)
        hits, sections = find_best(plan, limit_or_more)
        # Some section is always nearest in meaning, also to a question about something else: only words tell
        # whether the documentation answers.
        chance = answerability.estimate_chance(plan.query, hits) if _is_about(plan, sections) else 0.0
        if chance < SURE_CHANCE and (meaning := read_meaning(project, plan.question)):
            hits, sections = find_best(replace(plan, meaning=meaning), limit_or_more)
        hits, sections = _keep_pages(hits, sections, limit)
        around = find_neighbours(project, sections, max_characters - sum(len(hit.body) for hit in hits))
        neighbours = _add_texts(build_hits(plan, around), around)
        hits = _put_named_first(plan, _add_following(project, hits, sections), context)
        if any(one.candidate.section_id in plan.selected for one in sections) or _is_answered_by_selection(plan, hits):
            chance = max(chance, SELECTED_SCORE)  # the question is about the documentation's own words
        absolute = links.make_absolute(project, [*hits, *neighbours])
        return Passages(absolute[: len(hits)], chance, plan.indexed_at, absolute[len(hits) :])


def _keep_pages(
    hits: Sequence[Hit], sections: Sequence[ScoredSection], limit: int
) -> tuple[list[Hit], list[ScoredSection]]:
    """The passages of the first `limit` pages."""
    first = list(dict.fromkeys(hit.path for hit in hits))[:limit]
    kept = [number for number, hit in enumerate(hits) if hit.path in first]
    return [hits[number] for number in kept], [sections[number] for number in kept]


def find_best(plan: SearchPlan, limit: int) -> tuple[list[Hit], list[ScoredSection]]:
    """The passages, as hits with their texts and as scored sections. Call it inside a database snapshot."""
    plan = replace(plan, is_for_answer=True)
    sections = selection.rank(plan, limit, per_page=limit if plan.only_current_page else 2)
    return _add_texts(build_hits(plan, sections), sections), sections


def _is_about(plan: SearchPlan, sections: Sequence[ScoredSection]) -> bool:
    """Whether a passage holds a word of the question itself, not only of previous ones; True without any word.

    A short word with a corrected spelling does not count: `bake` is not `base`.
    """
    words = [term.spellings for term in plan.query.terms if term.weight == 1.0]
    own = [
        spelling for word in words for spelling, certainty in word if certainty == 1.0 or len(spelling) >= MIN_CORRECTED
    ]
    return not words or any(spelling in one.candidate.impact for one in sections for spelling in own)


def _put_named_first(plan: SearchPlan, hits: list[Hit], context: Sequence[str]) -> list[Hit]:
    """The hits, first those whose heading is a name from the selected code, then those whose text holds one."""
    if not plan.query.is_about_context:
        return hits
    names = [name for value in context for name in analysis.code_names(value[:MAX_CODE])]
    wanted = {analysis.name_of(name) for name in names}
    named = [hit for hit in hits if wanted.intersection(analysis.names_of(hit.section))]
    holding = [hit for hit in hits if hit not in named and any(name in hit.text for name in names)]
    return [
        *(replace(hit, score=max(hit.score, NAMED_SCORE)) for hit in named),
        *(replace(hit, score=max(hit.score, SELECTED_SCORE)) for hit in holding),
        *(hit for hit in hits if hit not in named and hit not in holding),
    ]


def _is_answered_by_selection(plan: SearchPlan, hits: Sequence[Hit]) -> bool:
    return plan.query.is_about_context and bool(hits) and hits[0].score >= SELECTED_SCORE


def _find_selected(project: Project, path: str, context: Sequence[str]) -> frozenset[int]:
    """The id of the section that holds the selected text, or a whole line of it."""
    pieces = [_flatten(piece) for value in context for piece in (value, *value.split("\n"))]
    wanted = [piece for piece in pieces if len(piece) >= MIN_SELECTION]
    on_page = Section.objects.on_page(project, path)
    rows = [(pk, _flatten(text)) for pk, text in on_page.values_list("pk", "text")[:MAX_PAGE_SECTIONS]]
    for piece in wanted:
        if holding := [pk for pk, text in rows if piece in text]:
            return frozenset(holding[:1])
    return frozenset()


def _find_beginning(plan: SearchPlan, limit: int) -> frozenset[int]:
    """The ids of the first sections of the reader's page, for a question like "summarize this page"."""
    if not _asks_only_about_page(plan):
        return frozenset()
    on_page = Section.objects.on_page(plan.project, plan.preferences.current_path)
    return frozenset(on_page.values_list("pk", flat=True)[:limit])


def _asks_only_about_page(plan: SearchPlan) -> bool:
    return len(plan.query.terms) < parsing.MIN_TERMS


def _flatten(text: str) -> str:
    return " ".join(text.split()).casefold()


def _add_texts(hits: Sequence[Hit], sections: Sequence[ScoredSection]) -> list[Hit]:
    """The hits with `text` and `above`; of a huge page, `above` is only the nearest part."""
    if not sections:
        return []
    last: dict[int, int] = {}
    for one in sections:
        page, position = one.candidate.document_id, one.candidate.position
        last[page] = max(position, last.get(page, 0))
    needed = Q()
    for page, position in last.items():
        needed |= Q(document=page, position__lte=position)
    pages: dict[int, list[tuple[int, str, str, str]]] = {page: [] for page in last}
    left = dict.fromkeys(last, MAX_ABOVE)
    wanted = {(one.candidate.document_id, one.candidate.position) for one in sections}
    columns = ("document_id", "position", "heading", "anchor", "text")
    rows = Section.objects.filter(needed).order_by("-position").values_list(*columns)
    for page, position, heading, anchor, text in rows.iterator():  # streamed, so that a huge page is never in memory
        left[page] -= len(text)
        if left[page] >= 0 or (page, position) in wanted:
            pages[page].append((position, heading, anchor, text))
    passages = []
    for hit, one in zip(hits, sections, strict=True):
        text, above = _split_page(pages[one.candidate.document_id][::-1], one.candidate.position)
        passages.append(replace(hit, text=text, above=above))
    return passages


def _split_page(sections: Sequence[tuple[int, str, str, str]], wanted: int) -> tuple[str, str]:
    """The text of the section at the wanted position, and all headings and texts above it, each heading once."""
    above: list[str] = []
    before = ""  # anchor of the section above; the parts of a long one share it
    for position, heading, anchor, text in sections:
        if heading and anchor != before:
            above.append(heading)
        if position == wanted:
            return text, "\n".join(above)
        above.append(text)
        before = anchor
    return "", ""


def _add_following(project: Project, hits: Sequence[Hit], sections: Sequence[ScoredSection]) -> list[Hit]:
    """The hits with the sections that follow them on their pages."""
    after = Q()
    for one in sections:
        page, position = one.candidate.document_id, one.candidate.position
        after |= Q(document=page, position__gt=position, position__lte=position + FOLLOWING)
    pages: dict[int, list[tuple[int, str, str]]] = {}
    rows = (
        Section.objects.filter(after).exclude(heading="").order_by("position") if sections else Section.objects.none()
    )
    for page, position, heading, anchor in rows.values_list("document_id", "position", "heading", "anchor"):
        pages.setdefault(page, []).append((position, heading, anchor))
    return [
        replace(
            hit,
            following=tuple(
                NextSection(heading, project.link_of(hit.path, anchor, hit.address))
                for position, heading, anchor in pages.get(one.candidate.document_id, ())
                if position > one.candidate.position and anchor != hit.anchor
            )[:FOLLOWING],
        )
        for hit, one in zip(hits, sections, strict=True)
    ]

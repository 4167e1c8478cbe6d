"""Find what an answer can rest on: the assistant's door to search."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit, Place
from search.models import Section
from search.retrieval import (
    answerability,
    index,
    links,
    parsing,
)
from search.retrieval.index import POINTED, Asked, Found
from search.text import analysis

MOST_ABOVE = 250_000  # characters of a page that are read with its passages
EXPLAINED = 0.9  # the least score of a section that is called what the reader points at
SHORTEST_POINTER = 8  # characters of a selection that tell where it stands
LONGEST_CODE = 10_000  # characters of a selection in which names are looked for
MOST_HERE = 500  # sections of the page that the reader is on
FOLLOWING = 3  # sections
DISTINCT = 6  # characters of a word that is still known when it is mistyped

# "What is this page about?", in the languages that sites are most often written in.
_HERE = re.compile(
    r"\b(?:this|current)\s+(?:page|article|guide|tutorial|document)\b|\besta\s+(?:página|guía)\b"
    r"|\bdieser?\s+(?:Seite|Anleitung)\b|\bcette\s+page\b|\bquesta\s+pagina\b|このページ|本页|这个页面",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Passages:
    """Sections to answer from, best first, and the chance (0..1) that they do."""

    hits: list[Hit]
    chance: float


def find_passages(
    project: Project,
    query: str,
    *,
    filters: Filters = Filters(),
    limit: int = 5,
    context: Sequence[str] = (),
    current_path: str = "",
    lead: str = "",
) -> Passages:
    """The best sections, at most two of a page, best first. `lead` is what was asked before, where that matters.

    Words of `context` (selected text, code) count less than those of a question
    that says much by itself. The page that the reader is on, and pages beside it,
    are preferred; a section of it that holds the selection comes first, or nearly
    so. Links in the bodies work anywhere.
    """
    with snapshot():
        asked = index.ask(project, query, filters, context, current_path, lead)
        if current_path and context:
            asked = replace(asked, pointed=_holding(project, current_path, context))
        elif current_path and _HERE.search(query):
            pointed = _beginning(asked, limit)
            asked = replace(asked, only_here=bool(pointed) or _says_nothing_else(asked), pointed=pointed)
        hits, found = best(asked, max(limit, answerability.PASSAGES))
        chance = answerability.chance(asked.query, hits) if _is_about(asked, found) else 0.0
        hits, found = hits[:limit], found[:limit]
        hits = _explaining(asked, _with_places(project, hits, found), context)
        if any(one.candidate.section_id in asked.pointed for one in found) or _is_explained(asked, hits):
            chance = max(chance, POINTED)  # it is about the documentation's own words
        return Passages(links.make_absolute(project, hits), chance)


def best(asked: Asked, limit: int) -> tuple[list[Hit], list[Found]]:
    """The passages as hits with their texts, and what is known of each. Belongs inside a snapshot."""
    asked = replace(asked, is_for_answer=True)
    found = index.rank(asked, limit, most=limit if asked.only_here else 2)
    return _with_texts(index.hits_of(asked, found), found), found


def _is_about(asked: Asked, found: Sequence[Found]) -> bool:
    """Whether a passage holds a word of the question itself, where it has any: not only of those before it.

    A short word that is only spelled alike does not count: `bake` is not `base`.
    """
    words = [term.spellings for term in asked.query.terms if term.weight == 1.0]
    own = [spelling for word in words for spelling, sure in word if sure == 1.0 or len(spelling) >= DISTINCT]
    return not words or any(spelling in one.candidate.impact for one in found for spelling in own)


def _explaining(asked: Asked, hits: list[Hit], context: Sequence[str]) -> list[Hit]:
    """The hits, first those that are called by a name from the code that a question is about, or have one."""
    if not asked.query.of_context:
        return hits
    names = [name for value in context for name in analysis.code_names(value[:LONGEST_CODE])]
    called = {analysis.name_of(name) for name in names}
    named = [hit for hit in hits if called.intersection(analysis.names_of(hit.section))]
    holding = [hit for hit in hits if hit not in named and any(name in hit.text for name in names)]
    return [
        *(replace(hit, score=max(hit.score, EXPLAINED)) for hit in named),
        *(replace(hit, score=max(hit.score, POINTED)) for hit in holding),
        *(hit for hit in hits if hit not in named and hit not in holding),
    ]


def _is_explained(asked: Asked, hits: Sequence[Hit]) -> bool:
    return asked.query.of_context and bool(hits) and hits[0].score >= POINTED


def _holding(project: Project, path: str, context: Sequence[str]) -> frozenset[int]:
    """The section of a page that holds a selection, or the whole of a line of it."""
    pieces = [_flat(piece) for value in context for piece in (value, *value.split("\n"))]
    wanted = [piece for piece in pieces if len(piece) >= SHORTEST_POINTER]
    here = Section.objects.filter(document__project=project, document__build="", document__path=path)
    rows = [(pk, _flat(text)) for pk, text in here.order_by("position").values_list("pk", "text")[:MOST_HERE]]
    for piece in wanted:
        if holding := [pk for pk, text in rows if piece in text]:
            return frozenset(holding[:1])
    return frozenset()


def _beginning(asked: Asked, limit: int) -> frozenset[int]:
    """The first sections of the reader's page, for a question that says nothing else: "summarize this page"."""
    if not _says_nothing_else(asked):
        return frozenset()
    here = Section.objects.filter(
        document__project=asked.project, document__build="", document__path=asked.preferred.near
    )
    return frozenset(here.order_by("position").values_list("pk", flat=True)[:limit])


def _says_nothing_else(asked: Asked) -> bool:
    return len(asked.query.terms) < parsing.ENOUGH_TERMS


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _with_texts(hits: Sequence[Hit], found: Sequence[Found]) -> list[Hit]:
    """The hits with what a reader sees of them, and of their pages above them, of huge pages the nearest part."""
    if not found:
        return []
    last: dict[int, int] = {}
    for one in found:
        page, position = one.candidate.document_id, one.candidate.position
        last[page] = max(position, last.get(page, 0))
    read = Q()
    for page, position in last.items():
        read |= Q(document=page, position__lte=position)
    pages: dict[int, list[tuple[int, str, str, str]]] = {page: [] for page in last}
    left = dict.fromkeys(last, MOST_ABOVE)
    wanted = {(one.candidate.document_id, one.candidate.position) for one in found}
    columns = ("document_id", "position", "heading", "anchor", "text")
    rows = Section.objects.filter(read).order_by("-position").values_list(*columns)
    for page, position, heading, anchor, text in rows.iterator():  # so that what is too much is not held
        left[page] -= len(text)
        if left[page] >= 0 or (page, position) in wanted:
            pages[page].append((position, heading, anchor, text))
    told = []
    for hit, one in zip(hits, found, strict=True):
        text, above = _seen(pages[one.candidate.document_id][::-1], one.candidate.position)
        told.append(replace(hit, text=text, above=above))
    return told


def _seen(sections: Sequence[tuple[int, str, str, str]], here: int) -> tuple[str, str]:
    """The text of the section at a position, and what stands above it: headings, once each, and texts."""
    above: list[str] = []
    before = ""  # anchor of the section above; the parts of a long one share it
    for position, heading, anchor, text in sections:
        if heading and anchor != before:
            above.append(heading)
        if position == here:
            return text, "\n".join(above)
        above.append(text)
        before = anchor
    return "", ""


def _with_places(project: Project, hits: Sequence[Hit], found: Sequence[Found]) -> list[Hit]:
    """The hits with the sections that follow them on their pages."""
    after = Q()
    for one in found:
        page, position = one.candidate.document_id, one.candidate.position
        after |= Q(document=page, position__gt=position, position__lte=position + FOLLOWING)
    pages: dict[int, list[tuple[int, str, str]]] = {}
    rows = Section.objects.filter(after).exclude(heading="").order_by("position") if found else Section.objects.none()
    for page, position, heading, anchor in rows.values_list("document_id", "position", "heading", "anchor"):
        pages.setdefault(page, []).append((position, heading, anchor))
    return [
        replace(
            hit,
            following=tuple(
                Place(heading, project.link_of(hit.path, anchor, hit.address))
                for position, heading, anchor in pages.get(one.candidate.document_id, ())
                if position > one.candidate.position and anchor != hit.anchor
            )[:FOLLOWING],
        )
        for hit, one in zip(hits, found, strict=True)
    ]

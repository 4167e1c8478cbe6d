"""Explain a search: how the query was parsed, and the parts of each result's score."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.models import Document
from search.retrieval import index_state, page_search, parsing, ranking, selection
from search.retrieval.plan import plan_search
from search.retrieval.selection import ScoredSection
from search.text import analysis
from search.text.terms import Term
from search.text.vocabulary import Vocabulary


def explain(
    project: Project, text: str, *, filters: Filters = Filters(), limit: int = 10, current_path: str = ""
) -> dict[str, Any]:
    """A search explained in values that JSON can hold. `advice` says what to do where nothing was found."""
    with snapshot():
        plan = plan_search(project, text, filters, current_path=current_path)
        candidates = selection.score_candidates(plan)
        sections = selection.rank(plan, limit)
        hits = page_search.build_hits(plan, sections)
        state = index_state.get_state(project)
        return {
            "query": text,
            "terms": _explain_terms(plan.query.terms, state.vocabulary),
            "ignored": [word for word in analysis.words(text) if word not in analysis.content_words(text)],
            "common": sorted(plan.query.common),
            "filter": _applied_filter(filters, state),
            "preferred": {"language": plan.preferences.language, "version": plan.preferences.version,
                          "near": plan.preferences.current_path},
            "candidates": len(candidates),
            "pages": len({candidate.candidate.document_id for candidate in candidates}),
            "hits": [
                {
                    "path": hit.path, "url": hit.url, "breadcrumb": list(hit.breadcrumb), "score": hit.score,
                    "promoted": section.is_promoted, **_explain_score(section),
                }
                for section, hit in zip(sections, hits, strict=True)
            ],
            "advice": "" if hits else _advise(project, plan.query.terms, filters, state),
        }  # fmt: skip


def _explain_terms(terms: Sequence[Term], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Each term with its spellings in the index. `sections` counts the sections of the index that hold it."""
    occurrences = Counter(term.word for term in terms)
    return [
        {
            "word": term.word,
            "weight": term.weight,
            "rarity": round(term.rarity, 3),
            "how": _describe_match(term, occurrences[term.word] > 1, vocabulary),
            "spellings": [
                {"term": spelling, "sure": certainty, "sections": vocabulary.terms.get(spelling, 0)}
                for spelling, certainty in sorted(term.spellings, key=lambda pair: -pair[1])
            ],
        }
        for term in terms
    ]


def _describe_match(term: Term, is_half: bool, vocabulary: Vocabulary) -> str:
    if term.weight == parsing.CONTEXT:
        return "from the context"
    if term.weight == parsing.JOINED:
        return "written as one"
    certainties = {certainty for _, certainty in term.spellings}
    if not certainties.isdisjoint((parsing.SYNONYM, parsing.EQUIVALENT)):
        return "synonym"
    if is_half and parsing.SPLIT in certainties:
        return "split"
    if parsing.COMPOUND in certainties or certainties >= {1.0, parsing.SPLIT}:
        return "part of compounds"
    if 1.0 not in certainties:
        return "corrected"
    if len(certainties) > 1:
        return "completed"
    return "as written" if any(vocabulary.terms.get(spelling) for spelling, _ in term.spellings) else "unknown"


def _applied_filter(filters: Filters, state: index_state.IndexState) -> dict[str, str]:
    values = {"version": filters.version, "language": filters.language, "tag": filters.tag}
    if (filters.version or "").lower() == "latest":
        values["version"] = state.latest_version
    return {kind: value for kind, value in values.items() if value}


def _explain_score(section: ScoredSection) -> dict[str, Any]:
    """The parts that add up to a score: contributions of the features, the intercept, and the boost."""
    boost = math.log(section.candidate.boost)
    total = ranking.MODEL.intercept + boost
    features = []
    for name, value in zip(ranking.FEATURES, section.features, strict=True):
        weight = ranking.MODEL.weights.get(name, 0.0)
        total += value * weight
        features.append(
            {"name": name, "value": round(value, 4), "weight": weight, "contribution": round(value * weight, 4)}
        )
    return {
        "intercept": ranking.MODEL.intercept,
        "features": features,
        "boost": round(boost, 4),
        "log_odds": round(total, 4),
        "later": section.round > 0,
    }


def _advise(project: Project, terms: Sequence[Term], filters: Filters, state: index_state.IndexState) -> str:
    """One or two sentences for somebody who found nothing."""
    if not project.documents.exists():
        return f"Nothing was ingested yet. To ingest: manage.py ingest {project.domain} FOLDER"
    if not terms:
        return "The query has no word."
    unknown = [term.word for term in terms if not any(state.vocabulary.terms.get(name) for name, _ in term.spellings)]
    if len(unknown) == len(terms):
        return (
            f"No page holds {' or '.join(dict.fromkeys(unknown))}, or a word of similar spelling. If readers use other "
            "words than a page, add them to the keywords in its front matter."
        )
    values: dict[str, set[str]] = {"version": set(), "language": set(), "tag": set()}
    for version, language, tags in Document.objects.filter(project=project).values_list("version", "language", "tags"):
        values["version"].add(version)
        values["language"].add(language)
        values["tag"].update(tags)
    available = [
        f"{kind}: {', '.join(sorted(values[kind] - {''})) or 'none'}" for kind in _applied_filter(filters, state)
    ]
    return f"No page with these words passes the filter. There is {'; '.join(available)}."

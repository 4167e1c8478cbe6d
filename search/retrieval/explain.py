"""Why a search gives what it gives: how the query was read, and what each result's score is made of."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.models import Document
from search.retrieval import (
    index,
    index_state,
    parsing,
    ranking,
)
from search.text import analysis
from search.text.terms import Term
from search.text.vocabulary import Vocabulary


def explain(
    project: Project, text: str, *, filters: Filters = Filters(), limit: int = 10, current_path: str = ""
) -> dict[str, Any]:
    """A search told in values that JSON can hold. `advice` says what to do where nothing was found."""
    with snapshot():
        asked = index.ask(project, text, filters, current_path=current_path)
        candidates = index.examine(asked)
        found = index.rank(asked, limit)
        hits = index.hits_of(asked, found)
        known = index_state.of(project)
        return {
            "query": text,
            "terms": _terms(asked.query.terms, known.vocabulary),
            "ignored": [word for word in analysis.words(text) if word not in analysis.content_words(text)],
            "common": sorted(asked.query.common),
            "filter": _filter(filters, known),
            "preferred": {"language": asked.preferred.language, "version": asked.preferred.version,
                          "near": asked.preferred.near},
            "candidates": len(candidates),
            "pages": len({one.candidate.document_id for one in candidates}),
            "hits": [
                {
                    "path": hit.path, "url": hit.url, "breadcrumb": list(hit.breadcrumb), "score": hit.score,
                    **_made_of(one),
                }
                for one, hit in zip(found, hits, strict=True)
            ],
            "advice": "" if hits else _advice(project, asked.query.terms, filters, known),
        }  # fmt: skip


def _terms(terms: Sequence[Term], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Each term with its spellings in the index. `sections` is how many hold a spelling, of all in the index."""
    written = Counter(term.word for term in terms)
    return [
        {
            "word": term.word,
            "weight": term.weight,
            "rarity": round(term.rarity, 3),
            "how": _how(term, written[term.word] > 1, vocabulary),
            "spellings": [
                {"term": spelling, "sure": sure, "sections": vocabulary.terms.get(spelling, 0)}
                for spelling, sure in sorted(term.spellings, key=lambda pair: -pair[1])
            ],
        }
        for term in terms
    ]


def _how(term: Term, halved: bool, vocabulary: Vocabulary) -> str:
    if term.weight == parsing.CONTEXT:
        return "from the context"
    if term.weight == parsing.JOINED:
        return "written as one"
    surest = max(sure for _, sure in term.spellings)
    if surest < 1.0:
        return "split" if halved else "corrected"
    if any(sure < 1.0 for _, sure in term.spellings):
        return "completed"
    return "as written" if any(vocabulary.terms.get(spelling) for spelling, _ in term.spellings) else "unknown"


def _filter(filters: Filters, known: index_state.State) -> dict[str, str]:
    asked = {"version": filters.version, "language": filters.language, "tag": filters.tag}
    if (filters.version or "").lower() == "latest":
        asked["version"] = known.latest
    return {kind: value for kind, value in asked.items() if value}


def _made_of(one: index.Found) -> dict[str, Any]:
    """The sum that a score is made of: contributions of the features, the intercept, and the boost."""
    features = [
        {
            "name": name,
            "value": round(value, 4),
            "weight": (weight := ranking.MODEL.weights.get(name, 0.0)),
            "contribution": round(value * weight, 4),
        }
        for name, value in zip(ranking.FEATURES, one.features, strict=True)
    ]
    boost = math.log(one.candidate.boost)
    total = ranking.MODEL.intercept + boost
    total += sum(value * ranking.MODEL.weights.get(name, 0.0)
                 for name, value in zip(ranking.FEATURES, one.features, strict=True))  # fmt: skip
    return {
        "intercept": ranking.MODEL.intercept,
        "features": features,
        "boost": round(boost, 4),
        "log_odds": round(total, 4),
        "later": one.round > 0,
    }


def _advice(project: Project, terms: Sequence[Term], filters: Filters, known: index_state.State) -> str:
    """One or two sentences for somebody who found nothing."""
    if not project.documents.exists():
        return f"Nothing was ingested yet. Do it with: manage.py ingest {project.domain} FOLDER"
    if not terms:
        return "The query holds no word."
    unknown = [term.word for term in terms if not any(known.vocabulary.terms.get(name) for name, _ in term.spellings)]
    if len(unknown) == len(terms):
        return (
            f"No page holds {' or '.join(dict.fromkeys(unknown))}, or a word spelled nearly so. Readers who use other "
            "words than a page does find it by the keywords in its front matter."
        )
    there: dict[str, set[str]] = {"version": set(), "language": set(), "tag": set()}
    for version, language, tags in Document.objects.filter(project=project).values_list("version", "language", "tags"):
        there["version"].add(version)
        there["language"].add(language)
        there["tag"].update(tags)
    told = [f"{kind}: {', '.join(sorted(there[kind] - {''})) or 'none'}" for kind in _filter(filters, known)]
    return f"No page with these words passes the filter. There is {'; '.join(told)}."

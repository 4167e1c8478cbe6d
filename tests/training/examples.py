"""Training examples from judged queries: the features of each candidate, and whether its page answers."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.retrieval import selection
from search.retrieval.plan import plan_search
from tests.training.data import Collection, Query

FOREIGN = 80  # questions of other sets for each set, which does not answer them; each counts twice


@dataclass(frozen=True)
class Example:
    """A query's candidates: their features, their pages, and which of these are right.

    `near` says that it was asked from a page; `weight` is its weight in the fit.
    """

    query: Query
    features: Sequence[Sequence[float]]
    pages: Sequence[str]
    right: Sequence[bool]
    weight: float = 1.0
    near: bool = False


def build_own(project: Project, queries: Sequence[Query]) -> list[Example]:
    """Examples of a set's own queries. A query asked from a page gives two: without and with that page, half each."""
    examples = []
    for query in queries:
        weight = 0.5 if query.current_path else 1.0
        examples.append(_build_example(project, query, "", weight))
        if query.current_path:
            examples.append(_build_example(project, query, query.current_path, weight))
    return examples


def build_foreign(project: Project, data: Collection, name: str) -> list[Example]:
    """Examples of questions and sentences of other sets: every page found for them is wrong."""
    pool = [
        query
        for query in data.queries
        if query.set != name and query.kind in ("question", "sentence") and not query.variant and not query.filter
    ]
    random.Random(name).shuffle(pool)
    return [_build_example(project, query, "", 2.0, is_answered=False) for query in pool[:FOREIGN]]


def _build_example(
    project: Project, query: Query, current_path: str, weight: float, is_answered: bool = True
) -> Example:
    with snapshot():
        plan = plan_search(project, query.text, Filters(**query.filter or {}), current_path=current_path)
        scored = [
            score_candidate
            for score_candidate in selection.score_candidates(plan)
            if score_candidate.candidate.path != current_path
        ]
    pages = [section.candidate.path for section in scored]
    right = [is_answered and path in query.relevant for path in pages]
    return Example(query, [section.features.tolist() for section in scored], pages, right, weight, bool(current_path))

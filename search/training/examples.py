"""Judged queries to examples: the features of each candidate, and whether its page answers."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.retrieval import selection
from search.retrieval.plan import plan_search
from search.training.data import Data, Query

FOREIGN = 80  # questions of other sets asked of each, which nothing there answers; each counts twice


@dataclass(frozen=True)
class Example:
    """A query's candidates: their features, their pages, and which of these are right.

    `near` says that it was asked from a page; `weight` is what it counts in the fit.
    """

    query: Query
    features: Sequence[Sequence[float]]
    pages: Sequence[str]
    right: Sequence[bool]
    weight: float = 1.0
    near: bool = False


def own(project: Project, queries: Sequence[Query]) -> list[Example]:
    """The set's own queries; one asked from a page counts half without and half with that page."""
    examples = []
    for query in queries:
        weight = 0.5 if query.current_path else 1.0
        examples.append(_example(project, query, "", weight))
        if query.current_path:
            examples.append(_example(project, query, query.current_path, weight))
    return examples


def foreign(project: Project, data: Data, name: str) -> list[Example]:
    """Questions and sentences of the other sets: whatever is found for them is wrong."""
    pool = [
        query
        for query in data.queries
        if query.set != name and query.kind in ("question", "sentence") and not query.variant and not query.filter
    ]
    random.Random(name).shuffle(pool)
    return [_example(project, query, "", 2.0, answered=False) for query in pool[:FOREIGN]]


def _example(project: Project, query: Query, current_path: str, weight: float, answered: bool = True) -> Example:
    with snapshot():
        plan = plan_search(project, query.text, Filters(**query.filter or {}), current_path=current_path)
        scored = [one for one in selection.score_candidates(plan) if one.candidate.path != current_path]
    pages = [one.candidate.path for one in scored]
    right = [answered and path in query.relevant for path in pages]
    return Example(query, [one.features for one in scored], pages, right, weight, bool(current_path))

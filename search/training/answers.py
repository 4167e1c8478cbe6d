"""Judged queries to the weights that tell whether a documentation answers at all (`search.retrieval.answerability`)."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.retrieval import answerability, passages, ranking
from search.retrieval.answerability import MIN_CHANCE, ChanceModel
from search.retrieval.plan import plan_search
from search.retrieval.ranking import Model
from search.training.data import Data, Query
from search.training.fit import newton

MOST = {"question": 400, "sentence": 100, "keyword": 60}  # of other sets, asked of each; it answers none of them
KEYWORDS = 0.1  # what a keyword of another set counts: one or two words may well be spoken of here, too


@dataclass(frozen=True)
class Asked:
    """A query and what its passages showed."""

    set: str
    kind: str
    own: bool
    features: Sequence[float]


def queries(data: Data, name: str) -> list[Query]:
    """The set's own queries, and such of the other sets."""
    own = [query for query in data.of(name) if not query.variant and query.kind in MOST]
    others = [query for query in data.judged if query.set != name and not query.variant and not query.filter]
    random.Random(name).shuffle(others)
    return [*own, *(query for kind, most in MOST.items() for query in _of_kind(others, kind)[:most])]


def examples(data: Data, rankings: Mapping[str, Model]) -> dict[str, list[Asked]]:
    """What each set is asked, under a ranking that has not seen it. The sets are projects with their names."""
    asked = {}
    for name, model in rankings.items():
        project = Project.objects.get(domain=name)
        with ranking.use_model(model):
            asked[name] = [
                Asked(name, query.kind, query.set == name, features)
                for query in queries(data, name)
                if (features := _features(project, query))
            ]
    return asked


def _of_kind(queries: Sequence[Query], kind: str) -> list[Query]:
    return [query for query in queries if query.kind == kind]


def _features(project: Project, query: Query) -> list[float]:
    with snapshot():
        plan = plan_search(project, query.text, Filters(**query.filter or {}))
        hits, _ = passages.find_best(plan, 5)
    return answerability.compute_features(plan.query, hits) if hits else []


def fit(asked: Sequence[Asked]) -> ChanceModel:
    """Logistic regression in which each kind of query counts the same, answered here or not."""
    import numpy as np

    counts = Counter((one.kind, one.own) for one in asked)
    less = {("keyword", False): KEYWORDS}
    weights = np.array([less.get((one.kind, one.own), 1.0) / counts[one.kind, one.own] for one in asked])
    rows = np.array([one.features for one in asked])
    right = np.array([float(one.own) for one in asked])
    intercept, *found = newton(rows, right, weights * len(asked) / weights.sum(), np.zeros(len(asked)))
    return ChanceModel(round(float(intercept), 3), [round(float(value), 3) for value in found])


def held_out(asked: Mapping[str, Sequence[Asked]]) -> dict[str, ChanceModel]:
    """For each set the weights of all the others."""
    return {out: fit([one for name in asked if name != out for one in asked[name]]) for out in asked}


def cross_validate(asked: Mapping[str, Sequence[Asked]]) -> dict[str, dict[str, float]]:
    """What would be refused on sets that the weights have not seen: shares by kind, of own and of foreign queries."""
    told: dict[tuple[str, bool], list[bool]] = {}
    for name, model in held_out(asked).items():
        for one in asked[name]:
            told.setdefault((one.kind, one.own), []).append(model.estimate(one.features) < MIN_CHANCE)
    return {
        kind: {
            name: round(sum(refused) / len(refused), 3)
            for name, own in (("own refused", True), ("foreign refused", False))
            if (refused := told.get((kind, own)))
        }
        for kind in MOST
    }

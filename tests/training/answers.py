"""Fit the weights of `search.retrieval.answerability` to judged queries."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unittest.mock import patch

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.retrieval import answerability, passages, ranking
from search.retrieval.answerability import MIN_CHANCE, ChanceModel
from search.retrieval.plan import SearchPlan, plan_search
from search.retrieval.ranking import Model
from tests.training.data import Collection, Query, RealQuestion
from tests.training.regression import fit_logistic

# Queries of other sets to run on each set, by kind. The set answers none of them.
MAX_QUERIES = {"question": 400, "sentence": 100, "keyword": 60}
REAL = "real"  # questions in people's own words
MAX_REAL = 60  # of other sets
UNANSWERED = "unanswered"  # `Collection.unanswered`
# The weight of another set's keyword, since this set may have these one or two words, too. Unanswered questions share
# their weight with the real ones.
SHARES = {("keyword", False): 0.1, (REAL, False): 0.5, (UNANSWERED, False): 0.5}


@dataclass(frozen=True)
class AnswerExample:
    """A query that was run on a set, and the features of its passages. `own` says whether it is a query of the set."""

    set: str
    kind: str
    own: bool
    features: Sequence[float]


def select_queries(data: Collection, name: str) -> list[Query]:
    """The queries to run on a set: its own, and some of the other sets."""
    own = [query for query in data.queries_of(name) if not query.variant and query.kind in MAX_QUERIES]
    others = [query for query in data.judged if query.set != name and not query.variant and not query.filter]
    random.Random(name).shuffle(others)
    return [*own, *(query for kind, limit in MAX_QUERIES.items() for query in _filter_kind(others, kind)[:limit])]


def build_examples(data: Collection, models: Mapping[str, Model]) -> dict[str, list[AnswerExample]]:
    """The examples of each set, with weights for passages not fitted to it. Each set is the project of its name."""
    examples = {}
    for name, model in models.items():
        project = Project.objects.get(domain=name)
        with patch.object(ranking, "PASSAGE_MODEL", model):
            asked = (
                [
                    (
                        query.kind,
                        query.set == name,
                        plan_search(project, f"{query.text} ", Filters(**query.filter or {})),
                    )
                    for query in select_queries(data, name)
                ]
                + [
                    (REAL, question.set == name and bool(question.patterns), _plan_question(project, question))
                    for question in _select_real(data, name)
                ]
                + [
                    (UNANSWERED, False, _plan_question(project, question))
                    for question in data.unanswered
                    if question.set == name
                ]
            )
            examples[name] = [
                AnswerExample(name, kind, own, features)
                for kind, own, plan in asked
                if (features := _compute_features(plan))
            ]
    return examples


def _select_real(data: Collection, name: str) -> list[RealQuestion]:
    """A set's own questions, and some of other sets that it does not answer."""
    own = [question for question in data.questions if question.set == name]
    others = [question for question in data.questions if question.set != name and not question.context]
    random.Random(name).shuffle(others)
    return own + others[:MAX_REAL]


def _plan_question(project: Project, question: RealQuestion) -> SearchPlan:
    current_path = question.current_path if question.set == project.domain else ""
    return plan_search(project, f"{question.text} ", context=question.context, current_path=current_path)


def _filter_kind(queries: Sequence[Query], kind: str) -> list[Query]:
    return [query for query in queries if query.kind == kind]


def _compute_features(plan: SearchPlan) -> list[float]:
    with snapshot():
        compared = passages.load_compared(plan.project, passages.find_best(plan, 5))
    return answerability.compute_features(plan.query, compared) if compared else []


def fit(examples: Sequence[AnswerExample]) -> ChanceModel:
    """Fit a logistic regression. Each kind of query has the same weight, own or foreign."""
    import numpy as np

    counts = Counter((example.kind, example.own) for example in examples)
    weights = np.array(
        [SHARES.get((example.kind, example.own), 1.0) / counts[example.kind, example.own] for example in examples]
    )
    rows = np.array([example.features for example in examples])
    right = np.array([float(example.own) for example in examples])
    intercept, *found = fit_logistic(rows, right, weights * len(examples) / weights.sum(), np.zeros(len(examples)))
    return ChanceModel(round(float(intercept), 3), [round(float(value), 3) for value in found])


def fit_held_out(examples: Mapping[str, Sequence[AnswerExample]]) -> dict[str, ChanceModel]:
    """For each set, the weights fitted to all other sets."""
    return {out: fit([example for name in examples if name != out for example in examples[name]]) for out in examples}


def cross_validate(examples: Mapping[str, Sequence[AnswerExample]]) -> dict[str, dict[str, float]]:
    """The share of queries refused on unseen sets, by kind, of own and of foreign queries."""
    refusals: dict[tuple[str, bool], list[bool]] = {}
    for name, model in fit_held_out(examples).items():
        for example in examples[name]:
            refusals.setdefault((example.kind, example.own), []).append(model.estimate(example.features) < MIN_CHANCE)
    return {
        kind: {
            name: round(sum(refused) / len(refused), 3)
            for name, own in (("own refused", True), ("foreign refused", False))
            if (refused := refusals.get((kind, own)))
        }
        for kind in (*MAX_QUERIES, REAL, UNANSWERED)
    }

"""Fit a ranking model: logistic regression on the best section of each page. Cross-validation on unseen sets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from search.retrieval.ranking import FEATURES, Model
from tests.training import metrics
from tests.training.data import Query
from tests.training.examples import Example

PENALTY = 1.0  # ridge, on features of about 0..1
PAGES = 40  # of each query
ROUNDS = 3  # the best section of a page depends on the model, and the model on the best sections
FIXED = {"current_page": 1.8, "outdated": -0.7}  # set by hand: the judged queries cannot teach them
AGAINST = {"foreign"}  # counts against a page; query_length may do either, all others count for it
EITHER = {"query_length"}
START = {"relative": 5.0, "words": 1.0}

NAMES = list(FEATURES)
Array = Any


def fit(examples: Sequence[Example]) -> Model:
    """Fit a model to examples. The same examples give the same model."""
    model = Model(0.0, START)
    for _ in range(ROUNDS):
        model = fit_weights(*choose_best_sections(examples, model))
    return model


RankedQuery = tuple[Query, list[tuple[str, float]]]  # a query, and its pages with their scores, best first


def rank_examples(examples: Sequence[Example], model: Model) -> list[RankedQuery]:
    """Each query with its ten best pages under the model, without queries asked from a page."""
    return [(example.query, _rank_pages(example, model)[:10]) for example in examples if not example.near]


def measure(ranked: Sequence[RankedQuery]) -> dict[str, float]:
    """Quality by name: nDCG@10, recall@5, first page right, calibration error, and nDCG@10 of hard kinds."""
    plain = [pair for pair in ranked if pair[0].kind != "identifier"]
    identifiers = [pair for pair in ranked if pair[0].kind == "identifier"]
    scored = [(score, page in query.relevant) for query, found in ranked for page, score in found]
    parts = {
        "typo": [pair for pair in plain if pair[0].variant == "typo"],
        "prefix": [pair for pair in plain if pair[0].variant == "prefix"],
        "identifier": [pair for pair in identifiers if not pair[0].variant],
        "split": [pair for pair in identifiers if pair[0].variant == "split"],
        "dropped": [pair for pair in identifiers if pair[0].variant == "dropped"],
    }
    return {
        "nDCG@10": _mean(metrics.ndcg, plain),
        "recall@5": _mean(metrics.recall, plain),
        "first right": _mean(metrics.success, plain),
        "calibration error": round(metrics.calibration_error(scored), 3),
        **{name: _mean(metrics.ndcg, chosen) for name, chosen in parts.items() if chosen},
    }


def _mean(measure: Callable[[Sequence[str], Mapping[str, int]], float], ranked: Sequence[RankedQuery]) -> float:
    values = [measure([page for page, _ in found], query.relevant) for query, found in ranked]
    return round(metrics.mean(values) or 0.0, 3)


def cross_validate(own: Mapping[str, Sequence[Example]], foreign: Mapping[str, Sequence[Example]]) -> dict[str, Model]:
    """For each set, the model fitted to all other sets."""
    return {
        held_out: fit([example for name in own if name != held_out for example in (*own[name], *foreign[name])])
        for held_out in own
    }


def score(model: Model, features: Sequence[Sequence[float]]) -> list[float]:
    """The score of each section by its features; there may be no section."""
    import numpy as np

    return model.score(np.reshape(features, (-1, len(FEATURES))))


def _rank_pages(example: Example, model: Model) -> list[tuple[str, float]]:
    """The pages of an example by their best sections, best first."""
    best: dict[str, float] = {}
    for page, found in zip(example.pages, score(model, example.features), strict=True):
        best[page] = max(best.get(page, 0.0), found)
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def choose_best_sections(examples: Sequence[Example], model: Model) -> tuple[list[Any], list[float], list[float]]:
    """The features of the best section of each page under a model, whether the page is right, and the weights."""
    rows: list[Any] = []
    right: list[float] = []
    weights: list[float] = []
    for example in examples:
        best: dict[str, tuple[float, int]] = {}
        for number, (page, found) in enumerate(zip(example.pages, score(model, example.features), strict=True)):
            best[page] = max(best.get(page, (-1.0, 0)), (found, -number))
        for _, negative in sorted(best.values(), reverse=True)[:PAGES]:
            rows.append(example.features[-negative])
            right.append(float(example.right[-negative]))
            weights.append(example.weight)
    return rows, right, weights


def fit_weights(rows: list[Any], right: list[float], weights: list[float], fixed: Mapping[str, float] = FIXED) -> Model:
    """Fit a logistic regression. Features whose weights get the wrong sign are left out, one after the other."""
    import numpy as np

    features, y, w = np.array(rows), np.array(right), np.array(weights)
    offset = features @ np.array([fixed.get(name, 0.0) for name in NAMES])
    fitted = [number for number, name in enumerate(NAMES) if name not in fixed]
    while True:
        intercept, *found = fit_logistic(features[:, fitted], y, w, offset)
        wrong = [
            (-value if NAMES[number] in AGAINST else value, number)
            for number, value in zip(fitted, found, strict=True)
            if NAMES[number] not in EITHER
        ]
        worst, number = min(wrong)
        if worst >= 0:
            break
        fitted.remove(number)
    weight = {NAMES[number]: round(float(value), 3) for number, value in zip(fitted, found, strict=True)}
    return Model(round(float(intercept), 3), {name: value for name, value in (weight | dict(fixed)).items() if value})


def fit_logistic(x: Array, y: Array, w: Array, offset: Array) -> list[float]:
    """Ridge logistic regression by Newton's method: the intercept, then the weights."""
    import numpy as np

    x = np.hstack([np.ones((len(x), 1)), x])
    ridge = np.full(x.shape[1], PENALTY)
    ridge[0] = 0.0
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ beta + offset)))
        gradient = x.T @ (w * (y - p)) - ridge * beta
        step = np.linalg.solve((x * (w * p * (1 - p))[:, None]).T @ x + np.diag(ridge), gradient)
        beta = beta + step
        if abs(step).max() < 1e-8:
            break
    return list(beta)

"""Fit the weights by which the assistant ranks sections, to questions in people's own words.

Judged queries know which page answers. These questions know which section does,
by patterns of the needed fact. There are few of them, so judged queries count a
little as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.models import Section
from search.retrieval import selection
from search.retrieval.plan import plan_search
from search.retrieval.ranking import Model
from tests.training import regression
from tests.training.data import RealQuestion
from tests.training.examples import Example

# Set by hand: few of these questions come from a page, and the training has no vectors. A likeness of 1 is six
# standard deviations, each of which multiplies the odds by e.
FIXED = regression.FIXED | {"same_folder": 0.9, "meaning": 4.0}
JUDGED = 0.3  # weight of a section found for a judged query
PASSAGES = (1, 2, 5)  # among so many first sections, the fact is looked for


@dataclass(frozen=True)
class PassageExample:
    """The sections found for a question: their features, and whether they have the needed fact."""

    features: Sequence[Sequence[float]]
    right: Sequence[bool]


def build_examples(project: Project, questions: Sequence[RealQuestion]) -> list[PassageExample]:
    """The examples of a set's own questions."""
    return [_build_example(project, question) for question in questions if question.patterns]


def _build_example(project: Project, question: RealQuestion) -> PassageExample:
    with snapshot():
        plan = plan_search(project, f"{question.text} ", context=question.context, current_path=question.current_path)
        found = selection.score_candidates(replace(plan, is_for_answer=True))
        scored = [section for section in found if not section.candidate.is_empty]
        bodies = dict(
            Section.objects.filter(pk__in=[one.candidate.section_id for one in scored]).values_list("pk", "body")
        )
    right = [question.is_answered_by(bodies[section.candidate.section_id]) for section in scored]
    return PassageExample([section.features.tolist() for section in scored], right)


def fit(examples: Sequence[PassageExample], judged: Sequence[Example], model: Model) -> Model:
    """The weights for passages. `model` is the one for search: it chooses the section of a judged query's page.

    Without examples it is the model for search.
    """
    if not any(any(example.right) for example in examples):
        return model
    rows, right, weights = regression.choose_best_sections(judged, model)
    weights = [JUDGED * weight for weight in weights]
    for example in examples:
        rows += example.features
        right += map(float, example.right)
        weights += [1.0] * len(example.features)
    return regression.fit_weights(rows, right, weights, FIXED)


def fit_held_out(
    examples: Mapping[str, Sequence[PassageExample]],
    judged: Mapping[str, Sequence[Example]],
    models: Mapping[str, Model],
) -> dict[str, Model]:
    """For each set, the weights fitted to all other sets."""
    return {
        out: fit(
            [example for name in examples if name != out for example in examples[name]],
            [example for name in judged if name != out for example in judged[name]],
            models[out],
        )
        for out in models
    }


def measure(examples: Mapping[str, Sequence[PassageExample]], models: Mapping[str, Model]) -> dict[str, float]:
    """The share of questions with the needed fact among the first sections, on sets that a model was not fitted to."""
    ranked = []
    for name, model in models.items():
        for example in examples[name]:
            pairs = zip(regression.score(model, example.features), example.right, strict=True)
            ranked.append([is_right for _, is_right in sorted(pairs, key=lambda pair: -pair[0])])
    if not ranked:
        return {}
    return {f"fact in {most}": round(sum(any(row[:most]) for row in ranked) / len(ranked), 3) for most in PASSAGES}

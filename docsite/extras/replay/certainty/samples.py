"""Answers and results of which the owner has said what is right: golden questions, and judged conversations."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from django.core.cache import cache
from django.db.models import QuerySet

from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.question import AnswerSettings, Question
from assistant.improving.golden_questions import checks
from assistant.improving.golden_questions.scoring import normalize
from assistant.models import AssistantSettings, GoldenQuestion, Message
from docsite.core.access.readers import read_as
from docsite.core.tenants.models import Project
from docsite.extras.replay.certainty.fitting import Sample
from docsite.extras.replay.models import Judgement
from search.models import SearchSettings
from search.retrieval import index_state, page_search

MAX_SECONDS = 5.0  # in which golden questions are asked
KEPT_SECONDS = 600  # for which their answers are kept: a pin changes one, too
RESULTS = 10  # of a search

_RUNGS = ("extractive", "closest_passages")


class GoldenSamples(NamedTuple):
    """The answers to golden questions, and the results of a search for them. `asked` of `total` could be asked."""

    answers: list[Sample]
    results: list[Sample]
    asked: int
    total: int


def load_golden(project: Project) -> GoldenSamples:
    """What `ask_golden` finds, asked once for each generation of the index, the settings and the questions."""
    questions = list(project.golden_questions.all())
    search_settings = SearchSettings.for_project(project)
    facts = (
        *(project.pk, index_state.get_scope(project)[0], search_settings.synonyms, search_settings.promotions),
        *(_find_answer_settings(project), [(golden.text, golden.paths, golden.fact) for golden in questions]),
    )
    key = f"golden-samples-{hashlib.sha256(repr(facts).encode()).hexdigest()}"
    found: GoldenSamples | None = cache.get(key)
    if found is None:
        found = ask_golden(project, questions)
        cache.set(key, found, KEPT_SECONDS)
    return found


def ask_golden(project: Project, questions: Sequence[GoldenQuestion]) -> GoldenSamples:
    """Ask golden questions of the assistant and of the search. After `MAX_SECONDS` none is asked.

    Each is answered, however small its chance. It is right if it cites the pages, or tells the fact where there are
    none; an answer to what must be refused is wrong. A result is right if its page is one of the question's.
    """
    answer_settings = _find_answer_settings(project)
    answers, results, asked = [], [], 0
    until = time.monotonic() + MAX_SECONDS
    for golden in questions:
        if time.monotonic() > until:
            break
        asked += 1
        with read_as(checks.find_groups(project, golden.paths)):
            outcome = checks.answer(project, Question(golden.text, settings=answer_settings))
            hits = page_search.find(project, golden.text, limit=RESULTS)
        if outcome.state == "done" and outcome.chance is not None and outcome.sources:
            cited = [project.path_of(source.url) for source in outcome.sources]
            answers.append(Sample(outcome.chance, _is_right(golden, cited, outcome.text)))
        if golden.paths or not golden.fact:
            results += [Sample(hit.score, hit.path in golden.paths) for hit in hits]
    return GoldenSamples(answers, results, asked, len(questions))


def _find_answer_settings(project: Project) -> AnswerSettings:
    return replace(to_answer_settings(AssistantSettings.for_project(project)), threshold=0.0)


def _is_right(golden: GoldenQuestion, cited: list[str], text: str) -> bool:
    if golden.paths:
        return golden.is_cited_in(cited)
    return bool(golden.fact) and normalize(golden.fact) in normalize(text)


def load_judged(project: Project) -> Iterator[Sample]:
    """The judged answers of conversations."""
    rows = Judgement.objects.filter(project=project)
    facts = rows.values_list("answer__chance", "is_right")
    return (Sample(chance, is_right) for chance, is_right in facts if chance is not None)


def find_unjudged(project: Project) -> "QuerySet[Message]":
    """The answers without a model that nobody judged, the latest first."""
    return find_answers(project).filter(judgement__isnull=True).order_by("-pk")


def find_answers(project: Project) -> "QuerySet[Message]":
    """The answers without a model."""
    answers = Message.objects.filter(
        project=project, role=Message.Role.ASSISTANT, rung__in=_RUNGS, chance__isnull=False
    )
    return answers.filter(outcome__in=(Message.Outcome.ANSWERED, Message.Outcome.CLOSEST_PASSAGES))

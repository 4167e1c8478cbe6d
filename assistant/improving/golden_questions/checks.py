"""Runs golden questions: checks that answers still cite the pages that they must cite.

They are answered without a model, which costs nothing, takes milliseconds, and
gives the same answer each time. A change in a result comes from the
documentation or from the search. Facts are not compared: a model may tell one
that a quote leaves out.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from copy import copy

from asgiref.sync import async_to_sync, sync_to_async
from django.utils import timezone

from assistant.answering import pipeline
from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.passage_search import PassageSearch
from assistant.answering.question import Question
from assistant.answering.record import Outcome
from assistant.conversations.threads import UnstoredConversation
from assistant.improving.golden_questions.audits import audits
from assistant.models import AssistantSettings, GoldenQuestion
from assistant.upstream import formats
from assistant.upstream.relay import ModelChain
from docsite.core.access.readers import Groups, decode_groups, read_as
from docsite.core.tenants.models import Project
from search.models import Document
from search.signals import IndexWarning

MAX_SECONDS = 5.0  # in which an ingest begins questions


class AnswerFailed(RuntimeError):
    """An answer failed, so its citations are unknown."""


def run(
    project: Project,
    questions: Iterable[GoldenQuestion],
    progress: Callable[[GoldenQuestion], None] = lambda question: None,
) -> list[GoldenQuestion]:
    """Answer some of a project's questions and store the results. Calls `progress` after each. Raises AnswerFailed."""
    done = []
    for question in questions:
        last_result = question.passed
        _update_result(project, question)
        question.changed = last_result is not None and question.passed != last_result
        question.passed_before = question.passed_before or last_result is True
        question.ran_at = timezone.now()
        done.append(question)
        progress(question)
    GoldenQuestion.objects.bulk_update(done, ["passed", "changed", "passed_before", "cited", "ran_at"])
    for audit in audits:
        audit(project, done)
    return done


def check(project: Project, preview: Callable[[], AbstractContextManager[None]]) -> list[IndexWarning]:
    """Warn about the questions that fail with a staged index, new failures first. Stores nothing.

    Within `preview()` searches find the staged index.
    """
    questions = sorted(project.golden_questions.all(), key=lambda question: question.passed is False)
    if not questions:
        return []
    warnings: list[IndexWarning] = []
    with preview():
        until = time.monotonic() + MAX_SECONDS
        for number, question in enumerate(questions):
            if time.monotonic() > until:
                sentence = f"Only {number} of {len(questions)} golden questions were asked, in {MAX_SECONDS:g} seconds."
                return [*warnings, IndexWarning(sentence, stops=False)]
            failed_before = question.passed is False
            _update_result(project, question)
            if not question.passed:
                which = "failing as before" if failed_before else "failing"
                sentence = f"Golden question {which}: {question}: {describe_failure(question)}"
                warnings.append(IndexWarning(sentence, stops=not failed_before))
    return warnings


def try_questions(project: Project, questions: Sequence[GoldenQuestion]) -> list[GoldenQuestion]:
    """Copies of the questions with their results, which are not stored. After `MAX_SECONDS` no question begins."""
    done: list[GoldenQuestion] = []
    until = time.monotonic() + MAX_SECONDS
    for question in questions:
        if time.monotonic() > until:
            break
        done.append(copy(question))
        _update_result(project, done[-1])
    return done


def _update_result(project: Project, question: GoldenQuestion) -> None:
    """Set the pages that the answer cites, and whether the question passes. Raises AnswerFailed."""
    answer_settings = to_answer_settings(AssistantSettings.for_project(project))
    with read_as(find_groups(project, question.paths)):
        outcome = answer(project, Question(question.text, settings=answer_settings))
    if outcome.state != "done":
        raise AnswerFailed(f"“{question.text}” could not be answered ({outcome.reason}); the log says why")
    question.cited = [project.path_of(source.url) for source in outcome.sources]
    question.passed = question.is_cited_in(question.cited) if question.is_answerable else not question.cited


def find_groups(project: Project, paths: Sequence[str]) -> Groups:
    """The groups of the readers whom a question is for: those of the pages that its answer must cite."""
    columns = Document.indexed.filter(project=project, path__in=paths).values_list("groups", flat=True)
    return frozenset(group for column in columns for group in decode_groups(column))


def answer(project: Project, question: Question, models: ModelChain = ModelChain()) -> Outcome:
    """Answer a question, by default by quotes from the documentation, and store nothing but the tokens of models.

    Call it in a thread of background work, or without models: a request would lose its connections to model servers.
    """

    async def run_pipeline() -> Outcome:
        retriever = PassageSearch(project, wrap=sync_to_async)  # the waiting thread has a database connection
        try:
            return await pipeline.answer_unread(question, UnstoredConversation(project), retriever, models)
        finally:
            if models.models:
                await formats.close()  # the event loop is that of this call

    return async_to_sync(run_pipeline)()


def describe_failure(question: GoldenQuestion) -> str:
    """Describe the pages that a failing question should cite, and those that it cites."""
    expected = ", ".join(question.paths) or ("an answer" if question.fact else "no answer")
    return f"expected {expected}, cited {', '.join(question.cited) or 'nothing'}"


def describe_change(question: GoldenQuestion) -> str:
    """Describe how the last result differs from the one before; empty if it does not."""
    if not question.changed:
        return ""
    if not question.passed:
        return "newly failing"
    return "passes again" if question.passed_before else "passes"


def reset(question: GoldenQuestion) -> None:
    """Clear the results, after the question or its pages have changed."""
    question.passed, question.changed, question.passed_before = None, False, False
    question.cited, question.surfaces, question.ran_at = [], [], None


def find_missing_pages(project: Project, paths: Sequence[str]) -> list[str]:
    """Return the pages that are not in the index."""
    indexed = set(Document.indexed.filter(project=project, path__in=paths).values_list("path", flat=True))
    return [path for path in paths if path not in indexed]

"""Golden questions: whether the answers still cite the pages that they must.

They are asked without a model: that costs nothing, takes milliseconds, and gives
the same answer each time. So what changes is the documentation, or the search.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from asgiref.sync import async_to_sync, sync_to_async
from django.utils import timezone

from assistant import configuration
from assistant.answering import pipeline
from assistant.answering.pipeline import ModelChain, Outcome, Retrieved
from assistant.conversations.threads import UnstoredConversation
from assistant.models import AssistantSettings, GoldenQuestion
from assistant.question import Question
from docsite.core.tenants.models import Project
from search.signals import Warned

MOST_SECONDS = 5.0  # of a swap: on SQLite nobody else can write meanwhile


class Unanswered(RuntimeError):
    """An answer failed, so nobody can say what it would have cited."""


def run(
    project: Project,
    questions: Iterable[GoldenQuestion],
    progress: Callable[[GoldenQuestion], None] = lambda question: None,
) -> list[GoldenQuestion]:
    """Ask some of a project's questions and store how it went. `progress` is told of each. Raises Unanswered."""
    asked = []
    for question in questions:
        before = question.passed
        _ask(project, question)
        question.changed = before is not None and question.passed != before
        question.passed_before = question.passed_before or before is True
        question.ran_at = timezone.now()
        asked.append(question)
        progress(question)
    GoldenQuestion.objects.bulk_update(asked, ["passed", "changed", "passed_before", "cited", "ran_at"])
    return asked


def check(project: Project) -> list[Warned]:
    """What fails with the index as this transaction has it, failures that are new first. Stores nothing."""
    until = time.monotonic() + MOST_SECONDS
    warnings: list[Warned] = []
    questions = sorted(project.golden_questions.all(), key=lambda question: question.passed is False)
    for number, question in enumerate(questions):
        if time.monotonic() > until:
            told = f"Only {number} of {len(questions)} golden questions were asked, in {MOST_SECONDS:g} seconds."
            return [*warnings, Warned(told, stops=False)]
        known = question.passed is False
        _ask(project, question)
        if not question.passed:
            which = "failing as before" if known else "failing"
            warnings.append(Warned(f"Golden question {which}: {question}: {difference(question)}", stops=not known))
    return warnings


def _ask(project: Project, question: GoldenQuestion) -> None:
    """Note what the answer cites, and whether that will do."""
    outcome = answered(project, Question(question.text, voice=AssistantSettings.of(project).voice()))
    question.cited = [project.path_of(source.url) for source in outcome.sources]
    question.passed = set(question.paths) <= set(question.cited) if question.paths else not question.cited


def answered(project: Project, question: Question) -> Outcome:
    """The answer without a model, which nobody stores. Raises Unanswered."""

    async def answer() -> Outcome:
        outcome = Outcome()
        async for _ in pipeline.answer(question, UnstoredConversation(project), retrieve, ModelChain(), outcome):
            pass
        return outcome

    async def retrieve(asked: Question) -> Retrieved:
        # In the thread that waits here, with its transaction: before a swap nobody else sees the new index.
        return await sync_to_async(configuration.retrieve)(project, asked)

    outcome = async_to_sync(answer)()
    if outcome.state != "done":
        raise Unanswered(f"“{question.text}” could not be answered ({outcome.reason}); the log says why")
    return outcome


def difference(question: GoldenQuestion) -> str:
    """What a failing one should have cited, and what it did."""
    return f"expected {', '.join(question.paths) or 'no answer'}, cited {', '.join(question.cited) or 'nothing'}"


def news(question: GoldenQuestion) -> str:
    """How its last run differs from the one before; nothing where it does not."""
    if not question.changed:
        return ""
    if not question.passed:
        return "newly failing"
    return "passes again" if question.passed_before else "passes"


def reset(question: GoldenQuestion) -> None:
    """Forget its runs, which were of another question or of other pages."""
    question.passed, question.changed, question.passed_before = None, False, False
    question.cited, question.ran_at = [], None


def missing(project: Project, paths: Sequence[str]) -> list[str]:
    """Those of the pages that are not in the index."""
    known = set(project.documents.filter(path__in=paths).values_list("path", flat=True))
    return [path for path in paths if path not in known]

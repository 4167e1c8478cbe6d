"""Compares a staged index with the one that readers see: golden questions, and pages that recorded answers cite."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

from django.utils import timezone

from assistant.improving.golden_questions import checks
from assistant.models import GoldenQuestion, Message
from docsite.core.tenants.models import Project
from search.signals import IndexEffect

MAX_LISTED = 50
DAYS = 30  # of recorded answers
MAX_ANSWERS = 5_000  # the newest ones


def compare(
    project: Project, preview: Callable[[], AbstractContextManager[None]], removed: Sequence[str]
) -> list[IndexEffect]:
    """The golden questions before and after, and how many recorded answers cite pages that would go."""
    return [
        IndexEffect("goldenQuestions", _compare_golden_questions(project, preview)),
        IndexEffect("citedPages", _count_citations(project, removed)),
    ]


def _compare_golden_questions(project: Project, preview: Callable[[], AbstractContextManager[None]]) -> dict[str, Any]:
    """The questions that lose or gain their answer, and how many pass. `asked` may be less than `total` for time."""
    questions = list(project.golden_questions.all())
    before = checks.try_questions(project, questions)
    with preview():
        after = checks.try_questions(project, questions[: len(before)])
    pairs = list(zip(before, after, strict=False))
    lost = [(old, new) for old, new in pairs if old.passed and not new.passed]
    gained = [(old, new) for old, new in pairs if new.passed and not old.passed]
    return {
        "total": len(questions),
        "asked": len(pairs),
        "passedBefore": sum(bool(old.passed) for old, _ in pairs),
        "passedAfter": sum(bool(new.passed) for _, new in pairs),
        "lost": [_describe(old, new) for old, new in lost[:MAX_LISTED]],
        "gained": [_describe(old, new) for old, new in gained[:MAX_LISTED]],
    }


def _describe(old: GoldenQuestion, new: GoldenQuestion) -> dict[str, Any]:
    return {"question": old.text, "expected": old.paths, "citedBefore": old.cited, "citedAfter": new.cited}


def _count_citations(project: Project, removed: Sequence[str]) -> dict[str, Any]:
    """How many answers of the last days cite each page that would go. Readers' questions are not in it."""
    counts: Counter[str] = Counter()
    if removed:
        gone = set(removed)
        answers = Message.objects.filter(
            project=project,
            outcome=Message.Outcome.ANSWERED,
            created_at__gte=timezone.now() - timedelta(days=DAYS),
        ).order_by("-created_at")
        for sources in answers.values_list("sources", flat=True)[:MAX_ANSWERS]:
            counts.update(gone & {project.path_of(source["url"]) for source in sources})
    pages = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {"days": DAYS, "pages": [{"path": path, "answers": number} for path, number in pages[:MAX_LISTED]]}

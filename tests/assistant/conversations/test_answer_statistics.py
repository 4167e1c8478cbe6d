"""Statistics of answers: equal to counting the rows one by one, on each database."""

import math
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from django.db import connection
from django.utils import timezone

from assistant.conversations import answer_statistics
from assistant.models import Message, Thread
from docsite.core.tenants.models import Organization, Project
from docsite.core.workspace.reports.report_state import DAY, HOUR
from docsite.core.workspace.reports.time_steps import split

START = datetime(2026, 10, 24, tzinfo=UTC)
VALUES = {
    "outcome": [*Message.Outcome.values, None],
    "caller": Message.Caller.values,
    "rung": ["", "model", "extractive"],
    "model": [None, "", "gpt-1", "gpt-2"],
    "language": [None, "", "en", "de"],
    "page_path": ["", "/a", "/b", "/ä"],
    "cut_by": [None, "", "reader"],
    "filter_version": [None, "", "v2"],
    "filter_language": [None, "", "EN"],
}


def fill(project: Project, count: int, seed: int) -> list[Message]:
    """Store random answers of ten days, with a question each. Returns the answers that have an outcome."""
    chance = random.Random(seed)
    thread = Thread.objects.create(project=project, fp="reader-1")
    answers = []
    for _ in range(count):
        values = {column: chance.choice(choices) for column, choices in VALUES.items()}
        measures = [chance.choice([None, 0, 1, chance.randrange(90_000)]) for _ in range(3)]
        answers.append(
            Message(project=project, thread=thread, role="assistant", **values, prompt_tokens=chance.randrange(5000),
                    completion_tokens=chance.randrange(500), cost=measures[0], first_token_ms=measures[1],
                    total_ms=measures[2])
        )  # fmt: skip
    Message.objects.bulk_create([*answers, *(Message(project=project, thread=thread, role="user") for _ in answers)])
    for answer in answers:
        answer.created_at = START + timedelta(seconds=chance.choice([0, 3600, chance.random() * 864_000]))
    Message.objects.bulk_update(answers, ["created_at"], batch_size=100)
    return [answer for answer in answers if answer.outcome is not None]


def measure(values: list[int | None]) -> tuple[int, int] | None:
    known = sorted(value for value in values if value is not None)
    return (known[math.ceil(len(known) / 2) - 1], known[math.ceil(len(known) * 0.95) - 1]) if known else None


def describe(answers: list[Message]) -> tuple[object, ...]:
    return (
        Counter(answer.outcome for answer in answers),
        sum(answer.prompt_tokens for answer in answers),
        sum(answer.completion_tokens for answer in answers),
        sum(answer.cost or 0 for answer in answers),
        sum(answer.cost is None and answer.total_ms is not None for answer in answers),
        measure([answer.first_token_ms for answer in answers]),
        measure([answer.total_ms for answer in answers]),
    )


def compare_with_rows() -> None:
    """Compare all statistics with the rows, for random ranges; for SQLite and PostgreSQL."""
    organization = Organization.objects.create(name="Counts")
    project, other, empty = (
        Project.objects.create(organization=organization, domain=f"count-{name}", name=name, docs_url="https://a.example")
        for name in ("one", "other", "empty")
    )  # fmt: skip
    rows = fill(project, 700, seed=1)
    fill(other, 50, seed=2)
    chance = random.Random(3)
    ranges = [(START, START + timedelta(days=10)), (START + timedelta(days=20), START + timedelta(days=21))]
    for _ in range(6):
        first, last = sorted(chance.random() * 11 for _ in range(2))
        ranges.append((START + timedelta(days=first), START + timedelta(days=last)))
    for start, end in ranges:
        inside = [row for row in rows if start <= row.created_at < end]
        for step, zone in product((HOUR, DAY), ("UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu")):
            with timezone.override(zone):
                steps = list(split(start, end, step))
            found = answer_statistics.summarize(project, steps)
            for totals, of in [
                (found.whole, inside),
                *(
                    (one, [row for row in inside if first <= row.created_at < last])
                    for one, (first, last) in zip(found.steps, steps, strict=True)
                ),
            ]:
                assert describe(of) == (
                    totals.outcomes, totals.prompt_tokens, totals.completion_tokens, totals.cost,
                    totals.unpriced, totals.first_token, totals.total,
                )  # fmt: skip
                assert totals.questions == len(of)
        assert answer_statistics.count_outcomes([project], start, end) == [Counter(row.outcome for row in inside)]
    assert answer_statistics.find_first_time(project) == min(row.created_at for row in rows if row.total_ms is not None)
    assert answer_statistics.find_first_time(empty) is None
    nothing = answer_statistics.summarize(empty, list(split(START, START + timedelta(days=2), DAY)))
    assert [one.questions for one in (nothing.whole, *nothing.steps)] == [0, 0, 0]
    assert nothing.whole.answered_rate is nothing.whole.first_token is None


@pytest.mark.matrix
@pytest.mark.django_db
def test_statistics_are_those_of_the_rows():
    compare_with_rows()


@pytest.mark.django_db
def test_the_rate_leaves_out_greetings_and_running_answers():
    totals = answer_statistics.AnswerTotals(START, Counter(answered=6, refused=2, greeting=5, running=1))
    assert totals.questions == 14
    assert totals.answered_rate == 6 / 8


@pytest.mark.django_db
@pytest.mark.skipif(
    connection.vendor != "sqlite", reason="PostgreSQL reads a table of so few rows whole, whatever its indexes"
)
def test_statistics_read_no_rows_but_the_index(django_assert_num_queries, project):
    end = START + timedelta(days=90)
    answers = Message.objects.filter(project=project.project, outcome__isnull=False, created_at__gte=START)
    plan = answers.order_by().values("page_path", "filter_version", "cost", "total_ms").explain()
    assert "COVERING INDEX answer_facts" in plan
    with django_assert_num_queries(1):
        answer_statistics.summarize(project.project, list(split(START, end, DAY)))

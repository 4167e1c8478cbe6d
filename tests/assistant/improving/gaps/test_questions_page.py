"""The report of questions: its numbers equal those of other reports, and each one filters."""

import csv
import io
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from assistant.models import Message
from tests.assistant.improving.gaps.conftest import AddAnswer
from tests.assistant.improving.gaps.test_gap_pages import read
from tests.conftest import People, Tenant


@pytest.fixture
def report(project: Tenant, add_answer: AddAnswer) -> str:
    """The address of the report, of a project with a few questions."""
    add_answer("How do I rotate keys?", "refused", rung="nearest_pages", language="en", page_path="/install")
    add_answer("rotating keys", "answered", language="en", page_path="/install")
    add_answer("Konto löschen", "answered", language="de", caller="api", rung="model")
    add_answer("Hello", "greeting", language="")
    add_answer("How do I install acme?", "answered", at=timezone.now() - timedelta(days=40))
    return f"/admin/project/{project.domain}/questions"


def test_numbers_equal_those_of_other_reports(report: str, project: Tenant, people: People) -> None:
    """The same questions, counted by the statistics of answers."""
    from assistant.conversations import answer_statistics

    context = people.owner.get(report).context
    window = context["start"], context["end"]
    whole = answer_statistics.summarize(project.project, [window]).whole
    totals = context["totals"]
    assert totals.total == whole.questions == 4
    assert totals.facets["outcome"] == whole.outcomes
    assert totals.answered / totals.asked == whole.answered_rate == 2 / 3
    assert context["change"].before == 1
    assert sum(bar.point.total for bar in context["chart"].bars) == totals.asked
    for name in ("rung", "caller", "language"):
        answers = Message.objects.filter(project=project.project, outcome__isnull=False, created_at__range=window)
        assert totals.facets[name] == Counter(answers.values_list(name, flat=True))


@pytest.mark.matrix
def test_each_number_filters(report: str, people: People) -> None:
    """The links lead to reports with that number of questions. A chosen filter can be removed."""

    def context(query: str = "") -> Any:
        return people.owner.get(report + query).context

    whole = context()
    values = [value for _, values in whole["facets"] for value in values] + whole["pages"]
    assert len(values) == 13
    for value in values:
        assert context(value.link)["totals"].total == value.number, value
    (one, newest, share, link, _), *_ = whole["rows"]
    assert (one.total, one.answered, newest.text, share) == (2, 1, "rotating keys", "50%")
    assert context(link)["totals"].total == 2
    assert [choice.label for choice in context(link)["chips"]] == ["Group: rotating keys"]
    assert context("?group=nonsense")["totals"].total == 0
    assert people.owner.get(report + "?outcome=nonsense").status_code == 400


@pytest.mark.matrix
def test_each_heading_sorts(report: str, people: People) -> None:
    """By its column, in both directions."""
    values = {"total": lambda one: one.total, "answered": lambda one: one.answered, "latest": lambda one: one.newest}
    values["share"] = lambda one: one.answered / one.total
    links = [heading.link for heading in people.owner.get(report).context["headings"] if heading.link]
    assert len(links) == len(values)
    for key, value in values.items():
        for sign in ("", "-"):
            context = people.owner.get(f"{report}?sort={sign}{key}").context
            found = [value(one) for one, *_ in context["rows"]]
            assert len(found) > 1
            assert found == sorted(found, reverse=sign == "-"), f"{sign}{key}"


def test_files_and_people(report: str, people: People) -> None:
    """Groups and days as files, with the filters. A stranger finds nothing."""
    rows = list(csv.DictReader(io.StringIO(read(people.teammate.get(f"{report}/groups.csv?language=en")))))
    assert [(row["question"], row["asked"], row["answered"]) for row in rows] == [("rotating keys", "2", "1")]
    (day,) = csv.DictReader(io.StringIO(read(people.owner.get(f"{report}/days.csv"))))
    assert (day["questions"], day["answered"], day["refused"], day["greeting"]) == ("4", "2", "1", "1")
    assert people.owner.get(f"{report}/other.csv").status_code == 404
    assert people.stranger.get(report).status_code == 404
    assert people.stranger.get(f"{report}/days.csv").status_code == 404

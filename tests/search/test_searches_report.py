"""The searches report in the admin: grouped queries, the page of one query, the test of a query, downloads."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from docsite.core.workspace.reports import time_steps
from docsite.core.workspace.reports.report_state import DAY, HOUR
from search.models import SearchQuery
from search.query_log import recording, totals
from search.query_log.folding import fold_for_storage
from tests.variants import first_of

NOW = timezone.now().replace(microsecond=0) - timedelta(minutes=5)


def search(project, text, results=3, clicked="", position=None, ago=timedelta(hours=2)):
    return SearchQuery.objects.create(
        project=project.project,
        text=text,
        folded=fold_for_storage(text),
        at=NOW - ago,
        result_count=results,
        clicked_path=clicked,
        position=position,
    )


@pytest.fixture
def searched(project):
    """A project with searches for a few queries, now and in the period before."""
    for _ in range(2):
        search(project, "Install", clicked="/install", position=1)
    search(project, "install", clicked="/configure", position=4, ago=timedelta(hours=3))
    search(project, "install", ago=timedelta(hours=3))
    search(project, "installing acme", results=2)
    for _ in range(3):
        search(project, "labels")
    search(project, "zürich", results=0)
    search(project, "ZÜRICH", results=0)
    search(project, "install", ago=timedelta(days=40))
    return project


def page(client, project, extra=""):
    return client.get(f"/admin/project/{project.domain}/searches{extra}")


def rows(project, form="jsonl", extra=""):
    return f"/admin/project/{project.domain}/searches/queries.{form}{extra}"


def read(response):
    async def gather():
        return b"".join([chunk async for chunk in response.streaming_content]).decode()

    return async_to_sync(gather)()


def test_queries_are_grouped_whatever_their_case(people, searched):
    lines = [json.loads(line) for line in read(people.owner.get(rows(searched))).splitlines()]
    assert {line["query"]: line["searches"] for line in lines} == {
        "Install": 4, "labels": 3, "ZÜRICH": 2, "installing acme": 1,
    }  # fmt: skip
    install = lines[0]
    assert (install["clicks"], install["ctr"], install["position"]) == (3, 0.75, 2.0)
    assert (install["withoutResult"], install["withoutClick"]) == (0, 1)
    assert lines[2]["withoutResult"] == 2


def test_the_report_has_the_numbers_of_the_api(people, searched):
    lines = [json.loads(line) for line in read(people.owner.get(rows(searched))).splitlines()]
    found = totals.fetch_page(searched.project, NOW - timedelta(days=30), NOW + timedelta(days=1), 50)
    by_name = {row["text"].casefold(): (row["hits"], row["clicks"] / row["hits"]) for row in found.rows}
    assert {line["query"].casefold(): (line["searches"], line["ctr"]) for line in lines} == by_name
    assert found.total == sum(line["searches"] for line in lines)


@pytest.mark.matrix
def test_a_comparison_shows_the_change_of_each_query(people, searched):
    content = page(people.owner, searched, "?compare=1&sort=-change").content.decode()
    assert "+3" in content
    assert "Compared with" in content
    assert "+3" not in page(people.owner, searched).content.decode()


@pytest.mark.parametrize(
    ("query", "listed"),
    first_of(
        [
            ("?tab=empty", {"ZÜRICH"}),
            ("?tab=few_clicks", {"labels"}),
            ("?q=INST", {"Install", "installing acme"}),
            ("?q=nothing-like-it", set()),
            ("?from=2020-01-01&to=2020-02-01", set()),
        ],
        1,
    ),
)
def test_tabs_filter_and_range_choose_the_queries(people, searched, query, listed):
    lines = read(people.owner.get(rows(searched, extra=query))).splitlines()
    assert {json.loads(line)["query"] for line in lines} == listed
    content = page(people.owner, searched, query).content.decode()
    for name in ("Install", "installing acme", "labels", "ZÜRICH"):
        assert (f"<bdi>{name}</bdi>" in content) == (name in listed)


@pytest.mark.parametrize(
    "sort", first_of(["query", "-searches", "results", "ctr", "-mean_position", "without_result", "without_click"], 2)
)
def test_each_column_sorts(people, searched, sort):
    assert page(people.owner, searched, f"?sort={sort}").status_code == 200


def test_wrong_values_get_sentences(people, searched):
    response = page(people.owner, searched, "?tab=best&from=yesterday")
    assert response.status_code == 400
    assert "tab: must be one of" in response.content.decode()
    assert people.owner.get(rows(searched, extra="?from=yesterday")).status_code == 400
    assert people.owner.get(rows(searched, "xml")).status_code == 404


def test_a_spreadsheet_takes_no_query_for_a_formula(people, project):
    search(project, "=1+1")
    table = list(csv.reader(io.StringIO(read(people.owner.get(rows(project, "csv"))))))
    assert table[0][:2] == ["query", "searches"]
    assert table[1][0] == "'=1+1"


def test_the_page_of_a_query_shows_clicks_spellings_and_similar_queries(people, searched):
    content = page(people.teammate, searched, "/query?text=install").content.decode()
    assert "Results that readers opened" in content
    assert "/configure" in content
    assert "67%" in content
    assert "<bdi>Install</bdi>" in content
    assert "Installing acme" in content, "what readers find now"
    search(searched, "acme installs")
    content = page(people.teammate, searched, "/query?text=installing acme").content.decode()
    assert "<bdi>acme installs</bdi>" in content


@pytest.mark.matrix
def test_the_page_of_a_query_says_where_it_was_searched_for(people, project):
    for kind in ("mcp", "mcp", "web", None):
        row = search(project, "install")
        SearchQuery.objects.filter(pk=row.pk).update(caller_kind=kind)
    for browser in (people.owner, people.teammate):
        text = page(browser, project, "/query?text=install").content.decode()
        for line in ('Coding agents (MCP) <span class="quiet">2</span>', "Widget or site <", "Not known <"):
            assert f"<li>{line}" in text
    assert page(people.stranger, project, "/query?text=install").status_code == 404


def test_a_test_shows_results_with_reasons_and_records_nothing(people, project):
    content = page(people.owner, project, "/test?query=print a label").content.decode()
    assert "Printing labels" in content
    assert "Score 0." in content
    assert "share of the reader" in content
    content = page(people.owner, project, "/test?query=acme&version=9.9").content.decode()
    assert 'value="9.9"' in content
    recording.flush()
    assert not project.project.searches.exists()


def test_a_query_cannot_put_markup_into_the_page(people, project):
    search(project, "<script>alert(1)</script>")
    for extra in ("", "/query?text=<script>alert(1)</script>", "/test?query=<script>alert(1)</script>"):
        assert "<script>alert" not in page(people.owner, project, extra).content.decode()


@pytest.mark.parametrize("extra", first_of(["", "/query?text=install", "/test?query=install", "/queries.csv"], 1))
def test_a_stranger_sees_no_searches(people, searched, extra):
    assert page(people.stranger, searched, extra).status_code == 404
    assert page(people.teammate, searched, extra).status_code == 200


def test_spellings_that_differ_in_case_are_one_query(people, project):
    for text in ("Straße", "STRASSE"):
        search(project, text)
    lines = [json.loads(line) for line in read(people.owner.get(rows(project))).splitlines()]
    assert [line["searches"] for line in lines] == [2]


@pytest.mark.matrix
def test_the_number_of_queries_does_not_grow_with_the_searches(people, searched):
    def count():
        with CaptureQueriesContext(
            connection,
        ) as counted:
            page(people.owner, searched, "?compare=1")
        return len(counted)

    few = count()
    for number in range(60):
        search(searched, f"query {number}")
    assert count() <= few <= 20


def test_a_chart_puts_each_search_into_its_day(project):
    day = datetime(2026, 3, 10, tzinfo=UTC)
    for hours in (0, 23, 24):
        SearchQuery.objects.create(project=project.project, text="a", folded="a", at=day + timedelta(hours=hours))

    def count(zone, step):
        with timezone.override(zone):
            steps = list(time_steps.split(day, day + timedelta(days=2), step))
        return [counts.searches for counts in totals.count_steps(project.project, steps)]

    assert count("UTC", DAY) == [2, 1]
    assert count("Europe/Berlin", DAY) == [1, 2, 0]
    assert count("Asia/Kathmandu", DAY) == [1, 2, 0]
    assert [hour for hour, searches in enumerate(count("UTC", HOUR)) if searches] == [0, 23, 24]

"""A file holds exactly the rows on screen, of all pages, and the API call beside it returns them."""

import csv
import html
import json
import re
import shlex
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from docsite.core.workspace.reports import tables
from tests.analytics.test_page_filter import PROJECT, VISITORS, fill
from tests.conftest import People, Service, Tenant
from tests.variants import first_of

AGENT = f"{PROJECT}/agents/agent?class=ai_user&agent=ChatGPT-User"
FEEDBACK = f"{PROJECT}/feedback"


@pytest.fixture
def site(project: Tenant, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """A project with readers of several pages, and tables whose pages have two rows."""
    fill(project.project, timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=3))
    monkeypatch.setattr(tables, "PAGE_SIZE", 2)
    return project


def read_pages(shown: Any) -> list[Any]:
    return [(row.path, row.human, row.ai, row.total) for row in shown["table"].rows]


def read_agents(shown: Any) -> list[Any]:
    return [(row.agent.name, row.agent.client_class, row.agent.views) for row in shown["table"].rows]


def read_queries(shown: Any) -> list[Any]:
    return [(row.text, row.numbers["searches"], row.numbers["clicks"]) for row in shown["table"].rows]


def read_groups(shown: Any) -> list[Any]:
    return [(newest.text, one.total, one.answered) for one, newest, *_ in shown["rows"]]


def read_feedback(shown: Any) -> list[Any]:
    return [(row["row"].feedback_id, row["row"].path) for row in shown["table"].rows]


def read_rated(shown: Any) -> list[Any]:
    return [(row["path"], row["up"], row["total"]) for row in shown["table"].rows]


Read = Callable[[Any], list[Any]]
# A report, its rows on screen, the names of the same values in the file, its files, and choices of an owner.
FILES: list[tuple[str, Read, tuple[str, ...], Read, tuple[str, ...]]] = [
    (
        VISITORS,
        read_pages,
        ("path", "human", "ai", "total"),
        lambda shown: shown["exports"]["Visitors"],
        ("", "path=/a", "q=B", "device=desktop", "device=desktop&path=/b", "sort=path", "compare=1&sort=-change"),
    ),
    (
        f"{VISITORS}?metric=views",
        read_pages,
        ("path", "human", "ai", "total"),
        lambda shown: shown["exports"]["Views"],
        ("", "path=/a", "q=a&sort=ai", "browser=Firefox"),
    ),
    (
        f"{PROJECT}/agents",
        read_agents,
        ("name", "class", "views"),
        lambda shown: shown["exports"],
        ("", "path=/a", "class=ai_user", "q=gpt", "sort=-name", "path=/b&class=ai_training"),
    ),
    (
        AGENT,
        lambda shown: [(path, views) for _, views, path in shown["table"].rows],
        ("path", "views"),
        lambda shown: shown["exports"],
        ("", "q=a", "q=none", "sort=-path"),
    ),
    (
        f"{PROJECT}/searches",
        read_queries,
        ("query", "searches", "clicks"),
        lambda shown: shown["downloads"],
        ("", "path=/a", "q=a", "tab=few_clicks", "sort=query"),
    ),
    (
        f"{PROJECT}/questions",
        read_groups,
        ("question", "asked", "answered"),
        lambda shown: shown["exports"]["Groups"],
        ("", "path=/a", "path=none", "caller=api", "sort=latest"),
    ),
    (FEEDBACK, read_feedback, ("id", "path"), lambda shown: shown["downloads"], ("", "path=/a", "thumb=up", "q=/b")),
    (
        f"{FEEDBACK}?tab=pages",
        read_rated,
        ("path", "thumbsUp", "total"),
        lambda shown: shown["downloads"],
        ("", "path=/a", "sort=path", "sort=-total"),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "read", "names", "files", "choices"), first_of(FILES, 1, ids=[row[0] for row in FILES])
)
def test_a_file_holds_the_rows_on_screen(
    site: Tenant,
    people: People,
    address: str,
    read: Read,
    names: tuple[str, ...],
    files: Read,
    choices: tuple[str, ...],
) -> None:
    url = address.format(domain=site.domain)
    url += ("&" if "?" in url else "?") + "range=7d"
    for chosen in choices:
        shown = people.owner.get(f"{url}&{chosen}").context
        rows = read(shown)
        for page in range(2, shown["table"].last_page + 1):
            rows += read(people.owner.get(f"{url}&{chosen}&page={page}").context)
        table, lines = (lines_of(people.owner.get(file.link)) for file in files(shown))
        found = [json.loads(line) for line in lines]
        if address.startswith(VISITORS):
            whole = found.pop(0)
            counts = shown["numbers"].views if "metric" in address else shown["numbers"].visitors
            assert whole["path"] == "(site)"
            assert {name: whole[name] for name in counts.totals} == counts.totals, chosen
            assert ("previousTotal" in whole) == ("compare" in chosen)
        assert [tuple(row[name] for name in names) for row in found] == rows, chosen
        assert len(table) == len(lines) + 1


PAGES = [VISITORS, f"{VISITORS}?tab=sources", AGENT, FEEDBACK, f"{FEEDBACK}?tab=pages"]
PAGES += [f"{PROJECT}/{name}" for name in ("agents", "searches", "questions", "gaps")]


@pytest.mark.parametrize("address", first_of(PAGES, 1))
def test_each_file_of_a_page_has_the_same_values_in_both_formats(site: Tenant, people: People, address: str) -> None:
    page = people.owner.get(address.format(domain=site.domain)).content.decode()
    files = {html.unescape(link) for link in re.findall(r'href="([^"?]*\.csv[^"]*)"', page)}
    assert files
    for file in files:
        rows = list(csv.reader(lines_of(people.owner.get(file))))
        found = [json.loads(line) for line in lines_of(people.owner.get(file.replace(".csv", ".jsonl")))]
        assert len(found) == len(rows) - 1
        for row, values in zip(rows[1:], found, strict=True):
            assert list(values) == rows[0]
            assert [str(value) for value in values.values() if isinstance(value, int)] == [
                cell for cell, value in zip(row, values.values(), strict=True) if isinstance(value, int)
            ]


@pytest.mark.matrix
def test_a_file_holds_the_conversations_on_screen(site: Tenant, people: People) -> None:
    for chosen in ("", "path=/a", "cites=/a", "path=a&cites=/b", "outcome=refused"):
        shown = people.owner.get(f"{PROJECT.format(domain=site.domain)}/conversations?range=7d&{chosen}").context
        threads = [json.loads(line)["threadId"] for line in lines_of(people.owner.get(shown["export"]))]
        assert threads == [row.url.partition("?")[0].rpartition("/")[2] for row in shown["rows"]], chosen


def test_a_file_of_conversations_is_refused_when_a_filter_is_wrong(site: Tenant, people: People) -> None:
    url = people.owner.get(f"{PROJECT.format(domain=site.domain)}/conversations").context["export"]
    for chosen, wrong in {
        "outcome=nonsense": "outcome: must be one of ",
        "cites=" + "a" * 401: "cites: must have at most 400 characters.",
        "after=x": "after: was not issued by this list",
        "from=soon": "From: this is not a date",
    }.items():
        file = people.owner.get(url + chosen)
        assert file.status_code == 400, chosen
        assert file.content.decode().startswith(wrong), chosen


# Choices of an owner whose API call returns the rows on screen, and where the rows are in its answer.
CALLS: list[tuple[str, Read, Read]] = [
    (f"{VISITORS}?", read_pages, lambda body: [tuple(row.values()) for row in body["visitors"]]),
    (f"{VISITORS}?metric=views", read_pages, lambda body: [tuple(row.values()) for row in body["views"]]),
    *(
        (
            f"{VISITORS}?{chosen}",
            lambda shown: list(shown["numbers"].visitors.totals.items()),
            lambda body: list(body["totals"].items()),
        )
        for chosen in ("path=/a", "path=/b&device=desktop", "path=/%27%26", "tab=sources&path=/a")
    ),
    *(
        (
            f"{PROJECT}/agents?{chosen}",
            read_agents,
            lambda body: [(row["name"], row["clientClass"], row["views"]) for row in body["agents"]],
        )
        for chosen in ("", "path=/a", "path=/a&class=ai_user")
    ),
    *(
        (
            f"{PROJECT}/searches?{chosen}",
            lambda shown: [row[:2] for row in read_queries(shown)],
            lambda body: [(row["searchQuery"], row["hits"]) for row in body["searches"]],
        )
        for chosen in ("", "path=/a", "path=/nothing")
    ),
    *(
        (
            f"{PROJECT}/questions?{chosen}",
            lambda shown: [shown["totals"].total],
            lambda body: [len(body["conversations"])],
        )
        for chosen in ("", "path=/a")
    ),
    *(
        (f"{FEEDBACK}?{chosen}", read_feedback, lambda body: [(row["id"], row["path"]) for row in body["feedback"]])
        for chosen in ("", "path=/a", "path=/a&status=pending&source=contextual", "status=resolved")
    ),
    (
        f"{FEEDBACK}?tab=pages&path=/A",
        read_rated,
        lambda body: [(row["path"], row["thumbsUp"], row["total"]) for row in body["feedback"]],
    ),
]


@pytest.mark.matrix
def test_the_api_call_returns_the_rows_on_screen(
    project: Tenant, people: People, http: httpx.Client, service: Service
) -> None:
    fill(project.project, timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=3))
    for address, read, read_body in CALLS:
        url = address.format(domain=project.domain) + "&range=7d"
        shown = people.owner.get(url)
        call = shlex.split(html.unescape(re.search(r"<code>(curl -G .*?)</code>", shown.content.decode(), re.S)[1]))
        path = call[2].partition("/v1/")[2]
        query = [pair for flag, text in pairwise(call) if flag == "-d" for pair in parse_qsl(text)]
        answer = http.get(f"{service.url}/v1/{path}", params=query, headers=project.admin)
        assert answer.status_code == 200, (address, answer.text)
        assert sorted(read_body(answer.json())) == sorted(read(shown.context)), address


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("address", "words"),
    first_of(
        [
            (f"{VISITORS}?q=a", "The API cannot filter the list of pages."),
            (f"{VISITORS}?path=/a", "It has the totals and the sources with these filters."),
            (f"{PROJECT}/agents?q=gpt", "The API has no filter by name."),
            (f"{PROJECT}/searches?q=a", "no filter by words"),
            (f"{PROJECT}/searches?tab=empty", "no list of this kind"),
            (f"{PROJECT}/questions?caller=api", "The API can filter by one page only."),
            (f"{PROJECT}/gaps?q=a", "The API has no filter by words."),
            (f"{FEEDBACK}?thumb=up", "The API can filter by status, source and page only."),
        ],
        2,
    ),
)
def test_a_page_says_what_the_api_cannot_filter(site: Tenant, people: People, address: str, words: str) -> None:
    url, _, chosen = address.format(domain=site.domain).partition("?")
    assert words in people.owner.get(f"{url}?{chosen}").content.decode()
    assert words not in people.owner.get(f"{url}?range=7d").content.decode()


def lines_of(response: Any) -> list[str]:
    assert response.status_code == 200

    async def gather() -> bytes:
        return b"".join([chunk async for chunk in response])

    body = async_to_sync(gather)() if response.is_async else b"".join(response)
    return body.decode().splitlines()


def test_the_page_of_an_agent_takes_no_class_that_is_several(site: Tenant, people: People) -> None:
    assert people.owner.get(f"{PROJECT.format(domain=site.domain)}/agents/agent?class=ai").status_code == 404

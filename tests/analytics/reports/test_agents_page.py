"""The report of agents: the period before, the pages of one agent, and the people who came from its assistant."""

import csv
import html
import io
import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.collecting import recording
from analytics.counting import sealer
from tests.analytics.conftest import CHATGPT, CURL, GPTBOT
from tests.analytics.reports.test_report_page import rows_of, seen
from tests.conftest import PATIENCE, assert_error, logged_in


@pytest.fixture
def site(make_project):
    """ChatGPT read two pages today and one last week; three people came from it and one from Perplexity."""
    tenant = make_project()
    now = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    before = now - timedelta(days=9)
    views = [
        *((seen("/a", CHATGPT, at=now, ip=9), "") for _ in range(3)),
        (seen("/b.md", CHATGPT, at=now, ip=9), ""),
        (seen("/a", GPTBOT, at=now, ip=8), ""),
        (seen("/a", CHATGPT, at=before, ip=9), ""),
        (seen("/a", at=now - timedelta(days=40)), ""),
        *((seen("/a", at=now, ip=ip), "https://chatgpt.com/") for ip in (1, 2)),
        (seen("/b?utm_source=chatgpt.com", at=now, ip=3), ""),
        (seen("/b", at=now, ip=4), "https://www.perplexity.ai/search"),
        (seen("/b", CURL, at=now, ip=5), ""),
    ]
    recording.record(tenant.project, [view._replace(referrer=referrer) for view, referrer in views])
    tenant.page = f"/admin/project/{tenant.domain}/agents"
    tenant.owner = logged_in(f"owner-{tenant.domain}", tenant.project.organization)
    tenant.teammate = logged_in(f"teammate-{tenant.domain}", tenant.project.organization)
    tenant.stranger = logged_in(f"stranger-{tenant.domain}", make_project().project.organization)
    return tenant


def read(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    return (b"".join(answer) if answer.streaming else answer.content).decode()


def text_of(cell):
    return " ".join(re.sub(r"<[^>]*>", " ", html.unescape(cell)).split())


def assistants_of(page):
    body = page.partition('<h2 id="assistants">')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [[text_of(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in body.split("</tr>")[:-1]]


@pytest.mark.slow
def test_agents_are_compared_with_the_period_before(site):
    rows = {row[0]: row[1:] for row in rows_of(read(site.teammate, f"{site.page}?range=7d"), "agents")}
    assert rows["ChatGPT-User OpenAI"][:2] == ["4", "+3"]
    assert rows["curl"][:2] == ["1", "new"]
    first = rows_of(read(site.owner, f"{site.page}?range=7d&sort=-change"), "agents")[0]
    assert first[0] == "ChatGPT-User OpenAI"
    whole = {row[0]: row[1:] for row in rows_of(read(site.owner, f"{site.page}?range=90d"), "agents")}
    assert whole["curl"][:2] == ["1", "HTTP client"], "nothing was recorded before"


def test_people_stand_beside_what_their_assistant_read(site):
    page = read(site.owner, f"{site.page}?range=7d")
    assert assistants_of(page) == [
        ["ChatGPT OpenAI", "2", "3", "chatgpt.com 3", "5"],
        ["Perplexity Perplexity", "0", "1", "perplexity.ai 1", "0"],
    ]
    (link,) = re.findall(r'href="([^"]*source=chatgpt.com)"', page)
    assert "<dt>Human visitors</dt><dd>3</dd>" in read(site.owner, html.unescape(link))


@pytest.mark.matrix
def test_an_agent_has_its_pages_and_its_course(site):
    (link,) = re.findall(r'<a href="([^"]*)"><bdi>ChatGPT-User', read(site.owner, f"{site.page}?range=7d"))
    page = read(site.teammate, html.unescape(link))
    assert rows_of(page, "pages") == [["/a", "3"], ["/b", "1"]]
    assert sum(int(row[1]) for row in rows_of(page, "series")) == 4
    assert "<dt>People from ChatGPT</dt><dd>3</dd>" in page
    assert "<dt>Views</dt><dd>4</dd>" in page
    assert rows_of(read(site.owner, f"{html.unescape(link)}&q=B&sort=path"), "pages") == [["/b", "1"]]
    hours = read(site.owner, html.unescape(link).replace("range=7d", "range=24h"))
    assert sum(int(row[1]) for row in rows_of(hours, "series")) == 4


def test_files_are_the_page(site):
    table = list(csv.DictReader(io.StringIO(read(site.owner, f"{site.page}/files/agents.csv?range=7d"))))
    assert {row["name"]: (row["views"], row["previousViews"]) for row in table}["ChatGPT-User"] == ("4", "1")
    lines = [json.loads(line) for line in read(site.owner, f"{site.page}/files/assistants.jsonl?range=7d").splitlines()]
    assert lines[0] == {
        **{"assistant": "ChatGPT", "operator": "OpenAI", "views": 5, "pages": 2, "people": 3},
        "hosts": ["chatgpt.com 3"],
    }
    pages = read(site.owner, f"{site.page}/files/pages.jsonl?range=7d&class=ai_user&agent=ChatGPT-User")
    assert [json.loads(line) for line in pages.splitlines()] == [{"path": "/a", "views": 3}, {"path": "/b", "views": 1}]


@pytest.mark.parametrize("path", ["", "/agent?class=ai_user&agent=ChatGPT-User", "/files/agents.csv"])
def test_a_stranger_finds_nothing(site, path):
    assert site.stranger.get(f"{site.page}{path}").status_code == 404
    assert site.teammate.get(f"{site.page}{path}").status_code == 200


def test_bad_values_are_named(site):
    answer = site.owner.get(f"{site.page}?class=robot")
    assert answer.status_code == 400
    assert "class: must be one of human, ai_user," in answer.content.decode()
    assert site.owner.get(f"{site.page}/files/agents.csv?class=robot").status_code == 400
    assert site.owner.get(f"{site.page}/files/nothing.csv").status_code == 404
    assert site.owner.get(f"{site.page}/agent").status_code == 404
    assert "It read nothing in this range." in read(site.owner, f"{site.page}/agent?class=ai_user&agent=%3Cb%3E")


def test_the_old_address_leads_there_and_the_page_has_few_queries(site):
    old = f"/admin/analytics/pageview/visitors/{site.domain}?tab=agents&range=7d&sort=name"
    assert site.owner.get(old)["Location"] == f"{site.page}?range=7d&sort=name"
    assert sealer.seal_project(site.project.pk, PATIENCE)
    with CaptureQueriesContext(connection) as queries:
        read(site.owner, f"{site.page}?range=90d")
    assert len(queries) <= 24


def test_the_api_has_the_agents_of_the_page(site, http, service):
    """All rows of the file, page by page, by class too; without the period before."""
    names = {"class": "clientClass"}
    lines = [json.loads(line) for line in read(site.owner, f"{site.page}/files/agents.jsonl?range=30d").splitlines()]
    expected = [
        {names.get(name, name): value for name, value in line.items() if name != "previousViews"} for line in lines
    ]
    address = f"{service.url}/v1/analytics/{site.project_id}/agents"
    found, cursor = [], None
    while True:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        body = http.get(address, params=query, headers=site.admin).json()
        found += body["agents"]
        cursor = body["nextCursor"]
        if not body["hasMore"]:
            break
    assert cursor is None
    assert len(found) == 3
    assert sorted(found, key=lambda row: row["name"]) == sorted(expected, key=lambda row: row["name"])
    training = http.get(address, params={"clientClass": "ai_training"}, headers=site.admin).json()["agents"]
    assert [row["name"] for row in training] == ["GPTBot"]
    assert_error(http.get(address, params={"clientClass": "x"}, headers=site.admin), 400, "clientClass")
    assert_error(http.get(address, headers=site.assistant), 403)


def test_the_agents_of_a_page_can_be_those_that_count_as_ai(site):
    page = read(site.owner, f"{site.page}?path=/b")
    assert [text_of(chip) for chip in re.findall(r">(All \d+|Counted as AI \d+)</a>", page)] == [
        "All 2",
        "Counted as AI 1",
    ]
    shown = read(site.owner, f"{site.page}?path=/b&class=ai")
    assert "<bdi>curl</bdi>" in page
    assert "<bdi>curl</bdi>" not in shown
    assert "ChatGPT-User" in shown
    assert "by what counts as AI" in shown
    assert "clientClass" not in shown

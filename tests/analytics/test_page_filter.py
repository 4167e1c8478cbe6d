"""One page of the documentation: a filter of every report, which stays from report to report."""

import html
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.collecting import recording
from analytics.counting import sealer
from analytics.models import Feedback
from assistant.admin.conversations import listing
from assistant.citations.link_checker import CitationChecker
from assistant.conversations.report import cites
from assistant.models import Message
from search.hits import Hit
from search.models import Document, SearchQuery
from tests.analytics.conftest import CHATGPT, CURL, GPTBOT
from tests.analytics.reports.test_report_page import seen
from tests.assistant.improving.gaps.conftest import skip_earlier, store_answer
from tests.conftest import People, Tenant
from tests.variants import first_of

VISITORS = "/admin/analytics/pageview/visitors/{domain}"
PROJECT = "/admin/project/{domain}"
A = "https://docs.acme.example/a"


def fill(tenant: Any, at: datetime) -> None:
    """What is about `/a`, and more that is about `/a/b`, `/A` and `/b`, whose paths are like it."""
    skip_earlier()
    views = [
        *(seen("/a", at=at, ip=ip) for ip in (1, 2, 3)),
        *(seen("/a", agent, at=at, ip=9) for agent in (CHATGPT, CHATGPT, GPTBOT)),
        *(seen("/a.md", agent, at=at, ip=10) for agent in (CHATGPT, "Mozilla/5.0 (X11; Linux) Firefox/130.0")),
        *(seen(path, at=at, ip=4) for path in ("/a/b", "/A", "/b")),
        *(seen("/b", agent, at=at, ip=9) for agent in (CURL, GPTBOT)),
        seen("/a", CURL, at=at - timedelta(days=8), ip=9),
        seen("/old", at=at - timedelta(days=8), ip=1),
    ]
    recording.record(tenant, views)
    for path, url in (("/a", A), ("/a", f"{A}/b"), ("/a/b", A), ("/A", "https://docs.acme.example/A"), ("", A)):
        sources = [{"title": "B", "url": "https://docs.acme.example/b"}, {"title": "A", "url": url}]
        store_answer(tenant, f"Where is it on {path}?", "answered", page_path=path, sources=sources, at=at)
    for path in ("/a", "/a/b", "/A"):
        Feedback.objects.create(project=tenant, path=path, source="contextual", helpful=True, created_at=at)
    SearchQuery.objects.bulk_create(
        SearchQuery(project=tenant, at=at, text=text, folded=text, result_count=3, clicked_path=path, position=place)
        for text, path, place in (
            *(("alpha", "/a", 1), ("alpha", "/a", 2), ("alpha", "/b", 1), ("beta", "/a", 1)),
            *(("gamma", "/a/b", 1), ("delta", "", None), ("delta", "/A", 1)),
        )
    )


@pytest.fixture
def site(project: Tenant) -> Tenant:
    """A project with readers of several pages."""
    fill(project.project, timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=3))
    return project


TOTALS = {"human": 3, "ai": 4, "total": 7}
# Each report, what it shows without the filter, and with it.
REPORTS: list[tuple[str, Callable[[Any], Any], Any, Any]] = [
    (VISITORS, lambda shown: [row.path for row in shown["table"].rows], ["/a", "/b", "/A", "/a/b"], ["/a"]),
    (VISITORS, lambda shown: shown["numbers"].visitors.totals, {"human": 4, "ai": 4, "total": 8}, TOTALS),
    (f"{VISITORS}?tab=sources", lambda shown: shown["numbers"].visitors.totals["human"], 4, 3),
    (
        f"{PROJECT}/agents",
        lambda shown: [(row.name, row.agent.views) for row in shown["table"].rows],
        [("ChatGPT-User", 3), ("GPTBot", 2), ("(a browser reading Markdown)", 1), ("curl", 1)],
        [("ChatGPT-User", 3), ("(a browser reading Markdown)", 1), ("GPTBot", 1)],
    ),
    (
        f"{PROJECT}/searches",
        lambda shown: [(row.text, row.numbers["searches"]) for row in shown["table"].rows],
        [("alpha", 3), ("delta", 2), ("beta", 1), ("gamma", 1)],
        [("alpha", 2), ("beta", 1)],
    ),
    (f"{PROJECT}/searches", lambda shown: shown["counts"].searches, 7, 3),
    (f"{PROJECT}/questions", lambda shown: shown["totals"].total, 5, 2),
    (f"{PROJECT}/conversations", lambda shown: len(shown["rows"]), 5, 2),
    (f"{PROJECT}/feedback", lambda shown: len(shown["table"].rows), 3, 1),
    (f"{PROJECT}/feedback?tab=pages", lambda shown: [row["path"] for row in shown["table"].rows], 3, ["/a"]),
]


@pytest.mark.matrix
def test_every_report_shows_one_page_and_a_chip_that_removes_the_filter(site: Tenant, people: People) -> None:
    for address, read, whole, filtered in REPORTS:
        url = address.format(domain=site.domain)
        separator = "&" if "?" in url else "?"
        shown = people.owner.get(f"{url}{separator}range=7d").context
        page = people.owner.get(f"{url}{separator}range=7d&path=/a")
        found = read(shown)
        assert (len(found) if isinstance(whole, int) and not isinstance(found, int) else found) == whole, address
        assert read(page.context) == filtered, address
        (chip,) = page.context["chips"]
        assert (chip.label, "path=" in chip.link) == ("Page: /a", False), address
        assert page.content.decode().count('class="chip"') == 1, address
        assert read(people.owner.get(url.partition("?")[0] + chip.link).context) == found, address


@pytest.mark.matrix
def test_the_filter_and_the_range_stay_from_report_to_report(site: Tenant, people: People) -> None:
    for start, *_ in REPORTS:
        url = start.format(domain=site.domain)
        page = people.owner.get(url + ("&" if "?" in url else "?") + "range=7d&path=/a").content.decode()
        nav = page.split('<nav class="workspace-nav"')[1].split("</nav>")[0]
        links = {label: html.unescape(link) for link, label in re.findall(r'href="([^"]*)"[^>]*>([^<]*)</a>', nav)}
        for label in ("Visitors", "Agents", "Searches", "Questions", "Conversations", "Feedback"):
            assert links[label].endswith("?range=7d&path=%2Fa"), (start, label)
            assert people.owner.get(links[label]).context["chips"], label
        assert not any("path" in links[label] for label in ("Overview", "Gaps", "Costs", "Sources"))


# A filter that is not the path of a page: the report, the label of its chip, and what is wrong.
OTHER_FILTERS = [
    ("questions", "path=none", "Page: none", ""),
    ("conversations", "path=a", "Part of the path: a", ""),
    *(
        (report, f"path={path}", "", "path: must begin with “/”.")
        for report in ("agents", "searches", "questions", "feedback")
        for path in ("a", ".evil.example/login", "@evil.example")
    ),
    ("agents", "path=none", "", "path: must begin with “/”."),
    ("searches", "path=/" + "a" * 400, "", "path: must have at most 400 characters."),
    ("conversations", "path=" + "a" * 401, "", "path: must have at most 400 characters."),
    *((report, "path=/a", "", "") for report in ("overview", "gaps", "searches/query", "agents/agent")),
]


@pytest.mark.matrix
def test_only_the_path_of_a_page_goes_to_other_reports(site: Tenant, people: People) -> None:
    for report, query, label, wrong in OTHER_FILTERS:
        url = PROJECT.format(domain=site.domain) + f"/{report}".replace("/overview", "")
        page = people.owner.get(f"{url}?range=7d&class=ai_user&agent=ChatGPT-User&text=alpha&{query}")
        assert page.context["wrong"] == ([wrong] if wrong else []), (report, query)
        assert [chip.label for chip in page.context.get("chips", ())] == ([label] if label else []), (report, query)
        shown = page.content.decode()
        assert ("About this page" in shown, "evil.example" in shown) == (False, False), (report, query)
        nav = shown.split('<nav class="workspace-nav"')[1].split("</nav>")[0]
        assert ("path=" in nav) == (query == "path=/a"), (report, query)


@pytest.mark.parametrize("path", first_of([".evil.example/login", "@evil.example", "guide", "/" + "a" * 400], 1))
def test_no_link_leads_from_the_page_about_a_page_to_another_host(site: Tenant, people: People, path: str) -> None:
    page = people.owner.get(f"{PROJECT.format(domain=site.domain)}/pages", {"path": path}, follow=True)
    assert (page.status_code, len(page.context["wrong"])) == (400, 1)
    assert f"docs.acme.example{path}" not in page.content.decode()


@pytest.mark.parametrize(
    ("query", "rows"),
    first_of(
        [
            ("path=/a", 2),
            ("path=/A", 1),
            ("path=a", 4),  # a part of it, whatever its case
            ("path=b", 1),
            ("path=/", 0),
            ("cites=/a", 3),
            ("cites=/b", 5),
            ("cites=/A", 1),
            ("cites=/a/b", 1),
            ("cites=/", 0),
            ("cites=%25", 0),
            ("cites=/a&path=/a", 1),
        ],
        4,
    ),
)
def test_conversations_about_a_page(site: Tenant, people: People, query: str, rows: int) -> None:
    """By the page that they were asked on, and by the pages that the answer cites."""
    shown = people.owner.get(f"/admin/project/{site.domain}/conversations?{query}").context
    assert (len(shown["rows"]), shown["matching"]) == (rows, rows)


@pytest.mark.parametrize(("limit", "reads"), [(10_000, 1), (2, 3)])
def test_sources_of_answers_are_read_once(
    site: Tenant, people: People, monkeypatch: pytest.MonkeyPatch, limit: int, reads: int
) -> None:
    """Where more answers than the limit cite the page, each query reads them."""
    monkeypatch.setattr(listing, "MAX_SEARCHED", limit)
    with CaptureQueriesContext(connection) as queries:
        shown = people.owner.get(f"/admin/project/{site.domain}/conversations?cites=/a").context
    assert (len(shown["rows"]), shown["matching"]) == (3, 3)
    assert sum("INSTR" in query["sql"] or "STRPOS" in query["sql"] for query in queries) == reads


@pytest.mark.stores
@pytest.mark.parametrize(
    ("docs_url", "address", "others"),
    first_of(
        [
            ("https://docs.acme.example", "", 0),
            ("https://bücher.example", "", 0),
            ("https://文档.example/ü", "", 0),
            ("https://docs.acme.example", "all#a", 1),  # the other section of the same page
            ("https://docs.acme.example", "https://bücher.example/é#a", 1),
        ],
        2,
    ),
)
def test_an_answer_cites_a_page_whatever_its_address(
    make_project: Any, docs_url: str, address: str, others: int
) -> None:
    project = make_project(docs_url).project
    pages = {"/a": address, "/b": address.replace("#a", "#b"), "/c": "c.html"}
    for path, shown_at in pages.items():
        Document.objects.create(project=project, path=path, address=shown_at)
        hit = Hit(path, project.url_of(path, "start", shown_at), path, "", (path,), "It is so.", "", 0.9)
        (source,) = CitationChecker([hit]).cite(0)[1]
        store_answer(project, f"What of {path}?", "answered", sources=[{"title": path, "url": source.url}])
    found = Message.objects.filter(cites(project, "/a"), project=project).order_by("pk")
    assert [row.sources[0]["title"] for row in found] == ["/a", "/b"][: 1 + others]


@pytest.mark.parametrize(
    "address",
    first_of(
        [
            VISITORS,
            f"{VISITORS}?path=/a",
            f"{PROJECT}/agents/agent?class=ai_user&agent=ChatGPT-User",
            f"{PROJECT}/searches/query?text=alpha",
            f"{PROJECT}/questions",
            f"{PROJECT}/conversations",
            f"{PROJECT}/feedback",
            f"{PROJECT}/feedback?tab=pages",
        ],
        1,
    ),
)
def test_a_click_on_a_page_leads_to_the_page_about_it(site: Tenant, people: People, address: str) -> None:
    url = address.format(domain=site.domain)
    html_text = people.owner.get(url + ("&" if "?" in url else "?") + "range=7d").content.decode()
    link = f"/admin/project/{site.domain}/pages?range=7d&path=%2Fa"
    assert f'href="{html.escape(link)}"' in html_text
    page = people.owner.get(link)
    numbers = {part.label: part.number for part in page.context["parts"]}
    assert numbers == {
        **{"Visitors": 7, "Agents and bots": 3, "Questions asked on it": 2, "Answers that cite it": 3},
        **{"Queries that led to it": 2, "Feedback": 1},
    }
    assert people.stranger.get(link).status_code == 404


def test_the_page_about_a_page_needs_one(site: Tenant, people: People) -> None:
    url = f"/admin/project/{site.domain}/pages"
    assert people.owner.get(f"{url}?range=7d")["Location"] == VISITORS.format(domain=site.domain) + "?range=7d"
    unknown = people.owner.get(f"{url}?path=/%3Cb%3E")
    assert "The index has no such page." in unknown.content.decode()
    assert [part.number for part in unknown.context["parts"]] == [0] * 6
    assert people.owner.get(f"{url}?path=/a&range=soon").status_code == 400


def test_agents_of_a_page_are_compared_while_single_views_are_kept(site: Tenant, people: People) -> None:
    url = f"/admin/project/{site.domain}/agents?path=/a&range="
    changes = {row.name: row.change for row in people.owner.get(f"{url}7d").context["table"].rows}
    assert changes["ChatGPT-User"].before == 0
    assert all(row.change is None for row in people.owner.get(f"{url}30d").context["table"].rows)
    assert "No agent read this page" in people.owner.get(url.replace("/a&", "/nothing&") + "7d").content.decode()


@pytest.mark.matrix
def test_a_page_has_its_row_and_its_file_although_no_single_view_is_kept(
    project: Tenant, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    noon = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
    recording.record(project.project, [seen("/a", at=noon - timedelta(days=20), ip=ip) for ip in (1, 2, 3)])
    sealer.seal()
    monkeypatch.setattr("analytics.dashboard.audience.kept_from", lambda _: noon - timedelta(days=5))
    page = VISITORS.format(domain=project.domain)
    days = [f"{noon - timedelta(days=ago):%Y-%m-%d}" for ago in (25, 15)]
    query = {"from": days[0], "to": days[1], "path": "/a"}
    (row, _), *others = people.owner.get(page, query).context["filtered"]
    assert (row.path, row.human, row.total, others) == ("/a", 3, 3, [])
    shown = people.owner.get(page, {**query, "path": "", "device": "desktop"}).content.decode()
    assert "No single view of this range is kept that matches the filters." in shown

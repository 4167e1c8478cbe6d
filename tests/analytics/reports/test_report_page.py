"""The visitors report in the admin: its state, who may see it, what it shows, and its files."""

import csv
import html
import io
import ipaddress
import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.test import Client

from analytics.collecting import recording
from analytics.collecting.recording import Observation
from analytics.counting import agent_views, recount, sealer
from analytics.dashboard import time_series
from analytics.dashboard.report_state import ReportState
from analytics.models import EPOCH, AgentViews, PageView
from analytics.reports import visitor_counts
from docsite.core.workspace.reports import charts, time_steps
from docsite.core.workspace.reports.charts import Point
from docsite.core.workspace.reports.formatting import percent
from docsite.core.workspace.reports.report_state import previous_period
from docsite.core.workspace.reports.tables import Change
from tests.analytics.conftest import CHATGPT, CHROME, CURL, GOOGLEBOT, GPTBOT, NOON
from tests.conftest import logged_in
from tests.variants import first_of

MARCH = "from=2026-03-01&to=2026-04-01"
DAY = timedelta(days=1)


def seen(path="/", agent=CHROME, at=NOON, ip=1, sample=False):
    address = ipaddress.ip_address("198.51.100.0") + ip
    return Observation(uuid.uuid4().hex, path, at, address, agent, sample=sample)


@pytest.fixture
def site(make_project):
    """A project, a member of its organization who is logged in, and a way to have it viewed."""
    tenant = make_project()
    tenant.client = logged_in(f"member-{tenant.project.pk}", tenant.project.organization)
    tenant.view = lambda *views: recording.record(tenant.project, list(views))
    tenant.get = lambda query="": tenant.client.get(address(tenant) + (f"?{query}" if query else ""), follow=True)
    tenant.read = lambda query="": tenant.get(query).content.decode()
    return tenant


def address(tenant, file=""):
    return f"/admin/analytics/pageview/visitors/{tenant.domain}{file and '/' + file}"


def rows_of(page: str, caption: str) -> list[list[str]]:
    """The texts of the rows of a table, by the id of its caption."""
    body = page.partition(f'<caption id="{caption}">')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("</tr>") if "<t" in row]
    return [[re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", cell)).strip() for cell in row] for row in cells]


# State


@pytest.mark.parametrize(
    "query",
    [
        "",
        "range=7d&compare=1&metric=views&sort=-change&q=a%26b&page=3",
        "from=2026-03-01&to=2026-03-02T05%3A00%3A00%2B02%3A00&tab=sources&all=device&channel=ai",
    ],
)
def test_a_link_holds_the_whole_state(query):
    state, wrong = ReportState.parse(QueryDict(query))
    assert wrong == []
    again, _ = ReportState.parse(QueryDict(state.link(page=state.page)[1:]))
    assert again == state
    assert state.link(q="new") == ReportState.parse(QueryDict(state.link(q="new")[1:]))[0].link()


def test_a_column_sorts_the_other_way_when_it_is_chosen_again():
    state = ReportState(tab="pages", q="x", page=4)
    assert state.sort_link("human") == "?sort=-human&q=x"
    assert ReportState(sort="-human").sort_link("human") == "?sort=human"
    assert ReportState().sort_link("total") == "?sort=total"
    assert ReportState().sort_link("path") == "?sort=path"


BAD_VALUES = [
    ("from=yesterday", "From: this is not a date; write a day such as 20"),
    ("from=2026-02-30&to=x", "From: this is not a date; write a day such as 20"),
    ("from=2026-02-30&to=x", "Until: this is not a date; write a day such as 20"),
    ("from=2026-03-02&to=2026-03-02", "From: must be before “Until”."),
    ("range=1y", "range: must be one of 24h, 7d, 14d, 30d, 90d, month, last-month."),
    ("sort=size", "sort: must be one of path, human, ai, total, other, share."),
    ("sort=change", "sort: must be one of path, human, ai, total, other, share."),
    ("metric=clicks", "metric: must be one of visitors, views."),
    ("tab=x&sort=x", "tab: must be one of pages, sources."),
    ("page=0", "page: must be a whole number from 1."),
    ("page=" + "9" * 5000, "page: must be a whole number from 1."),
    ("page=٣", "page: must be a whole number from 1."),
    ("q=" + "x" * 10_000, "q: must have at most 400 characters."),
    ("range=7d&range=30d", "range: was given twice."),
]


@pytest.mark.matrix
def test_a_bad_value_is_told_on_the_page_and_refused_by_downloads(site):
    site.view(seen())
    for query, says in BAD_VALUES:
        answer = site.get(query)
        assert answer.status_code == 400
        assert says in answer.content.decode()
        file = site.client.get(f"{address(site, 'visitors.csv')}?{query}")
        assert file.status_code == 400
        assert says in file.content.decode().splitlines()[0] + file.content.decode()
        assert file["Content-Type"] == "text/plain; charset=utf-8"


def test_bad_dates_stay_as_they_were_typed(site):
    page = site.read("from=2026-02-30&to=%22%3E%3Cb%3E&compare=1")
    assert '<input type="text" name="from" value="2026-02-30"' in page
    assert '<input type="text" name="to" value="&quot;&gt;&lt;b&gt;"' in page
    assert '<input type="hidden" name="compare" value="1">' in page
    assert page.count('aria-invalid="true"') == 2
    assert site.read("from=2026-03-02&to=x").count('aria-invalid="true"') == 1
    assert "<dl" not in page


@pytest.mark.matrix
@pytest.mark.parametrize(
    "query",
    first_of(
        [
            "from=9999-12-01&to=9999-12-31T23:59:59.999999&compare=1",
            "from=9999-12-31T01:00&to=9999-12-31T05:30&compare=1&tab=agents",
            "to=9999-12-31T23:30&tab=agents",
            "from=0001-01-01&compare=1",
            "to=9999-12-31&compare=1",
            "from=9999-01-01",
            "from=1970-01-01&tab=agents",
            "page=7",
            "nonsense=1",
        ],
        3,
    ),
)
def test_odd_values_are_no_error(site, query):
    site.view(seen(), seen(agent=CURL))
    assert site.get(query).status_code == 200


def test_a_range_of_24_hours_ends_with_the_coming_full_hour():
    start, end = ReportState(range="24h").window(datetime(2026, 3, 10, 12, 30, 5, 7, UTC))
    assert (start, end) == (datetime(2026, 3, 9, 13, tzinfo=UTC), datetime(2026, 3, 10, 13, tzinfo=UTC))
    assert previous_period(start, end) == (start - DAY, start)


# Who sees it


@pytest.mark.parametrize("file", ["", "visitors.csv", "views.jsonl"])
def test_only_members_and_superusers_see_it(site, make_project, file):
    site.view(seen())
    url = address(site, file)
    superuser = logged_in("superuser", is_superuser=True)
    stranger = logged_in(f"stranger-{site.project.pk}", make_project().project.organization)
    reader = logged_in(f"reader-{site.project.pk}", site.project.organization, is_staff=False)
    assert [client.get(url).status_code for client in (superuser, site.client, stranger)] == [200, 200, 404]
    assert site.client.get(f"{address(site)}/?range=7d")["Location"] == f"{address(site)}?range=7d"
    for client in (reader, Client()):
        assert client.get(url)["Location"].startswith("/admin/login/")


# Pages


@pytest.fixture
def busy(site):
    """Three pages in March, of which one is new, and one of February that nobody reads any more."""
    february = NOON - timedelta(days=25)
    site.view(*(seen("/a", ip=ip) for ip in range(1, 6)), seen("/a", CHATGPT, ip=9), seen("/a.md", ip=1))
    site.view(*(seen("/b", ip=ip) for ip in range(1, 4)), seen("/b", CHATGPT, ip=9), seen("/new", GPTBOT, ip=7))
    site.view(*(seen("/a", at=february, ip=ip) for ip in range(1, 4)), seen("/gone", at=february))
    site.view(*(seen("/b", at=february, ip=ip) for ip in range(1, 6)), seen("/a", GOOGLEBOT), seen("/a", CURL))
    return site


@pytest.mark.matrix
def test_the_tiles_explain_the_overlap(busy):
    page = busy.read(MARCH)
    assert re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page) == [
        ("Human visitors", "5"), ("AI visitors", "3"), ("Unique across both", "7"), ("Page views", "12"),
    ]  # fmt: skip
    assert "1 was seen as both" in page
    home = busy.client.get(f"/admin/project/{busy.domain}?{MARCH}").content.decode()
    for shown in (page, home):
        assert "So human and AI add up to 1 more than the total." in shown
    assert "Few visitors" in page


def test_a_period_is_compared_with_the_one_before(busy):
    page = busy.read(f"{MARCH}&compare=1")
    assert "Compared with 2026-01-29 00:00 to 2026-03-01 00:00." in page
    assert "Views are collected since 2026-02-13 12:00, so a part of the period before has no views." in page
    assert [(row[0], row[3], row[4].replace(" ", "")) for row in rows_of(page, "pages")] == [
        ("/a", "6", "+3"),
        ("/b", "4", "−1"),
        ("/new", "1", "new"),
        ("/gone", "0", "−1(nonenow)"),
    ]
    assert "as many as before" in page
    assert "new: none before" in page
    assert "up 2 from 5" in page, "percent of so few say nothing"
    rising = rows_of(busy.read(f"{MARCH}&compare=1&sort=change"), "pages")
    assert [row[0] for row in rising] == ["/b", "/gone", "/new", "/a"]


def test_percentages_of_many_neither_hide_some_nor_others():
    assert (Change(25, 20).percent, Change(5, 19).percent) == ("25%", "")
    assert [percent(part, 1000) for part in (0, 1, 10, 500, 990, 999, 1000)] == [
        *("0%", "<1%", "1%", "50%", "99%", ">99%", "100%")
    ]


def test_nothing_is_compared_with_a_time_before_collection(site):
    site.view(seen())
    page = site.read("from=2026-03-10&to=2026-03-11&compare=1")
    assert "Views are collected since 2026-03-10 12:00, so there is no period to compare with." in page
    assert "new: none before" not in page
    assert "Change</a>" not in page


@pytest.mark.matrix
@pytest.mark.parametrize(
    "query", first_of(["from=2026-03-01T09:30&to=2026-03-12T16:10:30", "from=2026-03-09T23:30&to=2026-03-11"], 2)
)
@pytest.mark.parametrize("metric", ["visitors", "views"])
def test_steps_and_the_period_before_add_up_whatever_the_range(site, metric, query):
    site.view(*(seen(at=NOON + timedelta(hours=5 * n, minutes=7 * n), ip=n + 150) for n in range(-120, 30)))
    page = site.read(f"{query}&compare=1&metric={metric}")
    steps = rows_of(page, "series")
    state = ReportState.parse(QueryDict(query))[0]
    start, end = state.window(NOON)
    for place, (lo, hi) in ((-2, (start, end)), (-1, previous_period(start, end))):
        assert (
            sum(int(row[place]) for row in steps)
            == visitor_counts.count_views(site.project, lo, hi).totals["total"]
            > 0
        )


def test_parts_of_a_day_are_named_as_such():
    def names(start, end, step):
        return [time_steps.name_step(*span) for span in time_steps.split(start, end, step)]

    start, end = datetime(2026, 3, 9, 9, 30, tzinfo=UTC), datetime(2026, 3, 11, 8, tzinfo=UTC)
    assert names(start, end, DAY) == [
        *("Mon 9 Mar 2026, 09:30 to 24:00", "Tue 10 Mar 2026", "Wed 11 Mar 2026, 00:00 to 08:00")
    ]
    assert names(start, start + timedelta(hours=1), DAY / 24)[0] == "Mon 9 Mar 2026, 09:30 to 10:00"
    assert names(start, end + 7 * DAY, 7 * DAY) == [
        *("7 days from 9 Mar 2026, 09:30", "16 Mar 2026, 09:30 to 18 Mar 2026, 08:00")
    ]


def test_a_page_waits_once_for_views_to_be_counted_and_says_when_they_are_not(busy, monkeypatch):
    asked = []
    monkeypatch.setattr(sealer, "seal_project", lambda _, timeout: asked.append(timeout))
    assert "Views are still being counted" in busy.read(f"{MARCH}&compare=1&tab=agents")
    assert asked == pytest.approx([0.3], abs=0.1)
    busy.client.get(f"{address(busy, 'views.csv')}?{MARCH}")
    assert asked == pytest.approx([0.3, sealer.REPORT_TIMEOUT_SECONDS], abs=0.1)
    monkeypatch.undo()
    assert "Views are still being counted" not in busy.read(MARCH)


@pytest.mark.parametrize(
    ("sort", "paths"),
    first_of(
        [
            ("path", ["/a", "/b", "/new"]),
            ("-path", ["/new", "/b", "/a"]),
            ("human", ["/new", "/b", "/a"]),
            ("-ai", ["/a", "/b", "/new"]),
            ("share", ["/b", "/a", "/new"]),
            ("other", ["/new", "/b", "/a"]),
        ],
        2,
    ),
)
def test_pages_sort_by_each_column(busy, sort, paths):
    page = busy.read(f"{MARCH}&sort={sort}")
    assert [row[0] for row in rows_of(page, "pages")] == paths
    assert page.count("aria-sort") == 1
    assert f'aria-sort="{"descending" if sort.startswith("-") else "ascending"}"' in page


@pytest.mark.slow
def test_the_table_is_the_export_page_by_page(site):
    site.view(*(seen(f"/page-{n:03}", ip=ip) for n in range(120) for ip in range(1, 2 + n % 3)))
    shown = [row for page in (1, 2, 3) for row in rows_of(site.read(f"{MARCH}&page={page}"), "pages")]
    counts = visitor_counts.count_visitors(
        site.project, datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    )
    assert [[row[0], int(row[3])] for row in shown] == [[row["path"], row["total"]] for row in counts.rows()]
    assert "101–120 of 120 pages. There is no page 9; this is the last, 3." in site.read(f"{MARCH}&page=9")
    found = site.read(f"{MARCH}&q=PAGE-11")
    assert "1–10 of 10 pages that match, of 120" in found
    assert "No page of this range has “&lt;x&gt;” in its path." in site.read(f"{MARCH}&q=%3Cx%3E")


def test_a_path_is_only_text(site):
    site.view(seen("/<script>alert(1)</script>"))
    page = site.read(MARCH)
    assert "<script>alert" not in page
    assert "/&lt;script&gt;alert(1)&lt;/script&gt;" in page
    site.view(seen("/a\u202eb\u200bc"))
    assert ">/a[U+202E]b[U+200B]c<" in site.read(MARCH)


# Over time


def test_a_bar_shows_what_belongs_to_both_parts_once():
    chart = charts.build_chart(
        [Point("one", "1", first=6, second=5, total=8, before=4), Point("two", "2", 0, 0, 0, 10)]
    )
    assert [label for _, label in chart.lines] == ["0", "5", "10"]
    bar = chart.bars[0]
    assert (bar.first.y, bar.first.height) == ("40%", "60%")
    assert (bar.second.y, bar.second.height) == ("20%", "50%"), "it hangs from the top, over the first part"
    assert [bar.before and bar.before.y for bar in chart.bars] == ["60%", "0%"]
    assert (bar.point.both, chart.bars[1].point.both) == (3, 0)


def test_a_chart_of_nothing_and_of_one_point():
    assert charts.build_chart([]).bars == []
    assert [label for _, label in charts.build_chart([Point("one", "1", 0, 0, 0)]).lines] == ["0", "1"]
    assert [label for _, label in charts.build_chart([Point("one", "1", 1, 0, 1_234_567)]).lines] == [
        "0",
        "500k",
        "1M",
        "1.5M",
    ]


@pytest.mark.parametrize(
    ("days", "step", "bars"),
    first_of([(1, "hour", 24), (2, "hour", 48), (3, "day", 3), (120, "day", 120), (121, "7 days", 18)], 1),
)
def test_a_chart_has_as_many_bars_as_can_be_read(site, days, step, bars):
    end = datetime(2026, 4, 1, tzinfo=UTC)
    site.view(seen(at=end - timedelta(minutes=1)))
    page = site.read(f"from={end - timedelta(days=days):%Y-%m-%d}&to={end:%Y-%m-%d}&metric=views")
    assert f"Views by {step}" in page
    numbers = rows_of(page, "series")
    assert len(numbers) == bars == page.count('type="radio"')
    assert [sum(int(row[place]) for row in numbers) for place in (1, 2, 3)] == [1, 0, 1], "views: no column of both"


def test_a_range_without_end_has_a_chart_that_can_be_read(site):
    site.view(seen())
    assert len(rows_of(site.read("from=0001-01-01&to=9999-01-01"), "series")) < 121


def test_the_chart_has_the_period_before_beside_it(busy):
    now = datetime(2026, 11, 1, tzinfo=UTC)
    march = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    visitor_counts.refresh(busy.project)
    count = partial(visitor_counts.count_steps, busy.project)
    points, _ = time_series.build_points(count, *march, datetime(2026, 1, 29, tzinfo=UTC), "views", now)
    assert [(point.name, point.total, point.before) for point in points if point.total or point.before] == [
        ("Tue 10 Mar 2026", 12, 0),
        ("Mon 16 Mar 2026", 0, 9),
    ]


# Agents


def test_agents_are_told_by_name_class_and_rule(busy):
    rows = {row[0]: row[1:] for row in rows_of(busy.read(f"{MARCH}&tab=agents"), "agents")}
    assert rows["ChatGPT-User OpenAI"][:5] == ["2", "new", "AI assistant for a person", "yes", "HTML 2"]
    assert rows["ChatGPT-User OpenAI"][6:] == ["its name"], "no column of addresses, where none is known"
    assert rows["(a browser reading Markdown)"][2:5] == ["Browser, as Markdown", "yes", "Markdown 1"]
    assert rows["Googlebot Google"][3] == "no"
    only = rows_of(busy.read(f"{MARCH}&tab=agents&class=ai_training"), "agents")
    assert [row[0] for row in only] == ["GPTBot OpenAI"]
    found = rows_of(busy.read(f"{MARCH}&tab=agents&q=openai&sort=name"), "agents")
    assert [row[0] for row in found] == ["ChatGPT-User OpenAI", "GPTBot OpenAI"]
    page = busy.read(f"{MARCH}&tab=agents&q=nobody")
    assert "No agent matches." in page
    assert "The API has no filter by name." in page


def agent_page(tenant, name, client_class):
    query = urlencode({"class": client_class, "agent": name})
    return f"/admin/project/{tenant.domain}/agents/agent?{MARCH}&{query}"


@pytest.mark.matrix
def test_an_agent_leads_to_its_single_views(busy):
    page = busy.client.get(agent_page(busy, "GPTBot", "ai_training")).content.decode()
    link = re.search(r'href="(/admin/analytics/pageview/\?[^"]*GPTBot[^"]*)"', page)[1].replace("&amp;", "&")
    listed = busy.client.get(link).content.decode()
    assert "1 page view" in listed
    assert "GPTBot" in listed
    assert f'href="{address(busy)}?from=2026-03-01T00%3A00%3A00Z&amp;to=2026-04-01T00%3A00%3A00Z"' in listed
    reader = busy.client.get(agent_page(busy, "", "human")).content.decode()
    browser = re.search(r'href="(/admin/analytics/pageview/\?[^"]*)"', reader)[1].replace("&amp;", "&")
    assert "1 page view" in busy.client.get(browser).content.decode(), "not the HTML pages of all people"
    february = page.replace("2026-03-01", "2026-02-01").replace("2026-04-01", "2026-03-01")
    link = re.search(r'href="(/admin/analytics/pageview/\?[^"]*GPTBot[^"]*)"', february)[1].replace("&amp;", "&")
    assert "0 page views" in busy.client.get(link).content.decode()
    assert busy.client.get("/admin/analytics/pageview/?from=x").status_code == 302


@pytest.fixture
def made_up(site):
    """A way to store what an agent read, whatever its name is."""

    def store(name, operator="", rule="rule", views=1, **facts):
        hour = (NOON - EPOCH) // timedelta(hours=1)
        for span in agent_views.SPANS:
            AgentViews.objects.create(
                **{"project": site.project, "span": span, "start": hour // span * span, "client_class": "ai_agent"},
                **{"agent": name, "operator": operator, "rule": rule, "views": views},
                **{"surface": "html", "last_at": hour * 3_600_000_000, **facts},
            )

    return store


def test_what_agents_say_of_themselves_is_only_text(site, made_up, http, service):
    site.view(seen())
    names = ['=HYPERLINK("x")', "+1", "-1", "@x", "<script>alert(1)</script>", '"><b>', "a, b", "turned\u202e"]
    for name in names:
        made_up(name, operator=f"={name}", rule=f"@<i>{name}"[:80])
    page = site.read(f"{MARCH}&tab=agents")
    assert not [tag for tag in ("<script>alert", '"><b>', "<i>") if tag in page]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<bdi>turned[U+202E]</bdi>" in page
    text = download(http, service, site, f"agents.csv?{MARCH}")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["name"].removeprefix("'") for row in rows} == set(names)
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    agents = [json.loads(line) for line in download(http, service, site, f"agents.jsonl?{MARCH}").splitlines()]
    assert {row["name"] for row in agents} == set(names), "as they are, since nothing runs them"


@pytest.mark.matrix
def test_agents_are_paged_and_say_whether_their_addresses_are_known(site, made_up):
    site.view(seen())
    for number in range(60):
        made_up(f"agent-{number:02}", views=60 - number)
    made_up("agent-00", views=7, verified="yes")
    made_up("agent-00", views=2, verified="no", surface="md")
    page = site.read(f"{MARCH}&tab=agents")
    assert "1–50 of 60 agents" in page
    assert rows_of(page, "agents")[0][1] == "69"
    assert rows_of(page, "agents")[0][4:6] == ["HTML 67 Markdown 2", "verified 7 claimed 2"]
    assert rows_of(page, "agents")[1][5] == "not checked"
    assert [row[0] for row in rows_of(site.read(f"{MARCH}&tab=agents&page=2"), "agents")][-1] == "agent-59"


def download(http, service, site, file):
    cookies = {"Cookie": f"docs_session={site.client.cookies['docs_session'].value}"}
    answer = http.get(f"{service.url}/admin/project/{site.domain}/agents/files/{file}", headers=cookies)
    assert answer.status_code == 200
    return answer.content.decode()


# Nothing to see


def test_a_project_without_views_is_told_how_to_collect_them(site):
    site.view(seen(agent=CURL))
    page = site.read()
    assert f'src="http://testserver/views.js" data-domain="{site.domain}"' in page.replace("&quot;", '"')
    assert f"manage.py importlog {site.domain} access.log" in page
    assert f"/v1/collect/{site.project_id}/views" in page
    assert "<dl" not in page
    assert "curl" in [row[0] for row in rows_of(site.read(f"{MARCH}&tab=agents"), "agents")]


def test_the_sample_request_is_taken_and_counts(site, http, service):
    body = re.search(r"-d '(\{.*?\})'", html.unescape(site.read()), re.DOTALL)[1]
    url = f"{service.url}/v1/collect/{site.project_id}/views"
    answer = http.post(url, json=json.loads(body), headers=site.admin)
    assert answer.json() == {"accepted": 1, "duplicates": 0, "ignored": 0}
    assert "three ways" not in site.read()
    assert "1 AI" in site.read("range=7d"), "in each range up to now"


def test_an_empty_range_leads_to_the_latest_day(site):
    site.view(seen(), seen(at=NOON - 9 * DAY), seen(agent=CURL, at=NOON + 9 * DAY))
    page = site.read("from=2025-01-01&to=2025-02-01&metric=views")
    assert "No visitors in this range." in page
    assert '<a href="?from=2026-03-10&amp;to=2026-03-11&amp;metric=views">2026-03-10</a>' in page
    assert "1 view by clients that are in no count" in site.read("from=2026-03-12&to=2026-04-01")
    assert "This range has not begun yet." in site.read("from=2126-03-12")


@pytest.mark.matrix
def test_the_notice_of_sample_views_stands_once(site):
    site.view(seen(at=NOON + DAY))
    assert "the demo invented" not in site.read(MARCH)
    site.view(seen(sample=True))
    assert site.read(MARCH).count("the demo invented") == 1
    assert site.read(MARCH).count(f'<a href="/admin/project/{site.domain}/sample">Remove them</a>') == 1


@pytest.mark.matrix
def test_views_that_were_taken_back_leave_nothing(site):
    site.view(seen(at=NOON + DAY, sample=True), seen(agent=GPTBOT, at=NOON + DAY, sample=True), seen())
    site.read(MARCH)
    recount.remove_sample(site.project)
    assert ">2026-03-10</a>" in site.read("from=2025-01-01&to=2025-02-01"), "the latest day with visitors"
    site.view(seen("/b", sample=True))
    PageView.objects.filter(project=site.project).update(sample=True)
    recount.remove_sample(site.project)
    for tab in ("pages", "agents"):
        assert "three ways to collect views" in site.read(f"{MARCH}&tab={tab}")


def test_the_call_and_the_command_hold_the_dates(busy):
    page = busy.read("from=2026-03-01T05:30&to=2026-04-01&metric=views")
    assert "-d dateFrom=2026-03-01T05:30:00Z -d dateTo=2026-04-01T00:00:00Z" in page
    assert f"/v1/analytics/{busy.project_id}/views" in page
    assert "--from 2026-03-01T05:30:00Z --to 2026-04-01T00:00:00Z --views" in page
    assert "an end within an hour is rounded down" in page
    assert f"{address(busy, 'views.csv')}?from=2026-03-01T05%3A30&amp;to=2026-04-01&amp;metric=views" in page

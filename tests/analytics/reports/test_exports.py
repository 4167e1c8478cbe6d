"""Both reports out: over HTTP page by page, and whole as CSV and JSON lines by command and from the admin."""

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser
from ipaddress import ip_address

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory

from analytics.collecting import recording as collecting
from analytics.counting import pages, sealer
from analytics.dashboard import visitors
from analytics.models import Annotation, Page, Snapshot
from analytics.reports import exports, visitor_counts
from assistant.models import TokenUse
from docsite.core.tenants.models import ApiKey, Project
from search.models import SearchQuery
from tests.analytics.conftest import CHATGPT, CURL, GPTBOT, NOON, NOTHING, view
from tests.analytics.counting.history import brute, history, tomorrow
from tests.analytics.counting.history import view as seen
from tests.conftest import PATIENCE, ROOT, assert_error, set_analytics
from tests.variants import first_of

pytestmark = pytest.mark.slow

NAMES = ("human", "ai", "total")
MARCH = ("--from", "2026-03-01", "--to", "2026-04-01")


@pytest.fixture(scope="module")
def other(start, django_db_setup):
    """A second process on the same database."""
    return start.fresh()


def totals_of(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["totals"]


# What counts


def test_views_are_events_and_their_total_is_the_sum(collect, views):
    collect(
        *(view("/a") for _ in range(3)),
        view("/a.md"),
        view("/a", agent=GPTBOT),
        view("/b.md", agent=CHATGPT),
        view("/b", agent=CURL),
    )
    assert views().json() == {
        "totals": {"human": 3, "ai": 3, "total": 6},
        "views": [
            {"path": "/a", "human": 3, "ai": 2, "total": 5},
            {"path": "/b", "human": 0, "ai": 1, "total": 1},
        ],
        "hasMore": False,
    }


def test_views_of_a_narrowed_project_leave_crawlers_out(collect, views):
    set_analytics(collect.tenant.project, ai_scope="readers")
    collect(view(agent=CHATGPT), view(agent=GPTBOT), view("/b", agent=GPTBOT), view("/c.md", agent=CURL))
    assert views().json()["totals"] == {"human": 0, "ai": 2, "total": 2}
    assert [row["path"] for row in views().json()["views"]] == ["/", "/c"]


@pytest.mark.stores
def test_an_acknowledged_view_is_in_the_export_at_once_in_every_process(collect, read, report, service, other):
    now = datetime.now(UTC)
    for count in range(1, 9):
        collect(view("/a", at=now, ip=f"198.51.100.{count}"), to=(service, other)[count % 2])
        for process in (other, service)[:: count % 3 or -1]:
            assert totals_of(read(report, of=process, dateFrom=None, dateTo=None))["human"] == count


# Rows and pages


@pytest.mark.stores
def test_rows_come_by_total_and_ties_by_path(collect, read, report):
    tied = ["/z", "/B", "/a", "/a/b", "/a-b", "/é", "/e", "/日本", "/🙂", "/10", "/9", "/"]
    top = [view("/top", ip=f"198.51.100.{n}", agent=CHATGPT) for n in range(3)]
    people = [view("/people", ip=f"198.51.100.{n}") for n in range(2)]
    collect(*(view(path) for path in tied[:6]))
    collect(*(view(path) for path in tied[6:]), *people, *top)
    rows = read(report).json()[report]
    assert [row["path"] for row in rows] == ["/top", "/people", *sorted(tied)]
    assert rows[0]["total"] == 3


@pytest.mark.parametrize(
    ("limit", "offset", "rows", "more"),
    first_of(
        [
            (5, 0, "abcde", False),
            (4, 0, "abcd", True),
            (1, 3, "d", True),
            (1, 4, "e", False),
            (2, 4, "e", False),
            (1, 5, "", False),
            (250, 2**53, "", False),
        ],
        3,
    ),
)
def test_has_more_says_whether_rows_follow(collect, read, report, limit, offset, rows, more):
    collect(*(view(f"/{name}") for name in "edcba"))
    answer = read(report, limit=limit, offset=offset).json()
    assert ([row["path"] for row in answer[report]], answer["hasMore"]) == ([f"/{name}" for name in rows], more)
    assert answer["totals"]["total"] == (1 if report == "visitors" else 5)


@pytest.mark.stores
def test_pages_of_an_export_repeat_and_miss_nothing(collect, read, report, service, other):
    paths = [f"/page-{number:02}" for number in range(25)]
    collect(*(view(path) for path in paths), *(view("/top", ip=f"198.51.100.{n}") for n in range(3)))
    rows, offset = [], 0
    while True:
        answer = read(report, limit=10, offset=offset, of=(service, other)[offset // 10 % 2]).json()
        rows += answer[report]
        if not answer["hasMore"]:
            break
        if offset == 0:  # views in between move nothing
            totals = answer["totals"]
            collect(*(view("/page-24", ip=f"203.0.113.{n}") for n in range(9)), view("/new"))
        assert answer["totals"] == totals
        offset += 10
    assert [row["path"] for row in rows] == ["/top", *paths]
    assert read(report, limit=1).json()[report][0]["path"] == "/page-24", "offset 0 counts afresh"


def test_each_report_has_a_snapshot_of_its_own(collect, read):
    collect(view("/a"), view("/a"), view("/b"), view("/c"))
    assert read("visitors", limit=1).json()["totals"]["total"] == 1
    collect(view("/c", ip="198.51.100.2"), view("/c", ip="198.51.100.3"))
    assert read("views", limit=1).json()["totals"]["total"] == 6
    collect(view("/b"))
    assert [row["path"] for row in read("visitors", offset=1, limit=9).json()["visitors"]] == ["/b", "/c"]
    assert [row["path"] for row in read("views", offset=1, limit=9).json()["views"]] == ["/a", "/b"]
    read("visitors", limit=1)
    assert read("views", offset=1).json()["totals"]["total"] == 6, "visitors counted afresh leave views as they were"


def test_a_snapshot_is_of_one_key_and_range_for_ten_minutes(collect, read, report, other):
    project = collect.tenant.project
    collect(view("/a"), view("/b", agent=GPTBOT))
    assert totals_of(read(report, limit=1))["total"] == 2
    collect(view("/c", ip="198.51.100.2"))
    assert totals_of(read(report, offset=1))["total"] == 2
    assert totals_of(read(report, offset=1, dateFrom="2026-03-01T01:00:00+01:00"))["total"] == 2, "the same instant"
    assert totals_of(read(report, offset=1, dateFrom="2026-03-02"))["total"] == 3
    _, token = ApiKey.issue(ApiKey.Kind.ADMIN, project.organization)
    assert totals_of(read(report, offset=1, headers={"Authorization": f"Bearer {token}"}))["total"] == 3
    set_analytics(project, ai_scope="readers")
    pinned = {"human": 1, "ai": 1, "total": 2}
    assert totals_of(read(report, offset=1, of=other)) == pinned, "another scope of AI changes no row of the next page"
    Snapshot.objects.filter(project=project).update(taken_at=datetime.now(UTC) - timedelta(minutes=9, seconds=50))
    assert totals_of(read(report, offset=1))["total"] == 2
    Snapshot.objects.filter(project=project).update(taken_at=datetime.now(UTC) - timedelta(minutes=10, seconds=1))
    assert totals_of(read(report, offset=1))["human"] == 2
    assert not Snapshot.objects.filter(taken_at__lt=datetime.now(UTC) - timedelta(minutes=11)).exists()


@pytest.mark.matrix
def test_one_address_adds_at_most_200_new_paths_a_day_outside_the_index(project):
    def send(*paths, ip="198.51.100.7", day=NOON, is_own=True):
        views = [seen(day, path, 1, "human").observation for path in paths]
        address = ip_address(ip)
        collecting.record(project.project, [view._replace(address=address, is_own=is_own) for view in views])

    def rows(day=NOON):
        counts = visitor_counts.count_views(project.project, day - timedelta(hours=12), day + timedelta(hours=12))
        return {row["path"]: row["total"] for row in counts.rows()}

    scan = [f"/scan/{number}" for number in range(1_000)]
    send(*scan[:150])
    send(*scan[100:], "/install")
    assert rows()[pages.OTHER] == 800
    assert {path: count for path, count in rows().items() if path != pages.OTHER} == (
        dict.fromkeys(scan[:200], 1) | dict.fromkeys(scan[100:150], 2) | {"/install": 1}
    )
    send("/guides/of-mine", scan[300], ip="198.51.100.8")
    send("/guides/of-mine", scan[300], scan[301])
    assert {"/guides/of-mine": 2, scan[300]: 2, pages.OTHER: 801}.items() <= rows().items()
    send(*(f"/log/{number}" for number in range(300)), is_own=False)
    assert len(rows()) == 200 + 1 + 2 + 1 + 300
    tomorrow = NOON + timedelta(days=1)
    send(*scan[:201], *scan[500:701], day=tomorrow)
    assert rows(tomorrow)[pages.OTHER] == 2, "402 paths, 200 of which had been viewed before"


@pytest.mark.matrix
def test_paths_beyond_ten_thousand_a_day_outside_the_index_share_one_row(project):
    """`project` has its index; the paths of a scanner are not in it."""

    def send(*paths, day=NOON):
        collecting.record(project.project, [seen(day, path, 1, "human").observation for path in paths])

    def rows(day=NOON):
        counts = visitor_counts.count_views(project.project, day - timedelta(hours=12), day + timedelta(hours=12))
        return {row["path"]: row["total"] for row in counts.rows()}

    for start in range(0, 10_000, 1_000):
        send(*(f"/scan/{number}" for number in range(start, start + 1_000)))
    send("/install")
    assert pages.OTHER not in rows()
    assert len(rows()) == 10_001
    send("/beyond/1", "/beyond/2", "/scan/7", "/install", "/guides/labels", "/beyond/1")
    after = {pages.OTHER: 3, "/scan/7": 2, "/install": 2, "/guides/labels": 1}
    assert after.items() <= rows().items()
    assert len(rows()) == 10_003
    pages._loaded.clear()  # as in a new process
    send("/beyond/3", "/scan/8", "/configure")
    assert {pages.OTHER: 4, "/scan/8": 2, "/configure": 1}.items() <= rows().items()
    tomorrow = NOON + timedelta(days=1)
    send("/beyond/3", day=tomorrow)
    assert rows(tomorrow) == {"/beyond/3": 1}
    one = visitor_counts.count_visitors(project.project, NOON, tomorrow)
    assert (one.totals["total"], one.rows(0, 1)[0]["total"]) == (1, 1)


# Parameters


BAD = [
    *(({"limit": value}, "limit: ") for value in ("0", "251", "-1", "1.0", "x", "", " 5", "1_0", "٣", "+5", "9" * 20)),
    *(({"offset": value}, "offset: ") for value in ("-1", "x", "1e3", str(2**53 + 1))),
    *(
        ({name: value}, f"{name}: ")
        for name in ("dateFrom", "dateTo")
        for value in (
            *("", "x", "2026-02-30", "2026-13-01", "20260301", "2026-W10-1", "2026-03-01T25:00:00Z", "2026-3-1"),
            *("2026-03-01 00:00:00", "1772323200", "٢٠٢٦-03-01", "2026-03-01T00:00:00Z\x00", "2026-03-01\n"),
        )
    ),
    (
        {"dateFrom": "2026-03-01T00:00:00 02:00"},
        "dateFrom: must be YYYY-MM-DD or an ISO 8601 date-time (write + as %2B)",
    ),
    ({"dateFrom": "0001-01-01T00:00:00+14:00"}, "dateFrom: is not a date that exists"),
    ({"dateTo": "9999-12-31T23:59:59-14:00"}, "dateTo: is not a date that exists"),
    ({"dateFrom": "2026-03-02", "dateTo": "2026-03-02"}, "dateFrom: must be before dateTo"),
    ({"dateFrom": "2026-03-03", "dateTo": "2026-03-02"}, "dateFrom: must be before dateTo"),
    *(
        ({name: [value, value]}, f"{name}: is given more than once")
        for name, value in (("limit", "1"), ("offset", "0"), ("dateFrom", "2026-03-01"), ("dateTo", "2026-03-01"))
    ),
    *(({"timezone": name}, "timezone: must be the IANA name") for name in ("", "Berlin", "+01:00", "../UTC", "utc")),
    ({"timezone": ["UTC", "UTC"]}, "timezone: is given more than once"),
    ({"timezone": "Asia/Tokyo", "dateFrom": "0001-01-01"}, "dateFrom: is not a date that exists"),
]


def test_a_bad_parameter_is_named(http, service, make_project, report):
    """Over the keys of several organizations: a bad request counts against the limit."""
    for number, (params, field) in enumerate(BAD):
        if number % 50 == 0:
            tenant = make_project()
            url = f"{service.url}/v1/analytics/{tenant.project_id}/{report}"
        try:
            assert_error(http.get(url, params=params, headers=tenant.admin), 400, field)
        except AssertionError as wrong:
            raise AssertionError(f"{params}: {wrong}") from None


def test_all_bad_parameters_are_named_at_once(read, report):
    assert_error(read(report, limit="0", offset="-1", dateFrom="x"), 400, "limit: ", "offset: ", "dateFrom: ")


def test_unknown_parameters_are_ignored(read, report):
    assert read(report, page="2", foo=["1", "2"]).status_code == 200


INSTANTS = [
    *("2026-03-10T09:00", "2026-03-10T09:00:00", "2026-03-10T09:00:00Z", "2026-03-10t09:00:00.000z"),
    *("2026-03-10T09:00:00,000000Z", "2026-03-10T10:00:00+01:00", "2026-03-10T10:00+01", "2026-03-10T14:30+0530"),
    *("2026-03-09T23:00:00-10:00", "2026-03-10T09:00:00.123456789Z"),
]


@pytest.mark.matrix
def test_every_form_of_an_instant_is_taken(collect, read, report):
    nine = datetime(2026, 3, 10, 9, tzinfo=UTC)
    collect(view(at=nine - timedelta(seconds=1)), view(at=nine, ip="198.51.100.2"), view(at=nine, ip="198.51.100.3"))
    for form in INSTANTS:
        assert totals_of(read(report, dateFrom=form))["human"] == 2
        assert totals_of(read(report, dateTo=form))["human"] == 1


def test_a_date_is_its_midnight_utc(collect, read, report):
    midnight = datetime(2026, 3, 10, tzinfo=UTC)
    collect(view(at=midnight - timedelta(seconds=1)), view(at=midnight, ip="198.51.100.2"))
    assert totals_of(read(report, dateFrom="2026-03-10"))["human"] == 1
    assert totals_of(read(report, dateTo="2026-03-10"))["human"] == 1
    assert totals_of(read(report, dateFrom="0001-01-01", dateTo="9999-12-31"))["human"] == 2


def test_a_date_is_a_day_of_the_time_zone_in_each_report(collect, read, report, http, service):
    """The first and the last instant of 29 March in Berlin, which has 23 hours, and the instants beside them."""
    first, end = datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC)
    second = timedelta(seconds=1)
    collect(*(view(at=at, ip=f"198.51.100.{ip}") for ip, at in enumerate((first - second, first, end - second, end))))
    day = {"dateFrom": "2026-03-29", "dateTo": "2026-03-30"}
    assert totals_of(read(report, timezone="Europe/Berlin", **day))["human"] == 2
    assert totals_of(read(report, **day))["human"] == 2
    assert totals_of(read(report, timezone="Asia/Kolkata", **day))["human"] == 2
    instants = {"dateFrom": "2026-03-29T00:00", "dateTo": "2026-03-30T00:00+02:00", "timezone": "Europe/Berlin"}
    assert totals_of(read(report, **instants))["human"] == 2
    project = collect.tenant.project
    for at in (first - second, first, end - second, end):
        SearchQuery.objects.create(project=project, text="a", folded="a", at=at)
        Annotation.objects.create(project=project, kind="index", at=at)
    for number in (28, 29, 30):
        TokenUse.objects.create(project=project, day=date(2026, 3, number), tokens=number)

    def ask(name, **more):
        url = f"{service.url}/v1/analytics/{project.project_id}/{name}"
        return http.get(url, params={**day, **more}, headers=collect.tenant.admin).json()

    for zone, searches, marks in (("Europe/Berlin", 2, 1), ("UTC", 2, 1), ("Asia/Kolkata", 2, 1)):
        assert ask("searches", timezone=zone)["totalSearches"] == searches
        assert len(ask("annotations", timezone=zone)["annotations"]) == marks
        assert ask("costs", timezone=zone)["totals"]["tokens"] == 29
        of_month = ask("annotations", timezone=zone, dateFrom="2026-03-01", dateTo="2026-04-01")["annotations"]
        assert len(of_month) == (3 if zone == "Europe/Berlin" else 2)


def test_the_default_is_the_last_thirty_days_up_to_tomorrow(collect, read, report):
    now = datetime.now(UTC)
    first = tomorrow() - timedelta(days=30)
    collect(
        view(at=now),
        view(at=first, ip="198.51.100.2"),
        view(at=first - timedelta(seconds=1), ip="198.51.100.3"),
        view(at=datetime(2026, 3, 1, tzinfo=UTC), ip="198.51.100.4"),
        view(at=datetime(2026, 1, 30, tzinfo=UTC), ip="198.51.100.5"),
        view(at=datetime(2026, 1, 29, 23, 59, tzinfo=UTC), ip="198.51.100.6"),
    )
    assert totals_of(read(report, dateFrom=None, dateTo=None))["human"] == 2
    assert totals_of(read(report, dateFrom=None, dateTo="2026-03-01"))["human"] == 1, "30 days before the end"
    assert totals_of(read(report, dateFrom="2026-03-01", dateTo=None))["human"] == 4
    coming = (now + timedelta(days=9)).date().isoformat()
    assert read(report, dateFrom=coming, dateTo=None).json() == {"totals": NOTHING, report: [], "hasMore": False}


def test_a_project_without_views_is_all_zeros(read, report):
    for offset in (0, 5):
        assert read(report, offset=offset).json() == {"totals": NOTHING, report: [], "hasMore": False}


# Who may


def test_foreign_projects_are_404_as_are_those_that_do_not_exist(http, service, collect, make_project, report):
    tenant = collect.tenant
    bodies = set()
    for project_id in (make_project().project_id, "prj_aaaaaaaaaaaaaaaaaaaa", tenant.domain):
        answer = http.get(f"{service.url}/v1/analytics/{project_id}/{report}", headers=tenant.admin)
        assert_error(answer, 404)
        assert "ratelimit" not in answer.headers
        bodies.add(answer.text)
    assert len(bodies) == 1
    url = f"{service.url}/v1/analytics/{tenant.project_id}/{report}"
    assert_error(http.get(url), 401)
    assert_error(http.get(url, headers=tenant.assistant), 403)
    assert_error(http.post(url, headers=tenant.admin), 405)


@pytest.mark.matrix
def test_both_reports_share_one_limit(http, start, make_project):
    service, tenant = start(LIMIT_ANALYTICS_ORG="3/d"), make_project()
    answers = [
        http.get(f"{service.url}/v1/analytics/{tenant.project_id}/{report}", headers=tenant.admin)
        for report in ("visitors", "views", "visitors", "views", "visitors")
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert [re.search(r"r=(\d)", answer.headers["ratelimit"])[1] for answer in answers[:3]] == ["2", "1", "0"]


# Whole reports


def parsed(text: str, form: str) -> list[dict]:
    """The lines of a download, the site's first."""
    if form == "jsonl":
        return [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    rows = csv.DictReader(io.StringIO(text, newline=""))
    assert rows.fieldnames == ["path", *NAMES]
    return [{"path": row["path"], **{name: int(row[name]) for name in NAMES}} for row in rows]


def run(*arguments) -> str:
    out = io.StringIO()
    call_command("exportvisitors", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def staff():
    """Somebody of the project's organization, logged in."""

    def log_in(project) -> Client:
        user, _ = User.objects.get_or_create(username=f"staff-{project.pk}", defaults={"is_staff": True})
        project.organization.memberships.get_or_create(user=user)
        client = Client()
        client.force_login(user)
        return client

    return log_in


class Table(HTMLParser):
    """The texts of the report's page: its tiles, and the cells of its tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tiles: list[str] = []
        self.rows: list[list[str]] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag != "a":  # the text of a link is that of its cell
            self.inside = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag != "a":
            self.inside = ""

    def handle_data(self, data):
        if self.inside == "dd":
            self.tiles.append(data)
        if self.inside in ("td", "th") or (self.inside == "a" and self.rows):  # paths are links
            self.rows[-1][-1] += data


@pytest.fixture
def download(http, service):
    """Follow a link of the admin as somebody who is logged in."""

    def follow(client, link):
        cookies = {"Cookie": f"docs_session={client.cookies['docs_session'].value}"}
        with http.stream("GET", f"{service.url}{link}", headers=cookies) as answer:
            assert answer.status_code == 200
            kind = "text/csv" if ".csv" in link else "application/jsonl"
            assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
            *_, domain, name = link.partition("?")[0].split("/")
            stem, _, ending = name.rpartition(".")
            file = rf'attachment; filename="{domain}-{stem}(-\d{{4}}-\d\d-\d\d){{2}}\.{ending}"'
            assert re.fullmatch(file, answer.headers["content-disposition"])
            return b"".join(answer.iter_bytes()).decode()

    return follow


def test_every_way_out_tells_the_same_numbers(collect, read, report, staff, download):
    tenant, dice = collect.tenant, random.Random(5)
    end = tomorrow()
    happened = history(dice, 400, 29, datetime.now(UTC))
    collecting.record(tenant.project, [one.observation for one in happened])
    totals, rows = brute(happened, end - timedelta(days=30), end, distinct=report == "visitors")
    whole = [{"path": "(site)", **totals}, *rows]
    paged = [read(report, dateFrom=None, dateTo=None, limit=2, offset=offset).json() for offset in (0, 2, 4)]
    assert [row for answer in paged for row in answer[report]] == rows
    assert all(answer["totals"] == totals for answer in paged)
    client = staff(tenant.project)
    for form in ("csv", "jsonl"):
        text = run(tenant.domain, "--format", form, *(["--views"] if report == "views" else []))
        assert parsed(text, form) == whole
        link = f"/admin/analytics/pageview/visitors/{tenant.domain}/{report}.{form}"
        assert download(client, link) == text
    shown = Table(client.get(f"/admin/analytics/pageview/visitors/{tenant.domain}?range=30d").content.decode())
    table = {row[0]: row[1:] for row in shown.rows}
    for row in rows:
        numbers = [f"{row[name]:,}" for name in NAMES]
        assert table[row["path"]][:3] == numbers if report == "visitors" else table[row["path"]][3] == numbers[2]
    expected = [f"{totals[name]:,}" for name in NAMES] if report == "visitors" else [f"{totals['total']:,}"]
    assert set(expected) <= set(shown.tiles)


def test_strange_paths_survive_both_forms(collect, read):
    paths = [
        *(
            '/a "quoted", path',
            "/it's",
            "/semi;colon",
            "/naïve/日本語/🙂",
            "/back\\slash",
            "/<b>&amp;",
            "/{{ x }}",
            "/'",
        ),
        *(
            "/line%0Abreak",
            "/return%0D%0Ax",
            "/tab%09x",
            "/next%C2%85line",
            "/para%E2%80%A9graph",
            "/%22",
            '/"""',
            "/,",
        ),
        *("/x%0Byz", "/a b ", "/=1+1", "/%00nul", "/nbsp%C2%A0x"),
    ]
    collect(*(view(path) for path in paths))
    rows = read("visitors").json()["visitors"]
    assert len(rows) == len(paths)
    assert "/linebreak" in {row["path"] for row in rows}
    for form in ("csv", "jsonl"):
        output = run(collect.tenant.domain, *MARCH, "--format", form)
        assert parsed(output, form)[1:] == rows
        assert output.count("\n") == len(rows) + (2 if form == "csv" else 1), "a row is a line"


@pytest.mark.parametrize("sign", list("=+-@\t\r"))
def test_a_cell_that_a_spreadsheet_would_run_is_quoted(make_project, sign):
    """No such path comes in today, since each begins with a slash."""
    project = make_project().project
    path = f"{sign}HYPERLINK(1)"
    Page.objects.create(project=project, number=1, path=path)
    sealer.seal()
    counts = visitor_counts.Counts(project.pk, visitor_counts.np.array([[0, 1, 0, 1], [1, 1, 0, 1]]))
    assert parsed("".join(exports.format_report(counts, "csv")), "csv")[1]["path"] == f"'{path}"
    assert parsed("".join(exports.format_report(counts, "jsonl")), "jsonl")[1]["path"] == path


@pytest.fixture
def long(make_project):
    """A project with 1,200 pages of long paths: more than a pipe holds."""
    tenant = make_project()
    views = [seen(NOON, f"/{number}/{'long/' * 60}", 1, "human").observation for number in range(1_200)]
    collecting.record(tenant.project, views)
    return tenant


def test_a_report_is_read_and_written_in_pieces(long, monkeypatch):
    asked = []
    rows = visitor_counts.Counts.rows
    monkeypatch.setattr(
        visitor_counts.Counts, "rows", lambda counts, *place: asked.append(place) or rows(counts, *place)
    )
    counts = visitor_counts.count_visitors(long.project, NOON - timedelta(days=1), NOON + timedelta(days=1))
    for form, header in (("csv", 1), ("jsonl", 0)):
        asked.clear()
        chunks = exports.format_report(counts, form)
        for _ in range(header):
            next(chunks)
        assert asked == []
        assert [next(chunks).count("\n"), len(asked)] == [500, 1]
        assert [chunk.count("\n") for chunk in chunks] == [500, 201]


@pytest.mark.matrix
@pytest.mark.parametrize("lines", [1, 0], ids=["after the first of many", "before the first line"])
def test_a_closed_pipe_ends_it_quietly(long, make_project, lines):
    domain = long.domain if lines else make_project().domain
    arguments = [sys.executable, "manage.py", "exportvisitors", domain, *MARCH]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for _ in range(lines):
            assert process.stdout.readline() == b"path,human,ai,total\r\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 1


@pytest.mark.matrix
def test_it_writes_utf_8_whatever_the_locale(collect):
    collect(view("/日本語"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    arguments = [sys.executable, "manage.py", "exportvisitors", collect.tenant.domain, *MARCH]
    finished = subprocess.run(arguments, cwd=ROOT, capture_output=True, env=environment, timeout=PATIENCE)
    assert finished.stdout.decode().split("\r\n")[2] == "/日本語,1,0,1", finished.stderr


def test_a_file_is_replaced_whole_or_not_at_all(long, tmp_path, monkeypatch):
    file = tmp_path / "out.csv"
    file.write_text("old")
    arguments = (long.domain, *MARCH)
    rows, calls = visitor_counts.Counts.rows, []

    def fail_later(counts, *place):
        calls.append(place)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return rows(counts, *place)

    monkeypatch.setattr(visitor_counts.Counts, "rows", fail_later)
    with pytest.raises(CommandError, match=r"out\.csv: No space left on device\.$"):
        run(*arguments, "--output", str(file))
    assert ([entry.name for entry in tmp_path.iterdir()], file.read_text()) == (["out.csv"], "old")
    monkeypatch.undo()
    said = run(*arguments, "--output", str(file))
    assert said == (
        f"{file}: 1201 rows, visitors of the site and of 1200 pages, 2026-03-01 00:00 to 2026-04-01 00:00 UTC\n"
    )
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]
    with file.open(newline="") as written:
        assert written.read() == run(*arguments)


def test_the_file_of_a_link_is_written_and_what_is_none_is_left_alone(collect, tmp_path):
    file, link = tmp_path / "real.csv", tmp_path / "link.csv"
    link.symlink_to(file)
    run(collect.tenant.domain, "--output", str(link))
    assert link.is_symlink()
    assert file.read_text() == "path,human,ai,total\n(site),0,0,0\n"
    for place in (tmp_path, "/dev/null"):
        with pytest.raises(CommandError, match="is not a file"):
            run(collect.tenant.domain, "--output", str(place))
    with pytest.raises(CommandError, match=r"nosuch/x: No such file or directory\.$"):
        run(collect.tenant.domain, "--output", str(tmp_path / "nosuch" / "x"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--from", "x"], "--from: must be YYYY-MM-DD or an ISO 8601 date-time."),
        (["--from", "2026-03-01 00:00"], "--from: must be YYYY-MM-DD or an ISO 8601 date-time."),
        (["--to", "2026-02-30"], "--to: is not a date that exists or can be converted to UTC."),
        (["--to", ""], "--to: must be YYYY-MM-DD or an ISO 8601 date-time."),
        (["--from", "2026-03-02", "--to", "2026-03-02"], "--from: must be before --to."),
    ],
)
def test_a_bad_date_names_its_option(collect, arguments, says):
    with pytest.raises(CommandError) as failure:
        run(collect.tenant.domain, *arguments)
    assert str(failure.value) == says


def test_an_unknown_domain_says_which_there_are(collect):
    with pytest.raises(CommandError, match=r"^There is no project nobody\. There are: .+\.$"):
        run("nobody")


def test_without_any_project_it_says_how_to_make_one(monkeypatch):
    monkeypatch.setattr(Project.objects, "order_by", lambda *fields: Project.objects.none())
    with pytest.raises(CommandError, match=r"^There is no project nobody\. Make it with: manage\.py createproject$"):
        run("nobody")


# The admin's report


@pytest.mark.matrix
def test_the_report_offers_every_download(collect, staff, download):
    tenant = collect.tenant
    collect(view(at=datetime.now(UTC) - timedelta(days=60)))
    client = staff(tenant.project)
    page = f"/admin/analytics/pageview/visitors/{tenant.domain}"
    links = [
        link
        for link in re.findall(r'href="([^"]+)"', client.get(f"{page}?range=90d").content.decode())
        if link.startswith(f"{page}/") and not link.endswith("/share")
    ]
    assert len(links) == 4
    assert all(link.endswith("?range=90d") for link in links)
    for link in links:
        first, *_ = parsed(download(client, link), "csv" if ".csv" in link else "jsonl")
        assert first == {"path": "(site)", "human": 1, "ai": 0, "total": 1}
    for name in ("visitors.xml", "agents.xml", "visitors", "visitors.csv.gz"):
        assert client.get(f"{page}/{name}").status_code == 404


async def test_a_download_is_sent_in_pieces(long):
    request = RequestFactory().get("/", {"from": "2026-03-09", "to": "2026-03-12"})
    request.user = User(is_staff=True, is_active=True, is_superuser=True)
    answer = await sync_to_async(visitors.download)(request, long.domain, "visitors.csv")
    assert answer.is_async
    assert [chunk.count(b"\n") async for chunk in answer] == [1, 500, 500, 201]


def test_a_stranger_downloads_nothing(collect, make_project, staff):
    client = staff(make_project().project)
    assert client.get(f"/admin/analytics/pageview/visitors/{collect.tenant.domain}/visitors.csv").status_code == 404
    login = Client().get(f"/admin/analytics/pageview/visitors/{collect.tenant.domain}/visitors.csv")
    assert login["Location"].startswith("/admin/login/")

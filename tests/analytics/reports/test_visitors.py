"""Views in, visitors out: over HTTP, exact, and told in the specified shape."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from tests.analytics.conftest import CHATGPT, CHROME, CURL, GOOGLEBOT, GPTBOT, NOON, view
from tests.conftest import assert_error, set_analytics, visitor_secret


def test_each_client_counts_as_what_it_is(collect, visitors):
    receipt = collect(
        view("/a"),
        view("/a", ip="198.51.100.2"),
        view("/a.md", agent=CHATGPT),
        view("/a", agent=GPTBOT),
        view("/a", agent=GOOGLEBOT),
        view("/a", agent=CURL),
        view("/b", agent=CURL, accept="text/markdown, */*"),
    ).json()
    assert receipt == {"accepted": 5, "duplicates": 0, "ignored": 2}
    assert visitors().json() == {
        "totals": {"human": 2, "ai": 3, "total": 5},
        "visitors": [
            {"path": "/a", "human": 2, "ai": 2, "total": 4},
            {"path": "/b", "human": 0, "ai": 1, "total": 1},
        ],
        "hasMore": False,
    }


def test_a_browser_that_also_reads_markdown_is_one_visitor(collect, visitors):
    collect(view("/a"), view("/a.md"), view("/b.md"))
    assert visitors().json()["totals"] == {"human": 1, "ai": 1, "total": 1}
    assert visitors().json()["visitors"] == [
        {"path": "/a", "human": 1, "ai": 1, "total": 1},
        {"path": "/b", "human": 0, "ai": 1, "total": 1},
    ]


def test_an_agent_is_one_visitor_whatever_its_version(collect, visitors):
    collect(view(agent=CHATGPT), view(agent=CHATGPT.replace("1.0", "2.0")), view(agent=CHATGPT, ip="198.51.100.9"))
    assert visitors().json()["totals"] == {"human": 0, "ai": 2, "total": 2}


def test_ipv6_neighbours_of_one_64_are_one_visitor(collect, visitors):
    collect(view(ip="2001:db8:1:2::1"), view(ip="2001:db8:1:2:ffff::9"), view(ip="2001:db8:1:3::1"))
    assert visitors().json()["totals"]["human"] == 2


def test_a_narrowed_project_counts_no_crawlers(collect, visitors):
    tenant = collect.tenant
    set_analytics(tenant.project, ai_scope="readers")
    collect(view(agent=CHATGPT), view(agent=GPTBOT), view("/b", agent=GPTBOT), view("/c.md", agent=CURL))
    assert visitors().json()["totals"] == {"human": 0, "ai": 2, "total": 2}


@pytest.mark.stores
def test_a_repeated_id_counts_once(collect, visitors):
    one = view("/a")
    assert collect(one, one, view("/b")).json() == {"accepted": 2, "duplicates": 1, "ignored": 0}
    assert collect({**one, "path": "/c", "ip": "203.0.113.1"}).json() == {"accepted": 0, "duplicates": 1, "ignored": 0}
    assert {row["path"] for row in visitors().json()["visitors"]} == {"/a", "/b"}


@pytest.mark.stores
def test_recent_ranges_are_exact_to_the_instant(collect, visitors, views):
    start = datetime.now(UTC).replace(minute=17, second=3, microsecond=500_000) - timedelta(days=2)
    end, moment = start + timedelta(hours=5), timedelta(microseconds=1)
    instants = (start - moment, start, end - moment, end)
    collect(*(view("/a", at=at, ip=f"198.51.100.{n}") for n, at in enumerate(instants)))
    for read in (visitors, views):
        for dates, expected in (
            ((start, end), 2),
            ((start - moment, end), 3),
            ((start, end + moment), 3),
            ((start + moment, end), 1),
            ((start + moment, end - moment), 0),
            ((start, start + moment), 1),
        ):
            answer = read(**dict(zip(("dateFrom", "dateTo"), (at.isoformat() for at in dates), strict=True))).json()
            assert answer["totals"]["human"] == expected, dates


def test_of_old_ranges_an_end_within_an_hour_is_rounded_down(collect, visitors, views):
    nine = datetime(2026, 3, 1, 9, tzinfo=UTC)
    instants = (nine - timedelta(seconds=1), nine, nine + timedelta(minutes=59), nine + timedelta(hours=1))
    collect(*(view("/a", at=at, ip=f"198.51.100.{n}") for n, at in enumerate(instants)))
    for read in (visitors, views):
        for start, end, expected in (
            ("09:00", "10:00", 2),
            ("09:00", "10:59:59.999999", 2),
            ("09:59", "10:00", 2),
            ("08:59", "10:00", 3),
            ("08:30", "09:30", 1),
            ("09:10", "09:20", 0),
            ("10:00", "11:00", 1),
        ):
            answer = read(dateFrom=f"2026-03-01T{start}", dateTo=f"2026-03-01T{end}").json()
            assert answer["totals"]["human"] == expected, (start, end)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": ""}, "views.1.id: "),
        ({"id": "x" * 65}, "views.1.id: "),
        ({"id": 5}, "views.1.id: "),
        ({"path": None}, "views.1.path: "),
        ({"timestamp": "yesterday"}, "views.1.timestamp: "),
        ({"timestamp": 1772323200}, "views.1.timestamp: "),
        ({"timestamp": "1999-12-31T23:59:59.999999Z"}, "views.1.timestamp: is before the year 2000"),
        ({"ip": "300.1.1.1"}, "views.1.ip: "),
        ({"userAgent": None}, "views.1.userAgent: "),
    ],
)
def test_a_bad_view_takes_the_whole_batch_back(collect, visitors, change, field):
    assert_error(collect(view(), {**view(), **change}, status=400), 400, field)
    assert visitors().json()["totals"]["total"] == 0


def test_a_view_of_the_future_is_bad(collect):
    now = datetime.now(UTC)
    assert_error(collect(view(at=now + timedelta(minutes=6)), status=400), 400, "views.0.timestamp: ")
    collect(view(at=now + timedelta(minutes=4)))


def test_a_view_of_the_year_2000_counts(collect, visitors):
    collect(view(at=datetime(2000, 1, 1, tzinfo=UTC)))
    assert visitors(dateFrom="2000-01-01", dateTo="2000-01-02").json()["totals"]["human"] == 1


def test_a_batch_holds_1_to_1000(collect):
    assert_error(collect(status=400), 400, "views: ")
    assert_error(collect(*(view() for _ in range(1001)), status=400), 400, "views: ")
    assert collect(*(view() for _ in range(1000))).json()["accepted"] == 1000


def beacon(http, service, tenant, origin="https://docs.acme.example", **headers):
    return http.post(
        f"{service.url}/discovery/v1/view/{tenant.domain}",
        content=json.dumps({"id": uuid.uuid4().hex, "path": "/a?secret=1#x"}),
        headers={"Content-Type": "text/plain", "Origin": origin, "User-Agent": CHROME, **headers},
    )


def test_a_browser_reports_a_view_without_a_key(http, service, collect, visitors):
    assert beacon(http, service, collect.tenant).status_code == 204
    assert visitors(dateFrom=None, dateTo=None).json()["visitors"] == [{"path": "/a", "human": 1, "ai": 0, "total": 1}]


def test_a_view_that_does_not_count_says_why(http, service, collect, visitors):
    tenant = collect.tenant
    for headers, why in (
        ({"Sec-Purpose": "prefetch;prerender"}, "prefetch"),
        ({"Purpose": "prefetch"}, "prefetch"),
        ({"User-Agent": GOOGLEBOT}, "bot"),
        ({"User-Agent": CURL}, "bot"),
    ):
        answer = beacon(http, service, tenant, **headers)
        assert answer.status_code == 202
        assert answer.headers["x-view"].startswith(why)
    assert visitors(dateFrom=None, dateTo=None).json()["totals"]["total"] == 0


def test_a_page_of_another_origin_or_none_is_403(http, service, collect):
    assert_error(beacon(http, service, collect.tenant, origin="https://evil.example"), 403)
    url = f"{service.url}/discovery/v1/view/{collect.tenant.domain}"
    assert_error(http.post(url, json={"id": "1", "path": "/"}), 403)


def test_a_reader_who_asked_not_to_be_followed_is_counted_by_the_day(make_project):
    from analytics.collecting.recording import Observation, record
    from analytics.models import PageView
    from docsite.core.http.client_address import parse_address

    tenant = make_project()
    for private in (False, True):
        for day in (0, 0, 1):
            at = NOON + timedelta(days=day)
            record(
                tenant.project,
                [Observation(uuid.uuid4().hex, "/", at, parse_address("198.51.100.1"), CHROME, private=private)],
            )
    hashes = list(PageView.objects.filter(project=tenant.project).order_by("pk").values_list("visitor", flat=True))
    assert hashes[0] == hashes[1] == hashes[2]
    assert hashes[3] == hashes[4] != hashes[5]
    assert hashes[0] not in hashes[3:]


def test_nothing_that_could_be_turned_back_is_stored(collect):
    from analytics.models import PageView

    collect(view("/a?token=secret", referrer="https://user:pass@search.example/q?query=me", ip="198.51.100.77"))
    (row,) = PageView.objects.filter(project=collect.tenant.project).values()
    stored = " ".join(str(value) for value in row.values())
    assert row["referrer"] == "https://search.example"
    for secret in ("198.51.100.77", "Chrome", "token", "pass", "query"):
        assert secret not in stored


def test_hashes_of_two_projects_cannot_be_joined(make_project):
    from analytics.identity.visitor_hash import hash_visitor
    from docsite.core.http.client_address import parse_address

    one, two = make_project().project, make_project().project
    address = parse_address("198.51.100.1")
    assert hash_visitor(visitor_secret(one), address, CHROME) != hash_visitor(visitor_secret(two), address, CHROME)

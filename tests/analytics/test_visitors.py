"""Views in, visitors out: over HTTP, exact, and told in the specified shape."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import assert_error

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
CHATGPT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"
GPTBOT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
CURL = "curl/8.5.0"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def view(path="/", at=NOON, ip="198.51.100.1", agent=CHROME, **more):
    return {
        "id": uuid.uuid4().hex,
        "path": path,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
        "ip": ip,
        "userAgent": agent,
        **more,
    }


@pytest.fixture
def collect(http, service, make_project):
    """A tenant, and a way to send views of it."""
    tenant = make_project()

    def send(*views, status=200):
        url = f"{service.url}/v1/collect/{tenant.project_id}/views"
        response = http.post(url, json={"views": list(views)}, headers=tenant.admin)
        assert response.status_code == status, response.text
        return response

    send.tenant = tenant
    return send


@pytest.fixture
def visitors(http, service, collect):
    """The export of that tenant."""

    def read(**params):
        params = {"dateFrom": "2026-03-01", "dateTo": "2026-04-01", **params}
        tenant = collect.tenant
        url = f"{service.url}/v1/analytics/{tenant.project_id}/visitors"
        return http.get(url, params={k: v for k, v in params.items() if v is not None}, headers=tenant.admin)

    return read


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
    tenant.project.ai_scope = "readers"
    tenant.project.save()
    collect(view(agent=CHATGPT), view(agent=GPTBOT), view("/b", agent=GPTBOT), view("/c.md", agent=CURL))
    assert visitors().json()["totals"] == {"human": 0, "ai": 2, "total": 2}


def test_a_repeated_id_counts_once(collect, visitors):
    one = view("/a")
    assert collect(one, one, view("/b")).json() == {"accepted": 2, "duplicates": 1, "ignored": 0}
    assert collect({**one, "path": "/c", "ip": "203.0.113.1"}).json() == {"accepted": 0, "duplicates": 1, "ignored": 0}
    assert {row["path"] for row in visitors().json()["visitors"]} == {"/a", "/b"}


def test_the_end_is_exclusive_and_the_start_inclusive(collect, visitors):
    start, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    instants = (start - timedelta(seconds=1), start, end - timedelta(seconds=1), end)
    collect(*(view("/a", at=at, ip=f"198.51.100.{n}") for n, at in enumerate(instants)))
    assert visitors().json()["totals"]["human"] == 2
    assert visitors(dateTo="2026-04-01T00:00:01Z").json()["totals"]["human"] == 3
    assert visitors(dateFrom="2026-03-01T01:00:00+01:00").json()["totals"]["human"] == 2
    assert visitors(dateFrom="2026-03-01T00:00:01").json()["totals"]["human"] == 1


def test_rows_come_in_a_total_order_and_page_without_repeats(collect, visitors):
    paths = [f"/page-{number:02}" for number in range(25)]
    collect(*(view(path) for path in paths), *(view("/top", ip=f"198.51.100.{n}") for n in range(3)))
    rows, offset = [], 0
    while True:
        answer = visitors(limit=10, offset=offset).json()
        assert answer["totals"]["total"] == 3
        rows += answer["visitors"]
        if not answer["hasMore"]:
            break
        if offset == 0:  # a view in between moves nothing
            collect(*(view("/page-24", ip=f"203.0.113.{n}") for n in range(9)))
        offset += 10
    assert [row["path"] for row in rows] == ["/top", *paths]
    assert visitors(limit=1).json()["visitors"][0]["path"] == "/page-24", "offset 0 counts afresh"
    assert visitors(offset=2**53).json() == {**visitors(offset=2**53).json(), "visitors": [], "hasMore": False}


def test_the_default_is_the_last_thirty_days_up_to_tomorrow(collect, visitors):
    now = datetime.now(UTC)
    collect(
        view(at=now),
        view(at=now - timedelta(days=29), ip="198.51.100.2"),
        view(at=now - timedelta(days=31), ip="198.51.100.3"),
    )
    assert visitors(dateFrom=None, dateTo=None).json()["totals"]["human"] == 2
    assert visitors(dateFrom=(now + timedelta(days=9)).date().isoformat(), dateTo=None).json() == {
        "totals": {"human": 0, "ai": 0, "total": 0},
        "visitors": [],
        "hasMore": False,
    }


def test_a_project_without_views_is_all_zeros(visitors):
    assert visitors().json() == {"totals": {"human": 0, "ai": 0, "total": 0}, "visitors": [], "hasMore": False}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        *(
            ({"limit": value}, "limit: ")
            for value in ("0", "251", "-1", "1.0", "x", "", " 5", "1_0", "٣", "+5", "9" * 20)
        ),
        *(({"offset": value}, "offset: ") for value in ("-1", "x", "1e3", str(2**53 + 1))),
        *(
            ({"dateFrom": value}, "dateFrom: ")
            for value in (
                *("", "x", "2026-02-30", "2026-13-01", "20260301", "2026-W10-1", "2026-03-01T25:00:00Z"),
                *("2026-03-01 00:00:00", "2026-03-01T00:00:00 02:00", "1772323200", "0001-01-01T00:00:00+14:00"),
                *("٢٠٢٦-03-01", "2026-03-01T00:00:00Z\x00"),
            )
        ),
        ({"dateTo": "9999-12-31T23:59:59-14:00"}, "dateTo: "),
        ({"dateFrom": "2026-03-02", "dateTo": "2026-03-02"}, "dateFrom: must be before dateTo"),
        ({"dateFrom": "2026-03-03", "dateTo": "2026-03-02"}, "dateFrom: must be before dateTo"),
        ({"limit": ["1", "2"]}, "limit: is given more than once"),
        ({"dateTo": ["2026-03-01", "2026-03-01"]}, "dateTo: is given more than once"),
    ],
)
def test_a_bad_parameter_is_named(visitors, params, field):
    assert_error(visitors(**params), 400, field)


def test_all_bad_parameters_are_named_at_once(visitors):
    assert_error(visitors(limit="0", offset="-1", dateFrom="x"), 400, "limit: ", "offset: ", "dateFrom: ")


@pytest.mark.parametrize("date", ["0001-01-01", "2026-03-01T00:00", "2026-03-01T00:00:00.5Z", "2026-03-01t00:00:00z"])
def test_every_iso_form_is_taken(visitors, date):
    assert visitors(dateFrom=date).status_code == 200


def test_unknown_parameters_are_ignored(visitors):
    assert visitors(page="2", foo=["1", "2"]).status_code == 200


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": ""}, "views.1.id: "),
        ({"id": "x" * 65}, "views.1.id: "),
        ({"id": 5}, "views.1.id: "),
        ({"path": None}, "views.1.path: "),
        ({"timestamp": "yesterday"}, "views.1.timestamp: "),
        ({"timestamp": 1772323200}, "views.1.timestamp: "),
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
    from analytics.collect import Observation, record
    from analytics.models import PageView
    from docsite.http.client_ip import parse

    tenant = make_project()
    for private in (False, True):
        for day in (0, 0, 1):
            at = NOON + timedelta(days=day)
            record(
                tenant.project,
                [Observation(uuid.uuid4().hex, "/", at, parse("198.51.100.1"), CHROME, private=private)],
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
    from analytics.identity import visitor
    from docsite.http.client_ip import parse

    one, two = make_project().project, make_project().project
    address = parse("198.51.100.1")
    assert visitor(one.visitor_secret, address, CHROME) != visitor(two.visitor_secret, address, CHROME)

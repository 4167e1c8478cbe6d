"""Where readers come from, in over HTTP and out over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from analytics.models import Audience, PageView
from tests.analytics.conftest import CHATGPT, CHROME, NOON, view
from tests.conftest import assert_error

IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.6 Mobile/15E148 Safari/604.1"
)


@pytest.fixture
def sources(read):
    """The export of sources."""
    return lambda **params: read("sources", **params)


def values(answer):
    assert answer.status_code == 200, answer.text
    return {row["value"]: row["total"] for row in answer.json()["sources"]}


def test_sources_are_counted_by_channel_host_campaign_and_entry_page(collect, sources):
    collect(
        view("/a", referrer="https://www.google.com/", ip="198.51.100.1"),
        view("/b", referrer="https://acme.example/a", ip="198.51.100.1"),
        view("/a?utm_source=News&utm_campaign=may&secret=1", ip="198.51.100.2"),
        view("/c", referrer="https://chatgpt.com/", ip="198.51.100.3", agent=IPHONE),
        view("/c", agent=CHATGPT, ip="198.51.100.4"),
    )
    answer = sources().json()
    assert answer["totals"] == {"human": 3, "ai": 1, "total": 4}
    assert answer["dimension"] == "source"
    assert answer["nextCursor"] is None
    assert answer["sources"][0] == {"value": "acme.example", "human": 1, "ai": 0, "total": 1, "previousTotal": None}
    assert values(sources(dimension="channel")) == {"search": 1, "other": 2, "ai": 1}
    assert values(sources(dimension="utm_source")) == {"news": 1}
    assert values(sources(dimension="utm_campaign")) == {"may": 1}
    assert values(sources(dimension="device")) == {"desktop": 2, "phone": 1}
    assert values(sources(dimension="browser")) == {"Chrome": 2, "Safari": 1}
    assert values(sources(dimension="entry", metric="views")) == {"/a": 2, "/b": 1, "/c": 1}
    assert PageView.objects.filter(project=collect.tenant.project).exclude(referrer="").count() == 3


def test_views_within_the_site_begin_no_visit(collect, sources):
    inside = collect.tenant.project.docs_url + "/a"
    collect(view("/a"), view("/b", referrer=inside))
    assert values(sources(dimension="channel", metric="views")) == {"direct": 1, "internal": 1}
    assert values(sources(dimension="entry")) == {"/a": 1}
    assert values(sources(dimension="source")) == {}


def test_a_browser_reports_its_campaign_and_language(http, service, collect, sources):
    tenant = collect.tenant
    url = f"{service.url}/discovery/v1/view/{tenant.domain}"
    headers = {"Origin": "https://docs.acme.example", "User-Agent": CHROME, "Accept-Language": "pt-BR,pt;q=0.9"}
    body = {"id": "one", "path": "/a?utm_medium=Mail", "referrer": ""}
    assert http.post(url, json=body, headers=headers).status_code == 204
    day = {"dateFrom": f"{datetime.now(UTC):%Y-%m-%d}", "dateTo": None}
    assert values(sources(dimension="language", **day)) == {"pt": 1}
    assert values(sources(dimension="utm_medium", **day)) == {"mail": 1}


def test_filters_count_single_views_and_say_from_when(collect, sources):
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    old = now - timedelta(days=40)
    collect(
        view("/a", at=now - timedelta(hours=2), referrer="https://github.com/x", agent=IPHONE),
        view("/a", at=now - timedelta(hours=2), referrer="https://github.com/x", ip="198.51.100.2"),
        view("/b", at=now - timedelta(hours=2), referrer="https://news.ycombinator.com/", ip="198.51.100.3"),
        view("/a", at=old, referrer="https://github.com/x", ip="198.51.100.4"),
    )
    dates = {"dateFrom": (now - timedelta(days=60)).isoformat(), "dateTo": now.isoformat()}
    whole = sources(source="github.com", **dates).json()
    assert (whole["totals"]["total"], values(sources(source="github.com", **dates))) == (3, {"github.com": 3})
    part = sources(source="github.com", dimension="device", **dates).json()
    assert datetime.fromisoformat(part["countedFrom"]) > now - timedelta(days=31)
    assert {row["value"]: row["total"] for row in part["sources"]} == {"phone": 1, "desktop": 1}
    both = sources(source="github.com", device="phone", dimension="entry", **dates)
    assert values(both) == {"/a": 1}
    assert both.json()["totals"]["total"] == 1
    assert values(sources(channel="code", page="/b", **dates)) == {"news.ycombinator.com": 1}


def test_the_period_before_is_compared_once_it_is_recorded(collect, sources):
    for day, count in ((1, 1), (11, 2), (21, 3)):
        collect(*[
            view("/a", at=NOON.replace(day=day), referrer="https://github.com/", ip=f"198.51.100.{n}")
            for n in range(count)
        ])  # fmt: skip
    ranges = {(11, 16): 0, (16, 26): 2, (2, 12): None}
    for (first, end), previous in ranges.items():
        answer = sources(dateFrom=f"2026-03-{first:02}", dateTo=f"2026-03-{end:02}").json()
        assert [row["previousTotal"] for row in answer["sources"]] == [previous]


def test_the_week_before_has_the_days_of_the_zone(collect, sources):
    """In Berlin, the week before Monday 27 October 2025 has 169 hours."""
    monday = datetime(2025, 10, 26, 23, tzinfo=UTC)
    hours = (-2000, -169, -168, -1, 0, 24)  # from it; the first is before the periods that are compared
    collect(*[
        view("/a", at=monday + timedelta(hours=one), referrer="https://github.com/", ip=f"198.51.100.{place}")
        for place, one in enumerate(hours)
    ])  # fmt: skip
    for zone, previous in (("Europe/Berlin", 3), ("UTC", 2), ("Asia/Kolkata", 2)):
        (row,) = sources(timezone=zone, dateFrom="2025-10-27", dateTo="2025-11-03").json()["sources"]
        assert (zone, row["previousTotal"]) == (zone, previous)


def test_pages_of_the_list_follow_each_other(collect, sources):
    collect(*[view("/a", referrer=f"https://site-{n}.example/", ip=f"198.51.100.{n}") for n in range(7)])
    found, cursor = [], None
    while True:
        answer = sources(limit=3, cursor=cursor).json()
        found += [row["value"] for row in answer["sources"]]
        cursor = answer["nextCursor"]
        if cursor is None:
            break
        assert_error(sources(limit=3, cursor=cursor, metric="views"), 400)
    assert found == [f"site-{n}.example" for n in range(7)]


@pytest.mark.parametrize(
    "params", [{"dimension": "city"}, {"metric": "clicks"}, {"limit": "101"}, {"source": ""}, {"dateFrom": "soon"}]
)
def test_bad_parameters_are_refused(sources, params):
    assert_error(sources(**params), 400)


def test_strangers_get_nothing(make_project, sources):
    assert_error(sources(headers=make_project().admin), 404)


def test_nothing_of_a_person_is_stored(collect):
    collect(
        view("/a?utm_source=ann@mail.example", referrer="https://192.0.2.7/x"),
        view("/a", referrer="http://laptop-of-ann/", ip="198.51.100.2"),
    )
    for audience in Audience.objects.filter(project=collect.tenant.project):
        assert (audience.source, audience.utm_source) == ("", "")

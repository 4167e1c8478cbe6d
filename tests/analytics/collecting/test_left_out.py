"""What a project leaves out of its counts: addresses of its own people, and sites whose referrers are spam."""

import ipaddress
import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from analytics.collecting import recording
from analytics.collecting.recording import Observation
from analytics.counting import recount
from analytics.models import AnalyticsSettings, PageView, left_out
from analytics.reports import visitor_counts
from docsite.extras.access_logs.files import LogFile
from docsite.extras.access_logs.importing import create_parser, import_log
from docsite.extras.access_logs.lines import SkipReason
from tests.analytics.conftest import CHROME, view
from tests.conftest import Service, Tenant, set_analytics
from tests.docsite.extras.test_importlog import combined

LIST = "203.0.113.7\n198.51.100.0/24\n2001:db8::/32\nspam.example\nhttps://www.Bad.example/path\n*.worse.example\nmüll.example"


@pytest.mark.parametrize(
    ("address", "referrer", "is_left_out"),
    [
        ("203.0.113.7", "", True),
        ("203.0.113.8", "", False),
        ("198.51.100.255", "", True),
        ("2001:db8:1::1", "", True),
        ("2001:db9::1", "", False),
        ("192.0.2.1", "https://spam.example/", True),
        ("192.0.2.1", "https://a.SPAM.example:8080/x?y", True),
        ("192.0.2.1", "http://me@spam.example", True),
        ("192.0.2.1", "https://notspam.example/", False),
        ("192.0.2.1", "https://spam.example.org/", False),
        ("192.0.2.1", "https://example/spam.example", False),
        ("192.0.2.1", "https://www.bad.example", True),
        ("192.0.2.1", "https://deep.worse.example", True),
        ("192.0.2.1", "nonsense", False),
        ("192.0.2.1", "https://xn--mll-hoa.example/", True),
    ],
)
def test_the_list_holds_addresses_and_sites(address: str, referrer: str, is_left_out: bool) -> None:
    listed = left_out.parse(LIST)
    assert (listed.has_address(ipaddress.ip_address(address)) or listed.has_referrer(referrer)) == is_left_out


@pytest.mark.parametrize(
    "line",
    [
        "0.0.0.0/0",
        "::/0",
        "localhost",
        "a b.example/../c",
        "203.0.113.7/99",
        "-",
        "<b>",
        "1.2.34",
        "203.0.113.256",
        "ü" * 63 + ".de",
    ],
)
def test_a_line_that_is_neither_is_refused(line: str) -> None:
    with pytest.raises(ValidationError, match=r"write an address|every reader"):
        left_out.validate(f"spam.example\n{line}")
    left_out.validate("")
    with pytest.raises(ValidationError, match="At most"):
        left_out.validate("\n".join(f"{number}.example" for number in range(left_out.MAX_ENTRIES + 1)))


def seen(number: int, referrer: str = "", address: str = "192.0.2.1") -> Observation:
    at = timezone.now() - timedelta(days=number % 20, hours=3)
    return Observation(uuid.uuid4().hex, f"/page{number % 3}", at, ipaddress.ip_address(address), CHROME, "", referrer)


def test_new_views_are_left_out_and_stored_ones_of_a_site_are_taken_back(
    make_project: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    project = make_project().project
    spam = [seen(number, "https://buttons.spam.example/") for number in range(30)]
    spam[0] = spam[0]._replace(referrer="https://other.spam.example/")
    own = [seen(number, "https://search.example/", f"192.0.2.{number % 5 + 1}") for number in range(30)]
    assert recording.record(project, [*spam, *own]).accepted == 60
    end = timezone.now()
    visitor_counts.refresh(project)
    assert visitor_counts.count_views(project, end - timedelta(days=25), end).totals["total"] == 60
    set_analytics(project, left_out=LIST)
    project = type(project).objects.get(pk=project.pk)
    assert recording.send(project, [*spam[:3], seen(1, address="203.0.113.7"), seen(2)]).result().accepted == 1
    monkeypatch.setattr(recount, "_MAX_IDS", 1)  # referrers of a query
    broken = make_project().project
    set_analytics(broken, left_out="of an earlier release")
    recount.apply_left_out()
    assert f"What {broken} leaves out could not be removed" in caplog.text
    AnalyticsSettings.objects.filter(project=broken).update(left_out="")
    visitor_counts.refresh(project)
    assert visitor_counts.count_views(project, end - timedelta(days=25), timezone.now()).totals["total"] == 31
    assert visitor_counts.count_visitors(project, end - timedelta(days=25), timezone.now()).totals["total"] == 5
    assert not PageView.objects.filter(project=project, referrer__contains="spam").exists()
    stored = AnalyticsSettings.objects.get(project=project)
    assert stored.applied_left_out == stored.left_out
    recount.apply_left_out()
    assert PageView.objects.filter(project=project).count() == 31


def test_every_way_in_leaves_out(make_project: Any, service: Service, http: httpx.Client, tmp_path: Any) -> None:
    tenant: Tenant = make_project()
    set_analytics(tenant.project, left_out="192.0.2.77\nspam.example\n127.0.0.1")
    now = timezone.now()
    views = [view("/a", now), view("/a", now, "192.0.2.77"), view("/a", now, referrer="https://spam.example/x")]
    answer = http.post(
        f"{service.url}/v1/collect/{tenant.project_id}/views", json={"views": views}, headers=tenant.admin
    )
    assert answer.json() == {"accepted": 1, "duplicates": 0, "ignored": 2}
    answer = http.post(
        f"{service.url}/discovery/v1/view/{tenant.domain}",
        json={"id": "1", "path": "/a"},
        headers={"Origin": "https://docs.acme.example", "User-Agent": CHROME},
    )
    assert (answer.status_code, answer.headers["x-view"]) == (202, "address: left out by the project")
    project = type(tenant.project).objects.get(pk=tenant.project.pk)
    log = tmp_path / "log"
    log.write_text(combined("/a") + combined("/a", ip="192.0.2.77") + combined("/b", referrer="https://spam.example/"))
    with LogFile(log) as opened:
        summary = import_log(project, opened, create_parser(project), lambda summary: None)
    assert (summary.new, summary.skipped[SkipReason.LEFT_OUT]) == (1, 2)

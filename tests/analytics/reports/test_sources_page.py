"""The visitors report by source, campaign, entry page, device, browser and language."""

import csv
import html
import io
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from analytics.audience import DIMENSIONS
from analytics.collecting import recording
from analytics.counting import sealer
from docsite.extras.demo.sample.views import make_sample_views
from tests.analytics.reports.test_report_page import seen
from tests.analytics.reports.test_visitor_sources import IPHONE
from tests.conftest import PATIENCE, logged_in
from tests.variants import first_of

NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)


@pytest.fixture
def site(make_project):
    """A project with some views of today, and three people: owner, teammate and stranger."""
    tenant = make_project()
    views = [
        (seen("/a", ip=1, at=NOW), "https://www.google.com/"),
        (seen("/b", ip=1, at=NOW), tenant.project.docs_url),
        (seen("/a?utm_campaign=May", ip=2, at=NOW, agent=IPHONE), ""),
        (seen("/b", ip=3, at=NOW, agent=IPHONE), "https://chatgpt.com/"),
        (seen("/a", ip=4, at=NOW - timedelta(days=35)), "https://chatgpt.com/"),
    ]
    recording.record(tenant.project, [view._replace(referrer=referrer) for view, referrer in views])
    number = tenant.project.pk
    tenant.owner = logged_in(f"owner-{number}", tenant.project.organization)
    tenant.teammate = logged_in(f"teammate-{number}", tenant.project.organization)
    tenant.stranger = logged_in(f"stranger-{number}", make_project().project.organization)
    tenant.page = reverse("admin:analytics_visitors", args=[tenant.domain])
    return tenant


def read(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    body = b"".join(answer) if answer.streaming else answer.content
    return body.decode()


def rows_of(page):
    """The rows of each panel: its title, then value and numbers."""
    panels = {}
    for title, body in re.findall(r'<h3 id="panel-[a-z_]+">(.*?)</h3>(.*?)</section>', page, re.S):
        rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", body, re.S)
        cells = [re.findall(r"<t[hd].*?</t[hd]>", row, re.S) for row in rows]
        panels[title] = [tuple(html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in row) for row in cells]
    return panels


def test_panels_show_every_dimension_to_the_people_of_the_organization(site):
    address = f"{site.page}?tab=sources&range=7d"
    panels = rows_of(read(site.owner, address))
    assert sorted(panels["Channels"]) == [
        ("AI assistants", "1", "0", "1"), ("Other sites and campaigns", "1", "0", "1"),
        ("Search engines", "1", "0", "1"), ("Within the site", "1", "0", "1"),
    ]  # fmt: skip
    assert panels["Devices"] == [("phone", "2", "0", "2"), ("desktop", "1", "0", "1")]
    assert panels["Entry pages"] == [("/a", "2", "0", "2"), ("/b", "1", "0", "1")]
    assert panels["Campaigns"] == [("may", "1", "0", "1")]
    assert "Campaign media" not in panels
    assert rows_of(read(site.teammate, address)) == panels
    assert site.stranger.get(address).status_code == 404
    assert site.stranger.get(f"{site.page}/device.csv?range=7d").status_code == 404


@pytest.mark.slow
def test_a_value_filters_the_report_and_its_chip_removes_the_filter(site):
    page = read(site.owner, f"{site.page}?tab=sources&range=7d")
    (link,) = re.findall(r'<a href="([^"]*device=phone[^"]*)">', page)
    filtered = read(site.owner, site.page + html.unescape(link))
    assert rows_of(filtered)["Sources"] == [("chatgpt.com", "1", "0", "1")]
    assert "<dt>Human visitors</dt><dd>2</dd>" in filtered
    (link,) = re.findall(r'<a href="([^"]*device=phone[^"]*source=[^"]*|[^"]*source=chatgpt[^"]*)">', filtered)
    both = read(site.owner, site.page + html.unescape(link))
    assert "<dt>Human visitors</dt><dd>1</dd>" in both
    chips = re.findall(r'<a class="chip" href="([^"]*)"><bdi>(.*?)<', both)
    assert [label for _, label in chips] == ["Source: chatgpt.com", "Device: phone"]
    assert rows_of(read(site.owner, site.page + html.unescape(chips[0][0]))) == rows_of(filtered)
    pages = read(site.owner, f"{site.page}?range=7d&device=phone")
    assert re.findall(r'class="path"><a [^>]*>(.*?)</a>', pages) == ["/a", "/b"]


@pytest.mark.matrix
def test_the_page_says_where_filtered_counts_begin(site):
    one = read(site.owner, f"{site.page}?range=90d&source=chatgpt.com&tab=sources")
    assert "<dt>Human visitors</dt><dd>2</dd>" in one
    assert "The totals and the chart cover the whole range." in one
    two = read(site.owner, f"{site.page}?range=90d&source=chatgpt.com&path=/b")
    assert "<dt>Human visitors</dt><dd>1</dd>" in two
    assert "Several filters together are counted from single views" in two
    assert "single views, which" not in read(site.owner, f"{site.page}?range=7d&source=chatgpt.com")


@pytest.mark.parametrize("filters", ["", "&device=phone", "&device=phone&entry=/a"])
@pytest.mark.parametrize("metric", first_of(["visitors", "views"], 1))
def test_page_files_and_api_agree(site, http, service, filters, metric):
    query = f"range=7d&metric={metric}{filters}"
    panels = rows_of(read(site.owner, f"{site.page}?tab=sources&{query}"))
    titles = {"Devices": "device", "Browsers": "browser", "Entry pages": "entry", "Sources": "source"}
    end = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    for title, dimension in titles.items():
        table = list(csv.DictReader(io.StringIO(read(site.owner, f"{site.page}/{dimension}.csv?{query}"))))
        lines = [json.loads(line) for line in read(site.owner, f"{site.page}/{dimension}.jsonl?{query}").splitlines()]
        wanted = f"dimension={dimension}&metric={metric}{filters}&dateFrom={end - timedelta(days=7):%Y-%m-%d}"
        answer = http.get(f"{service.url}/v1/analytics/{site.project_id}/sources?{wanted}", headers=site.admin)
        assert answer.json()["sources"] == lines
        assert [tuple(row[name] for name in ("value", "human", "ai", "total")) for row in table] == panels[title]
        assert [(line["value"], *map(str, (line["human"], line["ai"], line["total"]))) for line in lines] == panels[
            title
        ]


def test_a_project_without_sources_says_so(make_project):
    tenant = make_project()
    recording.record(tenant.project, [seen("/a", at=NOW, agent="ChatGPT-User/1.0")])
    owner = logged_in(f"owner-{tenant.project.pk}", tenant.project.organization)
    page = read(owner, reverse("admin:analytics_visitors", args=[tenant.domain]) + "?tab=sources")
    assert "has been recorded yet" in page


@pytest.mark.matrix
def test_the_sample_has_every_dimension(make_project):
    tenant = make_project()
    make_sample_views(tenant.project, ["/", "/install", "/configure"])
    assert sealer.seal_project(tenant.project.pk, PATIENCE)  # a page waits a few seconds only
    owner = logged_in(f"owner-{tenant.project.pk}", tenant.project.organization)
    panels = rows_of(read(owner, reverse("admin:analytics_visitors", args=[tenant.domain]) + "?tab=sources&range=90d"))
    assert len(panels) == len(DIMENSIONS)
    assert all(panels.values())
    assert {"chatgpt.com", "google.com", "github.com"} <= {row[0] for row in panels["Sources"]}

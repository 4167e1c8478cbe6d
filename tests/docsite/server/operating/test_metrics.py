"""`/metrics` speaks the format of Prometheus to those with the token, and the page about it names every metric."""

import re

import httpx
import pytest

from docsite.core.components.metrics import Metric
from docsite.server.metrics import requests
from docsite.server.metrics.endpoint import render
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

TOKEN = {"Authorization": "Bearer metrics-of-acme-1"}
LINE = re.compile(r'(?P<name>[a-z_]+)(\{(?P<labels>[a-z]+="[^"]*"(,[a-z]+="[^"]*")*)\})? (?P<value>[0-9.e+-]+|inf)')


@pytest.fixture(scope="module")
def measured(start, shared_project):
    """A service that has answered a search: before, its queues have no numbers."""
    service = start.fresh(METRICS_TOKEN="metrics-of-acme-1")
    search = f"{service.url}/v1/search/{shared_project.domain}"
    httpx.post(search, json={"query": "install"}, headers=shared_project.assistant).raise_for_status()
    return service


def read(http, service) -> dict[str, float]:
    response = http.get(f"{service.url}/metrics", headers={**TOKEN, "Host": "prometheus.internal"})
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in response.text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in lines), lines
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


@pytest.mark.matrix
def test_requests_are_counted_by_kind_and_status(http, measured, project):
    before = read(http, measured)
    search = f"{measured.url}/v1/search/{project.domain}"
    assert http.post(search, json={"query": "install"}, headers=project.assistant).status_code == 200
    assert http.post(search, json={"query": "install"}).status_code == 401
    after = read(http, measured)
    for labels in ('kind="search",status="2xx"', 'kind="search",status="4xx"'):
        name = f"docs_requests_total{{{labels}}}"
        assert after[name] - before.get(name, 0) == 1
    count = 'docs_request_seconds_count{kind="search"}'
    assert after[count] - before.get(count, 0) == 2
    assert after['docs_request_seconds_bucket{kind="search",le="+Inf"}'] == after[count]
    assert after['docs_store_up{store="database"}'] == 1
    assert {after[f'docs_thread_up{{thread="{name}"}}'] for name in ("sealer", "sweeper", "deliveries")} == {1}
    assert "docs_views_waiting" in after
    assert project.domain not in "".join(after)


def test_strangers_see_nothing(http, measured, service):
    for headers in ({}, {"Authorization": "Bearer metrics"}):
        response = http.get(f"{measured.url}/metrics", headers=headers)
        assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert "docs_" not in response.text
    assert http.get(f"{service.url}/metrics", headers=TOKEN).status_code == 404, "without METRICS_TOKEN"


def test_the_page_names_every_metric(http, measured):
    page = (ROOT / "docsite/site/content/deployment.md").read_text()
    names = {re.sub(r"_(bucket|sum|count)\Z", "", name.partition("{")[0]) for name in read(http, measured)}
    assert sorted(name for name in names if name.startswith("docs_") and f"`{name}`" not in page) == []


@pytest.mark.parametrize("file", ["alerts.yml", "grafana.json"])
def test_alerts_and_the_dashboard_use_metrics_that_exist(http, measured, file):
    text = (ROOT / "docsite/deploy" / file).read_text()
    expressions = re.findall(r'expr"?: (?:\|\n((?: {10,}.*\n)+)|(.*))', text)
    named = set(re.findall(r"\b(?:docs|process)_[a-z_]+", "\n".join(map("".join, expressions))))
    assert len(named) > 10
    assert named - {name.partition("{")[0] for name in read(http, measured)} == set()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/search/acme", "search"),
        ("/discovery/v2/assistant/acme/message", "ask"),
        ("/discovery/v1/view/acme", "view"),
        ("/admin/project/acme/", "admin"),
        ("/widget.js", "script"),
        ("/discovery/v1/widget/acme", "api"),
        ("/anything-else", "page"),
    ],
)
def test_a_path_has_one_of_few_kinds(path, kind):
    requests.count(path, 599, 0.02)
    (total, _) = requests.collect()
    assert (("kind", kind), ("status", "5xx")) in [labels for _, labels, _ in total.values]


def test_labels_are_escaped():
    metric = Metric("acme", "gauge", "Help.")
    metric.add(1, {"name": 'a"b\\c\nd'})
    assert render([metric]).splitlines()[-1] == 'acme{name="a\\"b\\\\c\\nd"} 1'

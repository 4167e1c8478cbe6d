"""Collecting keys: what the worker before a site may add, and that they open nothing else."""

import pytest

from docsite.core.tenants.models import ApiKey
from tests.analytics.conftest import CHATGPT, CHROME, CURL, GOOGLEBOT, GPTBOT, view
from tests.conftest import assert_error

pytestmark = pytest.mark.slow


@pytest.fixture
def key(collect):
    """The header of a collecting key of the tenant."""
    project = collect.tenant.project
    _, token = ApiKey.issue(ApiKey.Kind.COLLECTING, project.organization, project)
    assert token.startswith("svc_col_")
    return {"Authorization": f"Bearer {token}"}


def test_it_adds_views_of_agents_and_of_markdown_only(http, service, collect, key, visitors):
    batch = [
        view("/a", agent=CHATGPT),
        view("/a", agent=GPTBOT, ip="198.51.100.2"),
        view("/a.md", agent=CHROME, ip="198.51.100.3"),
        view("/a", agent=CURL, ip="198.51.100.4", accept="text/markdown"),
        view("/a", agent=CHROME, ip="198.51.100.5"),
        view("/b", agent=CHROME, ip="198.51.100.6"),
        view("/a", agent=GOOGLEBOT, ip="198.51.100.7"),
        view("/a.md", agent=GOOGLEBOT, ip="198.51.100.8"),
    ]
    url = f"{service.url}/v1/collect/{collect.tenant.project_id}/views"
    answer = http.post(url, json={"views": batch}, headers=key)
    assert answer.json() == {"accepted": 4, "duplicates": 0, "ignored": 2, "refused": 2}
    assert http.post(url, json={"views": batch[4:]}, headers=key).json()["refused"] == 2
    assert visitors().json()["totals"] == {"human": 0, "ai": 4, "total": 4}
    assert collect(*batch[4:7]).json() == {"accepted": 2, "duplicates": 0, "ignored": 1}, "an admin key adds them"


def test_it_opens_nothing_else(http, service, collect, key, make_project):
    other, own = make_project(), collect.tenant
    views = {"views": [view(agent=CHATGPT)]}
    for project_id in (other.project_id, "prj_none"):
        assert_error(http.post(f"{service.url}/v1/collect/{project_id}/views", json=views, headers=key), 404)
    _, twin = ApiKey.issue(ApiKey.Kind.COLLECTING, own.project.organization, other.project)
    headers = {"Authorization": f"Bearer {twin}"}
    assert_error(http.post(f"{service.url}/v1/collect/{own.project_id}/views", json=views, headers=headers), 404)
    assert_error(http.get(f"{service.url}/v1/analytics/{own.project_id}/views", headers=key), 403)
    assert_error(http.get(f"{service.url}/v1/sources/{own.project_id}", headers=key), 403)
    search = f"{service.url}/discovery/v1/search/{own.domain}"
    assert_error(http.post(search, json={"query": "a"}, headers=key), 403)


def test_a_bad_view_takes_the_whole_batch_back(http, service, collect, key):
    url = f"{service.url}/v1/collect/{collect.tenant.project_id}/views"
    batch = [view(agent=CHATGPT), {**view(agent=CHATGPT), "ip": "nowhere"}]
    assert_error(http.post(url, json={"views": batch}, headers=key), 400, "views.1.ip")

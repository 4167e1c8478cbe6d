"""Links to the visitors report that work without a log-in."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from analytics.collecting import recording
from analytics.models import ShareLink
from tests.analytics.conftest import CURL
from tests.analytics.reports.test_report_page import rows_of, seen


@pytest.fixture
def page(project):
    """The page of the links, for a project whose page /a one person read."""
    recording.record(project.project, [seen("/a", at=timezone.now()), seen("/a", CURL, at=timezone.now())])
    return f"/admin/analytics/pageview/visitors/{project.domain}/share"


@pytest.fixture
def shared(people, page):
    """The path of a new link."""
    answer = people.owner.post(page, {"name": "Board"})
    return re.search(r"http://testserver(/shared/[\w-]{32})<", answer.content.decode())[1]


def test_a_link_is_shown_once_and_stored_as_a_digest(people, project, page, shared):
    link = ShareLink.objects.get(project=project.project)
    token = shared.rpartition("/")[2]
    assert token not in (link.digest, link.name)
    assert len(link.digest) == 64
    listed = people.teammate.get(page)
    assert "Board" in listed.content.decode()
    assert token not in listed.content.decode()
    assert "no-store" in listed["Cache-Control"]
    assert people.stranger.get(page).status_code == 404
    assert people.stranger.post(page, {"revoke": link.pk}).status_code == 404
    assert "share link" in LogEntry.objects.filter(object_id=project.project.pk).latest("pk").get_change_message()


@pytest.mark.slow
def test_whoever_has_the_link_reads_the_report_and_nothing_else(project, people, shared):
    answer = Client().get(f"{shared}?range=7d")
    shown = answer.content.decode()
    assert rows_of(shown, "pages")[0][0] == "/a"
    assert (answer["X-Robots-Tag"], answer["Referrer-Policy"]) == ("noindex, nofollow", "no-referrer")
    assert "no-store" in answer["Cache-Control"]
    links = re.findall(r'(?:href|action|data-live|src)="([^"]*)"', shown)
    assert not [link for link in links if "/admin/" in link and "/static/" not in link]
    assert "csrfmiddlewaretoken" not in shown
    assert project.project_id not in shown
    for client in (people.owner, people.stranger):
        again = client.get(f"{shared}?range=7d&tab=sources&device=desktop").content.decode()
        assert not [link for link in re.findall(r'href="([^"]*)"', again) if link.startswith("/admin/")]
    assert ShareLink.objects.get(project=project.project).last_used_at
    assert Client().post(shared).status_code == 405
    assert Client().get(f"{shared}?tab=agents").status_code == 400
    assert Client().get(f"{shared}/visitors.csv").status_code == 404


def test_without_a_valid_token_nothing_is_found(people, project, page, shared):
    assert Client().get("/shared/x").status_code == 404
    assert Client().get(f"{shared}x").status_code == 404
    people.teammate.post(page, {"revoke": ShareLink.objects.get(project=project.project).pk})
    assert Client().get(shared).status_code == 404
    assert people.owner.get(shared).status_code == 404
    assert "revoked 20" in people.owner.get(page).content.decode()
    assert "revoked" in LogEntry.objects.filter(object_id=project.project.pk).latest("pk").get_change_message().lower()


def test_a_project_without_visitors_says_so(people, project):
    page = f"/admin/analytics/pageview/visitors/{project.domain}/share"
    token = re.search(r"/shared/([\w-]+)<", people.owner.post(page, {}).content.decode())[1]
    assert "No visitors have been counted yet." in Client().get(f"/shared/{token}").content.decode()


def test_an_address_has_a_limit(shared, settings):
    cache.clear()
    settings.ENV = settings.ENV.model_copy(update={"limit_collect_ip": "2/m"})
    client = Client(REMOTE_ADDR="203.0.113.77")
    assert [client.get("/shared/x").status_code for _ in range(3)] == [404, 404, 429]
    assert int(client.get(shared)["Retry-After"]) > 0

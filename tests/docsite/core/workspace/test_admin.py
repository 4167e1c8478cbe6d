"""The admin as an owner, a teammate of another organization and a stranger see it."""

import random
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assistant.models import Message, Thread
from docsite.core.tenants.models import ApiKey
from tests.conftest import logged_in

SECRET = "What did the board decide?"


@pytest.fixture
def mine(project):
    thread = Thread.objects.create(project=project.project, fp="x", title=SECRET)
    Message.objects.create(thread=thread, role="user", content=SECRET)
    project.thread = thread
    return project


@pytest.fixture
def owner(mine):
    return logged_in(f"owner-{mine.project.pk}", mine.project.organization)


@pytest.fixture
def stranger(mine, make_project):
    return logged_in(f"stranger-{mine.project.pk}", make_project().project.organization)


def pages(mine) -> list[str]:
    document = mine.project.documents.get(path="/install")
    return [
        f"/admin/projects/project/of/{mine.domain}",
        f"/admin/projects/project/{mine.project.pk}/change/",
        f"/admin/analytics/pageview/visitors/{mine.domain}",
        f"/admin/project/{mine.domain}/conversations/{mine.thread.thread_id}",
        f"/admin/search/document/{document.pk}/change/",
    ]


@pytest.mark.slow
def test_an_owner_sees_their_project_everywhere(owner, mine):
    for url in pages(mine):
        assert owner.get(url).status_code == 200, url
    assert mine.domain in owner.get("/admin/projects/project/").content.decode()
    assert SECRET in owner.get(pages(mine)[3]).content.decode()


def test_no_shortcut_tells_the_domain_of_a_project(stranger, owner, mine):
    """Django's `admin/r/…` redirects to the address of any object, whoever asks."""
    from django.contrib.contenttypes.models import ContentType

    kind = ContentType.objects.get_for_model(type(mine.project))
    for client in (stranger, owner):
        answer = client.get(f"/admin/r/{kind.pk}/{mine.project.pk}/")
        assert answer.status_code == 404
        assert mine.domain not in f"{answer.headers} {answer.content!r}"


def test_a_stranger_sees_nothing_of_it(stranger, mine):
    for url in pages(mine):
        answer = stranger.get(url)
        assert answer.status_code in (302, 403, 404), url
        assert SECRET not in answer.content.decode()
    lists = ("projects/project", "projects/organization", "search/document", "analytics/pageview")
    for name in lists:
        answer = stranger.get(f"/admin/{name}/")
        assert answer.status_code == 200, name
        assert mine.domain not in answer.content.decode(), name
        assert SECRET not in answer.content.decode()


def test_the_start_page_links_to_the_users_own_reports(owner, stranger, mine):
    link = f"/admin/analytics/pageview/visitors/{mine.domain}"
    assert link in owner.get("/admin/").content.decode()
    assert link not in stranger.get("/admin/").content.decode()


def test_a_stranger_cannot_choose_another_organization(stranger, mine):
    form = stranger.get("/admin/projects/project/add/").content.decode()
    assert mine.project.organization.name not in form
    answer = stranger.post(
        "/admin/projects/project/add/",
        {
            "organization": mine.project.organization.pk,
            "domain": "stolen",
            "name": "x",
            "docs_url": "https://x.example",
            "allowed_origins": "",
            "ai_scope": "all",
        },
    )
    assert answer.status_code == 200, "the form comes back"
    assert not mine.project.organization.projects.filter(domain="stolen").exists()


def test_without_a_session_there_is_only_the_login(mine):
    for url in pages(mine):
        assert Client().get(url)["Location"].startswith("/admin/login/")


def test_only_superusers_edit_organizations(owner, mine):
    organization = mine.project.organization
    assert owner.get("/admin/projects/organization/add/").status_code == 403
    owner.post(f"/admin/projects/organization/{organization.pk}/change/", {"name": "Taken over"})
    organization.refresh_from_db()
    assert organization.name != "Taken over"


def keys_page(mine) -> str:
    return f"/admin/projects/project/of/{mine.domain}"


def make_key(client, mine, **fields):
    return client.post(keys_page(mine), {"kind": "admin", "name": "n", "expiry": "", "networks": "", **fields})


def test_an_admin_key_from_the_form_expires_after_90_days(owner, mine):
    make_key(owner, mine, name="ninety")
    key = ApiKey.objects.get(organization=mine.project.organization, name="ninety")
    assert (key.expires_at - key.created_at).days in (89, 90)
    make_key(owner, mine, name="public", kind="assistant")
    assert ApiKey.objects.get(organization=mine.project.organization, name="public").expires_at is None


@pytest.mark.parametrize(
    ("networks", "says"), [("0.0.0.0/1 128.0.0.0/1", "allow every address"), ("nonsense", "not a CIDR range")]
)
def test_an_invalid_network_or_one_of_all_addresses_is_refused(owner, mine, networks, says):
    before = ApiKey.objects.filter(organization=mine.project.organization).count()
    assert says in make_key(owner, mine, networks=networks).content.decode()
    assert ApiKey.objects.filter(organization=mine.project.organization).count() == before


@pytest.mark.matrix
def test_at_most_ten_new_keys_an_hour(owner, mine):
    for _ in range(3):  # those of commands do not count, nor those of `create_project`
        call_command("createkey", mine.domain, "--kind", "admin", stdout=StringIO())
    for _ in range(11):
        answer = make_key(owner, mine)
    assert "The limit of new keys is reached. Try again in" in answer.content.decode()
    assert ApiKey.objects.filter(organization=mine.project.organization, name="n").count() == 10


@pytest.mark.matrix
def test_many_requests_at_once_cannot_create_more_keys(owner, mine):
    def post(_: int) -> None:
        make_key(owner, mine)
        connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(post, range(16)))
    assert ApiKey.objects.filter(organization=mine.project.organization, name="n").count() == 10


def test_a_key_of_another_organization_cannot_be_revoked(stranger, owner, mine, make_project):
    other = make_project().project
    key = ApiKey.objects.filter(organization=other.organization).first()
    owner.post(keys_page(mine), {"revoke": key.pk, "word": "revoke"})
    owner.post(keys_page(mine), {"revoke": "x' OR 1=1", "word": "revoke"})
    key.refresh_from_db()
    assert key.revoked_at is None


def test_a_key_is_revoked_by_the_word(owner, mine):
    key = make_key(owner, mine).context["created"]
    for word in ("", "yes"):
        page = owner.post(keys_page(mine), {"revoke": key.pk, "word": word}, follow=True).content.decode()
        assert "No key was revoked. Type “revoke”" in page
    key.refresh_from_db()
    assert key.revoked_at is None
    page = owner.post(keys_page(mine), {"revoke": key.pk, "word": " revoke"}, follow=True).content.decode()
    assert f"Key {key} is revoked." in page


def test_pages_have_security_headers(owner, mine):
    answer = owner.get(keys_page(mine))
    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "strict-origin-when-cross-origin"
    assert "no-store" in answer["Cache-Control"]


def test_a_superuser_deletes_a_project_with_all_that_belongs_to_it(mine):
    from analytics.collecting import recording
    from analytics.counting import sealer
    from analytics.models import Cells, PageView, Trail
    from docsite.core.tenants.models import Project
    from tests.analytics.counting.history import history

    views = history(random.Random(1), 40, 3, datetime.now(UTC))
    recording.record(mine.project, [seen.observation for seen in views])
    sealer.seal()
    root, _ = User.objects.get_or_create(username="root", defaults={"is_staff": True, "is_superuser": True})
    client = Client()
    client.force_login(root)
    url = f"/admin/projects/project/{mine.project.pk}/delete/"
    with CaptureQueriesContext(connection) as queries:
        confirmation = client.get(url).content.decode()
    assert "40 page views" in confirmation
    assert not [query for query in queries if re.match(r'SELECT "analytics_pageview"."id"', query["sql"])]
    assert client.post(url, {"post": "yes"}).status_code == 302
    assert not Project.objects.filter(pk=mine.project.pk).exists()
    for model in (PageView, Cells, Trail, Thread):
        assert not model.objects.filter(project=mine.project.pk).exists()

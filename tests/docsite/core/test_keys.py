"""Authentication: missing, wrong, expired, revoked, foreign and wrong-kind keys, on every keyed endpoint."""

import re
import time
from datetime import datetime, timedelta
from html import unescape

import httpx
import pytest
import time_machine
from django.db import OperationalError
from django.utils import timezone

from docsite.core import availability, context, ids
from docsite.core.access import authentication, last_uses
from docsite.core.availability import Dependency
from docsite.core.tenants.models import ApiKey, digest
from docsite.extras.view_log.settings import ViewLogSettings
from tests.conftest import ROOT, Service, Tenant, assert_error, question, wait_for

CONTENT = ROOT / "docsite" / "site" / "content"
ENDPOINTS = ("message", "search", "visitors", "collect")


def call(http: httpx.Client, service: Service, endpoint: str, tenant: Tenant, headers: dict) -> httpx.Response:
    """A valid request to an endpoint, with these headers."""
    view = {"id": "v1", "path": "/", "timestamp": "2026-01-01T00:00:00Z", "ip": "192.0.2.1", "userAgent": "x"}
    url, body = {
        "message": (f"/discovery/v1/assistant/{tenant.domain}/message", question("How do I install acme?")),
        "search": (f"/discovery/v1/search/{tenant.domain}", {"query": "install"}),
        "visitors": (f"/v1/analytics/{tenant.project_id}/visitors", None),
        "collect": (f"/v1/collect/{tenant.project_id}/views", {"views": [view]}),
    }[endpoint]
    method = "GET" if body is None else "POST"
    return http.request(method, service.url + url, json=body, headers=headers)


def right_and_wrong(tenant: Tenant, endpoint: str) -> tuple[str, str]:
    """The key of the kind that an endpoint takes, and the other one."""
    pair = (tenant.assistant_key, tenant.admin_key)
    return pair if endpoint in ("message", "search") else pair[::-1]


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_the_right_key_is_accepted(http, service, project, endpoint):
    key, _ = right_and_wrong(project, endpoint)
    assert call(http, service, endpoint, project, {"Authorization": f"bEaReR {key}"}).status_code == 200


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("header", [None, "", "Bearer", "Basic dXNlcjpwYXNz", "Token x"])
def test_a_missing_key_is_401_with_a_challenge(http, service, shared_project, endpoint, header):
    headers = {} if header is None else {"Authorization": header}
    response = call(http, service, endpoint, shared_project, headers)
    assert_error(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_wrong_revoked_and_expired_keys_are_401_alike(http, service, project, endpoint):
    key, _ = right_and_wrong(project, endpoint)
    kind = ApiKey.Kind.ASSISTANT if key == project.assistant_key else ApiKey.Kind.ADMIN
    revoked, revoked_key = ApiKey.issue(kind, project.project.organization, project.project)
    revoked.revoke()
    expired, expired_key = ApiKey.issue(kind, project.project.organization, project.project)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    flipped = key[:-7] + ("a" if key[-7] != "a" else "b") + key[-6:]
    answers = [
        call(http, service, endpoint, project, {"Authorization": f"Bearer {token}"})
        for token in (revoked_key, expired_key, flipped, "svc_dsc_", "x" * 4000, f"{key},Bearer {key}")
    ]
    bodies = {assert_error(response, 401)["error"] for response in answers}
    assert bodies == {"Unknown, revoked or expired API key."}
    assert {response.headers["www-authenticate"] for response in answers} == {'Bearer error="invalid_token"'}


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_key_of_the_other_kind_is_403(http, service, project, endpoint):
    _, other = right_and_wrong(project, endpoint)
    assert_error(call(http, service, endpoint, project, {"Authorization": f"Bearer {other}"}), 403)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_the_project_of_another_organization_is_a_404_like_a_missing_one(http, service, make_project, endpoint):
    mine, theirs = make_project(), make_project()
    key, _ = right_and_wrong(mine, endpoint)
    headers = {"Authorization": f"Bearer {key}"}
    foreign = call(http, service, endpoint, theirs, headers)
    theirs.domain, theirs.project_id = "no-such-domain", "prj_nothing"
    unknown = call(http, service, endpoint, theirs, headers)
    assert assert_error(foreign, 404) == assert_error(unknown, 404)


def test_a_key_is_read_only_from_its_header(http, service, project):
    url = f"{service.url}/v1/analytics/{project.project_id}/visitors"
    key = project.admin_key
    for answer in (
        http.get(url, params={"key": key, "token": key, "api_key": key}),
        http.get(url, headers={"X-Api-Key": key}),
        http.get(url, headers={"Cookie": f"Authorization={key}"}),
    ):
        assert_error(answer, 401)


@pytest.mark.parametrize("second", ["", "Bearer x", "the same"])
def test_two_headers_with_keys_are_401(http, service, project, second):
    url = f"{service.url}/v1/analytics/{project.project_id}/visitors"
    key = project.admin["Authorization"]
    headers = [("Authorization", key), ("Authorization", key if second == "the same" else second)]
    assert_error(http.get(url, headers=headers), 401)
    assert_error(http.get(url, headers=headers[::-1]), 401)


@pytest.mark.matrix
@pytest.mark.stores
def test_every_process_refuses_a_revoked_key_within_two_seconds(http, service, start, project):
    services = service, start.fresh()
    key, token = ApiKey.issue(ApiKey.Kind.ASSISTANT, project.project.organization, project.project)
    headers = {"Authorization": f"Bearer {token}"}
    assert [call(http, each, "search", project, headers).status_code for each in services] == [200, 200]
    key.revoke()
    revoked_at = time.monotonic()
    for each in services * 2:
        accepted_at = revoked_at  # when the last accepted request began
        began = time.monotonic()
        while call(http, each, "search", project, headers).status_code == 200:
            accepted_at, began = began, time.monotonic()
        assert accepted_at - revoked_at < 2


def test_the_last_use_of_a_key_is_stored(http, service, project):
    def last_used(token: str) -> datetime | None:
        return ApiKey.objects.get(digest=digest(token)).last_used_at

    call(http, service, "visitors", project, project.assistant)  # the wrong kind is no use
    call(http, service, "visitors", project, project.admin)
    wait_for(lambda: last_used(project.admin_key), "the use to be stored")
    first = last_used(project.admin_key)
    assert timezone.now() - first < timedelta(minutes=5)
    assert last_used(project.assistant_key) is None


@pytest.mark.stores
def test_a_busy_key_is_written_once_in_ten_minutes(project):
    key = ApiKey.objects.get(digest=digest(project.admin_key))
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for minutes in (0, 5, 4, 1):
            clock.shift(timedelta(minutes=minutes))
            last_uses.note_use(key)
            last_uses.flush()
            stored = ApiKey.objects.get(pk=key.pk).last_used_at
            assert stored == timezone.now() - timedelta(minutes={0: 0, 5: 5, 4: 9, 1: 0}[minutes])


def test_the_published_expression_finds_keys(project):
    published, admin_only = re.findall(r"\\bsvc_\S+?\\b", (CONTENT / "security.md").read_text())
    for kind, prefix in ApiKey.PREFIX.items():
        tokens = [ids.token(prefix) for _ in range(100)]
        text = "".join(f"key={token}, " for token in tokens)
        assert re.findall(published, text) == tokens
        assert re.findall(admin_only, text) == (tokens if kind == ApiKey.Kind.ADMIN else [])
    assert not re.search(published, f"svc_dsc_… svc_admin {ids.token('svc_')}x {ids.token('svc_')[:-1]}")


def test_a_key_bound_to_networks_works_only_from_there(http, service, project):
    organization = project.project.organization
    _, here = ApiKey.issue(ApiKey.Kind.ADMIN, organization, networks=["127.0.0.0/8"])
    _, elsewhere = ApiKey.issue(ApiKey.Kind.ADMIN, organization, networks=["203.0.113.0/24"])
    assert call(http, service, "visitors", project, {"Authorization": f"Bearer {here}"}).status_code == 200
    refused = call(http, service, "visitors", project, {"Authorization": f"Bearer {elsewhere}"})
    assert_error(refused, 403)


@pytest.mark.parametrize(("scopes", "reads", "writes"), [([], 200, 200), (["read"], 200, 403), (["write"], 200, 200)])
def test_scopes_narrow_an_admin_key(http, service, project, scopes, reads, writes):
    _, token = ApiKey.issue(ApiKey.Kind.ADMIN, project.project.organization, scopes=scopes)
    headers = {"Authorization": f"Bearer {token}"}
    assert call(http, service, "visitors", project, headers).status_code == reads
    assert call(http, service, "collect", project, headers).status_code == writes


def test_only_the_digest_of_an_admin_key_is_stored(project):
    key = ApiKey.objects.get(digest=digest(project.admin_key))
    stored = " ".join(str(value) for value in ApiKey.objects.filter(pk=key.pk).values().get().values())
    assert project.admin_key not in stored
    assert key.hint == project.admin_key[:8]


def test_the_page_of_the_keys_shows_the_embed_tag_with_the_newest_valid_assistant_key(people, project):
    page = f"/admin/projects/project/of/{project.domain}"
    tag = f'data-key="{project.assistant_key}"'
    assert tag in unescape(people.owner.get(page).content.decode())
    answer = people.owner.post(page, {"kind": "assistant", "name": "Second"})
    newest = ApiKey.objects.get(project=project.project, name="Second")
    assert f'data-key="{newest.public_token}"' in unescape(answer.content.decode())
    assert digest(newest.public_token) == newest.digest
    newest.revoke()
    html = unescape(people.teammate.get(page).content.decode())
    assert tag in html
    assert project.admin_key not in html


def test_without_an_assistant_key_the_tag_has_a_placeholder(people, project):
    ApiKey.objects.filter(project=project.project).delete()
    html = unescape(people.owner.get(f"/admin/projects/project/of/{project.domain}").content.decode())
    assert 'data-key="svc_dsc_…"' in html
    assert "Create an assistant key" in html


def test_keys_and_bodies_stay_out_of_the_log(http, service, project):
    call(http, service, "search", project, project.admin)
    call(http, service, "visitors", project, project.assistant)
    log = service.log.read_text()
    assert project.admin_key not in log
    assert project.assistant_key not in log


def refuse() -> None:
    raise OperationalError("refused")


def test_only_views_for_a_log_may_use_what_was_read_before_the_database_went_away(monkeypatch, settings):
    cache = authentication._TtlCache()
    monkeypatch.setattr(availability, "database", Dependency("The database"))
    now = [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    assert cache.get("key", lambda: "old") == "old"
    now[0] += authentication.CACHE_SECONDS
    for is_allowed, url in ((False, "nats://127.0.0.1"), (True, "")):
        settings.EXTRAS = {ViewLogSettings: ViewLogSettings(view_log_url=url)}
        authentication.allow_stale(is_allowed)
        with pytest.raises(OperationalError):
            cache.get("key", refuse)
    settings.EXTRAS = {ViewLogSettings: ViewLogSettings(view_log_url="nats://127.0.0.1")}
    token = authentication.allow_stale(True)
    assert cache.get("key", refuse) == "old"
    assert cache.get("key", pytest.fail) == "old", "the database is not asked again at once"
    with pytest.raises(OperationalError):
        cache.get("unknown", refuse)
    now[0] += availability.RETRY_SECONDS
    assert cache.get("key", lambda: None) is None
    with pytest.raises(OperationalError):
        cache.get("key", refuse)
    context.allows_stale.reset(token)

"""Authentication: missing, wrong, expired, revoked, foreign and wrong-kind keys, on every keyed endpoint."""

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from docsite.core.tenants.models import ApiKey, digest
from tests.conftest import Service, Tenant, assert_error, question, wait_for

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
def test_a_missing_key_is_401_with_a_challenge(http, service, project, endpoint, header):
    headers = {} if header is None else {"Authorization": header}
    response = call(http, service, endpoint, project, headers)
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


def test_revoking_takes_effect_within_five_seconds(http, service, project):
    key, token = ApiKey.issue(ApiKey.Kind.ASSISTANT, project.project.organization, project.project)
    headers = {"Authorization": f"Bearer {token}"}
    assert call(http, service, "search", project, headers).status_code == 200
    key.revoke()
    wait_for(lambda: call(http, service, "search", project, headers).status_code == 401, "the key to be refused")


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


def test_only_the_digest_of_a_key_is_stored(project):
    key = ApiKey.objects.get(digest=digest(project.admin_key))
    stored = " ".join(str(value) for value in ApiKey.objects.filter(pk=key.pk).values().get().values())
    assert project.admin_key not in stored
    assert key.hint == project.admin_key[:8]


def test_keys_and_bodies_stay_out_of_the_log(http, service, project):
    call(http, service, "search", project, project.admin)
    call(http, service, "visitors", project, project.assistant)
    log = service.log.read_text()
    assert project.admin_key not in log
    assert project.assistant_key not in log

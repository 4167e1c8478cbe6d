"""While an organization moves, requests that would write get 503, before the database refuses them. Others go on."""

import pytest

from docsite.core.tenants.models import MoveState, Organization
from tests.conftest import assert_error, question, wait_for


@pytest.fixture
def moving(service, project, http):
    """A tenant whose organization has begun to move. Every process knows it."""
    Organization.objects.filter(pk=project.project.organization_id).update(move_state=MoveState.SETTLING)
    url = f"{service.url}/discovery/v1/view/{project.domain}"
    view = {"id": "a-view-of-a-reader", "path": "/install"}
    wait_for(
        lambda: http.post(url, json=view, headers={"Origin": "https://docs.acme.example"}).status_code == 503,
        "the process to know it",
    )
    return project


def test_what_would_write_is_refused_and_may_be_sent_again(service, moving, http) -> None:
    origin, reader = {"Origin": "https://docs.acme.example"}, moving.assistant
    refused = [
        http.post(f"{service.url}/discovery/v1/assistant/{moving.domain}/message", json=question("?"), headers=reader),
        http.post(f"{service.url}/discovery/v2/assistant/{moving.domain}/message", json=question("?"), headers=reader),
        http.post(
            f"{service.url}/discovery/v1/feedback/{moving.domain}",
            json={"path": "/install", "helpful": True, "source": "page"},
            headers=origin,
        ),
        http.post(f"{service.url}/v1/collect/{moving.project_id}/views", json={"views": []}, headers=moving.admin),
    ]
    for answer in refused:
        assert_error(answer, 503)
        assert int(answer.headers["Retry-After"]) > 0
        assert "being moved" in answer.json()["error"]


def test_what_reads_goes_on(service, moving, http) -> None:
    url, query = f"{service.url}/discovery/v1", {"query": "install"}
    assert http.post(f"{url}/search/{moving.domain}", json=query, headers=moving.assistant).status_code == 200
    assert http.get(f"{url}/widget/{moving.domain}").status_code == 200
    report = f"{service.url}/v1/analytics/{moving.project_id}/visitors"
    assert http.get(report, headers=moving.admin).status_code == 200


def test_another_organization_notices_nothing(service, moving, make_project, http) -> None:
    other = make_project()
    answer = http.post(
        f"{service.url}/discovery/v1/view/{other.domain}",
        json={"id": "a-view-of-another", "path": "/install"},
        headers={"Origin": "https://docs.acme.example"},
    )
    assert answer.status_code in (202, 204)

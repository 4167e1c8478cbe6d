"""The export of gaps over HTTP: the rows of the page, page by page."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.assistant.improving.gaps.conftest import store_answer
from tests.conftest import Service, Tenant, assert_error


@pytest.mark.slow
def test_gaps_over_http(http: httpx.Client, service: Service, project: Tenant, make_project: Any) -> None:
    """Pages have every group once, although questions arrive meanwhile. Other projects are not found."""
    questions = ["rotate keys", "Rotating a key", "print labels in colour", "Does acme run on Solaris?"]
    for text in questions:
        store_answer(project.project, text)
    url = f"{service.url}/v1/analytics/{project.project_id}/assistant/gaps"

    def read(**params: Any) -> Any:
        return http.get(url, params=params, headers=project.admin)

    first = read(limit=1).json()
    (row,) = first["gaps"]
    assert (row["question"], row["count"], row["countBefore"]) == ("Rotating a key", 2, 0)
    assert row["problems"] == [{"problem": "refused", "count": 2}]
    assert (row["cause"], row["state"], row["assignee"], row["answeredSince"]) == ("no_page", "open", None, None)
    assert first["hasMore"]
    store_answer(project.project, "rotate keys", at=datetime(2025, 10, 19, 22, 30, tzinfo=UTC))  # Monday in Berlin
    store_answer(project.project, "rotate keys", at=datetime(2025, 10, 27, 12, tzinfo=UTC))
    for zone, before in (("Europe/Berlin", 1), ("UTC", 0), ("Asia/Kolkata", 1)):
        (row,) = read(dateFrom="2025-10-27", dateTo="2025-11-03", timezone=zone).json()["gaps"]
        assert (zone, row["countBefore"]) == (zone, before)
    store_answer(project.project, "print labels in colour")
    store_answer(project.project, "something new")
    assert len(read().json()["gaps"]) == 4
    following = read(limit=5, cursor=first["nextCursor"]).json()
    assert [row["question"] for row in following["gaps"]] == [questions[3], questions[2]]
    assert (following["hasMore"], following["nextCursor"]) == (False, None)
    assert read(problem="unsupported").json()["gaps"] == []
    assert read(state="fixed").json()["gaps"] == []
    assert_error(read(state="nonsense"), 400, "state:")
    assert_error(read(cursor=first["nextCursor"], problem="cut"), 400, "cursor:")
    assert http.get(url, headers=make_project().admin).status_code == 404

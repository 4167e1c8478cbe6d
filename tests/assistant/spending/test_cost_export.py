"""The export of what models have cost."""

from assistant.models import TokenUse
from tests.conftest import assert_error


def test_the_api_exports_costs_by_day_and_month(http, service, project, make_project):
    for month, day, cost in ((9, 30, 1), (10, 1, 20), (10, 31, 300), (11, 1, 4000)):
        TokenUse.objects.create(
            project=project.project, day=f"2026-{month}-{day:02}", tokens=cost, cost=cost, unpriced_tokens=day
        )
    TokenUse.objects.create(project=make_project().project, day="2026-10-01", tokens=7, cost=7)
    url = f"{service.url}/v1/analytics/{project.project_id}/costs"

    def export(**params):
        return http.get(url, params=params, headers=project.admin)

    found = export(dateFrom="2026-10-01", dateTo="2026-11-01T00:00:01Z", step="month").json()
    assert [(row["start"], row["tokens"], row["costMicros"], row["unpricedTokens"]) for row in found["costs"]] == [
        ("2026-10-01", 320, 320, 32), ("2026-11-01", 4000, 4000, 1),
    ]  # fmt: skip
    assert found["totals"] == {"tokens": 4320, "costMicros": 4320, "unpricedTokens": 33}
    days = export(dateFrom="2026-10-01", dateTo="2026-11-01").json()["costs"]
    assert [row["start"] for row in days] == ["2026-10-01", "2026-10-31"]
    for beyond in ({"dateTo": "0001-01-01"}, {"dateFrom": "9999-12-31T23:59:59Z", "dateTo": "9999-12-31T23:59:59.9Z"}):
        assert export(**beyond).json()["costs"] == []
    assert_error(export(step="year"), 400, "step")
    assert http.get(url).status_code == 401

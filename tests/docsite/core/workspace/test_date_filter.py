"""Lists of the admin by time."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from docsite.privacy import chain
from docsite.privacy.models import AuditEntry

AGES = (0, 3, 20, 90)  # days


def add_entry(project, at, name):
    chain.append(AuditEntry(at=at, action="tried", object=name, organization_id=project.organization_id))


LISTS = {
    "privacy/auditentry": add_entry,
}


@pytest.fixture(params=LISTS)
def listed(request, project, people):
    """A way to list the ages in days of the rows of one list."""
    now = timezone.now()
    for age in AGES:
        LISTS[request.param](project.project, now - timedelta(days=age), f"row of {age} days")

    def find(query=""):
        page = people.owner.get(f"/admin/{request.param}/{query}")
        assert page.status_code == 200, page
        return [age for age in AGES if f"row of {age} days" in page.content.decode()]

    find.url, find.table = f"/admin/{request.param}/", request.param.replace("/", "_")
    return find


def test_a_list_shows_the_rows_of_a_range(listed, people):
    field = "at" if "audit" in listed.url else "created_at"
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    since = {days: (today - timedelta(days=days)).isoformat().replace("+", "%2B") for days in (0, 7, 25)}
    assert listed() == [*AGES]
    assert listed(f"?{field}__gte={since[0]}") == [0]
    assert listed(f"?{field}__gte={since[7]}") == [0, 3]
    assert listed(f"?{field}__gte={since[25]}&{field}__lt={since[0]}") == [3, 20]
    assert "Past 7 days" in people.owner.get(listed.url).content.decode()


def test_the_filter_reads_no_rows(listed, people):
    """The table is asked for the number of rows, for one page of rows, and for the actions of the audit."""
    field = "at" if "audit" in listed.url else "created_at"
    with CaptureQueriesContext(connection) as queries:
        people.owner.get(f"{listed.url}?{field}__gte=2020-01-01T00:00:00Z")
    asked = [query["sql"] for query in queries if f'FROM "{listed.table}"' in query["sql"]]
    assert len([sql for sql in asked if "COUNT(*)" in sql]) == 1
    rest = [sql for sql in asked if "COUNT(*)" not in sql and "SELECT DISTINCT" not in sql]
    assert len(rest) == 1
    assert "created_at" in rest[0] or '"at"' in rest[0]

"""Lists of the admin by time: today, the last days, and a range of one's own."""

from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assistant.models import Thread
from docsite.privacy import chain
from docsite.privacy.models import AuditEntry

AGES = (0, 3, 20, 90)  # days


def add_thread(project, at, name):
    thread = Thread.objects.create(project=project, fp="x", title=name)
    Thread.objects.filter(pk=thread.pk).update(created_at=at)


def add_entry(project, at, name):
    chain.append(AuditEntry(at=at, action="tried", object=name, organization_id=project.organization_id))


LISTS = {
    "assistant/thread": add_thread,
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
    day = {age: (timezone.now() - timedelta(days=age)).date().isoformat() for age in AGES}
    assert listed() == [*AGES]
    assert listed("?range=today") == [0]
    assert listed("?range=7d") == [0, 3]
    assert listed("?range=30d") == [0, 3, 20]
    assert listed(f"?from={day[20]}") == [0, 3, 20]
    assert listed(f"?from={day[20]}&to={day[0]}") == [3, 20]
    assert listed(f"?to={day[20]}T23:59:59.5Z") == [20, 90]
    for wrong in ("range=1y", "from=yesterday", "to=2026-02-30"):
        assert people.owner.get(f"{listed.url}?{wrong}").headers["Location"].endswith("?e=1"), wrong


def test_the_links_and_the_form_keep_what_else_is_chosen(listed, people):
    html = unescape(people.owner.get(f"{listed.url}?q=row&range=7d&from=").content.decode())
    assert 'href="?q=row&range=30d"' in html
    assert '<a href="?q=row&range=7d" aria-current="true">7 days</a>' in html
    assert '<a href="?q=row">Any time</a>' in html
    form = html.partition('<form class="own-range"')[2].partition("</form>")[0]
    assert '<input type="hidden" name="q" value="row">' in form
    assert 'name="range"' not in form
    html = people.owner.get(f"{listed.url}?from=2026-01-01&to=2026-01-02T09:30Z").content.decode()
    assert '<input type="date" name="from" value="2026-01-01"' in html
    assert '<input type="text" name="to" value="2026-01-02T09:30Z"' in html


def test_the_filter_reads_no_rows(listed, people):
    """The table is asked for the number of rows, for one page of rows, and for the actions of the audit."""
    with CaptureQueriesContext(connection) as queries:
        people.owner.get(f"{listed.url}?range=30d")
    asked = [query["sql"] for query in queries if f'FROM "{listed.table}"' in query["sql"]]
    assert len([sql for sql in asked if "COUNT(*)" in sql]) == 1
    rest = [sql for sql in asked if "COUNT(*)" not in sql and "SELECT DISTINCT" not in sql]
    assert len(rest) == 1
    assert "created_at" in rest[0] or '"at"' in rest[0]

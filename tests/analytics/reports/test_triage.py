"""The feedback page: numbers, filters, bulk actions, the page of one piece of feedback with notes, downloads."""

import csv
import io
import json
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.models import Feedback
from assistant.models import Message, Thread
from tests.variants import first_of


def give(project, path="/install", source="contextual", ago=timedelta(hours=1), **more):
    return Feedback.objects.create(
        project=project.project, path=path, source=source, created_at=timezone.now() - ago, **more
    )


@pytest.fixture
def given(project):
    """Feedback of each kind, and some in the period before."""
    give(project, helpful=False, comment="No pip.", contact="me@acme.example")
    give(project, helpful=True)
    give(project, "/configure", "thumbs_only", helpful=False, status="resolved")
    give(project, "/configure", "code_snippet", code="acme --fast", filename="a.sh", status="dismissed")
    give(project, helpful=False, ago=timedelta(days=40), comment="An old one.")
    return project


def url(project, extra=""):
    return f"/admin/project/{project.domain}/feedback{extra}"


def read(response):
    async def gather():
        return b"".join([chunk async for chunk in response.streaming_content]).decode()

    return async_to_sync(gather)()


def listed(people, project, query="", name="feedback"):
    return [json.loads(line) for line in read(people.owner.get(url(project, f"/{name}.jsonl{query}"))).splitlines()]


def user_of(client):
    return client.get("/admin/").wsgi_request.user


FILTERS = [
    ("", 4),
    ("?status=pending", 2),
    ("?source=code_snippet", 1),
    ("?thumb=down", 2),
    ("?thumb=none", 1),
    ("?path=/configure", 2),
    ("?q=PIP", 1),
    ("?q=--fast", 1),
    ("?assignee=nobody", 4),
    ("?assignee=123456", 0),
    ("?range=90d", 5),
    ("?status=pending&thumb=down", 1),
]


@pytest.mark.matrix
def test_filters_choose_the_feedback(people, given):
    for query, number in FILTERS:
        assert len(listed(people, given, query)) == number
        content = people.owner.get(url(given, query)).content.decode()
        assert content.count('name="chosen"') == number


def test_the_file_has_what_the_api_has(people, given):
    row = next(row for row in listed(people, given) if row["comment"])
    assert row["comment"] == "No pip."
    assert (row["helpful"], row["status"], row["source"], row["path"]) == (False, "pending", "contextual", "/install")
    assert row["code"] is row["messageId"] is row["assignee"] is None
    give(given, comment="=SUM(A1)")
    table = list(csv.DictReader(io.StringIO(read(people.owner.get(url(given, "/feedback.csv"))))))
    assert table[0]["comment"] == "'=SUM(A1)"


@pytest.mark.slow
def test_pages_have_ratings_and_a_trend(people, given):
    rows = {row["path"]: row for row in listed(people, given, name="pages")}
    assert rows["/install"] == {"path": "/install", "thumbsUp": 1, "thumbsDown": 1, "code": 0, "total": 2}
    assert rows["/configure"] == {"path": "/configure", "thumbsUp": 0, "thumbsDown": 1, "code": 1, "total": 2}
    content = people.owner.get(url(given, "?tab=pages&compare=1&sort=-change")).content.decode()
    assert "50%" in content
    assert "+1" in content or "new" in content
    for sort in ("path", "-up", "down", "code", "-total"):
        assert people.owner.get(url(given, f"?tab=pages&sort={sort}")).status_code == 200


def test_many_are_changed_at_once_and_the_list_stays(people, given):
    chosen = [row["id"] for row in listed(people, given, "?status=pending")]
    teammate = user_of(people.teammate)
    answer = people.owner.post(
        url(given, "?status=pending"), {"chosen": chosen, "status": "in_progress", "assignee": str(teammate.pk)}
    )
    assert answer.status_code == 302
    assert answer["Location"] == url(given, "?status=pending#tables")
    changed = Feedback.objects.filter(feedback_id__in=chosen)
    assert set(changed.values_list("status", "assignee")) == {("in_progress", teammate.pk)}
    assert len(listed(people, given, f"?assignee={teammate.pk}")) == 2
    people.owner.post(url(given), {"chosen": chosen, "assignee": "nobody"})
    assert set(changed.values_list("status", "assignee")) == {("in_progress", None)}


def test_only_staff_of_the_organization_is_assigned(people, given):
    chosen = [row["id"] for row in listed(people, given)]
    stranger = user_of(people.stranger)
    people.owner.post(url(given), {"chosen": chosen, "assignee": str(stranger.pk), "status": "resolved"})
    assert set(Feedback.objects.filter(feedback_id__in=chosen).values_list("assignee", flat=True)) == {None}
    people.owner.post(url(given), {"chosen": chosen, "status": "lost"})
    assert not Feedback.objects.filter(project=given.project, status="lost").exists()


def test_feedback_of_another_project_is_never_changed(people, given, make_project):
    other = give(make_project(), comment="Theirs.")
    people.owner.post(url(given), {"chosen": [other.feedback_id], "status": "resolved"})
    other.refresh_from_db()
    assert other.status == "pending"
    assert people.owner.get(url(given, f"/{other.feedback_id}")).status_code == 404


def test_a_page_shows_the_answer_with_its_conversation(people, project):
    thread = Thread.objects.create(project=project.project, fp="reader")
    Message.objects.create(thread=thread, role="user", content="How do I <install> it?")
    answer = Message.objects.create(thread=thread, role="assistant", content="With pip.")
    Message.objects.create(thread=thread, role="user", content="A later question.")
    row = give(project, helpful=False, message=answer)
    content = people.teammate.get(url(project, f"/{row.feedback_id}")).content.decode()
    assert "How do I &lt;install&gt; it?" in content
    assert "With pip." in content
    assert "A later question." not in content
    assert f"/admin/project/{project.domain}/conversations/{thread.thread_id}" in content


def test_an_answer_is_shown_as_the_reader_saw_it(people, project):
    thread = Thread.objects.create(project=project.project, fp="reader")
    Message.objects.create(thread=thread, role="user", content="How do I use **pip**?")
    answer = Message.objects.create(thread=thread, role="assistant", content="Run `pip`. **Then** <script>")
    row = give(project, helpful=False, message=answer)
    content = people.teammate.get(url(project, f"/{row.feedback_id}")).content.decode()
    assert "<p>Run <code>pip</code>. <strong>Then</strong> &lt;script&gt;</p>" in content
    assert "How do I use **pip**?" in content


def test_a_page_shows_the_code(people, project):
    row = give(project, source="code_snippet", code="acme <b>", filename="a.sh", lang="sh")
    content = people.owner.get(url(project, f"/{row.feedback_id}")).content.decode()
    assert "acme &lt;b&gt;" in content
    assert "a.sh" in content


def test_notes_say_who_and_when(people, given):
    row = give(given, comment="Which one?")
    people.owner.post(url(given, f"/{row.feedback_id}"), {"note": "  Asked the\nreader. "})
    people.teammate.post(url(given, f"/{row.feedback_id}"), {"status": "resolved", "assignee": ""})
    row.refresh_from_db()
    (note,) = row.notes.all()
    assert (note.text, note.author) == ("Asked the\nreader.", user_of(people.owner))
    assert row.status == "resolved"
    content = people.teammate.get(url(given, f"/{row.feedback_id}")).content.decode()
    assert "Asked the\nreader." in content
    assert user_of(people.owner).get_username() in content
    get_user_model().objects.filter(pk=note.author_id).delete()
    note.refresh_from_db()
    assert note.author is None


@pytest.mark.parametrize("extra", first_of(["", "?tab=pages", "/feedback.csv", "/pages.jsonl", "/{id}"], 2))
def test_a_stranger_sees_and_changes_nothing(people, given, extra):
    row = give(given, comment="Ours.")
    extra = extra.format(id=row.feedback_id)
    assert people.stranger.get(url(given, extra)).status_code == 404
    assert people.teammate.get(url(given, extra)).status_code == 200
    people.stranger.post(url(given, extra), {"chosen": [row.feedback_id], "status": "resolved", "note": "Mine."})
    row.refresh_from_db()
    assert row.status == "pending"
    assert not row.notes.exists()


@pytest.mark.parametrize("query", first_of(["?status=lost", "?from=yesterday", "?thumb=x", "?assignee=x", "?tab=x"], 2))
def test_wrong_values_get_sentences(people, given, query):
    assert people.owner.get(url(given, query)).status_code == 400
    assert people.owner.get(url(given, f"/feedback.csv{query}")).status_code == 400


@pytest.mark.matrix
def test_the_number_of_queries_does_not_grow_with_the_feedback(people, given):
    def count(query):
        with CaptureQueriesContext(connection) as counted:
            people.owner.get(url(given, query))
        return len(counted)

    few = {query: count(query) for query in ("?compare=1", "?tab=pages&compare=1")}
    owner = user_of(people.owner)
    for number in range(60):
        give(given, f"/page{number}", comment="More.", assignee=owner)
    for query, number in few.items():
        assert count(query) <= number <= 20

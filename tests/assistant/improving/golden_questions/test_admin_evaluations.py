"""Evaluations in the admin: who sees them, and what a run shows."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assistant.improving.golden_questions.scoring import Row
from assistant.models import Evaluation

LIST = "/admin/assistant/evaluation/"


def staff(tenant) -> Client:
    user = User.objects.create(username=f"evaluator-{tenant.project.pk}", is_staff=True)
    tenant.project.organization.memberships.create(user=user)
    client = Client()
    client.force_login(user)
    return client


def row(name: str, right: bool | None, **more: object) -> Row:
    return Row(f"What is {name}?", **{"answerable": True, "right": right, **more})


def store(tenant, *rows: Row, questions: int = 0, **more: object) -> Evaluation:
    return Evaluation.objects.create(
        project=tenant.project,
        questions=questions or len(rows),
        asked=len(rows),
        scored=len(rows),
        right=sum(bool(row.right) for row in rows),
        tokens=0,
        rows=[row.to_json() for row in rows],
        **more,
    )


@pytest.fixture
def runs(project) -> list[Evaluation]:
    """Two runs, and one with a model that was stopped."""
    return [
        store(project, row("a", True), row("b", False), row("c", True), row("d", False)),
        store(
            project,
            row("a", True, verdict="right", judgement="Tells all."),
            row("b", False, missed=["misses “<b>”"], text="Read [this](https://x.example) <script>"),
            row("c", False, missed=["wrongly refused"]),
            row("d", True),
        ),
        store(project, row("a", True), questions=9, model="fake-1"),
    ]


def test_the_list_has_the_share_of_right_answers(project, runs):
    page = staff(project).get(LIST).content.decode()
    assert page.count("2 of 4 (50%)") == 2
    assert "fake-1" in page
    assert page.count(">quotes<") == 2
    assert "1 of 9, then stopped" in page


def test_the_list_reads_no_answers(project, runs):
    owner = staff(project)
    with CaptureQueriesContext(connection) as queries:
        owner.get(LIST)
    assert not [query for query in queries if '"assistant_evaluation"."rows"' in query["sql"]]


def test_a_run_shows_changes_first_then_what_is_wrong(project, runs):
    owner = staff(project)
    page = owner.get(f"{LIST}{runs[1].pk}/change/").content.decode()
    places = [page.index(f"What is {name}?") for name in ("c", "d", "b", "a")]
    assert places == sorted(places)
    assert page.count("newly wrong") == 1
    assert page.count("newly right") == 1
    assert "right: Tells all." in page
    assert f'<a href="{LIST}{runs[0].pk}/change/">' in page
    assert "<dt>Right</dt><dd>2 of 4 (50%)</dd>" in page
    assert "<dt>Tokens</dt>" not in page
    assert "Changed" not in owner.get(f"{LIST}{runs[0].pk}/change/").content.decode()


def test_answers_are_rendered_and_their_html_is_text(project, runs):
    page = staff(project).get(f"{LIST}{runs[1].pk}/change/").content.decode()
    assert 'href="https://x.example"' in page
    assert "&lt;script&gt;" in page
    assert "misses “&lt;b&gt;”" in page


def test_nobody_edits_or_deletes_them(project, runs):
    owner = staff(project)
    assert owner.get(f"{LIST}add/").status_code == 403
    assert owner.post(f"{LIST}{runs[0].pk}/change/", {"judge": "x"}).status_code == 403
    assert owner.post(f"{LIST}{runs[0].pk}/delete/", {"post": "yes"}).status_code == 403
    assert Evaluation.objects.get(pk=runs[0].pk).judge == ""


def test_a_stranger_sees_nothing(project, runs, make_project):
    stranger = staff(make_project())
    assert "2 of 4" not in stranger.get(LIST).content.decode()
    answer = stranger.get(f"{LIST}{runs[1].pk}/change/")
    assert answer.status_code == 302
    assert "What is" not in answer.content.decode()


def test_the_list_of_golden_questions_leads_here(project):
    assert f'href="{LIST}"' in staff(project).get("/admin/assistant/goldenquestion/").content.decode()

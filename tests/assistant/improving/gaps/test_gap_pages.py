"""The pages of gaps in the admin: what they show, what an owner does there, and who may."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from search.models import SearchQuery
from tests.assistant.improving.gaps.conftest import AddAnswer, skip_earlier, store_answer
from tests.conftest import People, Tenant, wait_for
from tests.variants import first_of

DISLIKED = {"problem": "disliked"}


@pytest.fixture
def gaps(project: Tenant, add_answer: AddAnswer) -> str:
    """The address of the list, of a project with two groups of gaps and one answered question."""
    skip_earlier()
    for text in ("How do I rotate keys?", "rotating keys", "Rotate my keys!"):
        add_answer(text)
    add_answer("Is there a parcel API for Cobol?", "unsupported")
    add_answer("How do I install acme?", "answered")
    add_answer("Can keys rotate?", at=timezone.now() - timedelta(days=40))
    return f"/admin/project/{project.domain}/gaps"


def group_of(project: Tenant, term: str) -> Any:
    """The group with a term."""
    from assistant.improving.question_groups import grouping
    from assistant.models import QuestionGroup

    grouping.catch_up()
    return QuestionGroup.objects.get(project=project.project, terms__contains=f" {term} ")


@pytest.mark.matrix
def test_the_list_counts_groups(gaps: str, people: People) -> None:
    """Beside the period before, filtered by state, kind and words; what is answered is not in it."""
    response = people.owner.get(gaps)
    shown = [(gap.text, gap.count.now, gap.count.before) for gap, _ in response.context["rows"]]
    assert shown == [("Rotate my keys!", 3, 1), ("Is there a parcel API for Cobol?", 1, 0)]
    assert "Refused 3" in response.content.decode()

    def texts(query: str) -> list[str]:
        return [gap.text for gap, _ in people.owner.get(gaps + query).context["rows"]]

    assert texts("?problem=unsupported") == ["Is there a parcel API for Cobol?"]
    assert texts("?problem=without_answer") == ["Rotate my keys!", "Is there a parcel API for Cobol?"]
    assert texts("?q=rotation") == ["Rotate my keys!"]
    assert texts("?state=fixed") == []
    assert texts("?sort=latest") == ["Rotate my keys!", "Is there a parcel API for Cobol?"]
    assert people.owner.get(gaps + "?state=nonsense").status_code == 400


@pytest.mark.matrix
def test_searches_of_one_word_do_not_head_the_list(gaps: str, people: People, project: Tenant) -> None:
    """They say little. Any order that a person chooses holds, and a question of one word is a question."""
    old = timezone.now() - timedelta(hours=2)
    for text, times in (("widget", 10), ("ferrets", 8), ("parcel zebra", 2)):
        folded = {"text": text, "folded": text, "result_count": 0}
        SearchQuery.objects.bulk_create(SearchQuery(project=project.project, at=old, **folded) for _ in range(times))
    store_answer(project.project, "Ferret?")

    def texts(query: str) -> list[str]:
        return [gap.text for gap, _ in people.owner.get(gaps + query).context["rows"]]

    last = ["Is there a parcel API for Cobol?", "widget"]
    assert texts("") == ["ferrets", "Rotate my keys!", "parcel zebra", *last]
    assert texts("?sort=-count") == ["widget", "ferrets", "Rotate my keys!", "parcel zebra", last[0]]
    assert texts("?sort=count") == texts("?sort=-count")[::-1]
    file = csv.DictReader(io.StringIO(read(people.owner.get(f"{gaps}/file.csv"))))
    assert [row["question"] for row in file] == texts("")


@pytest.mark.matrix
def test_a_group_is_opened_with_the_range_of_its_list(gaps: str, people: People) -> None:
    """From the gaps and from the questions."""
    (gap, link), *_ = people.owner.get(gaps + "?range=90d").context["rows"]
    page = people.owner.get(link)
    assert page.context["shown"].gap.count.now == gap.count.now == 4
    questions = people.owner.get(gaps.removesuffix("gaps") + "questions?from=2020-01-01&q=keys")
    *_, link = questions.context["rows"][0]
    assert link.endswith("?from=2020-01-01")
    assert people.owner.get(link).context["shown"].gap.count.now == 4


def test_files_hold_the_rows_of_the_page(gaps: str, people: People) -> None:
    """With the filters of the address."""
    rows = list(csv.DictReader(io.StringIO(read(people.owner.get(f"{gaps}/file.csv?q=keys")))))
    assert [(row["question"], row["gaps"], row["gaps_before"], row["problems"]) for row in rows] == [
        ("Rotate my keys!", "3", "1", "Refused 3")
    ]
    lines = [json.loads(line) for line in read(people.owner.get(f"{gaps}/file.jsonl")).splitlines()]
    assert [line["gaps"] for line in lines] == [3, 1]
    assert people.owner.get(f"{gaps}/file.xml").status_code == 404


def read(response: Any) -> str:
    """A streamed file."""
    return b"".join(response).decode() if response.streaming else response.content.decode()


def test_the_page_of_a_group(gaps: str, project: Tenant, people: People) -> None:
    """Wordings, the answer that did not help, and the nearest pages."""
    group = group_of(project, "rotat")
    response = people.teammate.get(f"{gaps}/{group.pk}")
    shown = response.context["shown"]
    assert [wording.text for wording in shown.wordings] == ["Rotate my keys!", "rotating keys", "How do I rotate keys?"]
    assert shown.gap.cause == "no_page"
    assert shown.answer.outcome == "refused"
    thread = shown.wordings[0].thread
    assert f'href="/admin/project/{project.domain}/conversations/{thread.thread_id}"' in response.content.decode()


ACTIONS: list[tuple[str, dict[str, str]]] = [
    ("note", {"note": "Ask the team."}),
    ("assign", {}),
    ("dismiss", {}),
    ("reopen", {}),
    ("fix", {"question": "How do I rotate keys?"}),
    ("pin", {"text": "Under **Keys**.", "page": "/configure#environment"}),
    ("unpin", {}),
    ("words", {"path": "/configure", "words": "rotation\nkey change"}),
    ("golden", {"question": "How do I rotate keys?", "paths": "/configure"}),
    ("ask", {"question": "How do I install acme?"}),
]


@pytest.mark.parametrize(("action", "data"), first_of(ACTIONS, 1))
def test_owner_and_teammate_act_and_a_stranger_does_not(
    gaps: str, project: Tenant, people: People, action: str, data: dict[str, str]
) -> None:
    """A stranger finds neither the page nor the action. A link alone does nothing."""
    group = group_of(project, "rotat")
    address = f"{gaps}/{group.pk}/{action}"
    assert people.stranger.post(address, data).status_code == 404
    assert people.stranger.get(f"{gaps}/{group.pk}").status_code == 404
    assert people.stranger.get(gaps).status_code == 404
    assert people.owner.get(address).status_code == 405
    assert not group.actions.exists()
    expected = 200 if action == "ask" else 302
    assert people.owner.post(address, data).status_code == expected
    assert people.teammate.post(address, data).status_code == expected
    assert people.owner.get(f"{gaps}/{group.pk}").status_code == 200
    if action not in ("ask", "unpin"):
        assert {one.actor for one in group.actions.all()} == {
            f"owner of {project.domain}",
            f"teammate of {project.domain}",
        }


@pytest.mark.slow
def test_actions_have_their_effect(gaps: str, project: Tenant, people: People) -> None:
    """Each one is in the database and in the audit."""
    from django.contrib.auth import get_user_model

    from docsite.privacy.models import AuditEntry

    group = group_of(project, "rotat")
    teammate = get_user_model().objects.get(username=f"teammate of {project.domain}")
    stranger = get_user_model().objects.get(username=f"stranger of {project.domain}")

    def post(action: str, **data: Any) -> int:
        status = people.owner.post(f"{gaps}/{group.pk}/{action}", data).status_code
        group.refresh_from_db()
        return status

    assert post("assign", assignee=teammate.pk) == 302
    assert (group.state, group.assignee) == ("assigned", teammate)
    assert "Rotate my keys" in people.owner.get(gaps).content.decode()
    assert post("assign", assignee=stranger.pk) == 400
    teammate.is_active = False
    teammate.save()
    assert post("assign", assignee=teammate.pk) == 400
    assert post("dismiss") == 302
    assert group.state == "dismissed"
    assert "Rotate my keys" not in people.owner.get(gaps).content.decode()
    assert "Rotate my keys" in people.owner.get(f"{gaps}?state=all").content.decode()
    assert post("reopen") == 302
    assert group.state == "assigned"
    assert post("pin", text="Under **Keys**.", page="/missing") == 400
    assert post("pin", text="Under **Keys**.", page="https://docs.acme.example/configure#environment") == 302
    assert (group.pin.path, group.pin.anchor) == ("/configure", "environment")
    assert post("words", path="/configure", words="rotation") == 302
    assert project.project.documents.get(path="/configure").words == "rotation"
    assert post("golden", question="How do I rotate keys?", paths="/configure") == 302
    assert project.project.golden_questions.get().paths == ["/configure"]
    assert post("fix", question="How do I rotate keys?") == 302
    assert (group.state, group.question) == ("fixed", "How do I rotate keys?")
    audited = AuditEntry.objects.filter(project=project.domain, actor=f"owner of {project.domain}").values_list(
        "action", "object"
    )
    assert ("group action created", f"question group {group.pk}: marked it as fixed") in list(audited)


def test_asking_again_shows_both_answers(gaps: str, project: Tenant, people: People) -> None:
    """Nothing is stored."""
    from assistant.models import Message

    group = group_of(project, "rotat")
    before = Message.objects.filter(project=project.project).count()
    response = people.owner.post(f"{gaps}/{group.pk}/ask", {"question": "How do I install acme?"})
    assert "pip install acme" in response.content.decode()
    assert "Asked again: answered" in response.content.decode()
    response = people.owner.post(f"{gaps}/{group.pk}/ask", {"question": "Where is the acme printer sold?"})
    assert "Asked again: closest passages" in response.content.decode()
    assert Message.objects.filter(project=project.project).count() == before


def test_a_fix_shows_what_was_answered_before_and_since(
    gaps: str, project: Tenant, people: People, add_answer: AddAnswer
) -> None:
    """For the group, and for all fixed groups together."""
    from assistant.improving.gaps.report import Effect
    from assistant.improving.question_groups import grouping

    group = group_of(project, "rotat")
    people.owner.post(f"{gaps}/{group.pk}/fix", {"question": "How do I rotate keys?"})
    add_answer("rotate keys", "answered")
    add_answer("rotate keys", "closest_passages")

    def is_measured() -> bool:
        grouping.catch_up()  # services of other tests group, too
        return people.owner.get(f"{gaps}/{group.pk}").context["shown"].effect == Effect(0, 4, 1, 2)

    wait_for(is_measured, "the questions to be grouped")
    response = people.owner.get(f"{gaps}?state=fixed")
    assert response.context["effect"] == Effect(0, 4, 1, 2)
    # A service of another test may have asked it again.
    assert re.search(r"fixed, (to be asked again|but \w+)", response.content.decode())

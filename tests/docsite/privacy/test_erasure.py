"""Erasing the data of a reader, a conversation, a visitor and a project, with a receipt."""

import ipaddress
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from analytics.collecting import recording as views
from analytics.collecting.recording import Observation
from analytics.counting import sealer
from analytics.models import AgentViews, Cells, Feedback, LogImport, PageView, Snapshot, Trail
from analytics.reports import visitor_counts
from assistant.asking import erasure as sessions
from assistant.conversations import chat_ids
from assistant.models import ChatId, Message, Thread
from docsite.core import components
from docsite.core.components.erasure import (
    CONVERSATION,
    EVERYTHING,
    READER,
    VISITOR,
    WRITER,
    NotErasable,
    Subject,
)
from docsite.core.tenants.models import ApiKey
from docsite.privacy import erasure
from docsite.privacy.models import AuditEntry
from search.models import SearchQuery
from search.query_log import recording as searches
from tests import scenarios
from tests.analytics.counting.history import AGENTS
from tests.conftest import fake, logged_in, question, set_analytics
from tests.variants import first_of

CHROME = AGENTS["human"]
ADDRESS = ipaddress.ip_address("198.51.100.7")


def ask(tenant, fp: str, chat_id: str) -> Thread:
    thread = Thread.objects.create(project=tenant.project, fp=fp)
    Message.objects.create(thread=thread, role="user", content="What?")
    answer = Message.objects.create(thread=thread, role="assistant", content="That.")
    Feedback.objects.create(
        project=tenant.project, message=answer, source="thumbs_only", path="/", created_at=timezone.now()
    )
    chat_ids.record_chat_id(thread, chat_id)
    return thread


def read(tenant, address=ADDRESS, *, private: bool = False, reader_id: str = "") -> None:
    for hours in (1, 30):
        at = datetime.now(UTC) - timedelta(hours=hours)
        one = Observation(f"{hours} {address} {private} {reader_id}", "/a", at, address, CHROME)
        views.record(tenant.project, [one._replace(private=private, reader_id=reader_id)])


def rows(tenant) -> dict[str, int]:
    models = (Thread, Feedback, ChatId, SearchQuery, PageView, Trail, Cells, AgentViews, Snapshot, LogImport)
    return {model.__name__: model.objects.filter(project=tenant.project).count() for model in models}


def last_entry() -> AuditEntry:
    return AuditEntry.objects.filter(action="erased").latest("pk")


@pytest.fixture
def tenant(make_project):
    return make_project()


@pytest.mark.stores
def test_a_reader_is_erased_with_everything_that_belongs_to_the_conversations(tenant, make_project):
    stranger = make_project()
    for number in range(3):
        ask(tenant, "reader", f"chat-{number}")
    others = [ask(tenant, "other", "chat-9"), ask(stranger, "reader", "chat-0")]
    receipt = erasure.erase(tenant.project, READER, "reader")
    assert receipt.erased == {"conversations": 3, "messages": 6, "feedback": 3, "support requests": 0, "chat ids": 3}
    assert (rows(tenant)["Thread"], rows(tenant)["Feedback"], rows(tenant)["ChatId"]) == (1, 1, 1)
    assert set(Thread.objects.filter(pk__in=[other.pk for other in others])) == set(others)
    entry = last_entry()
    assert entry.details == {"receipt": receipt.receipt_id, **receipt.erased, "left": receipt.left}
    assert (entry.object, entry.project) == (receipt.subject, tenant.domain)
    assert "reader " in receipt.subject
    assert receipt.subject == erasure.erase(tenant.project, READER, "reader").subject, "so that a reader can check it"


def test_a_receipt_does_not_name_the_reader(tenant):
    ask(tenant, "alice@example.org", "chat-1")
    text = "\n".join(erasure.erase(tenant.project, READER, "alice@example.org").lines())
    entry = AuditEntry.objects.filter(pk=last_entry().pk).values().get()
    assert "alice" not in text + json.dumps(entry, default=str)
    assert "Erased   1 conversations" in text


def test_a_reader_is_erased_by_one_of_their_conversations(tenant, make_project):
    for number in range(3):
        last = ask(tenant, "reader", f"chat-{number}")
    others = [ask(tenant, "other", "chat-9"), ask(make_project(), "reader", "chat-0")]
    for unknown in (others[1].thread_id, "thr_unknown"):
        assert not any(erasure.erase(tenant.project, READER, unknown).erased.values())
    subject = erasure.find_subject(tenant.project, READER, last.thread_id)
    assert erasure.count(subject) == {"conversations": 3, "messages": 6}
    receipt = erasure.erase(tenant.project, READER, last.thread_id)
    assert receipt.erased == {"conversations": 3, "messages": 6, "feedback": 3, "support requests": 0, "chat ids": 3}
    assert receipt.subject == erasure.erase(tenant.project, READER, "reader").subject
    assert set(Thread.objects.filter(pk__in=[other.pk for other in others])) == set(others)


@pytest.mark.parametrize("age", [timedelta(), timedelta(days=2)], ids=["recent", "old"])
@pytest.mark.parametrize("place", first_of([0, 2, 3], 1))
def test_an_interrupted_erasure_of_a_reader_is_started_again_by_the_same_conversation(tenant, monkeypatch, place, age):
    threads = [ask(tenant, "reader", f"chat-{number}") for number in range(4)]
    Message.objects.filter(thread__in=threads).update(updated_at=timezone.now() - age)
    monkeypatch.setattr(sessions, "BATCH", 1)
    erased, erase_parts = [], sessions._erase_parts

    def fail_at_the_third(*args):
        if len(erased) == 2:
            raise OSError("killed")
        erased.append(erase_parts(*args))

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "_erase_parts", fail_at_the_third)
        with pytest.raises(OSError, match="killed"):
            erasure.erase(tenant.project, READER, threads[place].thread_id)
    assert rows(tenant)["Thread"] == 2
    assert erasure.erase(tenant.project, READER, threads[place].thread_id).erased["conversations"] == 2


def test_an_erasure_without_a_receipt_gets_one_when_it_is_repeated(tenant, monkeypatch):
    thread = ask(tenant, "reader", "chat-1")

    def fail(*args, **more):
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(erasure.audit, "add_entry", fail)
        with pytest.raises(OSError, match="killed"):
            erasure.erase(tenant.project, READER, thread.thread_id)
    assert rows(tenant)["Thread"] == 0
    receipt = erasure.erase(tenant.project, READER, thread.thread_id)
    assert last_entry().details["receipt"] == receipt.receipt_id


def test_the_fp_that_many_share_is_never_erased(tenant):
    thread = ask(tenant, "anonymous", "chat-1")
    for whose, identifier in ((READER, "anonymous"), (READER, thread.thread_id)):
        with pytest.raises(NotErasable, match="Many readers share"):
            erasure.erase(tenant.project, whose, identifier)
    assert rows(tenant)["Thread"] == rows(tenant)["Feedback"] == 1


@pytest.mark.parametrize("whose", [READER, CONVERSATION, WRITER, VISITOR])
def test_an_erasure_needs_an_identifier(tenant, whose):
    with pytest.raises(NotErasable, match=rf"^Give the .* of the {whose}\.$"):
        erasure.erase(tenant.project, whose, "", "Browser")


def test_one_conversation_of_a_reader_is_erased(tenant):
    first, second = ask(tenant, "anonymous", "chat-1"), ask(tenant, "anonymous", "chat-2")
    assert erasure.erase(tenant.project, CONVERSATION, first.thread_id).erased["messages"] == 2
    assert list(Thread.objects.filter(project=tenant.project)) == [second]
    assert ChatId.objects.get(project=tenant.project).thread == second


@pytest.mark.slow
def test_a_running_answer_of_an_erased_reader_is_not_stored_again(model_service, http, project):
    url = f"{model_service.url}/discovery/v2/assistant/{project.domain}/message"
    body = question("Acme?", fp="reader", resumable=True, context=fake("slow"))
    with http.stream("POST", url, json=body, headers=project.assistant) as answer:
        pieces = answer.iter_text()
        next(pieces)
        assert erasure.erase(project.project, READER, "reader").erased["messages"] == 2
        "".join(pieces)  # to its end
    assert not Message.objects.filter(thread__project=project.project).exists()


@pytest.mark.stores
def test_a_visitor_is_erased_and_the_counts_stay(tenant):
    other = ipaddress.ip_address("198.51.100.8")
    for address in (ADDRESS, other):
        read(tenant, address)
        read(tenant, address, private=True)
        searches.record(tenant.project, searches.hash_caller(tenant.project, address, CHROME), f"from {address}", 1)
    sealer.seal()
    LogImport.objects.create(project=tenant.project, first_line="x")
    now = datetime.now(UTC)
    period = (now - timedelta(days=10), now.replace(minute=0, second=0, microsecond=0))
    before = visitor_counts.count_visitors(tenant.project, *period).totals
    receipt = erasure.erase(tenant.project, VISITOR, str(ADDRESS), CHROME)
    assert receipt.erased["page views"] == 4, "with those of the days' secrets"
    assert receipt.erased["visit histories"] >= 2
    assert receipt.erased["searches"] == 1
    assert PageView.objects.filter(project=tenant.project).count() == 4
    assert [row.text for row in tenant.project.searches.all()] == [f"from {other}"]
    assert not Trail.objects.filter(
        project=tenant.project, visitor__in=views.possible_visitors(tenant.project, ADDRESS, CHROME)
    ).exists()
    assert visitor_counts.count_visitors(tenant.project, *period).totals == before
    assert LogImport.objects.filter(project=tenant.project).exists(), "or the next import would store the views again"


def test_a_visitor_with_a_first_party_id_is_erased_by_it(tenant):
    set_analytics(tenant.project, first_party_ids=True)
    tenant.project.refresh_from_db()
    read(tenant, reader_id="reader-id-1")
    read(tenant, reader_id="reader-id-2")
    assert erasure.erase(tenant.project, VISITOR, str(ADDRESS), CHROME).erased["page views"] == 0
    assert erasure.erase(tenant.project, VISITOR, str(ADDRESS), CHROME, "reader-id-1").erased["page views"] == 2


def fill(tenant) -> None:
    ask(tenant, "reader", "chat-1")
    read(tenant)
    Feedback.objects.create(project=tenant.project, source="contextual", path="/", created_at=timezone.now())
    searches.record(tenant.project, 1, "a search", 1)
    sealer.seal()
    searches.flush()
    LogImport.objects.create(project=tenant.project, first_line="x")
    key = ApiKey.objects.get(organization=tenant.project.organization, kind="admin")
    Snapshot.objects.create(key=key, project=tenant.project, dates="x", taken_at=timezone.now(), counts=b"")


@pytest.mark.stores
def test_a_project_is_erased_and_others_stay(tenant, make_project):
    other = make_project()
    fill(tenant)
    fill(other)
    before = rows(other)
    assert min(number for name, number in rows(tenant).items() if name != "AgentViews") > 0
    receipt = erasure.erase(tenant.project, EVERYTHING)
    assert set(rows(tenant).values()) == {0}
    assert rows(other) == before
    assert receipt.erased == {
        **{"conversations": 1, "messages": 2, "feedback": 2, "support requests": 0, "chat ids": 1, "searches": 1},
        **{"page views": 2, "visit histories": 1, "exports in progress": 1, "positions of imports": 1},
    }
    now = datetime.now(UTC)
    assert visitor_counts.count_visitors(tenant.project, now - timedelta(days=9), now).totals["total"] == 0
    read(tenant)
    assert visitor_counts.count_visitors(tenant.project, now - timedelta(days=9), now).totals["total"] == 1


@pytest.mark.matrix
def test_the_command_prints_the_receipt(tenant):
    thread = ask(tenant, "reader", "chat-1")
    refused = scenarios.complete("erase", tenant.domain, "--fp", "reader")
    assert refused.returncode == 1
    assert "--yes" in refused.stderr
    assert "Many readers" in scenarios.complete("erase", tenant.domain, "--fp", "anonymous", "--yes").stderr
    assert "user agent" in scenarios.complete("erase", tenant.domain, "--visitor", "198.51.100.7", "--yes").stderr
    printed = scenarios.complete("erase", tenant.domain, "--thread", thread.thread_id, "--yes", "--json").stdout
    receipt = json.loads(printed)
    assert receipt["erased"]["conversations"] == 1
    assert last_entry().details["receipt"] == receipt["receipt_id"]
    assert last_entry().actor.startswith("command erase (")


@pytest.mark.slow
def test_members_erase_readers_in_the_admin_and_superusers_everything(tenant, make_project):
    ask(tenant, "reader", "chat-1")
    url = f"/admin/privacy/auditentry/erase/{tenant.domain}"
    owner = logged_in(f"owner-{tenant.project.pk}", tenant.project.organization)
    stranger = logged_in(f"stranger-{tenant.project.pk}", make_project().project.organization)
    reader = {"whose": "reader", "identifier": "reader"}
    assert stranger.post(url, {**reader, "confirm": "on"}).status_code == 404
    owner.post(url, reader)
    owner.post(url, {"whose": "everything", "confirm": "on"})
    assert rows(tenant)["Thread"] == 1, "not without confirmation, and everything only by superusers"
    wrong = owner.post(url, {"whose": "visitor", "identifier": "reader", "confirm": "on"}).context["form"].errors
    assert wrong == {"__all__": ["A visitor is named by an IP address and a user agent."]}
    refused = owner.post(url, {"whose": "reader", "identifier": "anonymous", "confirm": "on"})
    assert "Many readers share" in refused.content.decode()
    shown = owner.post(url, reader).content.decode()
    assert "Conversations: <strong>1</strong>, messages: <strong>2</strong>" in shown
    page = owner.post(url, {**reader, "confirm": "on"}).content.decode()
    assert last_entry().details["receipt"] in page
    assert last_entry().actor == f"owner-{tenant.project.pk}"
    assert rows(tenant)["Thread"] == 0
    fill(tenant)
    superuser = logged_in(f"superuser-{tenant.project.pk}", is_superuser=True)
    asked = superuser.post(url, {"whose": "everything"}).content.decode()
    assert "All page views and counts, searches, feedback" in asked
    assert "Erase it for good" in asked
    assert superuser.post(url, {"whose": "everything", "confirm": "on"}).status_code == 200
    assert set(rows(tenant).values()) == {0}


def test_components_erase_from_the_top_and_one_that_cannot_stops_the_others(tenant, monkeypatch):
    """A component that refuses is asked before what is below it has deleted anything."""
    erased: list[str] = []

    def component(name: str, refuses: bool = False) -> components.Component:
        def erase(subject: Subject) -> dict[str, int]:
            if refuses:
                raise NotErasable("Not now.")
            erased.append(f"{name}: {subject.whose} {subject.identifier}")
            return {name: 1}

        return components.Component(name=name, erase=erase)

    monkeypatch.setattr(
        components, "load", lambda: (component("low"), components.Component(name="x"), component("top"))
    )
    assert erasure.erase(tenant.project, READER, "ada").erased == {"low": 1, "top": 1}
    assert erased == ["top: reader ada", "low: reader ada"]
    monkeypatch.setattr(components, "load", lambda: (component("low"), component("top", refuses=True)))
    before = last_entry().pk
    with pytest.raises(NotErasable, match="Not now"):
        erasure.erase(tenant.project, READER, "ada")
    assert (len(erased), last_entry().pk) == (2, before)


@pytest.mark.parametrize(
    ("subject", "kinds"),
    [
        ((READER, "ada"), {"conversations", "messages", "feedback", "support requests", "chat ids"}),
        ((CONVERSATION, "thr_1"), {"conversations", "messages", "feedback", "support requests", "chat ids"}),
        ((WRITER, "ada@reader.example"), {"support requests"}),
        ((VISITOR, str(ADDRESS), CHROME), {"page views", "visit histories", "searches"}),
    ],
)
def test_a_receipt_counts_what_the_subject_can_have_left(tenant, subject, kinds):
    assert erasure.erase(tenant.project, *subject).erased == dict.fromkeys(kinds, 0)

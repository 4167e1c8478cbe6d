"""What is erased is in no file of the data folder: tables, indexes, free pages, the write-ahead log and others."""

import random
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connection
from django.utils import timezone

from analytics.collecting import recording as views
from analytics.collecting.recording import Observation
from analytics.models import Feedback
from assistant.admin.conversations.thread_pages import redact_thread
from assistant.asking.erasure import forget_conversation
from assistant.conversations import chat_ids, retention
from assistant.improving.question_groups import grouping
from assistant.models import AssistantSettings, Message, SupportRequest, SupportSettings, Thread
from docsite.core import write_ahead_log
from docsite.core.components.erasure import CONVERSATION, EVERYTHING, READER, VISITOR
from docsite.core.delivery import outbox
from docsite.core.delivery.models import Delivery
from docsite.core.sweeper import Sweeper
from docsite.core.tenants.models import Project
from docsite.privacy import erasure
from docsite.privacy.models import AuditEntry
from search.indexing.ingest import ingest
from search.models import SearchQuery, Source
from search.query_log import recording as searches
from search.sources import Page
from search.stored_sources import runs
from tests.analytics.counting.history import AGENTS
from tests.variants import first_of

ADDRESS, BROWSER = ip_address("198.51.100.7"), AGENTS["human"]


def leave_conversation(project: Project, word: str) -> Thread:
    """A conversation with all that is stored with one, whose answer has grown while it streamed."""
    thread = Thread.objects.create(project=project, fp=f"fp-{word}", title=f"Where is {word}?")
    asked = Message.objects.create(
        project=project, thread=thread, role="user", content=f"Where is the {word} kept? Mail me: {word}@acme.example"
    )
    answer = Message.objects.create(project=project, thread=thread, role="assistant", outcome="refused")
    for length in range(1, 200, 9):
        answer.content = f"The {word} is kept. " * length
        answer.sources = [{"title": word, "url": f"/{word}"}]
        answer.checks = [{"written": word}]
        answer.save()
    chat_ids.record_chat_id(thread, word)
    Feedback.objects.create(
        project=project, message=answer, source="thumbs_only", path="/", comment=word, created_at=timezone.now()
    )
    request = SupportRequest.objects.create(
        project=project, form_id=word, email=f"{word}@acme.example", subject=word, message=word, thread=thread,
        transcript=[{"role": "user", "text": asked.content}],
    )  # fmt: skip
    outbox.add(project, "support_request.created", request.request_id, [Delivery.Channel.EMAIL])
    grouping.catch_up()
    return thread


def leave_search(project: Project, word: str) -> None:
    caller = searches.hash_caller(project, ADDRESS, BROWSER)
    searches.record(project, caller, f"how to {word}", 0)
    searches.flush()
    SearchQuery.objects.filter(project=project).update(at=timezone.now() - timedelta(hours=1, minutes=1))
    grouping.catch_up()


def leave_view(project: Project, word: str) -> None:
    views.record(project, [Observation(word, f"/{word}", timezone.now() - timedelta(hours=2), ADDRESS, BROWSER)])


def leave_everything(project: Project, word: str) -> None:
    for leave in (leave_conversation, leave_search):
        leave(project, word)


def leave_page(project: Project, word: str) -> None:
    """A source with a protected page, beside pages of another one that stay."""
    kept = Source.objects.create(project=project, name="kept", location="https://docs.acme.example/")
    source = Source.objects.create(project=project, name="gone", location="https://acme.example/", groups="staff")
    ingest(project, [page(f"kept {number}", "An ordinary page.") for number in range(9)], source=kept)
    ingest(project, [page(word, f"The {word} is secret. " * 99)], source=source)


def page(title: str, text: str) -> Page:
    path = f"/{title.replace(' ', '-')}"
    return Page(origin=path, path=path, markdown=f"# {title}\n\n{text}", title=title)


def age(project: Project) -> None:
    """Make everything older than a day, and keep it for one."""
    old = timezone.now() - timedelta(days=2)
    Thread.objects.filter(project=project).update(created_at=old)
    Message.objects.filter(thread__project=project).update(created_at=old)
    SupportRequest.objects.filter(project=project).update(created_at=old)
    AssistantSettings.objects.update_or_create(project=project, defaults={"conversation_days": 1})
    SupportSettings.objects.update_or_create(project=project, defaults={"days": 1})


def sweep(project: Project, word: str) -> None:
    from assistant.support_requests import store

    age(project)
    for step in (retention.sweep, store.sweep, grouping.sweep):
        step()


def forget(project: Project, word: str) -> None:
    thread = Thread.objects.get(project=project)
    async_to_sync(forget_conversation)(project, thread.fp, thread.thread_id)
    SupportRequest.objects.filter(project=project).delete()  # the reader waits for an answer to it
    grouping.sweep()


def redact(project: Project, word: str) -> None:
    redact_thread(Thread.objects.get(project=project))


def receipt_of(**named: str) -> Callable[[Project, str], Any]:
    return lambda project, word: erasure.erase(
        project, **{name: value.format(word=word) for name, value in named.items()}
    )


def thread_of(project: Project, word: str) -> Any:
    return erasure.erase(project, CONVERSATION, Thread.objects.get(project=project).thread_id)


ERASURES: dict[str, tuple[Callable[[Project, str], Any], Callable[[Project, str], Any]]] = {
    "a reader": (leave_conversation, receipt_of(whose=READER, identifier="fp-{word}")),
    "a conversation": (leave_conversation, thread_of),
    "a visitor": (
        leave_search,
        receipt_of(whose=VISITOR, identifier=str(ADDRESS), user_agent=BROWSER),
    ),
    "everything": (leave_everything, receipt_of(whose=EVERYTHING)),
    "a reader's own deletion": (leave_conversation, forget),
    "the end of retention": (leave_conversation, sweep),
    "a project": (leave_everything, lambda project, word: project.delete()),
    "a protected source": (
        leave_page,
        lambda project, word: runs.remove(project.sources.get(name="gone")),
    ),
}


def find_in_files(word: str) -> list[str]:
    """The files of the data folder that hold a word, with the number of lines.

    Another process reads them: SQLite's locks on a file end when any code of their process closes that file.
    """
    command = ("grep", "--recursive", "--ignore-case", "--text", "--count", word, ".")
    lines = subprocess.run(command, cwd=settings.DATA_DIR, capture_output=True, text=True, check=False).stdout.split()
    return [line for line in lines if not line.endswith(":0")]


@pytest.fixture
def word() -> str:
    """A word that stands nowhere else, and that no stemmer changes."""
    return "zq" + "".join(random.choices("bcdfghjkmnpqrtvwxz", k=12)) + "k"


@pytest.mark.parametrize("name", first_of(ERASURES, 1))
def test_the_words_are_in_no_file(make_project, word, name):
    leave, erase = ERASURES[name]
    project = make_project().project
    leave(project, word)
    if connection.vendor == "sqlite":
        assert find_in_files(word), "the test would prove nothing"
    erase(project, word)
    assert write_ahead_log.empty(5)
    assert find_in_files(word) == []


def test_a_receipt_says_where_copies_are(make_project, word):
    project = make_project().project
    leave_conversation(project, word)
    receipt = erasure.erase(project, READER, f"fp-{word}")
    expected = [erasure.IN_PAGES if connection.vendor == "sqlite" else erasure.IN_POSTGRESQL, erasure.IN_BACKUPS]
    assert receipt.left == expected
    assert receipt.lines()[-2:] == [f"Left in  {place}" for place in expected]
    assert AuditEntry.objects.filter(action="erased").latest("pk").details["left"] == expected


@pytest.mark.slow
def test_a_log_that_a_reader_uses_is_emptied_when_the_reader_ends(make_project, word):
    """Its receipt says so, and others write meanwhile."""
    if connection.vendor != "sqlite":
        return
    project = make_project().project
    leave_conversation(project, word)
    with closing(sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM assistant_thread").fetchone()
        Thread.objects.create(project=project, fp="other")  # what the reader does not see yet is in the log
        assert erasure.erase(project, READER, f"fp-{word}").left[0] == erasure.IN_LOG
        assert find_in_files(word)
        Thread.objects.create(project=project, fp="other")
    Sweeper([]).work()
    assert find_in_files(word) == []


def test_each_connection_overwrites_what_it_deletes():
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            assert cursor.execute("PRAGMA secure_delete").fetchone() == (1,)  # ON, and not FAST

"""Erases the data of a reader, a conversation, a visitor or a whole project. Each erasure has a receipt in the audit.

Data that another process holds in memory at this moment is stored within a second, so erase after the reader has left.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from asgiref.sync import async_to_sync
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from analytics.collecting import view_log, writer
from analytics.collecting.recording import possible_visitors
from analytics.counting import erasure as analytics_erasure
from analytics.identity import key_rotation
from analytics.models import Feedback
from assistant.models import ChatId, Message, SupportFormCount, SupportRequest, Thread
from assistant.question_groups import grouping
from assistant.sessions.start import forget_conversation
from assistant.support_requests import store as support_requests
from docsite.core import ids, write_ahead_log
from docsite.core.http.client_address import Address, parse_address
from docsite.core.tenants.models import Project
from docsite.privacy import audit
from search.query_log import recording as search_recording

READER, CONVERSATION, WRITER, VISITOR, EVERYTHING = "reader", "conversation", "writer", "visitor", "everything"
SHARED_FP = "anonymous"
LOG_SECONDS = 30.0  # that an erasure waits for views in the log
BATCH = 200  # threads of one transaction
EMPTYING_SECONDS = 1.0
_RUNNING = timedelta(hours=1)  # an answer that was stored so long ago runs no more, and cannot be resumed


# What a receipt says about copies that are not in a table.
IN_LOG = "the write-ahead log, as long as a reader uses it: the service empties it within a minute after that"
IN_PAGES = "fragments of rows that SQLite had moved, in pages of its file, until VACUUM rewrites it"
IN_POSTGRESQL = (
    "files of PostgreSQL and of its replicas, until VACUUM (autovacuum does it), and its write-ahead log, until it is "
    "recycled"
)
IN_BACKUPS = "backups, until you delete them"


class NotErasable(Exception):
    """The data cannot be erased. The message is a sentence."""


@dataclass(frozen=True)
class Receipt:
    """What was erased: how many rows of each kind. `subject` does not reveal who it was.

    `left` names the places that may still hold copies, and until when.
    """

    receipt_id: str
    at: datetime
    project: str
    subject: str
    erased: dict[str, int]
    left: list[str]

    def lines(self) -> list[str]:
        """The receipt as text."""
        return [
            f"Receipt  {self.receipt_id}",
            f"At       {self.at:%Y-%m-%d %H:%M:%S} UTC",
            f"Project  {self.project}",
            f"Subject  {self.subject}",
            *(f"Erased   {number:,} {kind}" for kind, number in self.erased.items()),
            *(f"Left in  {place}" for place in self.left),
        ]


def erase(project: Project, whose: str, identifier: str = "", user_agent: str = "", reader_id: str = "") -> Receipt:
    """Erase what `whose` names: data of the reader, conversation or visitor with an identifier, or everything.

    A visitor's identifier is a network address, a writer's an e-mail address. Raises `NotErasable`.
    """
    if not identifier and whose != EVERYTHING:
        raise NotErasable(f"Name the {whose}.")
    if whose == READER:
        return erase_reader(project, identifier)
    if whose == CONVERSATION:
        return erase_conversation(project, identifier)
    if whose == WRITER:
        return erase_writer(project, identifier)
    if whose == EVERYTHING:
        return erase_project(project)
    address = parse_address(identifier)
    if address is None or not user_agent:
        raise NotErasable("A visitor is named by an IP address and a user agent.")
    return erase_visitor(project, address, user_agent, reader_id)


def erase_reader(project: Project, fp: str) -> Receipt:
    """Erase all conversations of an `fp`, with the feedback on their answers, their support requests and chat ids."""
    if fp == SHARED_FP:
        raise NotErasable(f"Many readers share the fp {SHARED_FP}. Erase their conversations one by one.")
    erased = _erase_threads(project, Thread.objects.filter(project=project, fp=fp))
    return _write_receipt(project, f"reader {_mask(project, fp)}", erased)


def erase_conversation(project: Project, thread_id: str) -> Receipt:
    """Erase one conversation, with the feedback on its answers, its support requests and its chat ids."""
    erased = _erase_threads(project, Thread.objects.filter(project=project, thread_id=thread_id))
    return _write_receipt(project, f"conversation {_mask(project, thread_id)}", erased)


def erase_writer(project: Project, email: str) -> Receipt:
    """Erase the support requests of an e-mail address, with their deliveries. The owner's mailbox is not ours."""
    erased = {"support requests": support_requests.delete_of_address(project, email)}
    return _write_receipt(project, f"writer {_mask(project, email.lower())}", erased)


def erase_visitor(project: Project, address: Address, user_agent: str, reader_id: str = "") -> Receipt:
    """Erase the single views and visit histories of a visitor, and the searches of the last one to two hours.

    Later nothing links a search to anybody. Counts stay: they are numbers. So do the positions of imports, without
    which the next import of the same log would store the visitor again.
    """
    _store_waiting_views()
    hashes = possible_visitors(project, address, user_agent, reader_id)
    page_views, histories = analytics_erasure.erase_visitors(project, hashes)
    caller = search_recording.hash_caller(project, address, user_agent)
    erased = {
        "page views": page_views,
        "visit histories": histories,
        "searches": search_recording.erase(project, caller),
    }
    return _write_receipt(project, f"visitor {_mask(project, f'{address} {user_agent}')}", erased)


def erase_project(project: Project) -> Receipt:
    """Erase everything that readers left in a project, counts included. Its pages, settings and keys stay."""
    _store_waiting_views()
    erased = _erase_threads(project, Thread.objects.filter(project=project))
    erased["support requests"] += support_requests.delete(SupportRequest.objects.filter(project=project))
    SupportFormCount.objects.filter(project=project).delete()
    erased["feedback"] += Feedback.objects.filter(project=project).delete()[0]
    erased["chat ids"] += ChatId.objects.filter(project=project).delete()[0]
    erased["searches"] = search_recording.erase(project)
    erased |= analytics_erasure.erase_project(project)
    key_rotation.forget(project)
    return _write_receipt(project, "all readers", erased)


def _store_waiting_views() -> None:
    """Let views that wait come to the database, where they are erased. Raises `NotErasable`."""
    writer.flush()
    if not view_log.wait_until_stored(LOG_SECONDS):
        raise NotErasable(
            "The view log (VIEW_LOG_URL) may hold views that are not in the database yet. Nothing was erased. "
            "Try again when `manage.py doctor` shows that messages no longer wait for long."
        )


def _erase_threads(project: Project, threads: "QuerySet[Thread]") -> dict[str, int]:
    """Delete threads with all that belongs to them. Their running answers end, in all processes."""
    erased = {"conversations": 0, "messages": 0, "feedback": 0, "support requests": 0, "chat ids": 0}
    recent = Message.objects.filter(thread__project=project, updated_at__gt=timezone.now() - _RUNNING)
    for thread in threads.filter(pk__in=recent.values("thread")):
        _count(erased, [thread.pk])
        erased["support requests"] += support_requests.delete_of_threads([thread.pk])
        ChatId.objects.filter(thread=thread).delete()
        async_to_sync(forget_conversation)(project, thread.fp, thread.thread_id)
    while batch := list(threads.values_list("pk", flat=True)[:BATCH]):
        _count(erased, batch)
        erased["support requests"] += support_requests.delete_of_threads(batch)
        ChatId.objects.filter(thread__in=batch).delete()
        Thread.objects.filter(pk__in=batch).delete()
    return erased


def _count(erased: dict[str, int], threads: list[int]) -> None:
    erased["conversations"] += len(threads)
    erased["messages"] += Message.objects.filter(thread__in=threads).count()
    erased["feedback"] += Feedback.objects.filter(message__thread__in=threads).count()
    erased["chat ids"] += ChatId.objects.filter(thread__in=threads).count()


def _mask(project: Project, secret: str) -> str:
    """A keyed hash: who knows the reader can check that a receipt is about this reader, and nobody else learns it."""
    return salted_hmac("privacy.erasure", f"{project.project_id}\n{secret}", algorithm="sha256").hexdigest()[:16]


def _write_receipt(project: Project, subject: str, erased: dict[str, int]) -> Receipt:
    grouping.sweep(project)  # the words of questions that are gone
    receipt_id, left = ids.receipt_id(), _list_copies()
    entry = audit.add_entry(
        "erased",
        subject,
        organization_id=project.organization_id,
        project=project.domain,
        details={"receipt": receipt_id, **erased, "left": left},
    )
    return Receipt(receipt_id, entry.at, project.domain, subject, erased, left)


def _list_copies() -> list[str]:
    """Empty SQLite's write-ahead log if no reader uses it. Returns what may still hold what was erased."""
    if connection.vendor != "sqlite":
        return [IN_POSTGRESQL, IN_BACKUPS]
    return [*([] if write_ahead_log.empty(EMPTYING_SECONDS) else [IN_LOG]), IN_PAGES, IN_BACKUPS]

"""Questions with their answers for the archive: what the exports of owners have, so no fingerprint (`fp`).

A row is an answer. Its id orders the rows; the question is the one before it in its conversation. Conversations of the
sample are left out.
"""

import time
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

import pyarrow as pa
from django.conf import settings
from django.db import connection
from django.db.models import Func, IntegerField, Max, Min, OuterRef, QuerySet, Subquery
from django.utils import timezone

from analytics.archive.folder import Table
from analytics.archive.waiting import Waiting
from analytics.models import ArchivedRange
from assistant.conversations.report import Exchange
from assistant.models import Message

MAX_ROWS = 5_000  # of a file
MAX_BYTES = 64 << 20  # of the answers of a file, which are in memory at a time: one may have 256 KiB
RUNNING = timedelta(hours=1)  # from its start: an answer is final then, whatever became of its process
MAX_CLOCK_ERROR = timedelta(days=7)  # between ids and times of their rows
SETTLE_SECONDS, STEP_SECONDS = 10.0, 0.02  # that transactions which write messages may take; to look again

_TEXT = pa.string()
_NUMBER = pa.int64()
_TIME = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    [
        pa.field("id", _NUMBER, nullable=False),
        pa.field("asked_at", _TIME, nullable=False),
        pa.field("question_id", _TEXT),
        pa.field("thread_id", _TEXT, nullable=False),
        pa.field("query", _TEXT),
        pa.field("response", _TEXT, nullable=False),
        pa.field("resolution", _TEXT, nullable=False),
        pa.field("outcome", _TEXT, nullable=False),
        pa.field("cut_by", _TEXT),
        pa.field("sources", pa.list_(pa.struct([("title", _TEXT), ("url", _TEXT)])), nullable=False),
        pa.field("page_path", _TEXT),
        pa.field("caller", _TEXT, nullable=False),
        pa.field("agent", _TEXT),
        pa.field("language", _TEXT),
        pa.field("filter_version", _TEXT),
        pa.field("filter_language", _TEXT),
        pa.field("rung", _TEXT),
        pa.field("model", _TEXT),
        pa.field("prompt_tokens", _NUMBER, nullable=False),
        pa.field("completion_tokens", _NUMBER, nullable=False),
        pa.field("cost_micros", _NUMBER),
        pa.field("first_token_ms", _NUMBER),
        pa.field("total_ms", _NUMBER),
    ]
)
_OWN_NAMES = {"id", "asked_at", "question_id", "thread_id", "query", "response", "resolution", "sources", "cost_micros"}
_SAME_NAMES = tuple(name for name in SCHEMA.names if name not in _OWN_NAMES)  # as the columns of `Message`


def read(project_id: int, first: int, last: int) -> Table:
    """The answers of a range as they are now."""
    before = Message.objects.filter(thread=OuterRef("thread"), role=Message.Role.USER, pk__lt=OuterRef("pk"))
    answers = list(
        _answers(project_id)
        .filter(pk__gte=first, pk__lte=last)
        .annotate(question=Subquery(before.order_by("-pk").values("pk")[:1]))
        .select_related("thread")
        .only("created_at", "content", "state", "sources", "cost", "thread__thread_id", *_SAME_NAMES)
        .order_by("pk")
    )
    asked = Message.objects.only("message_id", "content").in_bulk([answer.question for answer in answers])
    rows = [_describe(answer, asked.get(answer.question)) for answer in answers]
    return pa.Table.from_pylist(rows, SCHEMA)


def _describe(answer: Message, question: Message | None) -> dict[str, Any]:
    is_answered = Exchange(question or answer, answer).is_answered
    is_running = answer.outcome == Message.Outcome.RUNNING  # its process was killed, and none was started since
    return {
        **{name: _blank_to_none(getattr(answer, name)) for name in _SAME_NAMES},
        "id": answer.pk,
        "asked_at": answer.created_at,  # of the answer, which orders the rows: the question came just before it
        "question_id": question and question.message_id,
        "thread_id": answer.thread.thread_id,
        "query": question and question.content,
        "response": answer.content,
        "resolution": "answered" if is_answered else "unanswered",
        "outcome": Message.Outcome.CUT.value if is_running else answer.outcome,
        "sources": _describe_sources(answer.sources),
        "cost_micros": answer.cost,
    }


def _describe_sources(sources: Any) -> list[dict[str, str | None]]:
    """Titles and addresses, whatever the column has: one wrong row must not stop the archive of all others."""
    cited = [source for source in sources if isinstance(source, dict)] if isinstance(sources, list) else []
    return [{name: _text_or_none(source.get(name)) for name in ("title", "url")} for source in cited]


def _text_or_none(value: Any) -> str | None:
    # JSON may have half of a pair of surrogates, which is no text.
    return None if value is None else str(value).encode(errors="replace").decode()


def _blank_to_none(value: Any) -> Any:
    return None if value == "" else value


def _answers(project_id: int) -> "QuerySet[Message]":
    """The answers that reports count: the index of their facts has these conditions."""
    return Message.objects.filter(project=project_id, outcome__isnull=False, thread__sample=False)


class _Bytes(Func):
    """The length of a text. PostgreSQL knows it without reading the text."""

    function = "OCTET_LENGTH"
    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """The same function, which older releases of SQLite lack."""
        return self.as_sql(compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **context)


def find_waiting(project_id: int, latest: ArchivedRange | None, up_to: int | None = None) -> Waiting | None:
    """The next final answers after a range, up to an id. Others may still be committed between: see `find_settled`."""
    rows = _answers(project_id)
    running = timezone.now() - max(RUNNING, 2 * timedelta(seconds=settings.ENV.openai_answer_seconds))
    # The range ends before the first answer that may still run, so that it is in a later one.
    first_running = rows.filter(created_at__gt=running).aggregate(least=Min("pk"))["least"]
    if latest:
        # The index knows times, and no ids. An id was given shortly before its row's time, by the clock of a host.
        rows = rows.filter(pk__gt=latest.last, created_at__gt=latest.arrived_at - MAX_CLOCK_ERROR)
    if first_running is not None:
        rows = rows.filter(pk__lt=first_running)
    if up_to is not None:
        rows = rows.filter(pk__lte=up_to)
    found: list[tuple[int, datetime, int]] = list(
        rows.order_by("pk").values_list("pk", "created_at", _Bytes("content"))[:MAX_ROWS]
    )
    if not found:
        return None
    sums = accumulate(length for *_, length in found)
    fitting = max(sum(total <= MAX_BYTES for total in sums), 1)
    arrivals = [arrival for _, arrival, _ in found[:fitting]]
    is_full = fitting < len(found) or fitting == MAX_ROWS
    return Waiting(fitting, found[fitting - 1][0], min(arrivals), arrivals[-1], is_full)


def find_settled(project_id: int) -> int:
    """An id up to which no message can be committed any more, of any project. 0 if a transaction takes too long.

    PostgreSQL gives an id before the row can be seen. Who inserts holds a lock of the table from before it gets the id
    to the end of its transaction. So all ids below the newest one that is seen are settled when every transaction is
    over that holds such a lock at that moment. Nobody waits for us. SQLite has one writer at a time.
    Source: https://www.postgresql.org/docs/current/view-pg-locks.html
    """
    newest = Message.objects.aggregate(newest=Max("pk"))["newest"] or 0
    if connection.vendor == "sqlite":
        return int(newest)
    until, writing = time.monotonic() + SETTLE_SECONDS, _list_writing()
    while writing:
        if time.monotonic() > until:
            return 0
        time.sleep(STEP_SECONDS)
        writing &= _list_writing()
    return int(newest)


def _list_writing() -> set[str]:
    """The transactions of others that write messages."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
            "AND relation = %s::regclass AND pid <> pg_backend_pid() "
            "AND mode NOT IN ('AccessShareLock', 'RowShareLock', 'ShareUpdateExclusiveLock', 'ShareLock')",
            [Message._meta.db_table],
        )
        return {transaction for (transaction,) in cursor.fetchall()}

"""Stores the chat ids that clients choose, as digests.

A chat id alone may resume an answer. When readers with different fingerprints
use the same id, its owner is unknown, so it resumes nothing.
"""

from datetime import timedelta
from hashlib import sha256

from django.db.models import Q

from assistant.models import ChatId, Thread
from assistant.spending.budget import today_utc
from docsite.core.db import insert

DAYS_WITHOUT_THREAD = 2


def record_chat_id(thread: Thread, chat_id: str) -> None:
    """Store who uses a chat id first and in which thread now, or that another reader uses it too."""
    table = ChatId._meta.db_table
    row = (thread.project_id, _digest(chat_id), _digest(f"{chat_id}\0{thread.fp}"), False, thread.pk, today_utc())
    is_same = f"{table}.fp_digest = excluded.fp_digest"
    insert(
        table,
        ("project_id", "digest", "fp_digest", "is_shared", "thread_id", "used_on"),
        [row],
        f"(project_id, digest) DO UPDATE SET is_shared = {table}.is_shared OR NOT ({is_same}), "
        "used_on = excluded.used_on, "
        f"thread_id = CASE WHEN {is_same} THEN excluded.thread_id ELSE {table}.thread_id END",
    )


def is_chat_id_shared(project_id: int, chat_id: str) -> bool:
    """Whether readers with different fingerprints used a chat id."""
    return ChatId.objects.filter(project=project_id, digest=_digest(chat_id), is_shared=True).exists()


def sweep() -> None:
    """Delete the ids of deleted threads that nobody has used for two days."""
    oldest = today_utc() - timedelta(days=DAYS_WITHOUT_THREAD)
    ChatId.objects.filter(Q(used_on=None) | Q(used_on__lt=oldest), thread=None).delete()


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()

"""Stores the chat ids that clients choose, as digests.

A chat id alone may resume an answer. When readers with different fingerprints
use the same id, its owner is unknown, so it resumes nothing.
"""

from hashlib import sha256

from assistant.models import ChatId
from docsite.core.db import insert
from docsite.core.tenants.models import Project


def record_chat_id(project: Project, chat_id: str, fp: str) -> None:
    """Store who uses a chat id first, or that another reader uses it too."""
    table = ChatId._meta.db_table
    row = (project.pk, _digest(chat_id), _digest(f"{chat_id}\0{fp}"), False)
    insert(
        table,
        ("project_id", "digest", "fp_digest", "is_shared"),
        [row],
        f"(project_id, digest) DO UPDATE SET is_shared = TRUE WHERE {table}.fp_digest <> excluded.fp_digest",
    )


def is_chat_id_shared(project_id: int, chat_id: str) -> bool:
    """Whether readers with different fingerprints used a chat id."""
    return ChatId.objects.filter(project=project_id, digest=_digest(chat_id), is_shared=True).exists()


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()

"""Erases the data of a reader, a conversation, a visitor or a whole project. Each erasure has a receipt in the audit.

Data that another process holds in memory at this moment is stored within a second, so erase after the reader has left.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.utils.crypto import salted_hmac

from docsite.core import components, ids, write_ahead_log
from docsite.core.components.erasure import EVERYTHING, READER, WRITER, Subject
from docsite.core.tenants.models import Project
from docsite.privacy import audit

EMPTYING_SECONDS = 1.0

# What a receipt says about copies that are not in a table.
IN_LOG = "the write-ahead log, as long as a reader uses it: the service empties it within a minute after that"
IN_PAGES = "fragments of rows that SQLite had moved, in pages of its file, until VACUUM rewrites it"
IN_POSTGRESQL = (
    "files of PostgreSQL and of its replicas, until VACUUM (autovacuum does it), and its write-ahead log, until it is "
    "recycled"
)
IN_BACKUPS = "backups, until you delete them"


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


def find_subject(
    project: Project, whose: str, identifier: str = "", user_agent: str = "", reader_id: str = ""
) -> Subject:
    """Whose data is meant; `Subject` explains the arguments. A conversation's id names its reader, too.

    Raises `NotErasable`.
    """
    subject = Subject(project, whose, identifier, user_agent, reader_id)
    for component in components.load():
        if whose == READER and component.find_reader:
            subject = Subject(project, READER, component.find_reader(subject), last_thread=identifier)
    return subject


def count(subject: Subject) -> dict[str, int]:
    """How many rows an erasure would delete; empty for a visitor and for everything, which nobody counts before."""
    if subject.whose == EVERYTHING:
        return {}
    counted = (component.count(subject) for component in components.load() if component.count)
    return {kind: number for counts in counted for kind, number in counts.items()}


def erase(project: Project, whose: str, identifier: str = "", user_agent: str = "", reader_id: str = "") -> Receipt:
    """Erase what every component holds of a subject. Raises `NotErasable`.

    The pages, settings and keys of a project stay. What is erased already has a receipt of nothing: the first attempt
    may have been interrupted before it had one.
    """
    subject = find_subject(project, whose, identifier, user_agent, reader_id)
    erased: dict[str, int] = {}
    for component in reversed(components.load()):
        if component.erase:
            erased = {**component.erase(subject), **erased}
    receipt_id, name, left = ids.receipt_id(), _describe(subject), _list_copies()
    entry = audit.add_entry(
        "erased",
        name,
        organization_id=project.organization_id,
        project=project.domain,
        details={"receipt": receipt_id, **erased, "left": left},
    )
    return Receipt(receipt_id, entry.at, project.domain, name, erased, left)


def _describe(subject: Subject) -> str:
    """Name a subject by a keyed hash.

    Who knows the reader can check that a receipt is about this reader, and nobody else learns it.
    """
    if subject.whose == EVERYTHING:
        return "all readers"
    secret = subject.identifier.lower() if subject.whose == WRITER else subject.identifier
    if subject.address:
        secret = f"{subject.address} {subject.user_agent}"
    value = f"{subject.project.project_id}\n{secret}"
    return f"{subject.whose} {salted_hmac('privacy.erasure', value, algorithm='sha256').hexdigest()[:16]}"


def _list_copies() -> list[str]:
    """Empty SQLite's write-ahead log if no reader uses it. Returns what may still hold what was erased."""
    if connection.vendor != "sqlite":
        return [IN_POSTGRESQL, IN_BACKUPS]
    return [*([] if write_ahead_log.empty(EMPTYING_SECONDS) else [IN_LOG]), IN_PAGES, IN_BACKUPS]

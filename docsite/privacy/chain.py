"""The chain of the audit's entries: each stores a digest of itself and of the entry before it.

Each organization has a chain of its own, and entries of no organization have one, too. A row of `AuditHead` names the
last entry of a chain. Writers lock it, so that two processes cannot both write the next entry. Whoever changes or
deletes an entry must change the digests of all later ones, and the head. `checkaudit` prints the heads: whoever
has noted them elsewhere detects even that.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from docsite.privacy.models import AuditEntry, AuditHead

START = "0" * 64  # the previous digest of the first entry of a chain
NO_ORGANIZATION = 0  # the chain of entries that belong to none


def compute_digest(previous: str, entry: AuditEntry) -> str:
    """SHA-256, in hexadecimal, of the digest of the previous entry and of what this entry says."""
    at: datetime = entry.at
    values = [
        previous,
        entry.position,
        at.astimezone(UTC).isoformat(timespec="microseconds"),
        entry.actor,
        entry.network,
        entry.action,
        entry.object,
        entry.organization_id,
        entry.project,
        entry.before,
        entry.details,
    ]
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def append(entry: AuditEntry) -> None:
    """Store a new entry as the last of its chain."""
    entry.before, entry.details = _normalize(entry.before), _normalize(entry.details)
    with transaction.atomic():
        chain = entry.organization_id or NO_ORGANIZATION
        heads = AuditHead.objects.select_for_update().filter(chain=chain)
        head = heads.first()
        if head is None:
            AuditHead.objects.get_or_create(chain=chain, defaults={"digest": START})
            head = heads.get()
        entry.position = head.position + 1
        entry.digest = compute_digest(head.digest, entry)
        entry.save(force_insert=True)
        heads.update(position=entry.position, digest=entry.digest)


@dataclass(frozen=True)
class Result:
    """What the check of a chain found. `broken` is a sentence about its first wrong row; empty if all is right."""

    chain: int
    entries: int
    digest: str
    broken: str


def check_chains() -> Iterator[Result]:
    """Check every chain, from its first entry on."""
    organizations = AuditEntry.objects.order_by().values_list("organization_id", flat=True).distinct()
    chains = {*AuditHead.objects.values_list("chain", flat=True), *(one or NO_ORGANIZATION for one in organizations)}
    for chain in sorted(chains):
        with transaction.atomic():  # SQLite: no writer between the entries and their head
            head = AuditHead.objects.select_for_update().filter(chain=chain).first()
            yield _check(chain, head)


def _check(chain: int, head: AuditHead | None) -> Result:
    entries = AuditEntry.objects.filter(organization_id=chain or None).order_by("position", "pk")
    position, digest = 0, START
    for entry in entries.iterator():
        position += 1
        if entry.position != position:
            kind = "is missing" if entry.position > position else "stands twice"
            place = position if entry.position > position else entry.position
            return Result(chain, position - 1, digest, f"Entry {place} {kind}, before row {entry.pk} ({entry}).")
        if entry.digest != compute_digest(digest, entry):
            row = f"row {entry.pk}, {entry.at:%Y-%m-%d %H:%M:%S}"
            return Result(chain, position - 1, digest, f"Entry {position} was changed ({row}, {entry}).")
        digest = entry.digest
    if head is None or (head.position, head.digest) != (position, digest):
        last = head.position if head else 0
        return Result(chain, position, digest, f"Entry {position + 1} is missing: the chain ends at {last}.")
    return Result(chain, position, digest, "")


def _normalize(values: Any) -> Any:
    """The values as every database gives them back."""
    return json.loads(json.dumps(values))

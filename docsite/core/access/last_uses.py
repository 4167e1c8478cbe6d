"""When each key was last used, to about ten minutes. A thread writes it, so that no request waits."""

from datetime import datetime, timedelta

from django.utils import timezone

from docsite.core.group_commit import GroupCommit
from docsite.core.tenants.models import ApiKey

MIN_INTERVAL = timedelta(minutes=10)  # between two uses that are stored


def note_use(key: ApiKey) -> None:
    """Store that a key is used now, unless a use within the last ten minutes is stored. It does not block."""
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at >= MIN_INTERVAL:
        key.last_used_at = now  # the next requests share this object
        _uses.submit((key.pk, now))


def _store(uses: list[tuple[int, datetime]]) -> list[None]:
    for pk, at in uses:
        ApiKey.objects.filter(pk=pk).update(last_used_at=at)
    return [None] * len(uses)


_uses = GroupCommit("last uses of keys", _store, delay=1.0, min_group_weight=100, max_group_weight=100, capacity=10_000)
flush = _uses.flush  # stores the waiting uses, in this thread

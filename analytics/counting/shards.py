"""Change the number of shards while views come in and reports are read.

Neither visit histories nor cells move: a history belongs to a visitor, and cells add up
over shards. Only the rows that say how far each shard is sealed are replaced. They need
one common watermark, which is reached and stored in one transaction.
"""

from django.db import transaction
from django.db.models import Max, Min

from analytics.counting import sealer
from analytics.counting.sealer import Lease, Progress
from analytics.models import Seal

SHARD_COUNTS = (1, 2, 4, 8, 16)  # powers of two: a shard is the lowest bits of a visitor


def set_count(number: int, progress: Progress | None = None) -> int:
    """Change the number of shards. Returns the old number. Visitor counts stay exact during the change.

    If two processes do this at once, the later one wins. A process that is sealing a shard
    loses its lease, and continues with the new shards.
    """
    if number not in SHARD_COUNTS:
        raise ValueError(f"the number of shards must be one of {', '.join(map(str, SHARD_COUNTS))}")
    sealer.seal(
        timeout=float("inf"), progress=progress
    )  # so that little is left to seal in the transaction, which blocks others
    with transaction.atomic():
        # Row 0 always exists. A process that waited for it sees the rows of the other process in its next query.
        Seal.objects.select_for_update().get(shard=0)
        seals = list(Seal.objects.select_for_update().order_by("shard"))
        token = max(seal.token for seal in seals) + 1  # higher than every lease before, also of removed shards
        Seal.objects.update(token=token)
        up_to = max(seal.sealed_to for seal in seals)
        for seal in seals:
            _catch_up(seal, len(seals), token, up_to)
        facts = Seal.objects.aggregate(sealed_to=Max("sealed_to"), closed=Min("closed"), swept_at=Min("swept_at"))
        Seal.objects.filter(shard__gte=number).delete()
        for shard in range(number):
            Seal.objects.update_or_create(shard=shard, defaults={**facts, "token": token, "leased_until": 0})
    return len(seals)


def _catch_up(seal: Seal, shards: int, token: int, up_to: int) -> None:
    while seal.sealed_to < up_to:
        sealer.seal_views(Lease(seal.shard, shards, token, seal.sealed_to, seal.closed), up_to)
        seal.refresh_from_db()

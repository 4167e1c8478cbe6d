"""Change the number of shards while views come in and reports are read.

Neither visit histories nor cells move: a history belongs to a visitor, and cells add up
over shards. Only the rows that say how far each shard is sealed are replaced. Those of a project need
one common watermark, which is reached and stored in one transaction.
"""

from django.db import transaction
from django.db.models import Count, Max, Min

from analytics.counting import sealer
from analytics.counting.sealer import Lease, Progress
from analytics.models import Seal, Sharding

SHARD_COUNTS = (1, 2, 4, 8, 16)  # powers of two: a shard is the lowest bits of a visitor


def get_count() -> int:
    """The number of shards that every project has, or will get."""
    return Sharding.objects.get().number


def set_count(number: int, progress: Progress | None = None) -> int:
    """Change the number of shards of every project. Returns the old number. Visitor counts stay exact meanwhile.

    After a crash some projects have the old number: call it again. If two processes do this at once, the later one
    wins. A process that is sealing a shard loses its lease, and continues with the new shards.
    """
    if number not in SHARD_COUNTS:
        raise ValueError(f"the number of shards must be one of {', '.join(map(str, SHARD_COUNTS))}")
    sealer.seal(
        timeout=float("inf"), progress=progress
    )  # so that little is left to seal in the transactions, which block others
    before = get_count()
    Sharding.objects.update(number=number)
    shards = Seal.objects.values("project_id").annotate(shards=Count("shard"))
    for project_id in list(shards.exclude(shards=number).values_list("project_id", flat=True)):
        with transaction.atomic():
            _change(project_id)
    return before


def _change(project_id: int) -> None:
    """Give a project the number of shards in `Sharding`. Call it in a transaction."""
    # No other process changes the number until the project has its shards.
    number = Sharding.objects.select_for_update().get().number
    # A process that waited for row 0 sees the rows of the other process in its next query.
    if not Seal.objects.select_for_update().filter(project=project_id, shard=0):
        return  # the project was deleted
    seals = list(Seal.objects.select_for_update().filter(project=project_id).order_by("shard"))
    token = max(seal.token for seal in seals) + 1  # higher than every lease before, also of removed shards
    own = Seal.objects.filter(project=project_id)
    own.update(token=token)
    up_to = max(seal.sealed_to for seal in seals)
    for seal in seals:
        _catch_up(seal, len(seals), token, up_to)
    facts = own.aggregate(sealed_to=Max("sealed_to"), closed=Min("closed"), swept_at=Min("swept_at"))
    own.delete()
    Seal.objects.bulk_create(Seal(project_id=project_id, shard=shard, token=token, **facts) for shard in range(number))


def _catch_up(seal: Seal, shards: int, token: int, up_to: int) -> None:
    """Count the views of a shard up to this view id. The cells of hours that are over are merged into longer ones."""
    while True:
        sealer.seal_views(Lease(seal.project_id, seal.shard, shards, token, seal.sealed_to, seal.closed), up_to)
        seal.refresh_from_db()
        if seal.sealed_to >= up_to:
            return

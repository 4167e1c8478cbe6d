"""The deployments: their rows in each database, and their ranges of ids."""

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigAutoField, Max, Model

from analytics.counting import partitions
from docsite.core.tenants.models import Deployment
from docsite.server.move import id_counters, target
from docsite.server.move.run import list_models

FIRST = "first"  # the deployment that knows the others


class PlacementError(Exception):
    """A deployment cannot be added, or an organization cannot be moved. The message is for the operator."""


def add(name: str, address: str, url: str) -> Deployment:
    """Make a deployment of an empty database, and store it in both. After an interruption, call it again.

    Raises `PlacementError`, and `BackupError` for a database that is not empty, or is our own.
    """
    new = target.connect(url)
    if not _is_ready(new, name):
        target.has_begun(new)  # refuses one with data
        target.migrate(url)
    with transaction.atomic():
        here = _get_here()
        if here.name != FIRST:
            raise PlacementError(f"Add deployments where the first one is, not in {here}.")
        if name == FIRST:
            raise PlacementError(f"{FIRST} is the name of this deployment. Choose another one.")
        added, is_new = Deployment.objects.get_or_create(
            name=name, defaults={"address": address, "id_range": _find_next_range()}
        )
        if not is_new and added.address != address:
            Deployment.objects.filter(pk=added.pk).update(address=address)
    if not _is_ready(new, name):
        begin_range(new, added.id_range)
        with transaction.atomic(using=target.ALIAS):
            there = Deployment.objects.using(target.ALIAS)
            there.create(name=FIRST, address=here.address, id_range=here.id_range)
            there.create(name=name, address=address, id_range=added.id_range, is_here=True)
    return added


def find_pair() -> tuple[Deployment, Deployment]:
    """The row of the deployment where this command runs, and the row of the one to which `target.connect` has led.

    Both rows are from the database of this command. Raises `PlacementError` if the two do not know each other.
    """
    here = Deployment.objects.filter(is_here=True).first()
    theirs = Deployment.objects.using(target.ALIAS).filter(is_here=True).first()
    known = Deployment.objects.filter(name=theirs.name).first() if theirs else None
    if here is None or theirs is None or known is None or here.name == theirs.name:
        raise PlacementError("The database is of no deployment that this one knows. Make it with: adddeployment")
    if FIRST not in (here.name, theirs.name):
        raise PlacementError(f"Move it to the deployment “{FIRST}” before, and from there to {theirs}.")
    return here, known


def raise_range(here: Deployment, there: Deployment) -> None:
    """Give the receiving deployment a new range of ids, unless its range is above that of this deployment.

    An organization that arrives brings rows with ids of this deployment. Rows that are made after them must have higher
    ids: views are counted, and pages of lists go on, from the highest id that was seen. The range is that of all
    organizations there.
    """
    alias = DEFAULT_DB_ALIAS if here.name == FIRST else target.ALIAS
    stored = Deployment.objects.using(target.ALIAS).get(name=there.name)
    if stored.id_range > Deployment.objects.get(pk=here.pk).id_range:
        return
    number = _find_next_range(alias)
    begin_range(connections[target.ALIAS], number)
    # If it ends before both rows are stored, the next call gives the same range again, or a higher one.
    for database in (DEFAULT_DB_ALIAS, target.ALIAS):
        Deployment.objects.using(database).filter(name=there.name).update(id_range=number)


def begin_range(database: BaseDatabaseWrapper, number: int) -> None:
    """Let all tables of a database give ids from a range, unless they give higher ones already."""
    models, first = list_ranged(), number * Deployment.RANGE_IDS
    with transaction.atomic(using=database.alias):
        last = id_counters.load(models, database)
        id_counters.store(database, models, {table: first for table in last if last[table] < first})
    partitions.extend(database)


def list_ranged() -> list[type[Model]]:
    """The models whose ids come from the range of the deployment."""
    return [model for model in list_models() if isinstance(model._meta.pk, BigAutoField)]


def _get_here() -> Deployment:
    here = Deployment.objects.filter(is_here=True).first()
    return here or Deployment.objects.create(name=FIRST, id_range=0, is_here=True)


def _find_next_range(alias: str = DEFAULT_DB_ALIAS) -> int:
    """One that no deployment had. The first one knows them all, and each keeps its latest, so the highest is known."""
    return int(Deployment.objects.using(alias).aggregate(highest=Max("id_range"))["highest"] or 0) + 1


def _is_ready(database: BaseDatabaseWrapper, name: str) -> bool:
    """Whether an earlier call has made this deployment of it."""
    if Deployment._meta.db_table not in database.introspection.table_names():
        return False
    return Deployment.objects.using(database.alias).filter(name=name, is_here=True).exists()

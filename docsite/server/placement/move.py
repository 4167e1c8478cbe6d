"""Moves an organization to another deployment. After an interruption it goes on where it was.

Until the fence, everything works as before, while raw views are copied. Behind it nothing is written here. After the
switch the row of the organization says where it lives, and this deployment goes on to answer reads from its copy until
nginx has the new map.
"""

import secrets
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

from django.db import IntegrityError, connection, connections, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import QuerySet

from analytics.counting import unsealed
from analytics.models import PageView
from docsite.core.tenants.models import Deployment, MoveProgress, MoveState, Organization, Project
from docsite.server.move import target
from docsite.server.move.target import ALIAS
from docsite.server.placement import copying, fence, settling, tables, users
from docsite.server.placement.deployments import PlacementError, find_pair, raise_range

Report = Callable[[str, int], None]
_FROM = "from:"  # begins the name of the row in the database that an organization leaves


@dataclass(frozen=True)
class Moved:
    """What was moved: rows, and for how many seconds nothing could be written before the switch."""

    rows: int
    frozen_seconds: float
    deployment: Deployment


def move(organization: Organization, url: str, say: Callable[[str], None], report: Report) -> Moved:
    """Move an organization to the deployment of a database. Raises `PlacementError` and errors of the databases."""
    here, there = connect(url)
    if organization.deployment_id == there.pk:
        _forget_progress(organization)  # it was interrupted after the switch
        return Moved(0, 0.0, there)
    if organization.deployment_id is not None:
        raise PlacementError(f"{organization} lives at {organization.deployment}. Move it from there.")
    _begin(organization, here, there)
    people = users.match(organization.pk)
    copies = copying.Copying(organization.pk, people, report)
    began = time.monotonic()
    if not _has_arrived(organization):
        if organization.move_state != MoveState.FENCED:
            say("Copying raw views. Nothing is refused yet.")
            copies.copy(PageView, up_to=_find_settled_view(organization))
            began = time.monotonic()
            try:
                settling.settle(organization, say)
            except PlacementError:
                settling.release(organization)
                raise
        else:
            fence.build(organization.pk, fence.list_models())
        say("Nothing is written any more. Copying the rest.")
        copies.users |= users.match(organization.pk)
        copies.update_projects()
        for model in tables.find_paths():
            if model not in (Organization, Project):
                copies.copy(model)
        copies.mend(PageView)
        rows = copying.compare(organization.pk)
        _arrive(organization, rows)
    _switch(organization, there)
    frozen_seconds = time.monotonic() - began
    rows = int(_progress(organization).get().value["rows"])
    _forget_progress(organization)
    with connections[ALIAS].cursor() as cursor:
        cursor.execute("ANALYZE")  # without statistics queries are slow
    return Moved(rows, frozen_seconds, there)


def cancel(organization: Organization, url: str) -> None:
    """Give a move up: delete what was copied, and open the organization here. Raises `PlacementError`."""
    connect(url)
    if organization.deployment_id is not None or _has_arrived(organization):
        raise PlacementError("It has arrived. Run the command without --cancel, and move it back from there.")
    _clear(organization)
    settling.release(organization)
    _progress_here(organization).delete()


def connect(url: str) -> tuple[Deployment, Deployment]:
    """Open the other database. Returns the deployments of both. Raises `PlacementError` and `BackupError`."""
    other = target.connect(url)
    applied = (set(MigrationRecorder(one).applied_migrations()) for one in (connection, other))
    if next(applied) != next(applied):
        raise PlacementError("The two databases are not of the same release. Update both deployments, and try again.")
    return find_pair()


def _begin(organization: Organization, here: Deployment, there: Deployment) -> None:
    """Make the organization and its projects in the other database, frozen. Nothing happens if that is done."""
    mine, _ = MoveProgress.objects.get_or_create(
        name=f"{_FROM}{organization.pk}", defaults={"value": {"move": secrets.token_hex(8)}}
    )
    known = _progress(organization).first()
    if known and known.value["move"] == mine.value["move"]:
        return
    if known:
        _clear(organization)  # of a move that was given up
    elif _has_copy(organization):
        raise PlacementError(f"{there} has the old copy still. Remove it there before: moveorganization --remove")
    raise_range(here, there)
    if Organization.objects.using(ALIAS).filter(pk=organization.pk).exists():  # it comes back
        fence.remove(organization.pk, fence.list_models(), database=ALIAS)
    try:
        _create(organization, mine.value)
    except IntegrityError as failure:
        reason = " ".join(str(failure).split())
        raise PlacementError(f"{there} has an organization or a project of the same name: {reason}") from None


def _create(organization: Organization, progress: object) -> None:
    with transaction.atomic(using=ALIAS):
        Project.objects.using(ALIAS).filter(organization=organization.pk)._raw_delete(ALIAS)
        known = Organization.objects.using(ALIAS).filter(pk=organization.pk).first()
        new = copy(organization)
        new.deployment_id = known.deployment_id if known else None  # what comes back is elsewhere until it has arrived
        new.move_state = MoveState.FENCED
        new.save_base(raw=True, using=ALIAS)  # as it is
        for project in Project.objects.filter(organization=organization):
            project.save_base(raw=True, using=ALIAS, force_insert=True)
        MoveProgress.objects.using(ALIAS).create(name=str(organization.pk), value=progress)


def _arrive(organization: Organization, rows: int) -> None:
    """Open the organization in the other database. Nobody is sent there yet, and here it is fenced."""
    values = Organization.objects.filter(pk=organization.pk).values(
        "name", "requires_single_sign_on", "requires_second_factor"
    )
    with transaction.atomic(using=ALIAS):
        there = Organization.objects.using(ALIAS).filter(pk=organization.pk)
        there.update(**values.get(), deployment=None, move_state="")
        known = _progress(organization).get()
        _progress(organization).update(value={**known.value, "rows": rows})


def _switch(organization: Organization, there: Deployment) -> None:
    with transaction.atomic():
        Organization.objects.filter(pk=organization.pk).update(deployment=there, move_state="")
        _progress_here(organization).delete()


def _has_arrived(organization: Organization) -> bool:
    known = _progress(organization).first()
    return known is not None and "rows" in known.value


def _has_copy(organization: Organization) -> bool:
    return any(
        copying.select(model, organization.pk, ALIAS).exists()
        for model in tables.find_paths()
        if model not in (Organization, Project)
    )


def _clear(organization: Organization) -> None:
    """Delete what was copied. What came back at some time keeps its row, which says where it lives."""
    copying.delete_all(organization.pk, ALIAS)
    with transaction.atomic(using=ALIAS):
        own = Organization.objects.using(ALIAS).filter(pk=organization.pk)
        if own.filter(deployment=None).exists():
            Project.objects.using(ALIAS).filter(organization=organization.pk)._raw_delete(ALIAS)
            own._raw_delete(ALIAS)
        else:
            own.update(move_state="")
        _forget_progress(organization)


def _find_settled_view(organization: Organization) -> int:
    """An id up to which no view of the organization can be committed any more."""
    projects = Project.objects.filter(organization=organization).values_list("pk", flat=True)
    return max((unsealed.newest_view_id(pk) for pk in projects), default=0)


def _progress(organization: Organization) -> "QuerySet[MoveProgress]":
    return MoveProgress.objects.using(ALIAS).filter(name=str(organization.pk))


def _progress_here(organization: Organization) -> "QuerySet[MoveProgress]":
    return MoveProgress.objects.filter(name=f"{_FROM}{organization.pk}")


def _forget_progress(organization: Organization) -> None:
    MoveProgress.objects.using(ALIAS).filter(name__startswith=f"{organization.pk}:").delete()
    _progress(organization).delete()

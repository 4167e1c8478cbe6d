"""Organizations that are frozen here: they move to another deployment, or live there.

Requests that would write for them are refused, and background work leaves them alone. Triggers in the database
(`docsite.server.placement.fence`) refuse what is written all the same, by a process that does not know yet.
"""

from typing import Any

from django.db import IntegrityError
from django.db.models import Q, QuerySet

from docsite.core.http.errors import Unavailable
from docsite.core.tenants.models import MoveState, Organization, Project

SENTENCE = "This project is being moved. Try again shortly."
RETRY_SECONDS = 10
FENCE = "organization is frozen"  # in the message of the triggers
_FROZEN = Q(move_state=MoveState.FENCED) | Q(deployment__isnull=False)
_FROZEN_OR_SETTLING = ~Q(organization__move_state="") | Q(organization__deployment__isnull=False)


def list_frozen() -> "QuerySet[Any, Any]":
    """The ids of the projects that background work leaves alone, for `exclude(project__in=…)`.

    Those that only settle are not among them: what has begun may end.
    """
    return Project.objects.filter(organization__in=list_frozen_organizations()).values("pk")


def list_moving() -> "QuerySet[Any, Any]":
    """The same, with the projects that settle: for work that takes long, and must not begin."""
    return Project.objects.filter(_FROZEN_OR_SETTLING).values("pk")


def list_frozen_organizations() -> "QuerySet[Any, Any]":
    """The ids of frozen organizations."""
    return Organization.objects.filter(_FROZEN).values("pk")


def _build_sql(move_state: str) -> str:
    return (
        f"(SELECT frozen.id FROM {Project._meta.db_table} AS frozen JOIN {Organization._meta.db_table} AS owner "
        f"ON owner.id = frozen.organization_id WHERE owner.move_state {move_state} OR owner.deployment_id IS NOT NULL)"
    )


# `list_frozen` and `list_moving` in SQL, for conditions such as `project_id NOT IN …`.
FROZEN_SQL = _build_sql(f"= '{MoveState.FENCED.value}'")
MOVING_SQL = _build_sql("<> ''")


def check_writable(project: Project) -> None:
    """Raise `Unavailable` if requests may write nothing of a project. The project may be some seconds old."""
    if project.organization.refuses_writes:
        raise Unavailable(SENTENCE, RETRY_SECONDS)


def is_refusal(failure: BaseException | None) -> bool:
    """Whether the database refused to write rows of a frozen organization."""
    return isinstance(failure, IntegrityError) and FENCE in str(failure)

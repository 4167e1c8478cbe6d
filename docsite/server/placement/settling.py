"""Lets what runs for an organization end, before nothing may be written any more."""

import time
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from analytics.collecting.view_log import state
from analytics.counting.sealer import seal_project
from analytics.models import PageView
from assistant.models import Message
from assistant.question_groups import grouping
from docsite.core.access.authentication import CACHE_SECONDS
from docsite.core.tenants.models import MoveState, Organization, Project
from docsite.server.placement import fence
from docsite.server.placement.deployments import PlacementError
from search.models import Source
from search.stored_sources.queue import is_being_read

NOTICE_SECONDS = CACHE_SECONDS + 0.5  # after which each process refuses what would write
SAVE_SECONDS = 30.0  # beyond the time of an answer by two models
LOG_SECONDS = 60.0
SEAL_SECONDS = 600.0
POLL_SECONDS = 0.2
_ABANDONED = timedelta(minutes=5)  # without a save, an answer belongs to a process that died

Say = Callable[[str], None]


def settle(organization: Organization, say: Say) -> None:
    """Refuse requests that write, wait for what runs, and fence all tables. Raises `PlacementError`.

    New projects and messages are fenced first. So no answer can begin while those that run end, however late a process
    learns of the move. Then all views and messages are fenced, counted and grouped, and then the rest is fenced.
    """
    _set_state(organization, MoveState.SETTLING)
    time.sleep(NOTICE_SECONDS)
    fence.build(organization.pk, [Project], fence.INSERT)
    projects = list(Project.objects.filter(organization=organization).order_by("pk"))
    fence.build(organization.pk, [Message], fence.INSERT)
    say("Waiting for answers and sources that run.")
    _wait_for(lambda: _count_running(projects) == 0, _count_answer_seconds(), "An answer still runs.")
    _wait_for(lambda: not _is_read(projects), _count_answer_seconds(), "A source is still being read.")
    if not state.wait_until_stored(LOG_SECONDS):
        raise PlacementError("The view log has views that are not in the database yet. Look at `manage.py doctor`.")
    fence.build(organization.pk, [PageView, Message])
    for project in projects:
        if not seal_project(project.pk, SEAL_SECONDS):
            raise PlacementError(f"The views of {project} could not be counted in time.")
    grouping.catch_up()
    _set_state(organization, MoveState.FENCED)
    fence.build(organization.pk, fence.list_models())


def release(organization: Organization) -> None:
    """Let the organization be written here again."""
    fence.remove(organization.pk, fence.list_models())
    _set_state(organization, "")


def _set_state(organization: Organization, value: str) -> None:
    Organization.objects.filter(pk=organization.pk).update(move_state=value)


def _count_running(projects: list[Project]) -> int:
    running = Message.objects.filter(thread__project__in=projects, state=Message.State.RUNNING)
    return running.filter(updated_at__gt=timezone.now() - _ABANDONED).count()


def _is_read(projects: list[Project]) -> bool:
    return any(map(is_being_read, Source.objects.filter(project__in=projects, state=Source.State.RUNNING)))


def _count_answer_seconds() -> float:
    return 2 * settings.ENV.openai_answer_seconds + SAVE_SECONDS


def _wait_for(condition: Callable[[], bool], seconds: float, problem: str) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise PlacementError(f"{problem} The organization is open again. Try later.")
        time.sleep(POLL_SECONDS)

"""The start and the end of a process that serves. Each scenario runs in a process and a database of its own."""

import asyncio
import os
import threading
import uuid
from datetime import UTC, datetime
from typing import Any

from analytics.collecting import recording as views
from analytics.collecting.recording import Observation
from analytics.models import PageView
from assistant.models import Message, Thread
from docsite.core import components
from docsite.core.db import in_db
from docsite.core.http.client_address import parse_address
from docsite.core.notifications.models import Routine
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import Project
from docsite.server import lifecycle
from search.query_log import recording as searches
from tests.conftest import wait_for


def new_project() -> Project:
    project, *_ = create_project(f"life-{os.urandom(4).hex()}", "Life", "https://docs.example", [])
    return project


def a_view(project: Project) -> None:
    """A view that nobody waits for."""
    seen = Observation(
        uuid.uuid4().hex, "/install", datetime.now(UTC), parse_address("198.51.100.1"), "Mozilla/5.0 Firefox/1"
    )
    views.send(project, [seen])


def stored(project: Project) -> tuple[int, int]:
    return PageView.objects.filter(project=project).count(), project.searches.count()


def the_end_stores_what_the_last_requests_recorded() -> None:
    """Although a step before it fails. The errors of these steps are sent last."""
    project = new_project()
    stored_at_flush: list[tuple[int, int]] = []
    seam = components.load()
    last = components.Component(name="errors", flush=lambda: stored_at_flush.append(stored(project)))

    async def last_requests() -> None:
        await in_db(a_view)(project)
        searches.record(project, 1, "install", 1)

    async def broken() -> None:
        raise RuntimeError("the answers cannot be ended")

    broken_answers = components.Component(name="answers", drain=broken)
    components.load = lambda: (last, broken_answers, *seam)
    asyncio.run(lifecycle.stop(last_requests))
    assert stored(project) == (1, 1)
    assert stored_at_flush == [(1, 1)]


def a_server_announces_start_and_end() -> None:
    """What runs beside the requests has begun when the start is complete, and all is stored when the end is."""
    project = new_project()
    thread = Thread.objects.create(project=project, fp="reader", title="?")
    Message.objects.create(thread=thread, role="assistant", state="running", caller="api")
    before = {one.name for one in threading.enumerate()}
    messages = iter(["lifespan.startup", "lifespan.shutdown"])
    sent = []

    async def receive() -> dict[str, str]:
        return {"type": next(messages)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message["type"])
        if message["type"] == "lifespan.startup.complete":
            assert {thread.name for thread in threading.enumerate()} - before >= {"sealer", "scheduler", "sweeper"}
            await in_db(a_view)(project)
            searches.record(project, 1, "install", 1)

    async def serve() -> None:
        await lifecycle.lifespan({"type": "lifespan"}, receive, send)

    asyncio.run(serve())
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert stored(project) == (1, 1)
    assert Message.objects.get(thread=thread).state == "interrupted"
    assert "scheduler" not in {one.name for one in threading.enumerate()}


def a_start_that_fails_is_announced() -> None:
    """Else the server would go on without what runs beside the requests."""
    sent = []

    def broken() -> None:
        raise RuntimeError("no such table")

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    components.load = lambda: (components.Component(name="answers", recover=broken),)
    try:
        asyncio.run(lifecycle.lifespan({"type": "lifespan"}, receive, send))
    except RuntimeError:
        assert sent == [{"type": "lifespan.startup.failed", "message": "no such table"}]
    else:
        raise AssertionError("it went on")


def old_searches_are_forgotten_at_the_start() -> None:
    """A process that was down for long forgets who searched before it."""
    project = new_project()
    project.searches.create(caller=1, text="install", at=datetime(2020, 1, 1, tzinfo=UTC))
    Routine.objects.all().delete()  # no process has swept within the hour
    lifecycle.start_background()
    wait_for(lambda: not project.searches.exists(), "the search to be removed")

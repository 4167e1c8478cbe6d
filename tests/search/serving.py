"""What becomes of stored sources beside a process that serves, and what its end leaves. Each scenario runs in a process
and a database of its own.
"""

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from docsite.core.db import in_db
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import Project
from docsite.server.lifecycle import lifespan
from search.models import Source
from search.query_log import recording
from search.stored_sources import launcher, queue
from tests.conftest import wait_for

State = Source.State


def new_project() -> Project:
    project, *_ = create_project(f"serving-{os.urandom(4).hex()}", "Serving", "https://docs.example", [])
    return project


def stored(folder: str) -> Source:
    """A source that is due, of a project of its own."""
    project = new_project()
    source = Source.objects.create(project=project, name="docs", location=folder, schedule="day")
    queue.enqueue(source)
    return source


def state_of(source: Source) -> str:
    source.refresh_from_db()
    return source.state


def serving(folder: str) -> None:
    """What becomes of due sources beside a process that serves."""
    launcher.thread.seconds = 0.02
    good = stored(folder)
    launcher.thread.start()
    wait_for(lambda: state_of(good) == State.DONE, "it to be read")
    assert good.outcome["added"] == 1
    assert good.due_at == good.finished_at + timedelta(days=1)
    killed = stored(folder)
    wait_for(lambda: state_of(killed) == State.RUNNING and launcher.thread.worker, "one to be read")
    score = Path(f"/proc/{launcher.thread.worker.pid}/oom_score_adj")
    wait_for(lambda: score.read_text() == "1000\n", "the reader to give way")
    os.kill(launcher.thread.worker.pid, signal.SIGKILL)
    wait_for(lambda: state_of(killed) == State.FAILED, "the end to be noticed")
    assert killed.error == "The process that read it was killed, perhaps because memory ran out."
    left = stored(folder)
    wait_for(lambda: state_of(left) == State.RUNNING and launcher.thread.worker, "one to be read")
    worker = launcher.thread.worker
    launcher.thread.stop()
    assert worker.poll() is not None
    assert state_of(left) == State.QUEUED
    assert left.due_at <= timezone.now()
    launcher.thread.start()
    wait_for(lambda: state_of(left) == State.DONE, "it to be read after a new beginning")
    launcher.thread.stop()


def dying(folder: str) -> None:
    """A process that serves is gone at once, while its reader reads."""
    launcher.thread.seconds = 0.02
    source = stored(folder)
    launcher.thread.start()
    wait_for(lambda: state_of(source) == State.RUNNING and launcher.thread.worker, "it to be read")
    os._exit(0)


def given_back() -> None:
    """What the reader has left of that."""
    source = Source.objects.order_by("pk").last()
    wait_for(lambda: state_of(source) == State.QUEUED, "the reader to end")
    assert (source.holder, source.error) == ("", "")


def end_announced() -> None:
    """A server other than Daphne announces the end of its process, which takes no more questions from then on."""
    project, seen = new_project(), []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.shutdown"}

    async def send(message: dict[str, Any]) -> None:
        seen.append((message["type"], await in_db(lambda: list(project.searches.values_list("text", flat=True)))()))

    recording.record(project, 1, "install", 1)
    asyncio.run(lifespan({"type": "lifespan"}, receive, send))
    assert seen == [("lifespan.shutdown.complete", ["install"])]

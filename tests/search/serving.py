"""What becomes of stored sources beside a process that serves. It runs in a process and a database of its own."""

import os
import signal
from datetime import timedelta

from django.utils import timezone

from docsite.projects.management.commands.createproject import create_project
from search import runs, scheduler
from search.models import Source
from tests.conftest import wait_for

State = Source.State


def stored(folder: str) -> Source:
    """A source that is due, of a project of its own."""
    project, *_ = create_project(f"due-{os.urandom(4).hex()}", "Due", "https://docs.example", [])
    source = Source.objects.create(project=project, name="docs", location=folder, schedule="day")
    runs.want(source)
    return source


def state_of(source: Source) -> str:
    source.refresh_from_db()
    return source.state


def serving(folder: str) -> None:
    """What becomes of due sources beside a process that serves."""
    scheduler.LOOK_SECONDS = 0.02
    good = stored(folder)
    scheduler.start()
    wait_for(lambda: state_of(good) == State.DONE, "it to be read")
    assert good.outcome["added"] == 1
    assert good.wanted_at == good.finished_at + timedelta(days=1)
    killed = stored(folder)
    wait_for(lambda: state_of(killed) == State.RUNNING and scheduler._scheduler.reader, "one to be read")
    os.kill(scheduler._scheduler.reader.pid, signal.SIGKILL)
    wait_for(lambda: state_of(killed) == State.FAILED, "the end to be noticed")
    assert killed.error == "The process that read it ended without a word (status -9)."
    left = stored(folder)
    wait_for(lambda: state_of(left) == State.RUNNING and scheduler._scheduler.reader, "one to be read")
    reader = scheduler._scheduler.reader
    scheduler.stop()
    assert reader.poll() is not None
    assert state_of(left) == State.QUEUED
    assert left.wanted_at <= timezone.now()
    scheduler.start()
    wait_for(lambda: state_of(left) == State.DONE, "it to be read after a new beginning")
    scheduler.stop()


def dying(folder: str) -> None:
    """A process that serves is gone at once, while its reader reads."""
    scheduler.LOOK_SECONDS = 0.02
    source = stored(folder)
    scheduler.start()
    wait_for(lambda: state_of(source) == State.RUNNING and scheduler._scheduler.reader, "it to be read")
    os._exit(0)


def given_back() -> None:
    """What the reader has left of that."""
    source = Source.objects.order_by("pk").last()
    assert (source.state, source.runner, source.error) == (State.QUEUED, "", "")

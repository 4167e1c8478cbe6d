"""A thread beside the requests goes on after every failure, and a thread that is gone is noticed."""

from collections.abc import Callable, Iterator

import pytest

from docsite.core import background
from docsite.core.background import BackgroundThread
from docsite.server.health import readiness
from tests.conftest import wait_for


class Worker(BackgroundThread):
    name = "test worker"
    seconds = retry_seconds = 0.001

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.action: Callable[[], object] = lambda: None

    def work(self) -> None:
        self.calls += 1
        self.action()


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def test_a_thread_that_raises_goes_on(worker: Worker, caplog: pytest.LogCaptureFixture) -> None:
    worker.action = lambda: 1 / 0
    worker.succeeded_at = 0
    worker.start()
    wait_for(lambda: worker.failures >= 2, "two failures")
    assert worker.succeeded_at == 0
    worker.action = lambda: None
    calls = worker.calls
    wait_for(lambda: worker.calls > calls + 1, "further work")
    assert worker.succeeded_at > 0
    assert "The thread “test worker” failed." in caplog.text
    assert not worker.has_ended


def test_it_can_be_woken_stopped_and_started_again(worker: Worker) -> None:
    worker.seconds = 60
    worker.start()
    worker.start()
    assert worker in background.list_running()
    worker.wake()
    wait_for(lambda: worker.calls == 1, "the work")
    worker.stop()
    assert worker not in background.list_running()
    worker.start()
    worker.wake()
    wait_for(lambda: worker.calls == 2, "the work")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_thread_that_is_gone_is_not_ready(worker: Worker) -> None:
    def end() -> None:
        raise SystemExit

    worker.action = end
    worker.start()
    wait_for(lambda: worker.has_ended, "its end")
    assert (await readiness.check())["threads"] == "has ended: test worker"

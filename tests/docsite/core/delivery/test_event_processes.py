"""Kill -9 between an event and its delivery loses nothing, and the receiver recognizes what comes twice."""

from pathlib import Path
from typing import Any

import pytest

from tests import processes, scenarios
from tests.conftest import PATIENCE
from tests.docsite.core.delivery import event_processes
from tests.receivers import serve_webhook


def die(scenario: Any, database: dict[str, str], folder: Path) -> None:
    arguments = (event_processes.__name__, scenario.__name__)
    killed = processes.Process(
        processes.call, arguments, scenarios.environment(database), folder / "out", folder / "err"
    )
    assert killed.wait(PATIENCE) == -9, (folder / "err").read_text()


@pytest.mark.matrix
def test_killed_processes_lose_no_event(copy_database: Any, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    database = copy_database(folder)
    with serve_webhook() as receiver:
        scenarios.run(event_processes.add_webhook, database, receiver.url)
        die(event_processes.die_after_reading, database, tmp_path)
        assert receiver.calls == []
        die(event_processes.die_after_sending, database, tmp_path)
        assert len(receiver.calls) == 1
        scenarios.run(event_processes.send, database)
        scenarios.run(event_processes.send, database)
        assert len(receiver.calls) == 2, "once by the killed process, and once by the next"
        assert len(set(receiver.ids)) == 1
        first, second = receiver.events
        assert first == second

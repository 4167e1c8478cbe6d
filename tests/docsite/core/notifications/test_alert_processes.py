"""A serving process looks for problems by itself, and sends what a killed one has found. Nobody is told twice."""

from pathlib import Path
from typing import Any

import pytest

from docsite.core.notifications.models import Routine
from tests import processes, scenarios
from tests.conftest import PATIENCE, wait_for
from tests.docsite.core.notifications import alert_processes
from tests.receivers import serve_mail


@pytest.mark.matrix
def test_two_services_send_what_a_killed_process_found_once(start: Any, copy_database: Any, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    database = copy_database(folder)
    scenarios.run(alert_processes.subscribe, database)
    arguments = (alert_processes.__name__, alert_processes.die_after_checking.__name__)
    environment = scenarios.environment(database)
    killed = processes.Process(processes.call, arguments, environment, tmp_path / "out", tmp_path / "err")
    assert killed.wait(PATIENCE) == -9, (tmp_path / "err").read_text()
    with serve_mail() as mail:
        for _ in range(2):
            start.fresh(**database, EMAIL_URL=mail.url, EMAIL_FROM="docs@acme.example")
        wait_for(lambda: mail.mail, "the e-mail of the killed process")
        wait_for(lambda: _has_run(database), "the services to look for alerts")
        assert [letter["Subject"] for letter in mail.mail] == ["[alerted] The source docs could not be read"]


def _has_run(database: dict[str, str]) -> bool:
    return scenarios.query(database, f"SELECT count(*) FROM {Routine._meta.db_table}") != [(0,)]

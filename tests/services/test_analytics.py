"""Counting on PostgreSQL: the same as on SQLite, by several processes at once."""

import csv
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docsite.site import navigation
from tests import scenarios
from tests.analytics import view_files
from tests.analytics.counting import crashes, view_partitions
from tests.analytics.counting.history import as_reported, brute, history
from tests.conftest import PATIENCE, ROOT
from tests.variants import first_of

pytestmark = pytest.mark.services

# The script of the page Growing that copies views into files.
VIEW_FILES = navigation.pages()["at-scale"].body.partition("\n## Single views as files\n")[2]
SCRIPT = re.search(r"^```sh\n(.*?)^```$", VIEW_FILES, re.M | re.S)[1]
FOR_SQLITE = re.sub(r"^options=.*# SQLite: (.*)$", r"\1", SCRIPT, flags=re.M)


@pytest.fixture(scope="module")
def database(new_database: Callable[[str], dict[str, str]]) -> dict[str, str]:
    """A database for these tests."""
    return new_database("analytics")


@pytest.mark.matrix
def test_the_same_history_is_stored_byte_for_byte_as_on_sqlite(own_database, database):
    now = datetime.now(UTC).replace(minute=0)  # so that neither comes into the next hour
    ours, theirs = (scenarios.run(crashes.histories, each, now.isoformat()) for each in (database, own_database))
    assert ours == theirs


@pytest.mark.matrix  # on SQLite in test_durability
def test_a_crash_after_any_statement_of_a_step_loses_and_doubles_nothing(database):
    scenarios.run(crashes.crashes_in_steps, database)


@pytest.mark.matrix  # on SQLite in test_durability
def test_a_crash_after_any_statement_of_a_recount_leaves_counts_that_are_true(database):
    scenarios.run(crashes.crashes_in_recounts, database)


@pytest.mark.matrix
@pytest.mark.parametrize(("kills", "crowd"), first_of([(3, 3), (20, 6)], 1))
def test_writers_and_sealers_at_once_lose_and_double_nothing_although_some_are_killed(database, kills, crowd):
    scenarios.run(crashes.kills, database, kills, crowd)


@pytest.mark.matrix
def test_a_view_that_another_process_has_not_committed_yet_counts_once(database):
    scenarios.run(crashes.sends_what_another_has_not_committed_yet, database)


@pytest.mark.matrix
def test_views_that_several_processes_send_count_once(database):
    scenarios.run(crashes.several_send_the_same, database)


@pytest.fixture
def processes(database, start):
    """Two processes of one service. They end here: the database server waits for those who are connected."""
    both = start.fresh(**database), start.fresh(**database)
    yield both
    for service in both:
        service.process.terminate()
        service.process.wait(PATIENCE)


@pytest.mark.matrix
def test_a_report_of_another_process_has_what_was_just_acknowledged(database, processes, http):
    command = "createproject", "fresh", "--organization", "Fresh", "--docs-url", "https://docs.example", "--json"
    project = json.loads(scenarios.manage(command, database))
    headers = {"Authorization": f"Bearer {project['admin_key']}"}
    dice, now, views = random.Random(16), datetime.now(UTC), []
    dates = {"dateFrom": (now - timedelta(days=3)).isoformat(), "limit": 100}
    for number in range(15):
        one, other = processes if number % 2 else reversed(processes)
        new = history(dice, dice.choice([1, 10]), 2, now)
        views += new
        sent = http.post(
            f"{one.url}/v1/collect/{project['project_id']}/views",
            json={"views": [as_reported(seen) for seen in new]},
            headers=headers,
        )
        assert sent.status_code == 200, sent.text
        for report, distinct in (("visitors", True), ("views", False)):
            url = f"{other.url}/v1/analytics/{project['project_id']}/{report}"
            answer = http.get(url, params=dates, headers=headers).json()
            window = now - timedelta(days=3), now + timedelta(days=1)
            assert (answer["totals"], answer[report]) == brute(views, *window, distinct=distinct)


@pytest.fixture(scope="module")
def partitioned(new_database: Callable[[str], dict[str, str]]) -> dict[str, str]:
    """A database for the tests of partitions, which give many ids away."""
    return new_database("partitions")


@pytest.mark.matrix
@pytest.mark.parametrize(
    "scenario",
    [
        view_partitions.dropped_when_old,
        view_partitions.several_at_once,
        view_partitions.kept_for_others,
        view_partitions.dropped_with_others,
        view_partitions.one_failure,
        view_partitions.nobody_waits,
        view_partitions.without_room,
    ],
    ids=lambda scenario: scenario.__name__,
)
def test_old_views_go_with_their_partitions(partitioned: dict[str, str], scenario: Callable[[], None]) -> None:
    scenarios.run(scenario, partitioned)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "script",
    [pytest.param(SCRIPT, id="postgresql"), pytest.param(FOR_SQLITE, id="sqlite", marks=pytest.mark.matrix)],
)
def test_the_script_of_the_page_growing_copies_the_views_that_arrived_yesterday(
    script: str,
    new_database: Callable[[str], dict[str, str]],
    copy_database: Callable[[Path], dict[str, str]],
    tmp_path: Path,
) -> None:
    database = new_database("view_files") if script == SCRIPT else copy_database(tmp_path)
    stored = scenarios.run(view_files.store, database).splitlines()
    manage = tmp_path / "manage"
    manage.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/manage.py "$@"\n')
    manage.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-ec", script],
        cwd=tmp_path,
        env={**scenarios.environment(database), **path},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (file,) = tmp_path.glob("views-*.csv")
    assert re.fullmatch(r"views-\d{4}-\d\d-\d\d.csv", file.name)
    assert file.stat().st_mode & 0o077 == 0
    rows = list(csv.DictReader(file.open(newline="")))
    names = ("id", "project", "micros", "class", "surface", "visitor", "user_agent")
    assert ["|".join(row[name] for name in names) for row in rows] == stored
    assert len(stored) == 2 * 54
    assert {row["path"] for row in rows} <= {f"/page-{n}" for n in range(6)}
    assert {row["browser"] for row in rows if row["class"] == "human" and row["surface"] == "html"} == {"Chrome"}

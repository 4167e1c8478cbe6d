"""The last release beside this one on one database, which this one migrates under load."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import scenarios
from tests.conftest import PATIENCE, wait_for
from tests.ports import free_port
from tests.processes import ROOT
from tests.services.faults.load import DONE, LIMITS, READER, Load, Site

pytestmark = [pytest.mark.services, pytest.mark.faults]

LAST_RELEASE = os.environ.get("RELEASE") or "874dd179"


class Release:
    """The code of another release, with the packages of this one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        archive = subprocess.run(["git", "archive", LAST_RELEASE], cwd=ROOT, capture_output=True)
        assert archive.returncode == 0, f"git has no {LAST_RELEASE}; name the last release: make faults RELEASE=…"
        subprocess.run(["tar", "x"], cwd=folder, input=archive.stdout, check=True)
        (folder / "static" / "widget" / "dist").symlink_to(ROOT / "static" / "widget" / "dist")

    def _settings(self, environment: dict[str, str]) -> dict[str, str]:
        return {**scenarios.environment(environment), "DATA_DIR": str(self._folder / "var")}

    def start(self, *words: str, **environment: str) -> "subprocess.Popen[bytes]":
        """Start one of its commands, which writes into its log."""
        settings = self._settings(environment)
        with (self._folder / "log").open("ab") as log:
            command = [sys.executable, "manage.py", *words]
            return subprocess.Popen(command, cwd=self._folder, env=settings, stdout=log, stderr=log)

    def run(self, *words: str, **environment: str) -> str:
        """Run one of its commands, and return what it printed."""
        settings = self._settings(environment)
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=self._folder, env=settings, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def log(self) -> str:
        """What its commands printed."""
        return (self._folder / "log").read_text()


@pytest.fixture
def release(tmp_path: Path) -> Release:
    folder = tmp_path / "release"
    folder.mkdir()
    return Release(folder)


@pytest.fixture
def database(new_database, release: Release) -> dict[str, str]:
    """A database that the last release has made."""
    database = {**new_database("two_releases", "template0"), "SECRET_KEY": "the same for both releases" * 2}
    release.run("migrate", "--verbosity=0", **database)
    return database


@pytest.fixture
def old(release: Release, database: dict[str, str]) -> Iterator[str]:
    """The address of the last release."""
    port = free_port()
    process = release.start("serve", "--port", str(port), **database, **LIMITS)
    wait_for(lambda: process.poll() is not None or "Ready:" in release.log, "the last release")
    assert process.poll() is None, release.log
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(PATIENCE)


@pytest.fixture
def site(release: Release, database: dict[str, str], tmp_path: Path) -> Site:
    """A project that the last release has made."""
    words = ("createproject", "two-releases", "--organization", "Two", "--docs-url", READER["Origin"], "--json")
    made = json.loads(release.run(*words, **database))
    page = tmp_path / "docs" / "install.md"
    page.parent.mkdir()
    page.write_text("# Installing\n\nRun `make install` to install it.\n")
    release.run("ingest", made["domain"], str(page.parent), **database)
    return Site(made["domain"], made["project_id"], made["assistant_key"], made["admin_key"])


def test_the_last_release_runs_on_while_this_one_migrates_and_then_beside_it(
    database: dict[str, str], release: Release, site: Site, old: str, start, report, tmp_path: Path
) -> None:
    with Load(site, [old]) as load:
        load.wait_for_each(10)
        began = time.monotonic()
        scenarios.migrate(database)
        seconds = time.monotonic() - began
        load.wait_for_each(10)
        new = start.fresh(**database, **LIMITS)
        load.addresses.append(new.url)
        load.wait_for_each(20)
    lost = load.count_lost(database, tmp_path)
    report(f"{LAST_RELEASE} beside this release: {load.describe()}; migrate {seconds:.1f} s, lost {lost}.")
    assert {request.status for request in load.requests} <= DONE
    assert lost == 0
    assert "Traceback" not in release.log + new.log.read_text()

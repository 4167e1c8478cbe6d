"""The work beside the requests can have a process of its own."""

import signal
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from tests import scenarios
from tests.conftest import PATIENCE, wait_for
from tests.ports import free_port
from tests.processes import Process, manage

TOKEN = {"METRICS_TOKEN": "metrics-of-the-worker"}


def store_old_search() -> None:
    """Store a search that the first sweep deletes."""
    from docsite.core.tenants.management.commands.createproject import create_project

    project, *_ = create_project("worker", "Worker", "https://docs.acme.example", [])
    project.searches.create(caller=1, text="install", at=datetime(2020, 1, 1, tzinfo=UTC))


def count_searches(folder: Path) -> int:
    """Count the searches in the database of a folder."""
    with closing(sqlite3.connect(folder / "db.sqlite3")) as database:
        return int(database.execute("SELECT count(*) FROM search_searchquery").fetchone()[0])


def check_answers(url: str) -> None:
    """With `--port` a worker answers the paths of health and metrics, and no other path."""
    with httpx.Client(base_url=url, trust_env=False, headers={"Host": "worker.internal"}) as http:
        assert http.get("/health/live").json() == {"status": "ok"}
        assert http.get("/health/ready").json()["status"] == "ready"
        assert http.get("/metrics").status_code == 401
        metrics = http.get("/metrics", headers={"Authorization": f"Bearer {TOKEN['METRICS_TOKEN']}"}).text
        lines = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
        for name in ("scheduler", "sealer", "sweeper", "deliveries"):
            assert lines[f'docs_thread_up{{thread="{name}"}}'] == "1"
            assert lines[f'docs_thread_failures_total{{thread="{name}"}}'] == "0"
        started = float(lines["process_start_time_seconds"])
        assert float(lines['docs_thread_success_seconds{thread="sweeper"}']) > started
        assert lines["docs_sources_due"] == "0"
        for path in ("/", "/health", "/admin/"):
            assert http.get(path).status_code == 404


@pytest.mark.slow
def test_a_worker_does_what_a_serving_process_leaves(tmp_path: Path, copy_database):
    database = copy_database(tmp_path)
    environment = scenarios.environment(database)
    scenarios.run(store_old_search, database)
    port, out, log = free_port(), tmp_path / "out", tmp_path / "log"
    out.touch()
    log.touch()
    server = Process(manage, ("serve", "--port", str(port), "--no-background"), environment, out, out)
    worker = None
    try:
        wait_for(lambda: "Ready:" in out.read_text(), "the service")
        assert httpx.get(f"http://127.0.0.1:{port}/health/ready", trust_env=False).json()["threads"] == "ok"
        assert count_searches(tmp_path) == 1
        address = free_port()
        worker = Process(manage, ("worker", "--port", str(address)), environment | TOKEN, log, log)
        wait_for(lambda: "Working." in log.read_text(), "the worker")
        wait_for(lambda: count_searches(tmp_path) == 0, "the sweep")
        check_answers(f"http://127.0.0.1:{address}")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0, log.read_text()
        assert "Traceback" not in log.read_text()
    finally:
        for process in filter(None, (server, worker)):
            process.terminate()
            process.wait(PATIENCE)

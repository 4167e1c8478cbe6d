"""Scheduled sources: read by a process of their own, released when it ends, whole after a kill."""

import io
import signal
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone

from search.indexing.ingest import ingest
from search.models import Document, Source
from search.retrieval import page_search
from search.sources import Page
from search.stored_sources import heartbeat, queue
from tests import scenarios
from tests.search import serving

pytestmark = pytest.mark.slow

State = Source.State
PAGES = 300  # of which enough are left when a process is killed after the first 50


@pytest.mark.matrix
def test_what_is_due_is_read_beside_the_streams_and_given_back_at_the_end(tmp_path: Path, own_database):
    (tmp_path / "a.md").write_text("# A\n")
    scenarios.run(serving.serving, own_database, tmp_path)


@pytest.mark.matrix
def test_a_reader_ends_with_the_process_that_serves(tmp_path: Path, own_database):
    for number in range(300):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\n{'herd ' * 50}\n")
    scenarios.run(serving.dying, own_database, tmp_path)
    scenarios.run(serving.given_back, own_database)


@pytest.mark.parametrize("when", ["50 pages", pytest.param("preparing", marks=pytest.mark.matrix)])
def test_a_killed_run_heals_by_itself(make_project, tmp_path, when):
    tenant = make_project()
    source = Source.objects.create(project=tenant.project, name="docs", location=str(tmp_path))
    ingest(tenant.project, [Page("old", "/old", "# Old\n\nferret\n")], source=source)
    for number in range(PAGES):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\nherd\n")
    with scenarios.running("ingest", tenant.domain, "--name", "docs") as (process, printed):
        for line in printed:
            if when in line:
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    assert [hit.path for hit in page_search.find(tenant.project, "ferret")] == ["/old"]
    assert page_search.find(tenant.project, "herd") == []
    assert serving.state_of(source) == State.RUNNING
    assert not queue.claim(source), "who reads it may be alive"
    with time_machine.travel(timezone.now() + heartbeat.LEASE + timedelta(seconds=1)):
        call_command("ingest", tenant.domain, "--name", "docs", "--json", stdout=io.StringIO())
    assert serving.state_of(source) == State.DONE
    assert (source.outcome["added"], source.outcome["removed"]) == (PAGES, 1)
    assert page_search.find(tenant.project, "ferret") == []
    assert len(page_search.find(tenant.project, "herd", limit=50)) == 50
    assert not Document.every.filter(project=tenant.project).exclude(build="").exists()

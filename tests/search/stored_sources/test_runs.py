"""Runs of stored sources: one runner at a time, which stops when it lost the source."""

import threading
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from search.indexing.ingest import ingest
from search.indexing.outcome import IngestSuperseded, Summary
from search.models import Document, Source
from search.sources import ExcludedPage, Page, UnreadablePage
from search.stored_sources import heartbeat, queue, runs
from tests.conftest import PATIENCE, wait_for
from tests.search.stored_sources.stored_source import (
    NOW,
    State,
    now,
    paths,
    stored,
)
from tests.variants import first_of

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def guide(tmp_path):
    (tmp_path / "zebra.md").write_text("# Zebra\n")
    (tmp_path / "both.md").write_text("# Both\n")
    return tmp_path


def test_of_many_lost_pages_the_first_are_listed():
    summary = Summary(
        skipped=[UnreadablePage(f"{number}.md", "is no text") for number in range(9)],
        left_out=[ExcludedPage(f"{number}.md", "is a draft") for number in range(9)],
    )
    few = runs.list_losses(summary, 2)
    assert few["skipped"] == [{"file": f"{number}.md", "reason": "is no text"} for number in (0, 1)]
    assert few["leftOut"] == [{"file": f"{number}.md", "reason": "is a draft"} for number in (0, 1)]
    assert len(runs.list_losses(summary)["skipped"]) == 9


@pytest.mark.stores
def test_of_two_who_claim_one_becomes_the_runner(tenant):
    sources = [stored(tenant, name=name) for name in ("a", "b")] * 2
    gate, won = threading.Barrier(len(sources)), []

    def runner(source):
        gate.wait()
        won.append(queue.claim(Source.objects.get(pk=source.pk)))
        connection.close()

    threads = [threading.Thread(target=runner, args=(source,)) for source in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False, False, False, True]
    assert tenant.project.sources.filter(state=State.RUNNING).count() == 1


@pytest.mark.stores
def test_the_source_that_waited_longest_is_first_and_one_of_a_project(tenant, make_project):
    first, second = stored(tenant, name="a"), stored(tenant, name="b")
    other = stored(make_project())
    with time_machine.travel(NOW - timedelta(hours=1)):
        queue.enqueue(second)
    queue.enqueue(first)
    queue.enqueue(other)
    assert now(first).state == State.QUEUED
    assert [queue.claim_next(), queue.claim_next(), queue.claim_next()] == [second, other, None]


def test_who_claims_what_is_due_looks_whether_it_still_is(tenant):
    source = stored(tenant)
    queue.enqueue(source)
    read = Source.objects.get(pk=source.pk)
    assert queue.claim(read, if_due=True)
    queue.fail(read, "It was read meanwhile.")
    assert not queue.claim(source, if_due=True)
    assert now(source).state == State.FAILED
    assert queue.claim(source), "a command reads it anyhow"


@pytest.mark.parametrize(("schedule", "after"), [("", None), ("day", timedelta(days=1))])
def test_a_source_whose_runner_falls_silent_has_failed(tenant, guide, clock, schedule, after):
    source = stored(tenant, guide, schedule=schedule)
    assert queue.claim(source)
    assert queue.claim_next() is None
    clock.shift(heartbeat.LEASE + timedelta(seconds=1))
    assert queue.claim_next() is None, "it may be what killed its host"
    assert (now(source).state, source.error) == (State.FAILED, "The process that read it stopped responding.")
    assert source.due_at == (source.finished_at + after if after else None)


@pytest.mark.stores
def test_a_silent_runner_changes_nothing_any_more(tenant, guide, clock):
    dead = stored(tenant, guide)
    assert queue.claim(dead)
    clock.shift(heartbeat.LEASE + timedelta(seconds=1))
    other = Source.objects.get(pk=dead.pk)
    assert queue.claim(other)
    queue.fail(dead, "Too late.")
    assert (now(other).state, other.error) == (State.RUNNING, "")
    runs.run(other)
    assert (now(other).state, other.outcome["added"], other.holder) == (State.DONE, 2, "")


@pytest.mark.parametrize(
    ("schedule", "after"),
    first_of([("", None), ("hour", timedelta(hours=1)), ("day", timedelta(days=1)), ("week", timedelta(days=7))], 2),
)
def test_the_schedule_sets_the_next_time(tenant, guide, schedule, after):
    source = stored(tenant, guide, schedule=schedule)
    for location, outcome in ((guide, State.DONE), ("/nowhere", State.FAILED)):
        source.location = str(location)
        assert queue.claim(source)
        try:
            runs.run(source)
        except ValueError:
            assert now(source).error.startswith("/nowhere is neither")
        assert now(source).state == outcome
        assert source.due_at == (source.finished_at + after if after else None)
    assert source.read_at < source.finished_at
    assert source.outcome["added"] == 2, "what was read the last time is still told"


def test_what_is_wanted_while_it_is_read_is_read_once_more(tenant, guide):
    source = stored(tenant, guide)
    assert queue.claim(source)
    queue.enqueue(source)
    assert now(source).state == State.RUNNING
    runs.run(source)
    assert now(source).state == State.QUEUED
    assert queue.claim_next() == source


def test_a_source_waits_for_another_ingest_of_its_project(tenant, guide, monkeypatch):
    source = stored(tenant, guide)
    assert queue.claim(source)

    def pages(reading):
        ingest(tenant.project, [Page("other", "/other", "# Other\n")])
        yield Page("mine", "/mine", "# Mine\n")

    monkeypatch.setattr(runs, "read", pages)
    with pytest.raises(IngestSuperseded):
        runs.run(source)
    assert now(source).state == State.QUEUED
    assert timedelta(minutes=4) < source.due_at - timezone.now() <= runs.RETRY_AFTER
    assert paths(tenant) == {"/other"}


@pytest.mark.parametrize(
    ("stop", "error"),
    [
        (KeyboardInterrupt, "It was stopped."),
        (ZeroDivisionError, "It failed"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), "It failed unexpectedly"),
    ],
)
def test_a_run_that_breaks_off_leaves_the_old_index(tenant, guide, monkeypatch, stop, error):
    source = stored(tenant, guide)
    assert queue.claim(source)

    def pages(reading):
        yield Page("mine", "/mine", "# Mine\n")
        raise stop

    monkeypatch.setattr(runs, "read", pages)
    with pytest.raises(stop if isinstance(stop, type) else type(stop)):
        runs.run(source)
    assert now(source).state == State.FAILED
    assert source.error.startswith(error)
    assert paths(tenant) == set()
    assert not Document.every.filter(project=tenant.project).exists()


def test_progress_is_stored_while_it_goes_on(tenant, monkeypatch):
    source = stored(tenant)
    seen = []
    monkeypatch.setattr(heartbeat, "WRITE_SECONDS", 0.01)
    assert queue.claim(source)

    def pages(reading):
        reading.progress("3 of 9 pages")
        while not now(source).progress:
            pass
        seen.append(source.progress)
        yield Page("a", "/a", "# A\n")
        yield UnreadablePage("b", "is bad")
        yield ExcludedPage("c", "is not searchable")

    monkeypatch.setattr(runs, "read", pages)
    runs.run(source)
    assert seen == ["3 of 9 pages"]
    assert now(source).progress == ""
    assert source.outcome["skipped"] == [{"file": "b", "reason": "is bad"}]
    assert (source.outcome["skippedCount"], source.outcome["leftOutCount"]) == (1, 1)


def test_a_reading_has_the_validators_of_earlier_pages(tenant):
    source = stored(tenant, "https://docs.acme.example/", under="/x")
    page = Page("a", "/a", "# A\n", digest="d" * 64, address="https://docs.acme.example/a/", validator='"1"')
    ingest(tenant.project, [page, Page("b", "/b", "# B\n")], source=source)
    validators = runs.build_request(tenant.project, source, source.location).previous_validators
    assert validators == {"https://docs.acme.example/a/": '"1"'}
    assert not runs.build_request(tenant.project, None, source.location).previous_validators


# The end of a run


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(heartbeat, "WRITE_SECONDS", 0.01)
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.0)
    monkeypatch.setattr(heartbeat, "GRACE_SECONDS", 0.05)


def endless(first):
    """Pages without an end; the first thing is something else."""

    def pages(reading):
        first()
        for number in range(10**9):
            yield ExcludedPage(f"{number}", "is not searchable")

    return pages


def test_a_run_stops_when_its_source_is_deleted(tenant, quick, monkeypatch):
    source = stored(tenant)
    assert queue.claim(source)
    monkeypatch.setattr(runs, "read", endless(lambda: runs.remove(Source.objects.get(pk=source.pk))))
    with pytest.raises(heartbeat.RunStopped, match="was deleted, or another process reads it now"):
        runs.run(source)
    assert not tenant.project.sources.exists()


def test_a_run_stops_when_somebody_else_reads_its_source(tenant, quick, monkeypatch):
    source = stored(tenant)
    assert queue.claim(source)
    other = Source.objects.filter(pk=source.pk)
    monkeypatch.setattr(runs, "read", endless(lambda: other.update(holder="other")))
    with pytest.raises(heartbeat.RunStopped):
        runs.run(source)
    assert (now(source).state, source.holder) == (State.RUNNING, "other")


def test_a_run_has_an_end(tenant, quick, monkeypatch):
    source = stored(tenant, schedule="day")
    assert queue.claim(source)
    monkeypatch.setattr(heartbeat, "MAX_SECONDS", 0.0)
    monkeypatch.setattr(runs, "read", endless(lambda: None))
    with pytest.raises(heartbeat.RunStopped):
        runs.run(source)
    assert (now(source).state, source.error) == (State.FAILED, "It took longer than 0 hours.")


def test_a_run_that_does_not_stop_by_itself_is_aborted(tenant, quick, monkeypatch):
    source, aborted = stored(tenant), threading.Event()
    assert queue.claim(source)

    def stuck(reading):
        assert aborted.wait(PATIENCE)
        yield Page("a", "/a", "# A\n")

    monkeypatch.setattr(heartbeat, "MAX_SECONDS", 0.0)
    monkeypatch.setattr(runs, "read", stuck)
    with pytest.raises(heartbeat.RunStopped):
        runs.run(source, abort=aborted.set)
    assert (now(source).state, source.error) == (State.FAILED, "It took longer than 0 hours.")


@pytest.mark.stores
def test_a_heart_beats_on_when_its_connection_was_cut(tenant, quick, monkeypatch):
    source, cuts = stored(tenant), [1, 2]
    assert queue.claim(source)
    beat = QuerySet.update

    def update(self, **fields):
        if "leased_until" in fields and cuts:
            cuts.pop()
            connection.ensure_connection()
            connection.connection.close()
        return beat(self, **fields)

    def pages(reading):
        reading.progress("1 of 2")
        wait_for(lambda: now(source).progress == "1 of 2", "a sign of life")
        yield Page("a", "/a", "# A\n")

    monkeypatch.setattr(QuerySet, "update", update)
    monkeypatch.setattr(runs, "read", pages)
    runs.run(source)
    assert not cuts


# Removal


@pytest.mark.stores
def test_nobody_begins_to_read_what_is_being_removed(tenant, guide, monkeypatch):
    source = stored(tenant, guide)
    ingest(tenant.project, [Page("a", "/a", "# A\n")], source=source)
    queue.enqueue(source)
    withdraw, claimed = runs.withdraw, []

    def slowly(gone):
        mine = Source.objects.get(pk=source.pk)
        claimed.extend([queue.claim_next(), queue.claim(mine), queue.claim(mine, if_due=True)])
        return withdraw(gone)

    monkeypatch.setattr(runs, "withdraw", slowly)
    runs.remove(source)
    assert claimed == [None, False, False]
    assert not tenant.project.sources.exists()
    assert not Document.every.filter(project=tenant.project).exists()


def test_pages_that_come_in_at_the_last_moment_go_with_their_source(tenant, monkeypatch):
    source = stored(tenant)
    ingest(tenant.project, [Page("a", "/a", "# A\n")], source=source)
    withdraw, late = runs.withdraw, [Page("late", "/late", "# Late\n")]

    def then_late(gone):
        withdraw(gone)
        if late:
            ingest(tenant.project, [late.pop()], source=Source.objects.get(pk=gone.pk))

    monkeypatch.setattr(runs, "withdraw", then_late)
    runs.remove(source)
    assert not Document.every.filter(project=tenant.project).exists()

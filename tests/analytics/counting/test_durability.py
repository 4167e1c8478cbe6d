"""Crashes: after any statement of a sealing step, by kill -9, and of a whole server under load."""

import random
import threading
import time
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from analytics.counting import sweeper
from analytics.models import PageView
from tests import scenarios
from tests.analytics.counting import crashes, leases
from tests.analytics.counting.crashes import record
from tests.analytics.counting.history import (
    AGENTS,
    Seen,
    as_reported,
    brute,
    history,
    view,
)
from tests.analytics.counting.test_counting import check
from tests.conftest import PATIENCE

pytestmark = pytest.mark.slow


def test_a_crash_after_any_statement_of_a_step_loses_and_doubles_nothing(own_database):
    scenarios.run(crashes.crashes_in_steps, own_database)


@pytest.mark.matrix
def test_a_crash_after_any_statement_of_a_sweep_changes_no_count(own_database):
    scenarios.run(crashes.crashes_in_sweeps, own_database)


@pytest.mark.matrix  # the step stays
def test_a_crash_after_any_statement_of_a_recount_leaves_counts_that_are_true(own_database):
    scenarios.run(crashes.crashes_in_recounts, own_database)


@pytest.mark.matrix
def test_steps_get_shorter_until_they_end_before_their_lease(own_database):
    scenarios.run(crashes.steps_that_outlast_their_lease, own_database)


@pytest.mark.matrix
def test_a_new_service_takes_old_logs_in_any_order(own_database):
    scenarios.run(crashes.old_logs_into_a_new_service, own_database)


@pytest.mark.matrix  # the server stays
def test_nothing_acknowledged_is_lost_or_doubled_by_kill_9(own_database):
    scenarios.run(crashes.kills, own_database, 20, 4)


@pytest.mark.matrix
def test_views_that_several_processes_send_count_once(own_database):
    scenarios.run(crashes.several_send_the_same, own_database)


@pytest.mark.matrix
def test_who_was_overtaken_writes_nothing(own_database):
    scenarios.run(leases.overtaken, own_database)


def test_the_watermark_never_goes_back(own_database):
    scenarios.run(leases.looked_too_early, own_database)


def test_a_sweep_removes_no_view_that_is_not_counted_yet(own_database):
    scenarios.run(leases.swept_unsealed, own_database)


@pytest.mark.matrix
def test_projects_are_sealed_in_turns_and_a_report_seals_its_own(own_database):
    scenarios.run(leases.in_turns, own_database)


@pytest.mark.matrix
def test_projects_without_new_views_cost_nothing(own_database):
    scenarios.run(leases.only_marked, own_database)


def test_an_old_view_that_is_sent_again_counts_once_for_as_long_as_any(make_project):
    project, now = make_project().project, datetime.now(UTC)
    views = history(random.Random(7), 30, 60, now - timedelta(days=40))
    whole = [(now - timedelta(days=120), now)]
    record(project, views)
    check(project, views, whole)
    sweeper.sweep(force=True)
    record(project, views)
    check(project, views, whole)


def test_a_server_that_is_killed_under_load_has_every_batch_once(start, make_project):
    tenant, now = make_project(), datetime.now(UTC) - timedelta(hours=3)
    kills, size = 3, 40
    server, killed = start.fresh(), threading.Event()
    sent: list[Seen] = []
    receipts: list[dict[str, int]] = []
    repeated = 0

    def restart() -> None:
        nonlocal server
        for _ in range(kills):
            time.sleep(0.7)
            server.process.kill()
            server.process.wait(PATIENCE)
            server = start.fresh()
        killed.set()

    def post(client: httpx.Client, batch: list[Seen]) -> dict[str, int]:
        nonlocal repeated
        while True:
            try:
                answer = client.post(
                    f"{server.url}/v1/collect/{tenant.project_id}/views",
                    json={"views": [as_reported(seen) for seen in batch]},
                    headers=tenant.admin,
                )
            except httpx.TransportError:  # nobody can know whether it was stored
                repeated += 1
                time.sleep(0.2)
                continue
            answer.raise_for_status()
            return answer.json()

    def load(client: httpx.Client, seed: int) -> None:
        dice = random.Random(seed)
        while not killed.is_set():
            batch = [
                view(
                    now - timedelta(hours=dice.randrange(50), seconds=dice.randrange(3000)),
                    f"/page-{dice.randrange(6)}", dice.randrange(1, 40), dice.choice(list(AGENTS)),
                )
                for _ in range(size)
            ]  # fmt: skip
            sent.extend(batch)
            if dice.random() < 0.2:
                post(client, batch)  # as if the answer were lost
            receipts.append(post(client, batch))

    with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
        threads = [threading.Thread(target=load, args=(client, seed)) for seed in range(4)]
        for thread in [*threads, killer := threading.Thread(target=restart)]:
            thread.start()
        for thread in [*threads, killer]:
            thread.join()
        assert len(receipts) * size == len(sent)
        assert all(sum(receipt.values()) == size for receipt in receipts)
        counted = sum(seen.kind != "nobody" for seen in sent)
        accepted, twice = (sum(receipt[name] for receipt in receipts) for name in ("accepted", "duplicates"))
        assert repeated >= kills
        assert twice > 0
        assert counted - twice <= accepted <= counted
        assert PageView.objects.filter(project=tenant.project).count() == len(sent)
        window = now - timedelta(days=3), now + timedelta(hours=1)
        dates = {"dateFrom": window[0].isoformat(), "dateTo": window[1].isoformat(), "limit": 100}
        for report, distinct in (("visitors", True), ("views", False)):
            url = f"{server.url}/v1/analytics/{tenant.project_id}/{report}"
            answer = client.get(url, params=dates, headers=tenant.admin).json()
            assert (answer["totals"], answer[report]) == brute(sent, *window, distinct=distinct)

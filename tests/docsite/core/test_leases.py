"""A lease of a row: who has it, until when, and who follows a process that was killed."""

import threading
import uuid
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from docsite.core.background import leases
from docsite.core.notifications.models import Routine

LEASE = timedelta(minutes=1)


@pytest.fixture
def rows():
    name = uuid.uuid4().hex
    Routine.objects.create(name=name)
    return Routine.objects.filter(name=name)


def at(seconds):
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds), tick=False)


def extended(rows, first):
    with at(30):
        assert leases.extend(first, LEASE)


def released(rows, first):
    assert leases.release(first)


def by_a_wrong_clock(rows, first):
    with at(1_000_000):
        leases.take(first, LEASE)


def taken(rows, first):
    leases.take(rows.get(), LEASE)


@pytest.mark.parametrize(
    ("step", "seconds", "is_free"),
    [
        (None, 59, False),
        (None, 61, True),  # its process was killed
        (extended, 89, False),
        (extended, 91, True),
        (released, 0, True),
        (by_a_wrong_clock, 0, True),
        (taken, 59, False),
    ],
)
@pytest.mark.stores
def test_a_row_is_claimed_once_until_its_lease_ends(rows, step, seconds, is_free):
    first = leases.claim(rows, LEASE)
    if step:
        step(rows, first)
    with at(seconds):
        assert bool(leases.claim(rows, LEASE)) == is_free


@pytest.mark.parametrize("change", [leases.release, lambda row, **facts: leases.extend(row, LEASE, **facts)])
def test_who_has_lost_a_row_changes_nothing(rows, change):
    first = leases.claim(rows, LEASE)
    leases.take(rows.get(), LEASE)
    assert not change(first, name="lost")
    never_claimed = Routine.objects.create(name=uuid.uuid4().hex)
    assert not change(never_claimed, name="lost")
    assert not Routine.objects.filter(name="lost").exists()


@pytest.mark.stores
def test_of_threads_that_claim_at_once_each_row_has_one(rows):
    names = [uuid.uuid4().hex for _ in range(6)]
    Routine.objects.bulk_create(Routine(name=name) for name in names)
    gate, claimed = threading.Barrier(4), []

    def claim_all():
        gate.wait()
        rows = Routine.objects.filter(name__in=names).order_by("pk")
        claimed.extend(row.name for _ in names if (row := leases.claim(rows, LEASE)))
        connection.close()

    threads = [threading.Thread(target=claim_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(names)

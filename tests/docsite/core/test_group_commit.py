"""Group commit: one transaction for many callers, who learn of it only after the commit."""

import threading
from concurrent.futures import CancelledError, Future

import pytest
from django.db import OperationalError

from docsite.core import group_commit
from docsite.core.group_commit import GroupCommit, QueueFull
from tests.conftest import PATIENCE, wait_for


class Store:
    """Stores numbers, ten at a time in one transaction; refuses those that are below zero."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.failure: Exception | None = None
        self.committing = threading.Event()
        self.may_commit = threading.Event()
        self.may_commit.set()

    def __call__(self, numbers: list[int]) -> list[int]:
        self.committing.set()
        assert self.may_commit.wait(PATIENCE)
        if self.failure:
            raise self.failure
        if min(numbers) < 0:
            raise ValueError("below zero")
        self.groups.append(numbers)
        return [number * 2 for number in numbers]


@pytest.fixture
def store():
    return Store()


def queue(store, **options) -> GroupCommit[int, int]:
    weights = {"min_group_weight": 5, "max_group_weight": 10, "capacity": 20}
    return GroupCommit("numbers", store, **{"delay": 0.005, **weights, **options})


def results(futures: "list[Future[int]]") -> list[int]:
    return [future.result(PATIENCE) for future in futures]


def test_items_that_arrive_during_a_commit_share_the_next_one(store):
    numbers = queue(store)
    store.may_commit.clear()
    first = numbers.submit(1)
    assert store.committing.wait(PATIENCE)
    others = [numbers.submit(number) for number in range(2, 10)]
    assert not any(future.done() for future in (first, *others))
    store.may_commit.set()
    assert results([first, *others]) == [number * 2 for number in range(1, 10)]
    assert store.groups == [[1], list(range(2, 10))]


@pytest.mark.matrix
def test_a_group_is_no_larger_than_a_transaction_may_be(store):
    numbers = queue(store, delay=60, min_group_weight=20)
    futures = [numbers.submit(number) for number in range(20)]
    assert results(futures) == [number * 2 for number in range(20)]
    assert all(len(group) <= 10 for group in store.groups)


@pytest.mark.stores
def test_one_bad_item_fails_alone(store):
    numbers = queue(store, delay=60, min_group_weight=100)
    good, bad, last = (numbers.submit(number) for number in (1, -1, 3))
    assert numbers.flush()
    assert results([good, last]) == [2, 6]
    with pytest.raises(ValueError, match="below zero"):
        bad.result(0)


def test_a_full_queue_refuses_and_takes_again_later(store):
    numbers = queue(store, delay=60, min_group_weight=100, capacity=5, weigh=lambda number: number)
    kept = [numbers.submit(number) for number in (2, 3)]
    with pytest.raises(QueueFull):
        numbers.submit(1).result(0)
    numbers.flush()
    assert results(kept) == [4, 6]
    more = numbers.submit(5)
    numbers.flush()
    assert more.result(0) == 10


def test_callers_get_the_error_of_a_database_that_is_away(store):
    numbers = queue(store, delay=60, min_group_weight=100)
    store.failure = OperationalError("database is locked")
    futures = [numbers.submit(number) for number in (1, 2)]
    assert numbers.flush()
    for future in futures:
        with pytest.raises(OperationalError):
            future.result(0)


def test_items_wait_in_order_while_the_database_cannot_be_reached(store):
    numbers = queue(store, delay=60, min_group_weight=100, keep_waiting=True, max_group_weight=2)
    store.failure = OperationalError("database is locked")
    futures = [numbers.submit(number) for number in (1, 2, 3)]
    assert numbers.flush() is False
    assert not any(future.done() for future in futures)
    store.failure = None
    assert numbers.flush()
    assert results(futures) == [2, 4, 6]
    assert store.groups == [[1, 2], [3]]


def test_waiting_items_are_tried_again(store, monkeypatch):
    monkeypatch.setattr(group_commit, "RETRY_SECONDS", 0.01)
    numbers = queue(store, keep_waiting=True)
    store.failure = OperationalError("database is locked")
    future = numbers.submit(1)
    wait_for(store.committing.is_set, "a first attempt")
    store.failure = None
    assert future.result(PATIENCE) == 2


def test_a_mistake_outside_the_transaction_reaches_its_callers_and_the_thread_goes_on(store, monkeypatch):
    numbers = queue(store)
    monkeypatch.setattr(numbers, "_run_store", lambda items: [])  # fewer results than items
    with pytest.raises(ValueError, match="zip"):
        numbers.submit(1).result(PATIENCE)
    monkeypatch.setattr(numbers, "_weigh", lambda item: 1)
    monkeypatch.setattr(numbers, "_run_store", store)
    take = numbers._next_group
    monkeypatch.setattr(numbers, "_next_group", lambda: monkeypatch.setattr(numbers, "_next_group", take) or 1 / 0)
    assert numbers.submit(2).result(PATIENCE) == 4, "after an exception in the thread itself"


def test_an_item_is_stored_although_its_caller_left(store):
    numbers = queue(store, delay=60, min_group_weight=100)
    left, other = numbers.submit(1), numbers.submit(2)
    assert left.cancel()
    numbers.flush()
    assert store.groups == [[1, 2]]
    assert other.result(0) == 4
    with pytest.raises(CancelledError):
        left.result(0)

"""The log has one line when a model server fails and one when it works again, and processes share what they know."""

import pytest

from assistant.upstream import Model, breaker
from assistant.upstream.breaker import Breaker, breaker_of
from docsite.core import availability
from docsite.core.availability import Dependency


async def test_a_change_of_a_model_is_one_line(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(availability, "QUIET_SECONDS", 0)
    own = breaker_of(Model("http://model.example/v1", "acme-1", "sk-secret"))
    for _ in range(7):
        await own.record_failure("the connection was refused")
    for _ in range(2):
        await own.record_success()
    assert [record.getMessage() for record in caplog.records] == [
        "The model acme-1 at http://model.example/v1 does not work: the connection was refused. "
        "The next line follows when it works again.",
        "The model acme-1 at http://model.example/v1 works again, after 0 seconds.",
    ]


class Rests(set[str]):
    """What processes share."""

    async def is_resting(self, model: str) -> bool:
        return model in self

    async def begin(self, model: str, seconds: float) -> bool:
        is_first = model not in self
        self.add(model)
        return is_first

    async def end(self, model: str) -> None:
        self.discard(model)


async def test_a_model_that_fails_in_one_process_rests_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rests = Rests()
    monkeypatch.setattr(breaker._Shared, "rests", rests)
    monkeypatch.setattr(breaker, "LOOK_SECONDS", 0)
    monkeypatch.setattr(breaker, "MAX_FAILURES", 2)
    one, other = (Breaker("acme", Dependency("acme")) for _ in range(2))
    assert await other.allows_request()
    for _ in range(2):
        await one.record_failure("refused")
    assert not await one.allows_request()
    assert not await other.allows_request(), "it has not failed itself"
    rests.clear()  # the rest is over
    one.open_until = 0.001
    assert await one.allows_request(), "one request tries"
    assert not await other.allows_request()
    await one.record_success()
    assert await other.allows_request()


async def test_a_process_asks_again_when_another_has_found_the_model_well(monkeypatch: pytest.MonkeyPatch) -> None:
    rests = Rests()
    monkeypatch.setattr(breaker._Shared, "rests", rests)
    monkeypatch.setattr(breaker, "LOOK_SECONDS", 0)
    monkeypatch.setattr(breaker, "MAX_FAILURES", 2)
    own = Breaker("acme", Dependency("acme"))
    for _ in range(2):
        await own.record_failure("refused")
    assert not await own.allows_request()
    await rests.end("acme")
    assert await own.allows_request()

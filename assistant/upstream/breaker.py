"""A circuit breaker for each model: after several failures in a row its server gets no requests for a while.

Where processes share a store, a model that rests in one rests in all of them, and one request of all tries it again.
"""

import time
from dataclasses import dataclass, field
from typing import Protocol

from assistant.upstream import Model
from docsite.core.availability import Dependency

MAX_FAILURES = 5  # in a row, in one process, after which a model server is not asked for `REST_SECONDS`
REST_SECONDS = 30.0
LOOK_SECONDS = 1.0  # between two looks into the shared store


class SharedRests(Protocol):
    """The models that rest, known to all processes. None from `is_resting` and `begin` means that the store failed."""

    async def is_resting(self, model: str) -> bool | None:
        """Whether a model rests, or one request tries it."""

    async def begin(self, model: str, seconds: float) -> bool | None:
        """Let a model rest, unless it does. Returns whether this began it."""

    async def end(self, model: str) -> None:
        """Let all processes ask again."""


class _Shared:
    rests: SharedRests | None = None


def use_shared_rests(rests: SharedRests) -> None:
    """Use a shared store from now on."""
    _Shared.rests = rests


@dataclass
class Breaker:
    """Counts failures in a row. While it is open, the server gets no requests. The log has a line for each change."""

    model: str
    server: Dependency
    failures: int = 0
    open_until: float = 0.0  # on the clock of `time.monotonic`
    _looked_at: float = field(default=-LOOK_SECONDS)
    _rests_elsewhere: bool = False

    async def allows_request(self) -> bool:
        """Whether to ask now. After a rest one request at a time may try, until one succeeds."""
        now = time.monotonic()
        if _Shared.rests is not None and now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            resting = await _Shared.rests.is_resting(self.model)
            self._rests_elsewhere = bool(resting)
            if resting is False and self.failures >= MAX_FAILURES and now < self.open_until:
                self.failures = 0  # another process has found it well
        if self._rests_elsewhere:
            return False
        if self.failures < MAX_FAILURES:
            return True
        if now < self.open_until:
            return False
        self.open_until = now + REST_SECONDS  # during this request, others are still refused
        return _Shared.rests is None or await _Shared.rests.begin(self.model, REST_SECONDS) is not False

    async def record_success(self) -> None:
        """Note a complete answer of the server."""
        was_tried = self.failures > 0 and self.open_until > 0
        self.failures = 0
        self.server.report_success()
        if was_tried and _Shared.rests is not None:
            await _Shared.rests.end(self.model)

    async def record_failure(self, reason: str) -> None:
        """Note a failure of the server, with sentences for the operator."""
        self.server.report_failure(reason)
        self.failures += 1
        self.open_until = time.monotonic() + REST_SECONDS
        if self.failures >= MAX_FAILURES and _Shared.rests is not None:
            await _Shared.rests.begin(self.model, REST_SECONDS)


_breakers: dict[tuple[str, str], Breaker] = {}


def breaker_of(model: Model) -> Breaker:
    """The breaker of a model in this process."""
    key = (model.base_url, model.name)
    if key not in _breakers:
        name = f"{model.name} at {model.address}"
        _breakers[key] = Breaker(name, Dependency(f"The model {name}"))
    return _breakers[key]


def count_failing() -> int:
    """How many models of this process have failed since their last success."""
    return sum(not breaker.server.is_available for breaker in list(_breakers.values()))

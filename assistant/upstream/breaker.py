"""A circuit breaker for each model: after several failures in a row its server gets no requests for a while."""

import time
from dataclasses import dataclass

from assistant.upstream import Model
from docsite.core.availability import Dependency


@dataclass
class Breaker:
    """Counts failures in a row. While it is open, the server gets no requests. The log has a line for each change."""

    server: Dependency
    failures: int = 0
    open_until: float = 0.0  # on the clock of `time.monotonic`

    def allows_request(self, max_failures: int, rest: float) -> bool:
        """Whether to ask now. After the rest (seconds) one request at a time may try, until one succeeds."""
        if self.failures < max_failures:
            return True
        now = time.monotonic()
        if now < self.open_until:
            return False
        self.open_until = now + rest  # during this request, others are still refused
        return True

    def record_success(self) -> None:
        """Note a complete answer of the server."""
        self.failures = 0
        self.server.report_success()

    def record_failure(self, rest: float, reason: str) -> None:
        """Note a failure of the server, with sentences for the operator."""
        self.server.report_failure(reason)
        self.failures += 1
        self.open_until = time.monotonic() + rest


_breakers: dict[tuple[str, str], Breaker] = {}


def breaker_of(model: Model) -> Breaker:
    """The breaker of a model in this process."""
    key = (model.base_url, model.name)
    if key not in _breakers:
        _breakers[key] = Breaker(Dependency(f"The model {model.name} at {model.address}"))
    return _breakers[key]


def count_failing() -> int:
    """How many models of this process have failed since their last success."""
    return sum(not breaker.server.is_available for breaker in list(_breakers.values()))

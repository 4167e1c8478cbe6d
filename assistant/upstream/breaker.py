"""A breaker for each model server: after failures in a row it is left alone for a while."""

import time
from dataclasses import dataclass

from assistant.upstream import Model


@dataclass
class Breaker:
    """Counts failures in a row; open means: do not ask."""

    failures: int = 0
    open_until: float = 0.0

    def lets_through(self, most: int, rest: float) -> bool:
        """Whether to ask now. After the rest (seconds) one request at a time may try, until one succeeds."""
        if self.failures < most:
            return True
        now = time.monotonic()
        if now < self.open_until:
            return False
        self.open_until = now + rest  # for this one's time, the others go on waiting
        return True

    def succeeded(self) -> None:
        """The server gave a whole answer."""
        self.failures = 0

    def failed(self, rest: float) -> None:
        """The server failed once more."""
        self.failures += 1
        self.open_until = time.monotonic() + rest


_breakers: dict[tuple[str, str], Breaker] = {}


def breaker(model: Model) -> Breaker:
    """The breaker of a model in this process."""
    return _breakers.setdefault((model.base_url, model.name), Breaker())

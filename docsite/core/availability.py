"""Whether the servers that we need answer. The log has one line for each change, however many requests fail."""

import logging
import threading
import time

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5.0  # between two attempts to use a server that the caller can do without
QUIET_SECONDS = 3.0  # without a failure, before a success means that all is well again


class Dependency:
    """Redis or the database. Whoever uses it reports each failure and success, from any thread."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_available = True
        self._lock = threading.Lock()
        self._since = self._last_failure = self._next_attempt = 0.0

    def report_failure(self, reason: str) -> None:
        """Note a failure. The first one is logged with its reason, which must not repeat what readers send."""
        with self._lock:
            self._last_failure = time.monotonic()
            self._next_attempt = self._last_failure + RETRY_SECONDS
            is_first = self.is_available
            if is_first:
                self.is_available, self._since = False, self._last_failure
        if is_first:
            logger.error("%s does not work: %s. The next line follows when it works again.", self.name, reason)

    def claim_attempt(self) -> bool:
        """Whether to ask it, for callers who can do without.

        True for all while it works. While it is away, True for one caller every five seconds, who must then try.
        """
        if self.is_available:
            return True
        with self._lock:
            now = time.monotonic()
            is_due = now >= self._next_attempt
            if is_due:
                self._next_attempt = now + RETRY_SECONDS
        return is_due

    def report_success(self) -> None:
        """Note a success. It costs next to nothing while all is well."""
        if self.is_available:
            return
        with self._lock:
            now = time.monotonic()
            if self.is_available or now - self._last_failure < QUIET_SECONDS:
                return
            self.is_available = True
        logger.warning("%s works again, after %d seconds.", self.name, now - self._since)


database = Dependency("The database")
redis = Dependency("Redis")

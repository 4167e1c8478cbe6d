"""Subscribers that wait for the next event of an answer. An event may be pushed to one without waking it."""

import asyncio
from collections.abc import Callable

from assistant.wire.events import END_EVENTS, Event

Push = Callable[[Event], bool]  # sends an event to a reader at once; False, without sending it, where it cannot


class Waiter:
    """One wait of one subscriber."""

    def __init__(self, seconds: float, push: Push | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._push = push
        self.future: asyncio.Future[bool] = self._loop.create_future()
        self.until = self._loop.time() + seconds
        self.pushed = 0  # events

    def take(self, event: Event) -> bool:
        """Push an event; where that is not possible, wake the subscriber up and return False.

        The last one always wakes it up: it has more to do then.
        """
        if self._push and not isinstance(event, END_EVENTS) and not self.future.done():
            try:
                is_pushed = self._push(event)
            except Exception:  # the boundary to a subscriber: it meets the failure itself, and the answer goes on
                is_pushed = False
            if is_pushed:
                self.pushed += 1
                self.until = self._loop.time() + self._seconds
                return True
        self.resolve(True)
        return False

    def resolve(self, value: bool) -> None:
        """End the wait: True, there is something new; False, the time is over."""
        if not self.future.done():
            self.future.set_result(value)


class Waiters:
    """The subscribers of one answer that wait."""

    def __init__(self) -> None:
        self._waiters: list[Waiter] = []
        self._alarm: asyncio.TimerHandle | None = None

    async def wait(self, seconds: float, push: Push | None = None) -> tuple[bool, int]:
        """Wait for an event. Returns False when the time is over first, and how many events were pushed meanwhile."""
        waiter = Waiter(seconds, push)
        self._waiters.append(waiter)
        if self._alarm is None or self._alarm.when() > waiter.until:
            self._set_alarm(waiter.until)
        try:
            return await waiter.future, waiter.pushed
        finally:
            self._waiters.remove(waiter)

    def take(self, event: Event) -> bool:
        """Pass an event on to all. Returns whether it was pushed to one of them."""
        pushed = False
        for waiter in self._waiters:
            pushed |= waiter.take(event)
        return pushed

    def close(self) -> None:
        """Wake all up: no more events will come."""
        for waiter in self._waiters:
            waiter.resolve(True)
        if self._alarm:
            self._alarm.cancel()

    def _set_alarm(self, when: float) -> None:
        """Set the one timer that serves all waiters: a timer for each waiter and token would cost too much."""
        if self._alarm:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_at(when, self._ring)

    def _ring(self) -> None:
        now = asyncio.get_running_loop().time()
        for waiter in self._waiters:
            if waiter.until <= now:
                waiter.resolve(False)
        self._alarm = None
        if later := [waiter.until for waiter in self._waiters if waiter.until > now]:
            self._set_alarm(min(later))

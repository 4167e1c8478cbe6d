"""Work that one process of all does, in rounds: who claims a round does it, and the others wait for the next one."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from docsite.core.notifications.models import Routine

LEASE = timedelta(minutes=10)  # after which another process takes over the round of one that was killed


@dataclass
class Round:
    """A claimed round of a routine. It is lost when `lease` has passed since it was claimed or extended."""

    name: str
    lease: timedelta
    until: datetime

    def extend(self) -> bool:
        """Keep the round for another `lease`. Returns whether this process still has it."""
        return self._move(timezone.now() + self.lease)

    def finish(self, pause: timedelta) -> None:
        """End the round. The next one begins after `pause`."""
        self._move(timezone.now() + pause)

    def _move(self, due_at: datetime) -> bool:
        before, self.until = self.until, due_at
        return bool(Routine.objects.filter(name=self.name, due_at=before).update(due_at=due_at))


def claim(name: str, longest: timedelta, lease: timedelta = LEASE) -> Round | None:
    """Claim the round of a routine that is due. Of several processes at once, one moves its time.

    `longest` is the longest time between two rounds. If the next round is due later than after `longest` and `lease`
    together, a wrong clock has set that time, and the round is claimed at once.
    """
    due_at = Routine.objects.get_or_create(name=name, defaults={"due_at": timezone.now()})[0].due_at
    now = timezone.now()  # after the time was read: another process may have moved it just before
    if now < due_at <= now + longest + lease:
        return None
    claimed = Round(name, lease, due_at)
    return claimed if claimed.extend() else None

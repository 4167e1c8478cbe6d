"""A thread in each process that serves. Once a minute one of them looks for alerts and digests that are due."""

from datetime import timedelta

from django.utils import timezone

from docsite.core.background import BackgroundThread
from docsite.core.delivery import outbox
from docsite.core.notifications import alerts, confirmation, digest, routines
from docsite.core.notifications.models import Alert, Digest

NAME = "alerts and digests"
EVERY = timedelta(minutes=1)
DAYS = 30  # for which e-mail waits for a mail server, and alerts are stored that are over


class _Watcher(BackgroundThread):
    """A thread that looks for alerts and digests, unless another process does so in this minute."""

    name = NAME
    seconds = 10.0

    def work(self) -> None:
        """Look once."""
        if claimed := routines.claim(NAME, EVERY):
            routines.finish(claimed, EVERY)  # before it looks, so that the pause is not longer if it takes its time
            alerts.check_all()
            digest.issue_due(timezone.now())


def sweep() -> None:
    """Delete alerts that ended, digests, and e-mail about both, after `DAYS` days; also what waits to be sent."""
    old = timezone.now() - timedelta(days=DAYS)
    outbox.delete_old((alerts.OPENED, alerts.CLEARED, digest.ISSUED, confirmation.REQUESTED), old)
    Alert.objects.filter(cleared_at__lt=old).delete()
    Digest.objects.filter(week__lt=old.date()).delete()


thread = _Watcher()

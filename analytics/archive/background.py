"""The thread that archives, in each process that serves and has `ARCHIVE_DIR`. One of them works at a time."""

from datetime import timedelta

from django.conf import settings

from analytics.archive import folder, writer
from docsite.core import availability
from docsite.core.background import BackgroundThread
from docsite.core.notifications import routines

NAME = "archive"
EVERY = timedelta(minutes=10)


class _Archiver(BackgroundThread):
    """A thread that archives what is due, unless another process does. A killed one is followed after ten minutes."""

    name = NAME
    seconds = 60.0

    def work(self) -> None:
        """Archive. If the folder fails, the log has one line, and raw views are kept until it works again."""
        claimed = routines.claim(NAME, EVERY)
        if claimed is None:
            return
        try:
            writer.write_due(lambda: claimed.extend() and not self.stopping.is_set())
            availability.archive.report_success()
        except (OSError, folder.ArchiveError) as failure:
            self.failures += 1
            availability.archive.report_failure(str(failure))
        finally:
            claimed.finish(EVERY)


_archiver = _Archiver()
stop = _archiver.stop


def start() -> None:
    """Start the thread, if there is an archive."""
    if settings.ENV.archive_dir:
        _archiver.start()

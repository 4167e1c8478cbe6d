"""The process that reads one stored source: `python -m search.stored.worker SOURCE RUNNER`.

A process of its own, since parsing would take turns with the streams of the process that serves. It ends when that
process does, which holds the other end of its standard input.
"""

import logging
import os
import signal
import sys
import threading
import time

NICENESS = 10
GRACE_SECONDS = 10.0  # to clean up
logger = logging.getLogger("search.stored.worker")


def main(pk: int, runner: str) -> None:
    """Read a source that was claimed under that name. What becomes of it is stored with it.

    When this is ended by SystemExit, the source waits to be read again.
    """
    from search.models import Source
    from search.stored import runs

    source = Source.objects.select_related("project").filter(pk=pk, runner=runner).first()
    if source is None:
        return  # deleted, or taken over
    try:
        threading.Thread(target=follow, name="follow", daemon=True).start()
        summary = runs.run(source, abort=abort)
    except SystemExit:
        runs.release(source)
        raise
    except Exception as wrong:
        if not runs.is_told(wrong):
            raise
        logger.warning("%s could not be read: %s", source, wrong)
        return
    for warned in summary.warnings:
        logger.warning("%s: %s", source, warned.sentence)


def follow() -> None:
    """Wait for the end of the process that started this one, and end, too: if need be, in the middle of anything."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    abort()


def abort() -> None:
    """End at once, whatever the other threads do."""
    os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the process that serves, which ends this one
    os.nice(NICENESS)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    import django

    django.setup()
    main(int(sys.argv[1]), sys.argv[2])

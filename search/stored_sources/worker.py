"""The process that reads one stored source: `python -m search.stored_sources.worker SOURCE HOLDER`.

It is a process of its own, since parsing would delay the streams of the serving process. It ends with the serving
process, which holds the other end of its standard input.
"""

import logging
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

NICENESS = 10
GRACE_SECONDS = 10.0  # to clean up
logger = logging.getLogger("search.stored_sources.worker")


def main(pk: int, holder: str) -> None:
    """Read a source that was claimed under this id, and store the outcome with it.

    On SystemExit the source goes back to the queue.
    """
    from search.models import Source
    from search.stored_sources import queue, runs

    source = Source.objects.select_related("project").filter(pk=pk, holder=holder).first()
    if source is None:
        return  # deleted, or taken over
    try:
        threading.Thread(target=exit_with_parent, name="exit_with_parent", daemon=True).start()
        summary = runs.run(source, abort=abort)
    except SystemExit:
        queue.release(source)
        raise
    except Exception as error:
        if not runs.is_user_error(error):
            raise
        logger.warning("%s could not be read: %s", source, error)
        return
    for warning in summary.warnings:
        logger.warning("%s: %s", source, warning.sentence)


def exit_with_parent() -> None:
    """Wait until the parent process ends. Then end this process, by force after GRACE_SECONDS."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    abort()


def begin(niceness: int = NICENESS) -> None:
    """Set up a process that reads documentation: its signals, its priority, and Django.

    The process that serves goes first: for the processor, and when memory runs out. Then Linux ends this process,
    whose source can be read again, and not the one with the readers.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the process that serves, which ends this one
    os.nice(niceness)
    with suppress(OSError):  # other systems have no such file
        Path("/proc/self/oom_score_adj").write_text("1000")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    import django

    django.setup()


def explain_end(status: int) -> str:
    """How such a process ended without a result, as the end of a sentence. `status` as `subprocess` has it."""
    killed = "was killed, perhaps because memory ran out."
    return killed if status == -signal.SIGKILL else f"ended without a result (status {status})."


def abort() -> None:
    """End the process at once, without waiting for other threads."""
    os._exit(1)


if __name__ == "__main__":
    begin()
    main(int(sys.argv[1]), sys.argv[2])

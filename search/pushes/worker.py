"""The process that reads one push: `python -m search.pushes.worker FD`.

FD is the archive. The first line of standard input is the `Push` as JSON; reports go to standard output, one JSON
object a line. It is a process of its own, since unpacking and parsing would delay the streams of the serving process,
and a hostile archive can harm only it. It ends with the serving process, which holds the other end of its input.
"""

import json
import os
import signal
import sys
import threading


def main(fd: int) -> None:
    """Do the push. Its last line is `end` or `error`, unless this program has a bug."""
    from docsite.core import context
    from search.pushes import run
    from search.stored_sources import runs
    from search.stored_sources.worker import abort, exit_with_parent

    reports = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nothing else that prints may end up among the reports
    push = run.Push(**json.loads(_read_line()))
    context.set_actor(lambda: push.actor)
    threading.Thread(target=exit_with_parent, name="exit_with_parent", daemon=True).start()

    def report(line: dict[str, object]) -> None:
        reports.write(f"{json.dumps(line)}\n")

    try:
        with os.fdopen(fd, "rb") as file:
            run.run(push, file, report, abort)
    except Exception as error:
        if not runs.is_user_error(error):
            raise
        report({"event": "error", "error": runs.as_sentence(error)})


def _read_line() -> bytes:
    """The first line of standard input, unbuffered: the rest is for `exit_with_parent`."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the process that serves, which ends this one
    from search.stored_sources.worker import give_way

    give_way()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")
    import django

    django.setup()
    main(int(sys.argv[1]))

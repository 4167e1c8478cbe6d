"""The process that reads one push: `python -m search.pushes.worker FD`.

FD is the archive. The first line of standard input is the `Push` as JSON; reports go to standard output, one JSON
object a line. It is a process of its own, since unpacking and parsing would delay the streams of the serving process,
and a hostile archive can harm only it. It ends with the serving process, which holds the other end of its input.
"""

import json
import os
import sys
import threading

from search.stored_sources.worker import abort, begin, exit_with_parent


def main(fd: int) -> None:
    """Do the push. Its last line is `end` or `error`, unless this program has a bug."""
    from docsite.core import context
    from search.pushes import run
    from search.stored_sources import runs

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
    begin()
    main(int(sys.argv[1]))

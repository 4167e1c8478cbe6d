"""Engines run in processes of their own: a line of JSON in, a line out. Both ends, with nothing but Python's own."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

PAGES = 10


def serve(commands: dict[str, Callable[..., dict[str, Any]]]) -> None:
    """Answer until the input ends. Whatever else is printed goes to stderr."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        message = json.loads(line)
        answers.write(json.dumps(commands[message.pop("do")](**message)) + "\n")
        answers.flush()


def timed(find: Callable[[str, dict[str, str] | None], Any], queries: list[Any]) -> tuple[list[Any], list[float]]:
    """What each query finds, and in how many milliseconds."""
    found, spent = [], []
    for text, wanted in queries:
        began = time.perf_counter()
        found.append(find(text, wanted))
        spent.append((time.perf_counter() - began) * 1000)
    return found, spent


def folded(paths: list[str]) -> list[str]:
    """The first ten pages of sections, best first."""
    return list(dict.fromkeys(paths))[:PAGES]

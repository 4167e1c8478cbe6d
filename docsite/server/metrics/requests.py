"""How many requests this process has answered, and how long they took to the first byte."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict

from docsite.core.components.metrics import Metric
from docsite.server import api_additions

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_KINDS = (  # the first that matches; the rest are of optional parts, or pages
    ("search", re.compile(r"(/discovery)?/v1/search/")),
    ("ask", re.compile(r"(/discovery)?/v[0-9]+/assistant/[^/]+/message\Z|/ask\Z")),
    ("view", re.compile(r"/discovery/v1/view/|/v1/collect/")),
    ("export", re.compile(r"/v1/analytics/")),
    ("script", re.compile(r"/(search|views|widget)\.js\Z|/widget/|/static/")),
    ("api", re.compile(r"/discovery/|/v[0-9]+/|/health\Z|/openapi\.json\Z")),
    ("admin", re.compile(r"/admin/")),
)

_counts: Counter[tuple[str, int]] = Counter()  # by kind, and status divided by 100
_buckets: "defaultdict[str, list[int]]" = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
_seconds: Counter[str] = Counter()


def count(path: str, status: int, seconds: float) -> str:
    """Count a request whose response begins. Returns its kind."""
    kind = next((kind for kind, pattern in _KINDS if pattern.match(path)), None)
    kind = kind or api_additions.find_name(path) or "page"
    _counts[kind, status // 100] += 1
    _buckets[kind][bisect_left(BUCKETS, seconds)] += 1
    _seconds[kind] += seconds  # type: ignore[assignment]  # a Counter adds floats, too
    return kind


def collect() -> list[Metric]:
    """The counts as metrics."""
    total = Metric("docs_requests_total", "counter", "Requests, by kind and class of the status.")
    for (kind, status), number in sorted(_counts.items()):
        total.add(number, {"kind": kind, "status": f"{status}xx"})
    time = Metric("docs_request_seconds", "histogram", "Time from a request to the first byte of its response.")
    for kind, buckets in sorted(_buckets.items()):
        sum_so_far = 0
        for limit, number in zip([*map(str, BUCKETS), "+Inf"], buckets, strict=True):
            sum_so_far += number
            time.add(sum_so_far, {"kind": kind, "le": limit}, "_bucket")
        time.add(_seconds[kind], {"kind": kind}, "_sum")
        time.add(sum_so_far, {"kind": kind}, "_count")
    return [total, time]

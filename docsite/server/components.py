"""What the process itself, and the parts of the core that are no app, do beside the requests."""

import resource
import shutil
import time
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from django.conf import settings

from docsite.core import availability, background
from docsite.core.access import last_uses
from docsite.core.components import Component
from docsite.core.components.metrics import Metric, gauge
from docsite.core.group_commit import list_queues
from docsite.core.http import limit_use, open_sockets
from docsite.server import memory

_started_at = time.time()


def measure_process() -> Iterable[Metric]:
    """The time, the memory and the descriptors of the process, its queues, and whether its stores answer."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = Metric("process_cpu_seconds_total", "counter", "CPU time of this process.")
    cpu.add(usage.ru_utime + usage.ru_stime)
    working = Metric("docs_store_up", "gauge", "Whether a store answers: 1 or 0.")
    working.add(availability.database.is_available, {"store": "database"})
    if settings.ENV.redis_url:
        working.add(availability.redis.is_available, {"store": "redis"})
    queues = Metric("docs_queue_items", "gauge", "Records that wait to be stored.")
    for waiting in list_queues():
        queues.add(waiting.count_waiting(), {"queue": waiting.name})
    yield gauge("process_start_time_seconds", "When this process began, as Unix time.", _started_at)
    yield cpu
    yield from _read_proc()
    yield gauge("docs_open_sockets", "Open WebSockets of this process.", open_sockets.count_all())
    free = shutil.disk_usage(settings.DATA_DIR).free
    yield gauge("docs_disk_free_bytes", "Free space below DATA_DIR.", free)
    yield working
    yield queues
    yield from _measure_threads()


def _measure_threads() -> Iterable[Metric]:
    """Whether each background thread runs, how often it has failed, and when it last did its work."""
    alive = Metric("docs_thread_up", "gauge", "Whether a background thread runs: 1 or 0.")
    failures = Metric("docs_thread_failures_total", "counter", "Failures of a background thread.")
    success = Metric(
        "docs_thread_success_seconds", "gauge", "When a background thread last did its work, as Unix time."
    )
    for thread in background.list_running():
        alive.add(not thread.has_ended, {"thread": thread.name})
        failures.add(thread.failures, {"thread": thread.name})
        success.add(thread.succeeded_at, {"thread": thread.name})
    return alive, failures, success


def _read_proc() -> Iterable[Metric]:
    """Memory and descriptors, where the system tells them."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield gauge("process_resident_memory_bytes", "Memory of this process.", pages * resource.getpagesize())
    yield gauge("process_open_fds", "Open file descriptors.", descriptors)
    yield gauge("process_max_fds", "How many may be open.", limit)


COMPONENTS = (
    Component(name="process", start=memory.start, metrics=measure_process),
    Component(name="log-in sessions", sweep=import_module(settings.SESSION_ENGINE).SessionStore.clear_expired),
    Component(name="uses of keys", flush=last_uses.flush),
    Component(name="uses of limits", flush=limit_use.flush),
)

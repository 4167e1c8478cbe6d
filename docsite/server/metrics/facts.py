"""What this process, its background work and the stores are doing."""

import resource
import shutil
import time
from pathlib import Path

from django.conf import settings

from analytics.collecting.view_log import state as view_log
from analytics.counting.unsealed import count_waiting_views
from assistant.sessions.running import running_answers
from assistant.upstream.breaker import count_failing
from docsite.core import availability, background
from docsite.core.context import limit_database_time
from docsite.core.delivery.models import Delivery
from docsite.core.group_commit import list_queues
from docsite.core.http import open_sockets
from docsite.server.metrics.exposition import Metric, gauge
from search.models import Source
from search.stored_sources import queue

DATABASE_SECONDS = VIEW_LOG_SECONDS = 2.0

_started_at = time.time()


def collect_process() -> list[Metric]:
    """The process, its answers, queues and threads. It does not wait for anything."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = Metric("process_cpu_seconds_total", "counter", "CPU time of this process.")
    cpu.add(usage.ru_utime + usage.ru_stime)
    working = Metric("docs_store_up", "gauge", "Whether a store answers: 1 or 0.")
    working.add(availability.database.is_available, {"store": "database"})
    if settings.ENV.redis_url:
        working.add(availability.redis.is_available, {"store": "redis"})
    if settings.ENV.view_log_url:
        working.add(availability.view_log.is_available, {"store": "view_log"})
    queues = Metric("docs_queue_items", "gauge", "Records that wait to be stored.")
    for waiting in list_queues():
        queues.add(waiting.count_waiting(), {"queue": waiting.name})
    alive = Metric("docs_thread_up", "gauge", "Whether a background thread runs: 1 or 0.")
    failures = Metric("docs_thread_failures_total", "counter", "Failures of a background thread.")
    success = Metric(
        "docs_thread_success_seconds", "gauge", "When a background thread last did its work, as Unix time."
    )
    for thread in background.list_running():
        alive.add(not thread.has_ended, {"thread": thread.name})
        failures.add(thread.failures, {"thread": thread.name})
        success.add(thread.succeeded_at, {"thread": thread.name})
    return [
        gauge("process_start_time_seconds", "When this process began, as Unix time.", _started_at),
        cpu,
        *_read_proc(),
        gauge("docs_running_answers", "Answers that run in this process.", running_answers.count_all()),
        gauge("docs_open_sockets", "Open WebSockets of this process.", open_sockets.count_all()),
        gauge("docs_models_failing", "Models whose last request failed.", count_failing()),
        gauge("docs_disk_free_bytes", "Free space below DATA_DIR.", shutil.disk_usage(settings.DATA_DIR).free),
        *(working, queues, alive, failures, success),
    ]


def collect_stored() -> list[Metric]:
    """The work that waits in the database, the same in every process. Uses the database."""
    with limit_database_time(DATABASE_SECONDS):
        deliveries = Metric("docs_deliveries", "gauge", "E-mails and webhooks that wait or were given up.")
        for state in (Delivery.State.WAITING, Delivery.State.FAILED):
            deliveries.add(Delivery.objects.filter(state=state).count(), {"state": state.value})
        failed = Source.objects.filter(state=Source.State.FAILED).count()
        return [
            gauge("docs_views_waiting", "Views that are stored, but not yet counted.", count_waiting_views()),
            deliveries,
            gauge("docs_sources_due", "Stored sources that wait to be read.", queue.count_due()),
            gauge("docs_sources_failed", "Stored sources that could not be read the last time.", failed),
        ]


def collect_view_log() -> list[Metric]:
    """What waits in the view log, the same in every process; zeros without a log. Raises `LogUnavailableError`."""
    messages, age, refused = 0, 0.0, 0
    if settings.ENV.view_log_url:
        waiting, refused = view_log.read(), view_log.count_refused()
        messages, age = waiting.messages, waiting.oldest_seconds
    return [
        gauge("docs_view_log_messages", "Messages in the view log that are not in the database yet.", messages),
        gauge("docs_view_log_waiting_seconds", "Age of the oldest of them.", age),
        gauge("docs_view_log_refused", "Messages that could not be stored, and wait for a person.", refused),
    ]


def _read_proc() -> list[Metric]:
    """Memory and descriptors, where the system tells them."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return []
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return [
        gauge("process_resident_memory_bytes", "Memory of this process.", pages * resource.getpagesize()),
        gauge("process_open_fds", "Open file descriptors.", descriptors),
        gauge("process_max_fds", "How many may be open.", limit),
    ]

"""Traces for OpenTelemetry and errors for Sentry, if their packages are installed and their variables are set.

Others import `telemetry.start` and `telemetry.stop`. Neither gets a question, an address, a key or a path: only
the kinds of requests, statuses, times, ids of requests, and cleaned lines of the log.
"""

from docsite.server.telemetry import error_reports, traces


def start() -> None:
    """Begin to send what is configured. Call it once in a process."""
    traces.start()
    error_reports.start()


def stop() -> None:
    """Send the errors that wait, for at most two seconds. OpenTelemetry sends its spans when the process ends."""
    error_reports.stop()

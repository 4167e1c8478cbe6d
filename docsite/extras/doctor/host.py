"""The machine: settings, clock, disk, file descriptors."""

import ctypes
import shutil

from django.conf import settings

from docsite.core.components import Finding
from docsite.server.health import descriptors
from docsite.server.health.readiness import MIN_FREE_MIB

_LOCAL = {"127.0.0.1", "localhost", "[::1]", "testserver"}
_COMFORTABLE_MIB = 1024
_TIMEX_BYTES = 512  # more than `struct timex` has on any system
_UNSYNCHRONIZED = 5  # what adjtimex(2) returns then


def check_settings() -> Finding:
    """Settings that are right on a laptop, and wrong on a public host."""
    public = sorted({*settings.ALLOWED_HOSTS} - _LOCAL)
    if not public:
        return Finding("Settings", "only this host is answered (ALLOWED_HOSTS)")
    if settings.DEBUG:
        return Finding("Settings", "DEBUG is on for a public host", "Unset DEBUG: tracebacks show settings.")
    if not settings.ENV.https_only:
        return Finding("Settings", f"{public[0]} is answered without TLS, too", "Set HTTPS_ONLY=1 if a proxy has TLS.")
    if not settings.ENV.trusted_proxies:
        advice = "If there is a proxy, set TRUSTED_PROXIES to its address: else all readers share its limits."
        return Finding("Settings", "no proxy is trusted", advice)
    return Finding("Settings", f"for {', '.join(public)}, with HTTPS and a trusted proxy")


def check_clock() -> Finding:
    """Whether the clock of this host follows others. Tokens, limits and views depend on it."""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except AttributeError:  # another system than Linux
        return Finding("Clock", "whether it is synchronized cannot be seen on this system")
    if state == _UNSYNCHRONIZED:
        return Finding("Clock", "it is not synchronized", "Install chrony or systemd-timesyncd on the host.")
    return Finding("Clock", "it is synchronized")


def check_disk() -> Finding:
    """The free space below DATA_DIR."""
    free = shutil.disk_usage(settings.DATA_DIR).free // 2**20
    fact = f"{free:,} MiB are free below {settings.DATA_DIR}"
    if free < _COMFORTABLE_MIB:
        return Finding("Disk", fact, f"Make space: below {MIN_FREE_MIB} MiB the process is not ready.")
    return Finding("Disk", fact)


def check_descriptors() -> Finding:
    """How many files and connections a process may open."""
    limit = descriptors.raise_limit()
    fact = f"a process may open {limit:,} files and connections"
    if limit < descriptors.MIN_DESCRIPTORS:
        return Finding("Descriptors", fact, descriptors.ADVICE)
    return Finding("Descriptors", fact)

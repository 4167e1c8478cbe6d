"""The limit of open files and connections of a process."""

import contextlib
import resource

MIN_DESCRIPTORS = 4_096  # below this the check at the start warns
MAX_DESCRIPTORS = 65_536  # more would only hide a leak
ADVICE = "Raise the limit: LimitNOFILE=65536 in the systemd unit, or --ulimit nofile=65536 for a container."


def raise_limit() -> int:
    """Raise the limit of this process as far as the system allows. Returns the limit.

    Many systems give 1024, which a few hundred readers use up, and allow far more.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft

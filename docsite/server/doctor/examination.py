"""All checks, in the order in which an operator should mend things."""

from collections.abc import Callable, Iterator

from docsite.server.doctor import host, services, stores
from docsite.server.doctor.finding import Finding
from docsite.server.doctor.proxy import check_proxy

CHECKS: tuple[Callable[[], Finding | None], ...] = (
    *(host.check_settings, host.check_clock, host.check_disk, host.check_descriptors),
    *(stores.check_database, stores.check_connections, stores.check_pool, stores.check_redis),
    *(services.check_model, services.check_mail, services.check_deliveries, services.check_sources),
    *(services.check_view_log, services.check_views),
)


def examine(url: str = "") -> Iterator[Finding]:
    """Run the checks that apply to this set-up, one after the other; with a URL of this service also its proxy's."""
    for check in CHECKS:
        if finding := check():
            yield finding
    if url:
        yield check_proxy(url)

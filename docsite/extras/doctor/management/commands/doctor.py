"""`manage.py doctor`: what of the set-up does not work, and what to do."""

from collections.abc import Callable
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from docsite.core import components
from docsite.core.components import Finding
from docsite.extras.doctor import host, service, stores
from docsite.extras.doctor.log_in import check_log_in
from docsite.extras.doctor.proxy import check_proxy

CHECKS = (
    *(service.check_release, host.check_settings, host.check_clock, host.check_disk, host.check_descriptors),
    *(stores.check_database, stores.check_connections, stores.check_pool, stores.check_redis),
    *(service.check_accounts, service.check_background, service.check_alerts),
)


class Command(BaseCommand):
    """Examines the set-up. It changes nothing but for the log-in of `--url`, and works without a database."""

    help = (
        "Check settings, clock, disk, database, Redis, accounts, model, mail and background work, and say what to do. "
        "The exit status is 0 if all is well, 1 if something is to be done."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012  # as Django declares it

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address of the service for readers."""
        parser.add_argument(
            "--url",
            default="",
            help="Also ask this service through its proxy, at this address, and log in with an account made for it.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line for each finding. The exit status is 1 if something is to be done."""
        has_advice = False
        of_apps = (check for component in components.load() for check in component.doctor)
        findings = map(_find, chain(CHECKS, of_apps))
        through_proxy = [check_proxy(options["url"]), check_log_in(options["url"])] if options["url"] else []
        for finding in filter(None, chain(findings, through_proxy)):
            mark = "✗" if finding.advice else "✓"
            self.stdout.write(f"{mark} {finding.subject}: {finding.fact}.")
            if finding.advice:
                has_advice = True
                self.stdout.write(f"  → {finding.advice}")
        if has_advice:
            raise SystemExit(1)


def _find(check: Callable[[], Finding | None]) -> Finding | None:
    try:
        return check()
    except DatabaseError:
        return None  # the check of the database says why

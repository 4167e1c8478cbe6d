"""Registers the app."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.apps import AppConfig

from docsite.core import components

if TYPE_CHECKING:
    from docsite.core.tenants.models import Project
    from search.missing_pages import MissingRequest


class DeadEndsConfig(AppConfig):
    """Addresses without a page."""

    name = "docsite.extras.dead_ends"
    label = "dead_ends"
    verbose_name = "Dead ends"

    def ready(self) -> None:
        """Keep the addresses, and answer where their pages are now."""
        from search import missing_pages

        components.register("docsite.extras.dead_ends.components")
        missing_pages.install(missing_pages.Keeper(_record, _flush, _find_replacement))


def _record(project: "Project", requests: "Iterable[MissingRequest]") -> None:
    from docsite.extras.dead_ends import recording  # only processes that answer requests or read logs need it

    recording.record(project, requests)


def _flush() -> None:
    from docsite.extras.dead_ends import recording

    recording.flush()


def _find_replacement(project: "Project", path: str) -> str:
    from docsite.extras.dead_ends import redirects

    return redirects.find_replacement(project, path)

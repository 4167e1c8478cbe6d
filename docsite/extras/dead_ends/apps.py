"""Registers the app."""

from django.apps import AppConfig

from docsite.core import components


class DeadEndsConfig(AppConfig):
    """Addresses without a page."""

    name = "docsite.extras.dead_ends"
    label = "dead_ends"
    verbose_name = "Dead ends"

    def ready(self) -> None:
        """Keep the addresses, and answer where their pages are now."""
        from search import missing_pages

        components.register("docsite.extras.dead_ends.components")
        missing_pages.install("docsite.extras.dead_ends.keeper.KEEPER")

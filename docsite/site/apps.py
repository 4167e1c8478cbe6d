"""The configuration of the app."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """The documentation site that this service serves about itself."""

    name = "docsite.site"
    label = "pages"
    verbose_name = "Documentation pages"

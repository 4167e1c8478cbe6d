"""The configuration of the app."""

from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.http import HttpRequest

if TYPE_CHECKING:
    from docsite.core.tenants.models import Project


class TryDocsConfig(AppConfig):
    """Throw-away projects of documentation that somebody wants to try."""

    name = "docsite.extras.try_docs"
    label = "try_docs"

    def ready(self) -> None:
        """Add the addresses, the field on the first page, the notice in the admin, and the deletion after a day."""
        from docsite.core import components
        from docsite.core.workspace import extensions
        from docsite.site import additions

        components.register("docsite.extras.try_docs.components")
        extensions.add_notice(_find_notice)
        additions.register("docsite.extras.try_docs.site_addition")


def _find_notice(request: HttpRequest, project: "Project") -> str:
    from docsite.extras.try_docs import views  # only processes that answer requests need them

    return views.find_notice(request, project)

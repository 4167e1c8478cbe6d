"""The configuration of the app."""

from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.http import HttpRequest
from django.utils.safestring import SafeString

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
        additions.add_home_part(_render_field)
        additions.add_addresses("docsite.extras.try_docs.urls")


# Only processes that answer requests need the views.


def _render_field(request: HttpRequest) -> SafeString:
    from docsite.extras.try_docs import views

    return views.render_field(request)


def _find_notice(request: HttpRequest, project: "Project") -> str:
    from docsite.extras.try_docs import views

    return views.find_notice(request, project)

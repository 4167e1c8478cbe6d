"""The configuration of the app."""

from django.apps import AppConfig


class TryDocsConfig(AppConfig):
    """Throw-away projects of documentation that somebody wants to try."""

    name = "docsite.extras.try_docs"
    label = "try_docs"

    def ready(self) -> None:
        """Add the addresses, the field on the first page, the notice in the admin, and the deletion after a day."""
        from django.urls import path

        from docsite.core import components
        from docsite.core.workspace import extensions
        from docsite.extras.try_docs import views
        from docsite.site import additions

        components.register("docsite.extras.try_docs.components")
        extensions.add_notice(views.find_notice)
        additions.add_home_part(views.render_field)
        additions.add_address(path("try-your-docs", views.start, name="try_docs"))
        additions.add_address(path("try-your-docs/<str:domain>", views.show, name="try_docs_show"))
        additions.add_address(path("try-your-docs/<str:domain>/state", views.state, name="try_docs_state"))
        additions.add_address(path("try-your-docs/<str:domain>/end", views.end, name="try_docs_end"))

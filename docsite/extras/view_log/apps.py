"""The configuration of the app."""

from django.apps import AppConfig

from docsite.core import components
from docsite.extras.view_log.settings import read_url


class ViewLogConfig(AppConfig):
    """A log in front of the database."""

    name = "docsite.extras.view_log"
    label = "view_log"

    def ready(self) -> None:
        """Register the components and the log. Whether there is one is asked at each use."""
        from analytics.collecting import view_log
        from docsite.core.access import authentication
        from docsite.extras.view_log import publisher, state

        components.register("docsite.extras.view_log.components")
        log = view_log.ViewLog(publisher.submit, state.wait_until_stored)
        view_log.install(lambda: log if read_url() else None)
        authentication.allow_stale_if(lambda: bool(read_url()))

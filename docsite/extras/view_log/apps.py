"""The configuration of the app."""

from functools import cache
from typing import TYPE_CHECKING

from django.apps import AppConfig

from docsite.core import components
from docsite.extras.view_log.settings import read_url

if TYPE_CHECKING:
    from analytics.collecting.view_log import ViewLog


class ViewLogConfig(AppConfig):
    """A log in front of the database."""

    name = "docsite.extras.view_log"
    label = "view_log"

    def ready(self) -> None:
        """Register the components and the log. Whether there is one is asked at each use."""
        from analytics.collecting import view_log
        from docsite.core.access import authentication

        components.register("docsite.extras.view_log.components")
        view_log.install(lambda: _load() if read_url() else None)
        authentication.allow_stale_if(lambda: bool(read_url()))


@cache
def _load() -> "ViewLog":
    from analytics.collecting.view_log import ViewLog
    from docsite.extras.view_log import publisher, state

    return ViewLog(publisher.submit, state.wait_until_stored)

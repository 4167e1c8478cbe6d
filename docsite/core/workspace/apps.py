"""The configuration of the app, and that of Django's admin."""

from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin import apps as admin_apps
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class WorkspaceConfig(AppConfig):
    """The owner's pages."""

    name = "docsite.core.workspace"


class WorkspaceAdminConfig(admin_apps.SimpleAdminConfig):
    """Django's admin, with a site of our own. `docsite.server.urls` loads its pages: most processes need none."""

    default = False  # two configurations of one module; the settings name this one
    default_site = "docsite.core.workspace.site.WorkspaceSite"

    def ready(self) -> None:
        """Register Django's checks, which need the pages."""
        checks.register(_check, checks.Tags.admin)


def _check(**options: Any) -> list[checks.CheckMessage]:
    admin.autodiscover()
    return [*check_dependencies(**options), *check_admin_app(**options)]

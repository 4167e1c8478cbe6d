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
    """Django's admin with a site class of our own.

    It does not import the `admin` modules of the apps at start. `docsite.server.urls` does, so processes that serve no
    pages do without them.
    """

    default = False  # two configurations of one module; the settings name this one
    default_site = "docsite.core.workspace.site.WorkspaceSite"

    def ready(self) -> None:
        """Register Django's checks of the admin."""
        checks.register(_check_admin, checks.Tags.admin)


def _check_admin(**options: Any) -> list[checks.CheckMessage]:
    """Run Django's checks, after the `admin` modules have registered what is to be checked."""
    admin.autodiscover()
    return [*check_dependencies(**options), *check_admin_app(**options)]

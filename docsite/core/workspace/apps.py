"""The configuration of the app, and that of Django's admin."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class WorkspaceConfig(AppConfig):
    """The owner's pages."""

    name = "docsite.core.workspace"


class WorkspaceAdminConfig(admin_apps.AdminConfig):
    """Django's admin, with a site of our own."""

    default = False  # two configurations of one module; the settings name this one
    default_site = "docsite.core.workspace.site.WorkspaceSite"

"""The configuration of the app."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    """Organizations, projects, keys."""

    name = "docsite.core.tenants"
    label = "projects"
    verbose_name = "Documentation projects"
    audited = ("ApiKey", "Invitation", "Membership", "Organization", "Project", "ReaderKey")

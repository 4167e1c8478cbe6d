"""Registers the app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_delete

from docsite.core.access import cors


class SearchConfig(AppConfig):
    """Documents, sections and their index."""

    name = "search"

    def ready(self) -> None:
        """Register endpoints, uploads, events and settings of a project, and when an index is deleted or built."""
        from docsite.core.access import authentication, uploads
        from search.stored_sources import alerts, events

        events.register()
        alerts.register()
        authentication.load_with_project("search_settings")
        cors.allow_project_origins("search", "page")
        uploads.allow("sources")
        pre_delete.connect(_drop_index, sender="projects.Project")
        post_migrate.connect(_reindex_where_needed, sender=self)


def _drop_index(instance: Any, **kwargs: Any) -> None:
    from search import backends
    from search.backends import local

    backends.current().drop(instance)
    local.drop(instance)


def _reindex_where_needed(**kwargs: Any) -> None:
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from docsite.core.tenants.models import Project
    from search.indexing.ingest import needs_reindex

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return  # this `migrate` went back to the tables of an older release
    for project in Project.objects.all():
        if needs_reindex(project):
            call_command("reindex", project.domain)

"""Registers the app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_delete

from docsite.core import components
from docsite.core.access import cors_paths


class SearchConfig(AppConfig):
    """Documents, sections and their index."""

    name = "search"
    audited = ("PageWords", "SearchSettings", "Source")

    def ready(self) -> None:
        """Register endpoints, uploads, events and settings of a project, and when an index is deleted or built."""
        from docsite.core.access import authentication, uploads
        from docsite.core.notifications import alerts
        from docsite.core.notifications.topics import Topic
        from search.stored_sources import events
        from search.stored_sources.alerts import find_failed

        components.register("search.components")
        events.register()
        alerts.add_check(Topic("source", "A source could not be read"), find_failed)
        authentication.load_with_project("search_settings")
        cors_paths.allow_project_origins("search", "page")
        uploads.allow("sources")
        pre_delete.connect(_delete_index_files, sender="projects.Project")
        post_migrate.connect(_reindex_where_needed, sender=self)


def _delete_index_files(instance: Any, **kwargs: Any) -> None:
    from search.postings import storage

    storage.delete_files(instance)


def _reindex_where_needed(**kwargs: Any) -> None:
    from django.core.management import call_command

    from docsite.core.db import list_missing_migrations
    from docsite.core.tenants.models import Project
    from search.indexing.ingest import needs_reindex

    if list_missing_migrations():
        return  # only some apps were migrated
    for project in Project.objects.all():
        if needs_reindex(project):
            call_command("reindex", project.domain)

"""Registers the app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_delete


class SearchConfig(AppConfig):
    """Documents, sections and their index."""

    name = "search"

    def ready(self) -> None:
        """Forget a project's index with the project."""
        pre_delete.connect(_drop_index, sender="projects.Project")


def _drop_index(instance: Any, **kwargs: Any) -> None:
    from search import backends

    backends.current().drop(instance)

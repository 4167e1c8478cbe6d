"""Registers the app."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from docsite.core.tenants.models import Project
    from search.signals import IndexWarning


class AssistantConfig(AppConfig):
    """Conversations and the widget."""

    name = "assistant"

    def ready(self) -> None:
        """Ask the golden questions before a new index is swapped in."""
        from search.signals import index_staged

        index_staged.connect(_ask_golden)


def _ask_golden(
    project: "Project", preview: Callable[[], AbstractContextManager[None]], **kwargs: Any
) -> "list[IndexWarning]":
    from assistant import golden_questions

    return golden_questions.check(project, preview)

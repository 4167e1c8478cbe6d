"""Registers the app."""

from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from docsite.core.tenants.models import Project
    from search.signals import Warned


class AssistantConfig(AppConfig):
    """Conversations and the widget."""

    name = "assistant"

    def ready(self) -> None:
        """Ask the golden questions before a new index is swapped in."""
        from search.signals import swapping

        swapping.connect(_ask_golden)


def _ask_golden(project: "Project", **kwargs: Any) -> "list[Warned]":
    from assistant import golden_questions

    return golden_questions.check(project)

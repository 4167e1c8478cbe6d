"""Registers the app."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

from docsite.core import components
from docsite.core.access import cors_paths

if TYPE_CHECKING:
    from docsite.core.tenants.models import Project
    from search.signals import IndexEffect, IndexWarning


class AssistantConfig(AppConfig):
    """Conversations and the widget."""

    name = "assistant"
    audited = ("AssistantSettings", "GroupAction", "ModelPrice", "PinnedAnswer", "SupportSettings", "WidgetSettings")

    def ready(self) -> None:
        """Register what browsers may call. Ask the golden questions before a new index is swapped in."""
        from assistant.improving.question_groups import events
        from assistant.notifications import alerts
        from assistant.notifications.digest import count_questions, list_pages_to_write
        from assistant.support_requests import notifications
        from docsite.core.notifications import digest
        from search.signals import index_compared, index_staged

        components.register("assistant.components")
        notifications.register()
        events.register()
        alerts.register()
        digest.add_section(list_pages_to_write, position=20)
        digest.add_section(count_questions, position=30)
        cors_paths.allow_project_origins("assistant", "support")
        cors_paths.allow_every_origin("widget")  # its answer says which origins are allowed
        index_staged.connect(_ask_golden)
        index_compared.connect(_compare)


def _ask_golden(
    project: "Project", preview: Callable[[], AbstractContextManager[None]], **kwargs: Any
) -> "list[IndexWarning]":
    from assistant.improving.golden_questions import checks

    return checks.check(project, preview)


def _compare(
    project: "Project",
    preview: Callable[[], AbstractContextManager[None]],
    removed: Sequence[str],
    **kwargs: Any,
) -> "list[IndexEffect]":
    from assistant.improving import index_effects

    return index_effects.compare(project, preview, removed)

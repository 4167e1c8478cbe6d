"""Registers the app."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from assistant.models import GoldenQuestion
    from docsite.core.tenants.models import Project
    from search.models import Source
    from search.signals import IndexEffect


class ReplayConfig(AppConfig):
    """What a new index does to readers' questions."""

    name = "docsite.extras.replay"
    label = "replay"

    def ready(self) -> None:
        """Compare new indexes with the present one, close the gaps that a push answers, and add to the digest."""
        from assistant.improving.golden_questions.audits import audits
        from docsite.core.notifications import digest
        from docsite.extras.replay import held
        from search.signals import index_compared, index_swapped

        index_compared.connect(_compare)
        index_swapped.connect(_close_gaps)
        audits.append(_audit)
        digest.add_section(held.list_closed, position=40)


def _compare(
    project: "Project", preview: Callable[[], AbstractContextManager[None]], is_preview: bool, **kwargs: Any
) -> "list[IndexEffect]":
    from docsite.extras.replay import closing, comparison

    return comparison.find_effects(project, preview) if is_preview else closing.find_effects(project, preview)


def _audit(project: "Project", questions: "Sequence[GoldenQuestion]") -> None:
    from docsite.extras.replay.surfaces import audit  # imports the parser of HTML

    audit.run(project, questions)


def _close_gaps(source: "Source", effects: "Sequence[IndexEffect]", **kwargs: Any) -> None:
    from docsite.extras.replay import closing

    closing.close(source, effects)

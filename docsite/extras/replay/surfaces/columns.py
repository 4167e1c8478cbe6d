"""The column of the list of golden questions, and the line on the page of each."""

from typing import Any

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from assistant.admin.golden_questions import GoldenQuestionAdmin
from assistant.models import GoldenQuestion
from docsite.extras.replay.surfaces import audit
from docsite.extras.replay.surfaces.finding import State

_SIGNS = {State.TELLS: "✓ tells it", State.LATE: "late", State.LOST: "✗ loses it", State.UNKNOWN: "not known"}


@admin.display(description="Loses the fact first")
def show_first_loss(question: GoldenQuestion) -> str:
    """The first surface that loses the fact."""
    return audit.summarize(audit.load(question)) or "–"


@admin.display(description="Surfaces")
def show_all(question: GoldenQuestion) -> SafeString | str:
    """What each surface has of the fact."""
    rows = [
        (finding.surface, _SIGNS[finding.state], f" ({finding.detail})" if finding.detail else "")
        for finding in audit.load(question)
    ]
    return format_html_join("", "<div>{}: {}{}</div>", rows) or "–"


_columns = list[Any](GoldenQuestionAdmin.list_display)
_columns.insert(_columns.index("result") + 1, show_first_loss)
GoldenQuestionAdmin.list_display = tuple(_columns)
GoldenQuestionAdmin.fields = (*GoldenQuestionAdmin.fields, show_all)  # type: ignore[assignment]
GoldenQuestionAdmin.readonly_fields = (*GoldenQuestionAdmin.readonly_fields, show_all)  # type: ignore[assignment]

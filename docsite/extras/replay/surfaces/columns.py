"""The column of the list of golden questions, and the line on the page of each."""

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


*_columns, _last_run = GoldenQuestionAdmin.list_display
GoldenQuestionAdmin.list_display = (*_columns, show_first_loss, _last_run)  # type: ignore[assignment]  # one more
GoldenQuestionAdmin.fields = (*GoldenQuestionAdmin.fields, show_all)  # type: ignore[assignment]  # they take functions
GoldenQuestionAdmin.readonly_fields = (*GoldenQuestionAdmin.readonly_fields, show_all)  # type: ignore[assignment]

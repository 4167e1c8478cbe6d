"""Evaluations in the admin, to read: their list, and the answers of a run with what changed since the one before."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from assistant.conversations import transcript
from assistant.improving.golden_questions import report
from assistant.improving.golden_questions.scoring import Row
from assistant.models import Evaluation
from docsite.core.tenants.models import Role
from docsite.core.workspace.scoped_admin import ProjectFilter, ScopedAdmin


@dataclass(frozen=True)
class Result:
    """One question of an evaluation run, with its answer and score, as the admin shows it."""

    row: Row
    change: str

    @property
    def outcome(self) -> str:
        """The result, as a sign and a word: not everybody sees or hears the sign."""
        return "✓ right" if self.row.right else "✗ wrong"

    @property
    def answer(self) -> SafeString:
        """The answer as HTML."""
        return transcript.render(self.row.text)


@admin.register(Evaluation)
class EvaluationAdmin(ScopedAdmin):
    """Runs of `manage.py golden DOMAIN --evaluate`, newest first."""

    organization = "project__organization"
    reads = Role.VIEWER
    change_form_template = "admin/assistant/evaluation/change_form.html"
    fields = readonly_fields = ("project", "created_at", "answered_by", "judge", "progress")
    list_display = ("created_at", "project", "answered_by", "right_share", "progress")
    list_filter = (ProjectFilter,)
    list_select_related = ("project",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the answers in the database until a page needs them."""
        return super().get_queryset(request).defer("rows")

    @admin.display(description="Answered by")
    def answered_by(self, evaluation: Evaluation) -> str:
        """The model that was asked, if one was."""
        return evaluation.model or "quotes"

    @admin.display(description="Right")
    def right_share(self, evaluation: Evaluation) -> str:
        """The share of right answers."""
        return str(report.Share(evaluation.right, evaluation.scored))

    @admin.display(description="Asked")
    def progress(self, evaluation: Evaluation) -> str:
        """How many questions were asked."""
        stopped = "" if evaluation.is_complete else f" of {evaluation.questions}, then stopped"
        return f"{evaluation.asked}{stopped}"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a run with its figures and answers."""
        evaluation = self.get_object(request, object_id)
        context = _describe(evaluation) if isinstance(evaluation, Evaluation) else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **context})


def _describe(evaluation: Evaluation) -> dict[str, Any]:
    """The figures and answers of a run, changed ones first, then wrong ones."""
    rows = [Row.from_json(row) for row in evaluation.rows]
    earlier = evaluation.find_earlier()
    comparison = report.compare(rows, map(Row.from_json, earlier.rows if earlier else ()))
    changes = dict.fromkeys(comparison.newly_wrong, "newly wrong")
    changes |= dict.fromkeys(comparison.newly_right, "newly right")
    results = [Result(row, changes.get(row.question, "")) for row in rows]
    results.sort(key=lambda result: (not result.change, result.row.right))
    figures = [(name, figure) for name, figure in report.summarize(rows).items() if figure not in report.ZEROS]
    return {"figures": figures, "earlier": earlier, "results": results}

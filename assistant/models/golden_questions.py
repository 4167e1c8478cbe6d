"""Golden questions: questions with the pages that their answers must cite."""

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from docsite.core.tenants.models import Project


def validate_paths(paths: Any) -> None:
    """Accept a list of page paths."""
    if not isinstance(paths, list) or not all(isinstance(path, str) and path.startswith("/") for path in paths):
        raise ValidationError("Must be a list of page paths, each with a leading slash.")


class GoldenQuestion(models.Model):
    """A question and the pages that its answer must cite. Without pages, the assistant must refuse to answer."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="golden_questions")
    text = models.CharField("question", max_length=500)
    paths = models.JSONField("pages", default=list, blank=True, validators=[validate_paths])
    passed = models.BooleanField(null=True, editable=False)
    changed = models.BooleanField(
        default=False, editable=False, help_text="Whether the last run had another result than the run before."
    )
    passed_before = models.BooleanField(
        default=False, editable=False, help_text="Whether it passed in any run before the last one."
    )
    cited = models.JSONField(default=list, editable=False)
    ran_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "text"], name="golden_question_once")]

    def __str__(self) -> str:
        return self.text

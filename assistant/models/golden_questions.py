"""Golden questions: questions with the pages that their answers must cite, and a fact that these must tell."""

from collections.abc import Collection
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from docsite.core.tenants.models import Project


def validate_paths(paths: Any) -> None:
    """Accept a list of page paths."""
    if not isinstance(paths, list) or not all(isinstance(path, str) and path.startswith("/") for path in paths):
        raise ValidationError("Must be a list of page paths, each with a leading slash.")


class GoldenQuestion(models.Model):
    """A question, the pages that its answer must cite, and a fact that it must tell.

    Without pages and fact, the assistant must refuse to answer. The results are those of `golden_questions.checks`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="golden_questions")
    text = models.CharField("question", max_length=500)
    paths = models.JSONField("pages", default=list, blank=True, validators=[validate_paths])
    fact = models.CharField(
        max_length=1000,
        blank=True,
        default="",
        db_default="",
        help_text="What the answer must tell, such as: pip install acme. A judge compares the meaning. Without a judge "
        "the answer must have these words. Evaluations and the audit of surfaces look at it.",
    )
    passed = models.BooleanField(null=True, editable=False)
    changed = models.BooleanField(
        default=False, editable=False, help_text="Whether the last run had another result than the run before."
    )
    passed_before = models.BooleanField(
        default=False, editable=False, help_text="Whether it passed in any run before the last one."
    )
    cited = models.JSONField(default=list, editable=False)
    surfaces = models.JSONField(
        default=list, db_default=[], editable=False, help_text="Where an audit has found the fact, in its own form."
    )
    ran_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "text"], name="golden_question_once")]

    def __str__(self) -> str:
        return self.text

    @property
    def is_answerable(self) -> bool:
        """Whether the documentation has an answer. Otherwise the assistant must refuse."""
        return bool(self.paths or self.fact)

    def is_cited_in(self, cited: Collection[str]) -> bool:
        """Whether an answer that cites these pages cites all of its own, and at least one."""
        return bool(cited) and set(self.paths) <= set(cited)

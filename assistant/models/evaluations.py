"""Evaluations: runs of the golden questions as readers ask them, with every answer and its scores."""

from typing import ClassVar

from django.db import models

from docsite.core.tenants.models import Project

MAX_RUNS = 20  # of a project
MAX_NAME = 200  # characters


class Evaluation(models.Model):
    """One run. `model` is empty where answers were quotes, `judge` where no model judged them.

    `questions` is how many were to be asked: more than there are rows if the run was stopped. `right` counts the
    right ones of the `scored`. `rows` are `assistant.improving.golden_questions.scoring.Row`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="evaluations")
    created_at = models.DateTimeField("ran at", auto_now_add=True)
    model = models.CharField(max_length=MAX_NAME, blank=True)
    judge = models.CharField(max_length=MAX_NAME, blank=True)
    questions = models.PositiveIntegerField()
    asked = models.PositiveIntegerField()
    scored = models.PositiveIntegerField()
    right = models.PositiveIntegerField()
    tokens = models.PositiveBigIntegerField()
    rows = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar = ["-pk"]

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M}"

    @property
    def is_complete(self) -> bool:
        """Whether every question was asked."""
        return self.asked == self.questions

    def find_earlier(self) -> "Evaluation | None":
        """The last complete run before, like this one with or without a model."""
        runs = Evaluation.objects.filter(project=self.project_id, asked=models.F("questions"))
        runs = runs.exclude(model="") if self.model else runs.filter(model="")
        return (runs.filter(pk__lt=self.pk) if self.pk else runs).first()

    def save_and_trim(self) -> None:
        """Save the run, and delete the oldest ones of the project."""
        self.save()
        kept = Evaluation.objects.filter(project=self.project_id).values_list("pk", flat=True)[:MAX_RUNS]
        Evaluation.objects.filter(project=self.project_id).exclude(pk__in=list(kept)).delete()

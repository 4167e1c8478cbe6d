"""The table of this part."""

from datetime import datetime, timedelta

from django.db import models
from django.utils import timezone

from docsite.core.tenants.models import Project

LIFETIME = timedelta(days=1)


class Trial(models.Model):
    """Marks a project as one that is deleted after a day. Whoever keeps the project deletes the row."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)

    def __str__(self) -> str:
        return f"trial of {self.project.domain}"

    @property
    def deleted_at(self) -> datetime:
        """When its project is deleted, or within an hour of that time."""
        return self.created_at + LIFETIME

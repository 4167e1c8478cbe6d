"""The deployments of the service, each with a database of its own, and how far an organization's move is."""

from typing import ClassVar

from django.db import models


class Deployment(models.Model):
    """A deployment of the service behind the same nginx. The first one and each other have rows of both.

    New ids come from the range that begins with `id_range` times 2**40. No range is given twice, and the deployment
    where an organization lives has a higher range than those where it lived before. So ids of an organization are
    unique, and rise, wherever they were given.
    """

    RANGE_IDS: ClassVar = 1 << 40

    name = models.SlugField(max_length=40, unique=True)
    address = models.CharField(max_length=255, blank=True, help_text="For nginx, such as 10.0.0.12:8000.")
    id_range = models.PositiveIntegerField(unique=True)
    is_here = models.BooleanField(default=False, help_text="Of this database.")

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class MoveProgress(models.Model):
    """How far a move to this database is: of an organization, or of one of its tables. Written with the rows."""

    name = models.CharField(max_length=100, primary_key=True)
    value = models.JSONField()

    def __str__(self) -> str:
        return self.name

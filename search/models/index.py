"""What a project has once for its whole index, and the vectors of its sections."""

from typing import ClassVar

from django.db import models

from docsite.core.background.leases import Leased
from docsite.core.tenants.models import Project


class Index(models.Model):
    """What a project has once for its whole index, not for each page. It changes with the project's `Generation`."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="index")
    builder = models.CharField(
        max_length=16, blank=True, help_text="Id of the latest ingest. An ingest with another id stops."
    )
    analyser = models.CharField(max_length=20, blank=True, help_text="Version of the rules that indexed its pages.")
    vocabulary = models.BinaryField(default=b"", help_text="As `search.text.vocabulary` encodes it.")
    segments = models.BinaryField(
        null=True, help_text="The segments of its postings, as `search.postings.storage` lists them."
    )

    class Meta:
        verbose_name_plural = "indexes"

    def __str__(self) -> str:
        return self.project.domain


class SegmentPart(models.Model):
    """Some bytes of a segment of an index (`search.postings`). The row stays as it is until the segment goes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="segment_parts")
    segment = models.CharField(max_length=16, help_text="The name of the segment, unique for ever.")
    number = models.PositiveIntegerField(help_text="Its place among the parts of the segment.")
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "segment", "number"], name="one_segment_part_a_number")
        ]

    def __str__(self) -> str:
        return f"{self.segment}, part {self.number}"


class Generation(models.Model):
    """How often the index of a project was replaced, and when last. A project without a row was never indexed.

    Each search reads the number. It is not a column of `Index`, where SQLite
    would read the whole vocabulary on the way to it.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="generation")
    number = models.PositiveIntegerField(default=0)
    indexed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "index generation"

    def __str__(self) -> str:
        return f"generation {self.number} of {self.project}"


class SectionVector(models.Model):
    """The direction of a section's meaning. Sections of a project with the same digest share it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="section_vectors")
    model = models.CharField(max_length=100, help_text="The model that made it.")
    digest = models.CharField(max_length=32, help_text="That of its sections.")
    vector = models.BinaryField(help_text="One signed byte for each dimension. Only the direction counts.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "model", "digest"], name="one_vector_a_text_and_model")
        ]

    def __str__(self) -> str:
        return self.digest


class VectorIndex(Leased):
    """How far the vectors of a project are made, and which process makes them."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="vector_index")
    revision = models.PositiveIntegerField(default=0, help_text="Raised whenever vectors are stored.")
    model = models.CharField(max_length=100, blank=True, help_text="The model that made the complete vectors.")
    generation = models.PositiveIntegerField(
        default=0, help_text="The last generation of the index with complete vectors."
    )

    class Meta:
        verbose_name_plural = "vector indexes"

    def __str__(self) -> str:
        return f"vectors of {self.project}"

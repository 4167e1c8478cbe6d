"""The tables of this part: what pages are like, so that a page can be known again, and addresses without a page."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from docsite.core.background.leases import Leased
from docsite.core.tenants.models import Project


class Progress(Leased):
    """Up to which generation of the index the tables of a project are."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="+")
    generation = models.PositiveIntegerField(null=True, help_text="Empty: none yet.")
    looked_at = models.DateTimeField(null=True, help_text="When the nearest pages were last looked for.")

    def __str__(self) -> str:
        return f"generation {self.generation}"


class Fingerprint(models.Model):
    """What a public page of the index is like. It becomes a `MissingPage` when the page leaves the index."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    path = models.CharField(max_length=400)
    address = models.CharField(max_length=2000, blank=True, help_text="As of the page.")
    title = models.CharField(max_length=500)
    digest = models.CharField(max_length=64, help_text="Of the page from which it was made.")
    sketch = models.BinaryField(help_text="As `fingerprints.sketch` makes it of the text.")
    since = models.PositiveIntegerField(help_text="The first generation of the index that has the page.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "path"], name="one_fingerprint_a_page")]

    def __str__(self) -> str:
        return self.path


class MissingPage(models.Model):
    """An address without a page: of a page that was in the index, or only asked for. It names no reader."""

    class Kind(models.TextChoices):
        """Why it has no page, most likely."""

        MOVED = "moved", "A page was there"
        BROKEN = "broken", "A link or a reader is wrong"
        INVENTED = "invented", "Only agents ask for it"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    path = models.CharField(max_length=400)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    address = models.CharField(max_length=2000, blank=True, help_text="Of the page that was there.")
    title = models.CharField(max_length=500, blank=True)
    sketch = models.BinaryField(default=b"")
    gone = models.PositiveIntegerField(null=True, help_text="The first generation of the index without the page.")
    people = models.PositiveBigIntegerField(default=0)
    agents = models.PositiveBigIntegerField(default=0)
    crawlers = models.PositiveBigIntegerField(default=0, help_text="Requests of search engines.")
    agent = models.CharField(max_length=80, blank=True, help_text="The last AI client that asked for it.")
    linked_from = models.CharField(
        max_length=400, blank=True, help_text="A page of the site, or the origin of another."
    )
    last_at = models.DateTimeField(default=timezone.now, help_text="Of the last request, or when the page went.")
    nearest = models.CharField(max_length=400, blank=True)
    confidence = models.FloatField(default=0.0, help_text="That the nearest page took its place, 0 to 1.")
    generation = models.PositiveIntegerField(null=True, help_text="In which it was found. Empty: to be looked for.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "path"], name="one_row_a_missing_page")]
        indexes: ClassVar = [
            models.Index(fields=["project"], condition=models.Q(generation=None), name="missing_pages_to_look_up")
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def requests(self) -> int:
        """How often it was asked for."""
        return self.people + self.agents + self.crawlers

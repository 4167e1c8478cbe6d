"""Ingested pages and the heading-sized sections that are indexed and cited."""

from typing import ClassVar

from django.db import models

from docsite.projects.models import Project


class Document(models.Model):
    """One page of a project's documentation, as it was last ingested."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="documents")
    path = models.CharField(max_length=400)
    title = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    version = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=35, blank=True)
    tags = models.JSONField(default=list)
    content = models.TextField(help_text="The page's Markdown, without its front matter.")
    digest = models.CharField(max_length=64, editable=False)
    ingested_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "path"], name="one_document_a_path")]

    def __str__(self) -> str:
        return self.path


class Section(models.Model):
    """A heading and what stands below it, up to the next heading."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="sections")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=500, blank=True)
    anchor = models.CharField(max_length=300, blank=True)
    trail = models.JSONField(default=list, help_text="Headings above this one, its own last.")
    body = models.TextField(help_text="Markdown, ready to be quoted.")
    text = models.TextField(help_text="The same as plain text.")

    class Meta:
        ordering: ClassVar = ["document", "position"]

    def __str__(self) -> str:
        return f"{self.document.path}#{self.anchor}"

"""Ingested pages with their sections, their other paths, and the words that owners add to them."""

from typing import ClassVar

from django.db import models

from docsite.core.access.readers import decode_groups
from docsite.core.tenants.models import Project
from search.models.sources import Source
from search.models.visibility import is_indexed, is_visible


class VisibleDocuments(models.Manager["Document"]):
    """The pages that the present reader sees; within a preview, those of the staged index."""

    def get_queryset(self) -> "models.QuerySet[Document]":
        """Leave out protected pages, and pages that an ingest has staged or retired."""
        return super().get_queryset().filter(is_visible())


class IndexedDocuments(models.Manager["Document"]):
    """The pages of the index, also those that only some readers see. For code that shows them to no reader."""

    def get_queryset(self) -> "models.QuerySet[Document]":
        """Leave out pages that an ingest has staged or retired."""
        return super().get_queryset().filter(is_indexed())


class SectionManager(models.Manager["Section"]):
    """Sections, of visible pages and others."""

    def on_page(self, project: Project, path: str) -> "models.QuerySet[Section]":
        """The sections of one visible page, in their order."""
        sections = self.filter(is_visible("document__"), document__project=project, document__path=path)
        return sections.order_by("position")


class Redirect(models.Model):
    """An earlier path of a page, or another path of it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="redirects")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, null=True, related_name="redirects")
    path = models.CharField(max_length=400)
    target = models.CharField(max_length=400)

    class Meta:
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "path"], name="one_redirect_a_path")]

    def __str__(self) -> str:
        return f"{self.path} to {self.target}"


class Document(models.Model):
    """One page of a project's documentation, as it was last ingested."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="documents")
    source = models.ForeignKey(
        Source,
        on_delete=models.SET_NULL,
        null=True,
        related_name="documents",
        help_text="Empty: a command read it, from a source without a name.",
    )
    path = models.CharField(max_length=400)
    title = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    version = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=35, blank=True)
    tags = models.JSONField(default=list)
    aliases = models.JSONField(
        default=list, help_text="Other names by which readers find it: its first heading, keywords."
    )
    words = models.TextField(
        default="",
        db_default="",
        blank=True,
        help_text="What readers call it, one name a line, as `PageWords` had it at the last ingest.",
    )
    links = models.JSONField(
        default=list, db_default=[], editable=False, help_text="Its links, as `search.indexing.link_texts` lists them."
    )
    link_texts = models.TextField(
        default="",
        db_default="",
        editable=False,
        help_text="What other pages called it when it was indexed, one text a line.",
    )
    boost = models.FloatField(default=1.0, help_text="Multiplies the odds of its score.")
    groups = models.TextField(
        default="",
        db_default="",
        blank=True,
        help_text="The groups whose readers see it, as `encode_groups` writes them. Empty: everybody sees it.",
    )
    own_groups = models.JSONField(
        null=True, help_text="The groups that the page itself names. Null: its folder or source decides."
    )
    content = models.TextField(help_text="The page's Markdown, without its front matter.")
    address = models.CharField(
        max_length=2000,
        blank=True,
        help_text="Address on the site, absolute or relative to the docs URL. Empty: the docs URL and the path.",
    )
    validator = models.CharField(
        max_length=300, blank=True, editable=False, help_text="ETag or Last-Modified of its server."
    )
    digest = models.CharField(max_length=64, editable=False)
    diagnostics = models.JSONField(
        null=True, editable=False, help_text="What reading it has shown, for the report (`search.indexing.report`)."
    )
    ingested_at = models.DateTimeField(auto_now=True)
    build = models.CharField(
        max_length=16,
        blank=True,
        editable=False,
        help_text="The ingest that has staged or retired the page. Empty: visible.",
    )

    objects = VisibleDocuments()
    indexed = IndexedDocuments()  # it is a manager, too
    every = models.Manager()  # noqa: DJ012

    class Meta:
        verbose_name = "page"
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "path", "build"], name="one_document_a_path_and_build")
        ]
        indexes: ClassVar = [  # the few pages that are staged or retired are looked for often
            models.Index(fields=["project"], name="search_document_hidden", condition=~models.Q(build=""))
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups whose readers see it; none means everybody."""
        return decode_groups(self.groups)


class PageWords(models.Model):
    """Words that the owner adds to a page for search. They stay when the page is ingested again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="page_words")
    path = models.CharField(max_length=400)
    words = models.TextField(help_text="One name of the page a line.")

    class Meta:
        verbose_name = verbose_name_plural = "words of a page"
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "path"], name="words_once_a_page")]

    def __str__(self) -> str:
        return f"words of {self.path}"


class Section(models.Model):
    """A heading and the text below it, up to the next heading."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="sections")
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=500, blank=True)
    anchor = models.CharField(max_length=300, blank=True)
    trail = models.JSONField(default=list, help_text="The headings above it, and its own heading last.")
    body = models.TextField(help_text="Markdown, ready to be quoted.")
    text = models.TextField(help_text="The same as plain text.")
    digest = models.CharField(
        max_length=32,
        default="",
        editable=False,
        help_text="Of the text that becomes a vector, as `search.vectors` computes it.",
    )

    objects = SectionManager()

    class Meta:
        ordering: ClassVar = ["document", "position"]
        # Vectors are found by digest. The index holds it, so that SQLite does not read the texts on the way to it.
        indexes: ClassVar = [models.Index(fields=["document", "digest"], name="section_digests")]

    def __str__(self) -> str:
        return f"{self.document.path}#{self.anchor}"

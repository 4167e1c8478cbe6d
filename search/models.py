"""Stored sources, ingested pages with their sections, the index and the vectors of a project, recorded searches."""

import json
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.models.expressions import RawSQL

from docsite.core.access.readers import decode_groups, parse_groups, reader_groups
from docsite.core.tenants.models import RETENTION_DAYS, Project
from search.sources.request import normalize_prefix
from search.staged_index import staged_index


def is_visible(document: str = "") -> models.Q:
    """The condition that the present reader sees a page; `document` leads to it, such as `document__`."""
    return is_indexed(document) & may_be_read(document)


def may_be_read(document: str = "") -> models.Q:
    """The condition that a page is public, or of a group of the present reader (`docsite.core.access.readers`)."""
    groups = reader_groups()
    if groups is None:
        return models.Q()
    readable = models.Q(**{f"{document}groups": ""})
    for group in sorted(groups):
        readable |= models.Q(**{f"{document}groups__contains": f"\n{group}\n"})
    return readable


def is_indexed(document: str = "") -> models.Q:
    """The condition that a page is in the index that is searched, whoever may read it."""
    staged = staged_index()
    visible = models.Q(**{f"{document}build": ""})
    if staged is None:
        return visible
    if connection.vendor == "postgresql":
        replaced = RawSQL("SELECT unnest(%s::bigint[])", [list(staged.replaced)])
    else:  # one parameter, since there may be more pages than SQLite takes parameters
        replaced = RawSQL("SELECT value FROM json_each(%s)", [json.dumps(list(staged.replaced))])
    new = models.Q(**{f"{document}build": staged.build})
    return new | (visible & ~models.Q(**{f"{document}pk__in": replaced}))


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


def validate_groups(text: str) -> None:
    """Refuse anything but the names of groups with commas between them."""
    try:
        parse_groups(text)
    except ValueError as wrong:
        raise ValidationError(f"This {wrong}.") from None


class SectionManager(models.Manager["Section"]):
    """Sections, of visible pages and others."""

    def on_page(self, project: Project, path: str) -> "models.QuerySet[Section]":
        """The sections of one visible page, in their order."""
        sections = self.filter(is_visible("document__"), document__project=project, document__path=path)
        return sections.order_by("position")


class Source(models.Model):
    """Where some of a project's pages come from, stored to be read again, by hand or on schedule."""

    class Schedule(models.TextChoices):
        """How often a source is read."""

        NEVER = "", "Only by hand"
        HOURLY = "hour", "Every hour"
        DAILY = "day", "Every day"
        WEEKLY = "week", "Every week"

    class State(models.TextChoices):
        """The state of a source: its present run, or how its last run ended."""

        NEW = "new", "Never read"
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Being read"
        DONE = "done", "Read"
        FAILED = "failed", "Failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sources")
    name = models.SlugField(
        max_length=50, help_text="The name that commands use for this source. Unique in the project."
    )
    location = models.CharField(
        max_length=1000,
        help_text="Address of a site, a sitemap, an llms.txt or llms-full.txt, or an OpenAPI document. Or the path of "
        "a folder, an archive or a file on the server that reads it.",
    )
    generator = models.CharField(
        max_length=20, blank=True, help_text="The generator of the site. Empty: detected from the files."
    )
    under = models.CharField(
        max_length=200, blank=True, help_text="The path below which its pages are, such as /api. Empty: /."
    )
    version = models.CharField(max_length=100, blank=True, help_text="For pages that name no version.")
    language = models.CharField(max_length=35, blank=True, help_text="For pages that name no language.")
    groups = models.CharField(
        max_length=1000,
        blank=True,
        default="",
        db_default="",
        validators=[validate_groups],
        help_text="Groups of readers, with commas. Only they see its pages that name no groups. Empty: everybody.",
    )
    schedule = models.CharField(max_length=4, choices=Schedule.choices, blank=True, default=Schedule.NEVER)
    by_command = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="`manage.py ingest` read it without a name. Its pages name no source, and only the command reads it "
        "again. A project has at most one such row; its name is empty.",
    )
    is_pushed = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Its owner sends it to `search.pushes`. The service never reads it by itself.",
    )
    state = models.CharField(max_length=7, choices=State.choices, default=State.NEW, editable=False)
    progress = models.CharField(max_length=200, blank=True, editable=False)
    error = models.TextField("last error", blank=True, editable=False)
    outcome = models.JSONField(default=dict, editable=False, help_text="Counts of the last run, and the skipped pages.")
    wanted_at = models.DateTimeField(null=True, editable=False, help_text="When it is due to be read next.")
    started_at = models.DateTimeField(null=True, editable=False)
    runner = models.CharField(
        max_length=16, blank=True, editable=False, help_text="Id of the run that reads it. A run with another id stops."
    )
    seen_at = models.DateTimeField(
        null=True, editable=False, help_text="Last sign of life of the process that reads it."
    )
    finished_at = models.DateTimeField(null=True, editable=False)
    read_at = models.DateTimeField(null=True, editable=False, help_text="When it was last read completely.")

    class Meta:
        ordering: ClassVar = ["project", "name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "name"], name="one_source_a_name")]

    def __str__(self) -> str:
        return f"{self.name or 'what a command read'} of {self.project_id and self.project.domain}"

    @property
    def owns(self) -> models.Q:
        """The condition that a page or a redirect came from this source."""
        return models.Q(project=self.project_id, source=None if self.by_command else self.pk)

    @property
    def can_be_read(self) -> bool:
        """Whether the service knows its location, and can read it again by itself."""
        return not (self.by_command or self.is_pushed)

    def clean(self) -> None:
        """Normalize the path in `under`."""
        try:
            self.under = normalize_prefix(self.under)
        except ValueError as wrong:
            raise ValidationError({"under": str(wrong)}) from None


class PushedFile(models.Model):
    """A file of the last push of a source. The next push need not send it again."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="pushed_files")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the file, in hexadecimal.")
    content = models.BinaryField(help_text="The file, compressed by zlib.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["source", "digest"], name="one_pushed_file_a_digest")]

    def __str__(self) -> str:
        return self.digest


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
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "path", "build"], name="one_document_a_path_and_build")
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


class SearchSettings(models.Model):
    """The owner's settings for the search of a project. Without a row, the defaults apply."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="search_settings")
    search_days = models.PositiveSmallIntegerField(
        "days for searches",
        null=True,
        blank=True,
        validators=RETENTION_DAYS,
        help_text="Searches and clicks are deleted after so many days. Empty: SEARCH_RETENTION_DAYS.",
    )
    synonyms = models.TextField(blank=True, default="", db_default="", help_text="Lines of `search.text.synonyms`.")
    promotions = models.TextField(
        "promoted pages", blank=True, default="", db_default="", help_text="Lines of `search.text.synonyms`."
    )
    folder_groups = models.TextField(
        "protected folders", blank=True, default="", db_default="", help_text="Lines of `search.indexing.page_groups`."
    )

    class Meta:
        verbose_name = verbose_name_plural = "search settings"

    def __str__(self) -> str:
        return f"search of {self.project}"

    @classmethod
    def for_project(cls, project: Project) -> "SearchSettings":
        """The settings of a project; unsaved defaults when it has no row. API calls load them with the project."""
        try:
            settings: SearchSettings = project.search_settings
        except cls.DoesNotExist:
            return cls(project=project)
        return settings


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
    vector = models.BinaryField(help_text="One signed byte for each dimension. Its length means nothing.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "model", "digest"], name="one_vector_a_text_and_model")
        ]

    def __str__(self) -> str:
        return self.digest


class VectorIndex(models.Model):
    """How far the vectors of a project are made, and which process makes them."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="vector_index")
    revision = models.PositiveIntegerField(default=0, help_text="Raised whenever vectors are stored.")
    model = models.CharField(max_length=100, blank=True, help_text="The model that made the complete vectors.")
    generation = models.PositiveIntegerField(
        default=0, help_text="The last generation of the index with complete vectors."
    )
    runner = models.CharField(max_length=16, blank=True, help_text="Id of the run that makes vectors now.")
    seen_at = models.DateTimeField(null=True, help_text="Last sign of life of that run.")

    class Meta:
        verbose_name_plural = "vector indexes"

    def __str__(self) -> str:
        return f"vectors of {self.project}"


class SearchQuery(models.Model):
    """One search of a reader, with the result that was opened. The caller is stored for about an hour only."""

    class CallerKind(models.TextChoices):
        """Where the search came from, as `assistant.models.Message.Caller` has it."""

        WEB = "web"
        API = "api", "API"
        MCP = "mcp", "MCP"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="searches")
    at = models.DateTimeField(help_text="When the text was searched for. While the reader types, the last time.")
    text = models.CharField(max_length=400)
    folded = models.CharField(  # noqa: DJ001
        max_length=400,
        null=True,
        editable=False,
        help_text="The text without case, by which searches are grouped. Empty: an earlier release stored the row.",
    )
    result_count = models.PositiveSmallIntegerField(
        "results", null=True, help_text="Empty: only the click was recorded."
    )
    # The next four columns are null in rows of earlier releases, where their value is not known.
    first_score = models.FloatField("score of the first result", null=True, help_text="0 to 1.")
    filter_version = models.CharField(max_length=100, null=True, help_text="Only pages of this version were searched.")  # noqa: DJ001
    filter_language = models.CharField(max_length=35, null=True, help_text="Only pages in this language were searched.")  # noqa: DJ001
    caller_kind = models.CharField(max_length=3, choices=CallerKind.choices, null=True)  # noqa: DJ001
    clicked_path = models.CharField(max_length=400, blank=True)
    position = models.PositiveSmallIntegerField(
        null=True, help_text="Position of the clicked result. The first one is 1."
    )
    clicked_at = models.DateTimeField(null=True)
    caller = models.BigIntegerField(
        null=True, editable=False, help_text="Keyed hash, 64 bits. Erased after about an hour."
    )
    sample = models.BooleanField(default=False, db_default=False, help_text="The demo invented it.")

    class Meta:
        verbose_name = "search"
        verbose_name_plural = "searches"
        ordering: ClassVar = ["-at", "-pk"]
        indexes: ClassVar = [
            # Reports read only these two indexes, not the rows.
            models.Index(fields=["project", "at", "result_count", "position"], name="searches_by_time"),
            models.Index(fields=["project", "folded", "at", "result_count", "position"], name="searches_by_query"),
            models.Index(fields=["at"]),
            models.Index(fields=["caller", "at"], name="known_callers", condition=models.Q(caller__isnull=False)),
            models.Index(fields=["project"], name="sample_searches", condition=models.Q(sample=True)),
        ]

    def __str__(self) -> str:
        return self.text

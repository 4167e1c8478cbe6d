"""The widget: its settings for each project, and the files of its builds."""

from typing import ClassVar

from django.core.validators import MaxValueValidator
from django.db import models

from assistant.models.appearance import validate_accent, validate_font, validate_labels, validate_logo
from docsite.core.tenants.models import Project


class WidgetSettings(models.Model):
    """The look and the labels of a project's widget.

    An option in the tag or the code of a page overrides the value here. An empty field is the widget's default.
    """

    class Variant(models.TextChoices):
        """What the launcher opens."""

        WIDGET = "widget", "Widget: a small window above the launcher"
        PANEL = "panel", "Panel: the whole height, at the side of the page"
        MODAL = "modal", "Modal: a dialog in the middle, over the page"

    class Theme(models.TextChoices):
        """The colour scheme."""

        SYSTEM = "system", "Like the page, otherwise like the reader's system"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    class Side(models.TextChoices):
        """The horizontal position of the launcher."""

        START = "start", "Start: where lines begin"
        END = "end", "End: where lines end"
        LEFT = "left", "Left"
        RIGHT = "right", "Right"

    class Align(models.TextChoices):
        """The vertical position of the launcher."""

        BOTTOM = "bottom", "Bottom"
        TOP = "top", "Top"

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="widget_settings")
    enabled = models.BooleanField(default=True)
    variant = models.CharField(max_length=10, choices=Variant.choices, blank=True)
    theme = models.CharField(max_length=10, choices=Theme.choices, blank=True)
    accent = models.CharField(max_length=60, blank=True, validators=[validate_accent])
    radius = models.PositiveSmallIntegerField(null=True, blank=True, validators=[MaxValueValidator(32)])
    font = models.CharField(max_length=200, blank=True, validators=[validate_font])
    side = models.CharField(max_length=10, choices=Side.choices, blank=True)
    align = models.CharField(max_length=10, choices=Align.choices, blank=True)
    logo = models.CharField(max_length=500, blank=True, validators=[validate_logo])
    z_index = models.PositiveIntegerField("z-index", null=True, blank=True, validators=[MaxValueValidator(2**31 - 1)])
    labels = models.JSONField(default=dict, blank=True, validators=[validate_labels])

    class Meta:
        verbose_name = verbose_name_plural = "widget settings"

    def __str__(self) -> str:
        return f"widget of {self.project}"

    @classmethod
    def for_project(cls, project: Project) -> "WidgetSettings":
        """The settings of a project; unsaved defaults when it has no row."""
        settings = cls.objects.filter(project=project).first() or cls()
        settings.project = project  # saves a query
        return settings


VERSION_LENGTH = 12  # hexadecimal digits of a SHA-256


class WidgetFile(models.Model):
    """A file of one build of the widget. Never deleted, since pages may pin it: see `assistant.widget.files`."""

    version = models.CharField(max_length=VERSION_LENGTH, help_text="The beginning of its SHA-256.")
    name = models.CharField(max_length=20)
    content = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["version", "name"], name="one_file_a_version")]

    def __str__(self) -> str:
        return f"{self.version}/{self.name}"

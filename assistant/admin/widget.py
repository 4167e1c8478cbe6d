"""The admin page of a project's widget: its look and its labels."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from assistant.models import WidgetSettings
from assistant.models.appearance import MAX_LABEL_LENGTH, MAX_LABELS, validate_labels
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import extensions


class LabelsField(forms.CharField):
    """Labels as text, one on each line: `name: text`. The cleaned value is a dict."""

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "placeholder": "launcher: Ask the docs"})

    def prepare_value(self, value: Any) -> str:
        """Turn stored labels into lines, sorted by name; keep what a user has typed."""
        if isinstance(value, str):
            return value
        return "\n".join(f"{name}: {text}" for name, text in sorted(value.items()))

    def to_python(self, value: Any) -> Any:
        """Parse the lines. Raises ValidationError for a bad label, or a name on two lines."""
        lines = [line.partition(":") for line in str(value or "").splitlines() if line.strip()]
        labels = {name.strip(): text.strip() for name, _, text in lines}
        validate_labels(labels)
        if len(labels) < len(lines):
            raise forms.ValidationError("Each name may be on one line only.")
        return labels

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare the labels, not their order or spacing."""
        try:
            return bool(self.to_python(data) != initial)
        except forms.ValidationError:
            return True


class WidgetForm(forms.ModelForm):
    """The settings of a project's widget. The widget has a default for every empty field."""

    enabled = forms.BooleanField(
        required=False,
        label="Switched on",
        help_text="If this is off, pages show no launcher after one minute. Their tag may stay.",
    )
    labels = LabelsField(
        required=False,
        help_text="Other words, or another language: one label a line, as name: words. /widget.d.ts lists the names. "
        f"Keep placeholders in braces. At most {MAX_LABELS} labels of {MAX_LABEL_LENGTH} characters.",
    )

    class Meta:
        model = WidgetSettings
        fields = (
            *("enabled", "variant", "theme", "accent", "radius", "font"),
            *("side", "align", "logo", "z_index", "labels"),
        )
        labels: ClassVar = {"variant": "Opens as", "align": "Height"}
        help_texts: ClassVar = {
            "accent": "A colour such as #0a6b5d, rgb(10 107 93), hsl(171 83% 23%) or teal. The widget makes text in "
            "this colour darker or lighter if its contrast is too low.",
            "side": "Position of the launcher. Start and end follow the writing direction of the page.",
            "radius": "Radius of the corners, 0 to 32 pixels.",
            "font": "Names of fonts that your pages load or that readers have installed, such as Inter, sans-serif.",
            "logo": "Shown at the top of the window: https://…, or a path on your site such as /logo.svg.",
            "z_index": "A number higher than the z-index of every element that the widget must cover.",
        }
        widgets: ClassVar = {
            "accent": forms.TextInput(attrs={"class": "short"}),
            "radius": forms.NumberInput(attrs={"min": 0, "max": 32}),
            "z_index": forms.NumberInput(attrs={"min": 0}),
        }

    def __init__(self, widget_settings: WidgetSettings, data: Any = None) -> None:
        super().__init__(data, instance=widget_settings)
        for name, default in (("variant", "widget"), ("theme", "like the page"), ("side", "end"), ("align", "bottom")):
            field = self.fields[name]
            field.choices = [("", f"Default: {default}"), *field.choices[1:]]  # type: ignore[attr-defined]

    def save(self, commit: bool = True) -> WidgetSettings:
        """Save the settings. Two first saves at once write the same row."""
        widget_settings: WidgetSettings = self.instance
        with transaction.atomic():
            widget_settings.pk = WidgetSettings.objects.get_or_create(project=widget_settings.project)[0].pk
            widget_settings.save()
        return widget_settings


extensions.add_key_use("admin/assistant/_embed.html")


def show_widget_page(model_admin: ModelAdmin, request: HttpRequest, domain: str) -> HttpResponse:
    """Show and save the settings of a project's widget; a page of the admin of `AssistantSettings`."""
    project = project_of(request, domain)
    form = WidgetForm(WidgetSettings.for_project(project), request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved. Pages that are loaded after one minute show the change.")
        return HttpResponseRedirect(request.path)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"Widget: {project.name}",
        "opts": model_admin.opts,
        "project": project,
        "form": form,
    }
    return TemplateResponse(request, "admin/assistant/widget.html", context)

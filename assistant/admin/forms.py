"""The forms of an assistant's pages in the admin: what its owner tells it, a question to try that out, the widget."""

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.db import transaction

from assistant.appearance import LONGEST_LABEL, MOST_LABELS, validate_labels
from assistant.models import MOST_STARTERS, AssistantSettings, WidgetSettings
from assistant.question import Question
from assistant.schemas import MAX_TEXT
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.models import Document
from search.retrieval.answerability import GROUNDED

_STARTERS = [f"starter_{number}" for number in range(1, MOST_STARTERS + 1)]


class Prose(forms.CharField):
    """Text of several lines, whose ends are as everywhere but in browsers' requests."""

    def to_python(self, value: Any) -> str:
        """One spelling of line ends, so that what was not touched has not changed."""
        return str(super().to_python(value)).replace("\r\n", "\n")


class SettingsForm(forms.ModelForm):
    """What a site's owner tells its assistant. Only who pays for the model server may choose a model."""

    instructions = Prose(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Told to the model with every question: tone, names of products, what to say no to. Readers do not "
        "see them.",
    )
    deflection = Prose(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Said when the documentation has no answer, between “I couldn't find this in the documentation.” and "
        "the nearest pages. Markdown is allowed, links included.",
    )
    support_url = forms.CharField(
        required=False,
        max_length=300,
        label="Support link",
        validators=Project._meta.get_field("support_url").validators,
        help_text="Offered below them: https://…, mailto:…, or an e-mail address. A web address is given the "
        "conversation’s id as threadId.",
    )

    class Meta:
        """The fields that are as in the database."""

        model = AssistantSettings
        fields = ("instructions", "deflection", "model", "temperature", "threshold")
        help_texts: ClassVar = {
            "temperature": "0 to 2: the lower, the more alike are two answers to one question. Empty: as the model "
            "server has it.",
            "threshold": "0 to 1. Below this chance that the pages answer, the assistant says that they do not. "
            f"Empty: {GROUNDED}, as it was calibrated. Try questions below to see theirs.",
        }

    def __init__(self, told: AssistantSettings, *, may_choose_model: bool, data: Any = None) -> None:
        starters = dict(zip(_STARTERS, told.starter_questions, strict=False))
        super().__init__(data, instance=told, initial={"support_url": told.project.support_url, **starters})
        for number, name in enumerate(_STARTERS, 1):
            self.fields[name] = forms.CharField(required=False, max_length=120, label=f"Starter question {number}")
        self.fields[_STARTERS[-1]].help_text = "Offered in a conversation that is still empty."
        self.fields["model"].help_text = _about_models(may_choose_model)
        self.fields["model"].disabled = not may_choose_model
        self.fields["model"].widget.attrs["placeholder"] = settings.ENV.openai_base_url and settings.ENV.openai_model
        self.order_fields(["instructions", *_STARTERS, "deflection", "support_url"])

    def told(self) -> AssistantSettings:
        """The settings as the form has them, with the link of their project; not saved."""
        told: AssistantSettings = self.instance
        told.starter_questions = [self.cleaned_data[name] for name in _STARTERS if self.cleaned_data[name]]
        told.project.support_url = self.cleaned_data["support_url"]
        return told

    def save(self, commit: bool = True) -> AssistantSettings:
        """Store settings and link, the settings as new ones only where there still are none."""
        told = self.told()
        with transaction.atomic():
            told.pk = AssistantSettings.objects.get_or_create(project=told.project)[0].pk
            told.save()
            told.project.save(update_fields=["support_url"])
        return told


def _about_models(may_choose: bool) -> str:
    env = settings.ENV
    if not env.openai_base_url:
        return "No model server is configured, so answers are quoted from the documentation."
    if may_choose:
        return f"Name of another model of the same server. Empty: {env.openai_model}, as configured."
    return "Only superusers can choose another one, since whoever runs this service pays for it."


class TryForm(forms.Form):
    """A question as a reader may ask it."""

    use_required_attribute = False  # its fields stand in one form with the settings, which are saved without them

    question = Prose(max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 2}))
    page = forms.CharField(
        required=False, max_length=200, label="Asked on page", help_text="Path or address. Empty: on none."
    )
    version = forms.ChoiceField(required=False)
    language = forms.ChoiceField(required=False)

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, prefix="try")
        self.project = project
        documents = Document.objects.filter(project=project)
        for facet in ("version", "language"):
            known = documents.exclude(**{facet: ""}).order_by(facet).values_list(facet, flat=True).distinct()
            if choices := [(value, value) for value in known]:
                self.fields[facet].choices = [("", "As the reader’s page has it"), *choices]  # type: ignore[attr-defined]
            else:
                del self.fields[facet]

    def asked(self) -> Question:
        """The question as the pipeline takes it."""
        said = self.cleaned_data
        return Question(
            text=said["question"],
            current_path=self.project.path_of(said["page"]) if said["page"] else "",
            filters=Filters(said.get("version") or None, said.get("language") or None),
        )


class Labels(forms.CharField):
    """Words by their names, one a line: `name: words`."""

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "placeholder": "launcher: Ask the docs"})

    def prepare_value(self, value: Any) -> str:
        """The lines, as they are written."""
        return (
            value if isinstance(value, str) else "\n".join(f"{name}: {words}" for name, words in sorted(value.items()))
        )

    def to_python(self, value: Any) -> Any:
        """The words, checked."""
        lines = [line.partition(":") for line in str(value or "").splitlines() if line.strip()]
        labels = {name.strip(): words.strip() for name, _, words in lines}
        validate_labels(labels)
        if len(labels) < len(lines):
            raise forms.ValidationError("Each name may stand on one line only.")
        return labels

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether other words are meant, however they are spaced."""
        try:
            return bool(self.to_python(data) != initial)
        except forms.ValidationError:
            return True


class WidgetForm(forms.ModelForm):
    """How a project's widget looks and what it says. What is left empty is as the widget has it."""

    enabled = forms.BooleanField(
        required=False,
        label="Switched on",
        help_text="Off: pages show no launcher. They follow within a minute, and keep their tag.",
    )
    labels = Labels(
        required=False,
        help_text="Other words, or another language: one a line, as name: words. The names are listed "
        f"in /widget.d.ts; keep what stands in braces. At most {MOST_LABELS} of {LONGEST_LABEL} characters.",
    )

    class Meta:
        """All fields but the project."""

        model = WidgetSettings
        fields = (
            *("enabled", "variant", "theme", "accent", "radius", "font"),
            *("side", "align", "logo", "z_index", "labels"),
        )
        labels: ClassVar = {"variant": "Opens as", "align": "Height"}
        help_texts: ClassVar = {
            "accent": "A colour such as #0a6b5d, rgb(10 107 93), hsl(171 83% 23%) or teal. Text in it is made "
            "darker or lighter where it would be too faint to read.",
            "side": "Of the launcher. Start and end follow the direction in which the page is written.",
            "radius": "Of the corners, 0 to 32 pixels.",
            "font": "Names of fonts that your pages load or readers have, such as Inter, sans-serif.",
            "logo": "Shown at the top of the window: https://…, or a path on your site such as /logo.svg.",
            "z_index": "Higher than what the widget must stand above.",
        }
        widgets: ClassVar = {
            "accent": forms.TextInput(attrs={"class": "short"}),
            "radius": forms.NumberInput(attrs={"min": 0, "max": 32}),
            "z_index": forms.NumberInput(attrs={"min": 0}),
        }

    def __init__(self, told: WidgetSettings, data: Any = None) -> None:
        super().__init__(data, instance=told)
        for name, usual in (("variant", "widget"), ("theme", "as the page"), ("side", "end"), ("align", "bottom")):
            field = self.fields[name]
            field.choices = [("", f"Usual: {usual}"), *field.choices[1:]]  # type: ignore[attr-defined]

    def save(self, commit: bool = True) -> WidgetSettings:
        """Store them, as new ones only where there still are none."""
        told: WidgetSettings = self.instance
        with transaction.atomic():
            told.pk = WidgetSettings.objects.get_or_create(project=told.project)[0].pk
            told.save()
        return told

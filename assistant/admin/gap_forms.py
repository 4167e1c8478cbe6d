"""The forms on the page of a group of questions."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model

from assistant.admin.golden_questions import LinesField
from assistant.admin.preview import MultilineField
from assistant.models.question_groups import MAX_QUESTION
from assistant.schemas import MAX_TEXT
from docsite.core.tenants.models import Project

MAX_PIN, MAX_NOTE, MAX_WORDS = 10_000, 5_000, 2_000  # characters


class QuestionForm(forms.Form):
    """A question in the words of the owner."""

    question = forms.CharField(max_length=MAX_QUESTION)


class AskForm(forms.Form):
    """A question to ask again."""

    question = MultilineField(max_length=MAX_TEXT)


class PinForm(forms.Form):
    """The owner's own answer."""

    text = MultilineField(
        max_length=MAX_PIN,
        label="Answer",
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Markdown. Readers get it as it is, with its citation, to questions of this group from now on.",
    )
    page = forms.CharField(
        max_length=400, label="Page to cite", help_text="A path or address, perhaps with the #anchor of a section."
    )


class WordsForm(forms.Form):
    """Words of a page for search."""

    path = forms.CharField(max_length=400, label="Page", help_text="The path of a page in the index.")
    words = LinesField(
        required=False,
        help_text="What readers call it, one name a line. They replace the words that were added before. They stay "
        "when the page is read again. Empty: remove them.",
    )

    def clean_words(self) -> list[str]:
        """Refuse so many words that the page would be found for everything."""
        words: list[str] = self.cleaned_data["words"]
        if len("\n".join(words)) > MAX_WORDS:
            raise forms.ValidationError(f"At most {MAX_WORDS:,} characters.")
        return words


class GoldenForm(forms.Form):
    """A golden question."""

    question = forms.CharField(max_length=MAX_QUESTION)
    paths = LinesField(
        label="Pages",
        required=False,
        help_text="The pages that the answer must cite, one a line. None: it must refuse.",
    )


class AssignForm(forms.Form):
    """Who works on it."""

    assignee: "forms.ModelChoiceField[Any]" = forms.ModelChoiceField(None, required=False, empty_label="Nobody")

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, **more)
        people = get_user_model().objects.filter(memberships__organization=project.organization_id, is_staff=True)
        self.fields["assignee"].queryset = people.order_by("username")  # type: ignore[attr-defined]


class NoteForm(forms.Form):
    """A note."""

    note = MultilineField(max_length=MAX_NOTE, widget=forms.Textarea(attrs={"rows": 2}))

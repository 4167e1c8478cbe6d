"""The forms on the page of a group of questions."""

from typing import Any

from django import forms

from assistant.admin.golden_questions import LinesField
from assistant.admin.preview import MultilineField
from assistant.asking.schemas import MAX_TEXT
from assistant.models.question_groups import MAX_QUESTION
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import find_assignees

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
        max_length=400,
        label="Page to cite",
        help_text="A path or address. It may end with the #anchor of a section.",
    )


class WordsForm(forms.Form):
    """Words of a page for search."""

    path = forms.CharField(max_length=400, label="Page", help_text="The path of a page in the index.")
    words = LinesField(
        required=False,
        help_text="What readers call it, one name a line. They replace the words that were added before. They stay "
        "when the page is read again. Leave it empty to remove them.",
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
        help_text="The pages that the answer must cite, one a line. "
        "Leave it empty if the assistant must refuse to answer.",
    )


class AssignForm(forms.Form):
    """Who works on it."""

    assignee: "forms.ModelChoiceField[Any]" = forms.ModelChoiceField(None, required=False, empty_label="Nobody")

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, **more)
        self.fields["assignee"].queryset = find_assignees(project)  # type: ignore[attr-defined]


class NoteForm(forms.Form):
    """A note."""

    note = MultilineField(max_length=MAX_NOTE, widget=forms.Textarea(attrs={"rows": 2}))

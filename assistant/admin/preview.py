"""The preview: the owner of a site asks the assistant, with settings that may be unsaved.

The assistant answers as for a reader. The page also shows the reasons. No question
or answer is stored. The tokens count towards the project's daily limit, and the
preview takes a slot for running answers while it runs.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.utils.safestring import SafeString

from assistant.answering import pipeline, prompts
from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.passage_search import PassageSearch
from assistant.answering.question import Asker, Question
from assistant.answering.record import Outcome
from assistant.answering.retriever import Retrieved
from assistant.asking.schemas import MAX_TEXT
from assistant.conversations import threads, transcript
from assistant.models import AssistantSettings
from assistant.running_answers.capacity import answer_slots
from assistant.upstream import model_choice
from docsite.core.db import in_db
from docsite.core.tenants.models import Project
from search.hits import Filters, Hit
from search.models import Document
from search.retrieval.answerability import MIN_CLOSE_CHANCE
from search.retrieval.excerpts import excerpt_of

_MODEL_RUNGS = ("model", "second_model")


class MultilineField(forms.CharField):
    """Text of several lines. Browsers send CRLF; the value has LF, so that an unchanged text counts as unchanged."""

    def to_python(self, value: Any) -> str:
        """Replace CRLF by LF."""
        return str(super().to_python(value)).replace("\r\n", "\n")


class PreviewForm(forms.Form):
    """A question, with what a reader's page would send: its path, version and language."""

    use_required_attribute = False  # the fields share an HTML form with the settings, which are saved without them

    question = MultilineField(max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 2}))
    page = forms.CharField(
        required=False, max_length=200, label="Asked on page", help_text="Path or address of the page. May be empty."
    )
    version = forms.ChoiceField(required=False)
    language = forms.ChoiceField(required=False)

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, prefix="try")
        self.project = project
        documents = Document.objects.filter(project=project)
        for facet in ("version", "language"):
            values = documents.exclude(**{facet: ""}).order_by(facet).values_list(facet, flat=True).distinct()
            if choices := [(value, value) for value in values]:
                self.fields[facet].choices = [("", "Like the page"), *choices]  # type: ignore[attr-defined]
            else:
                del self.fields[facet]

    def to_question(self) -> Question:
        """Build the question for the answering pipeline."""
        data = self.cleaned_data
        return Question(
            text=data["question"],
            current_path=self.project.path_of(data["page"]) if data["page"] else "",
            filters=Filters(data.get("version") or None, data.get("language") or None),
        )


@dataclass(frozen=True)
class PreviewPassage:
    """A passage that the search found. `is_used` says whether the answer was made from it."""

    number: int
    hit: Hit
    is_used: bool

    @property
    def percent(self) -> str:
        """The score as the length of a bar."""
        return f"{self.hit.score:.1%}"

    @property
    def excerpt(self) -> str:
        """A part of its text."""
        return excerpt_of(self.hit)


@dataclass(frozen=True)
class Preview:
    """An answer, and the steps that led to it. Times in seconds.

    `chance` (0..1) is the estimated chance that the passages answer the question; below `threshold` the assistant
    refuses. `messages` are the first request to the model, empty if no model was asked.
    """

    question: Question
    outcome: Outcome
    passages: Sequence[PreviewPassage]
    chance: float
    models: Sequence[str]
    messages: Sequence[dict[str, str]]
    threshold: float
    first_text_seconds: float | None
    total_seconds: float

    @property
    def is_grounded(self) -> bool:
        """Whether the passages were good enough to answer from."""
        return bool(self.outcome.hits)

    @property
    def answer(self) -> SafeString:
        """The answer as HTML."""
        return transcript.render(self.outcome.text)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The rungs that were tried, in order: each with its name, and the reason why the one before was left."""
        names = {
            **dict(zip(_MODEL_RUNGS, (f"The model {name}" for name in self.models), strict=False)),
            "extractive": "Quotes from the documentation",
            "closest_passages": "Quotes that are perhaps beside the point",
            "nearest_pages": "A refusal, with the nearest pages",
        }
        return [{"name": names[step["rung"]], "reason": step.get("reason", "")} for step in self.outcome.steps]


async def run_preview(project: Project, assistant: AssistantSettings, question: Question, network: str) -> Preview:
    """Answer with these settings. Raises `Full` (of `running_answers.capacity`) when too many answers are running."""
    slots = answer_slots.reserve(Asker(project.pk, project.organization_id, "", network))
    try:
        return await _answer(project, assistant, replace(question, settings=to_answer_settings(assistant)))
    finally:
        answer_slots.release(slots)


class _WatchedSearch(PassageSearch):
    """Stores the result of the first search: the service's own one. Later searches are the model's."""

    first: Retrieved | None = None

    async def search(self, question: Question, passage_tokens: int) -> Retrieved:
        """Search. The first result is also stored in `first`."""
        retrieved = await super().search(question, passage_tokens)
        self.first = self.first or retrieved
        return retrieved


async def _answer(project: Project, assistant: AssistantSettings, question: Question) -> Preview:
    retriever = _WatchedSearch(project)
    models = await in_db(model_choice.choose_models)(project, assistant)
    conversation = threads.UnstoredConversation(project)
    outcome = await pipeline.answer_unread(question, conversation, retriever, models)
    total_seconds = time.monotonic() - outcome.started_at
    retrieved = retriever.first or Retrieved([], 0.0, {})
    found = [*retrieved.hits, *retrieved.neighbours]
    passages = [*found, *(hit for hit in outcome.hits if hit not in found)]
    used_model = any(step["rung"] in _MODEL_RUNGS for step in outcome.steps)
    return Preview(
        question,
        outcome,
        [PreviewPassage(number, hit, hit in outcome.hits) for number, hit in enumerate(passages, 1)],
        retrieved.chance,
        [model.name for model in models.models],
        prompts.build(question, found, conversation.history, models.passage_tokens) if used_model else (),
        MIN_CLOSE_CHANCE if assistant.threshold is None else assistant.threshold,
        outcome.first_text_at and outcome.first_text_at - outcome.started_at,
        total_seconds,
    )

"""An owner asks their own assistant, with settings that need not be saved: it answers as to a reader, and tells why.

Nothing of it is stored. Its tokens count for the project's day, and while it runs
it takes one of the places that answers have.
"""

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from django.utils.safestring import SafeString

from assistant import configuration
from assistant.answering import pipeline, prompts
from assistant.answering.pipeline import Outcome, Retrieved
from assistant.conversations import threads, transcript
from assistant.events import Text
from assistant.models import AssistantSettings
from assistant.question import Question
from assistant.sessions.running import Asker, running_answers
from assistant.sessions.start import capacity
from docsite.core.db import in_db
from docsite.core.tenants.models import Project
from search.hits import Hit
from search.retrieval.answerability import GROUNDED

_OF_MODELS = ("model", "second_model")  # rungs


@dataclass(frozen=True)
class Passage:
    """What the search found, and whether the answer was made from it."""

    number: int
    hit: Hit
    given: bool

    @property
    def percent(self) -> str:
        """The score as the length of a bar."""
        return f"{self.hit.score:.1%}"


@dataclass(frozen=True)
class Trial:
    """What became of a question. Times in seconds; `messages` are what a model was sent, if one was asked.

    The documentation answers if the chance that the passages do is not below the threshold.
    """

    question: Question
    outcome: Outcome
    passages: Sequence[Passage]
    chance: float
    models: Sequence[str]
    messages: Sequence[dict[str, str]]
    threshold: float
    first_words: float | None
    whole: float

    @property
    def is_grounded(self) -> bool:
        """Whether the pages were found to answer."""
        return bool(self.outcome.hits)

    @property
    def answer(self) -> SafeString:
        """Its HTML."""
        return transcript.render(self.outcome.text)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Who was asked for the answer, in order, and why each but the first."""
        names = {
            **dict(zip(_OF_MODELS, (f"The model {name}" for name in self.models), strict=False)),
            "extractive": "Quotes from the documentation",
            "nearest_pages": "A refusal, with the nearest pages",
        }
        return [{"name": names[step["rung"]], "reason": step.get("reason", "")} for step in self.outcome.steps]


async def try_out(project: Project, told: AssistantSettings, question: Question, network: str) -> Trial:
    """Answer with these settings. Raises `assistant.sessions.running.Full` when too many answers are running."""
    places = running_answers.reserve(Asker(project.pk, project.organization_id, "", network), capacity())
    try:
        return await _try_out(project, told, replace(question, voice=told.voice()))
    finally:
        running_answers.release(places)


async def _try_out(project: Project, told: AssistantSettings, question: Question) -> Trial:
    found = Retrieved([], 0.0, {})
    retrieve = configuration.passage_search(project)

    async def noted(question: Question) -> Retrieved:
        nonlocal found
        found = await retrieve(question)
        return found

    ladder = await in_db(configuration.model_chain)(project, told)
    outcome, conversation = Outcome(), threads.UnstoredConversation(project)
    began, first_words = time.monotonic(), None
    async with aclosing(pipeline.answer(question, conversation, noted, ladder, outcome)) as events:
        async for event in events:
            if isinstance(event, Text) and first_words is None:
                first_words = time.monotonic() - began
    whole = time.monotonic() - began
    asked = any(step["rung"] in _OF_MODELS for step in outcome.steps)
    return Trial(
        question,
        outcome,
        [Passage(number, hit, hit in outcome.hits) for number, hit in enumerate(found.hits, 1)],
        found.chance,
        [model.name for model in ladder.models],
        prompts.build(question, outcome.hits, conversation.history) if asked else (),
        GROUNDED if told.threshold is None else told.threshold,
        first_words,
        whole,
    )

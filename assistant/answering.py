"""The story of one answer, read top to bottom: search, prompt, relay, save. Free of Django.

Who may ask and what was asked before is settled already (`assistant.threads`);
how the events are written is the door's matter (`assistant.wire`).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from assistant import extractive, prompts, relay
from assistant.citations import Citations
from assistant.events import Event, Failed, Finish, Found, Rung, Searching, Source, Start, Status, Text
from assistant.prompts import Context, Turn
from assistant.upstream import Model, Piece, Usage
from search import analysis
from search.hits import Filters, Hit

logger = logging.getLogger(__name__)

GROUNDED = 0.3  # a passage that scores less is not what the reader asked for
CHECKPOINT_SECONDS = 2.0
CHECKPOINT_BYTES = 2048
SORRY = "The answer broke off. Please try again."


@dataclass(frozen=True)
class Question:
    """What a reader asks, with what is known of the page they are on."""

    text: str
    page_size: int = 5
    filters: Filters = field(default_factory=Filters)
    context: Sequence[Context] = ()
    current_path: str = ""
    support_url: str = ""


@dataclass
class Outcome:
    """An answer as it is stored, complete or not. `state` is that of `assistant.models.Message`."""

    text: str = ""
    state: str = "running"
    rung: str = ""
    reason: str = ""
    sources: list[Source] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    usage: Usage = field(default_factory=lambda: Usage(0, 0))

    def add(self, event: Source | Text) -> Source | Text:
        """Keep the text of an event on its way to the reader."""
        if isinstance(event, Text):
            self.text += event.delta
        return event


class Conversation(Protocol):
    """The stored thread that an answer belongs to."""

    thread_id: str
    message_id: str

    @property
    def history(self) -> Sequence[Turn]:
        """Earlier turns, oldest first."""

    async def save(self, outcome: Outcome) -> None:
        """Store the answer as it stands."""


@dataclass(frozen=True)
class Retrieved:
    """Passages of a search, best first, and what was searched: `version`, `indexedAt`, `pages`."""

    hits: list[Hit]
    scope: dict[str, object]


Retrieve = Callable[[Question, str], Awaitable[Retrieved]]


async def answer(
    question: Question, conversation: Conversation, retrieve: Retrieve, model: Model | None
) -> AsyncGenerator[Event, None]:
    """Yield the events of one answer. Never raises, except when the reader leaves.

    Daphne leaves a reader hanging when a body raises, so every failure becomes
    an event. Cancellation closes the upstream request, stores the partial
    answer as aborted, and passes on.
    """
    outcome = Outcome()
    try:
        async with aclosing(_story(question, conversation, retrieve, model, outcome)) as events:
            async for event in events:
                yield event
    except Exception:  # the task boundary: nothing may leave a stream
        logger.exception("Answer %s failed.", conversation.message_id)
        outcome.state, outcome.reason = "error", "internal error"
        yield Failed(SORRY)
    finally:
        if outcome.state != "done":  # a complete answer is stored before its end is told
            outcome.state = "aborted" if outcome.state == "running" else outcome.state
            await asyncio.shield(_save(conversation, outcome))


async def _save(conversation: Conversation, outcome: Outcome) -> None:
    try:
        await conversation.save(outcome)
    except Exception:  # the same boundary: the reader has the answer, only the record is lost
        logger.exception("Answer %s could not be stored.", conversation.message_id)


async def _story(
    question: Question, conversation: Conversation, retrieve: Retrieve, model: Model | None, outcome: Outcome
) -> AsyncGenerator[Event, None]:
    yield Start(conversation.message_id, conversation.thread_id)

    query = search_query(question.text, conversation.history)
    call_id = f"call_{conversation.message_id.removeprefix('msg_')}"
    yield Searching(call_id, query)
    retrieved = await retrieve(question, query)
    passages = [hit for hit in retrieved.hits if hit.score >= GROUNDED]
    outcome.hits = passages
    yield Found(call_id, passages)

    citations = Citations(passages)
    outcome.sources = citations.sources
    rung: Rung = "nearest_pages" if not passages else "model" if model else "extractive"
    if rung == "model" and model:
        yield _climb(outcome, rung)
        messages = prompts.build(question.text, passages, conversation.history, question.context, question.current_path)
        async with aclosing(_relayed(model, messages, citations, outcome, conversation)) as events:
            async for event in events:
                yield event
        if outcome.state == "error":
            yield Failed(SORRY)
            return
        if not outcome.text:
            rung = "extractive"
    if rung != "model":
        yield _climb(outcome, rung)
        quoted = (
            extractive.answer(question.text, citations)
            if rung == "extractive"
            else extractive.nearest_pages(retrieved.hits, question.support_url)
        )
        for piece in quoted:
            yield outcome.add(piece)
    outcome.state = "done"
    await _save(conversation, outcome)  # before the reader is told that it is complete
    yield Status(rung, outcome.reason, retrieved.scope)
    yield Finish(outcome.usage.prompt_tokens, outcome.usage.completion_tokens)


def _climb(outcome: Outcome, rung: Rung) -> Status:
    outcome.rung = rung
    return Status(rung, outcome.reason)


async def _relayed(
    model: Model,
    messages: list[dict[str, str]],
    citations: Citations,
    outcome: Outcome,
    conversation: Conversation,
) -> AsyncGenerator[Source | Text, None]:
    """The model's answer with its citations checked. A failure is left in the outcome for the ladder.

    Before any text it is only a reason to try the next rung; after some, an error.
    """
    saved_at, saved_size = time.monotonic(), 0
    broken = ""
    async with aclosing(relay.stream(model, messages)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Usage):
                outcome.usage = piece
            elif isinstance(piece, Piece):
                for event in citations.feed(piece.text):
                    yield outcome.add(event)
                if (
                    time.monotonic() - saved_at > CHECKPOINT_SECONDS
                    or len(outcome.text) - saved_size > CHECKPOINT_BYTES
                ):
                    saved_at, saved_size = time.monotonic(), len(outcome.text)
                    await _save(conversation, outcome)
            else:
                broken = piece.reason
    for event in citations.end():
        yield outcome.add(event)
    if not outcome.text.strip():
        outcome.text, outcome.reason = "", broken or "the model server sent an empty answer"
    elif broken:
        outcome.state, outcome.reason = "error", broken


def search_query(text: str, history: Sequence[Turn]) -> str:
    """What to search for: the question, led by the one before when it says too little by itself."""
    content = [word for word in analysis.words(text) if word.lower() not in analysis.STOP_WORDS]
    before = [turn.text for turn in history if turn.role == "user"]
    return f"{before[-1]} {text}" if len(content) < 3 and before else text

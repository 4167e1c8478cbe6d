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
from typing import Any, Protocol, cast

from assistant import extractive, prompts, relay
from assistant.citations import Citations
from assistant.events import Event, Failed, Finish, FinishReason, Found, Rung, Searching, Source, Start, Status, Text
from assistant.question import Question, Turn
from assistant.relay import Bounds
from assistant.upstream import Ended, Model, Piece, Usage
from search import analysis
from search.hits import Hit

logger = logging.getLogger(__name__)

GROUNDED = 0.11  # when even the best passage scores less, the documentation does not answer
FURTHER = 0.03  # what another passage must score to be read beside it
CHECKPOINT_SECONDS = 2.0
CHECKPOINT_SIZE = 2048  # characters
LATER = (1, 4, 15, 60)  # seconds before each further attempt to store an answer
SORRY = "The answer broke off. Please try again."


@dataclass
class Outcome:
    """An answer as it is stored, complete or not. `state` is that of `assistant.models.Message`."""

    state: str = "running"
    rung: str = ""
    reason: str = ""
    steps: list[dict[str, Any]] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    ended: FinishReason = "stop"
    spent: int = 0  # tokens to charge, over all models asked; estimated where a server does not count
    size: int = 0  # characters
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The answer so far."""
        self._pieces = ["".join(self._pieces)]  # one text takes far less memory than its pieces
        return self._pieces[0]

    def add(self, event: Source | Text) -> Source | Text:
        """Keep the text of an event on its way to the reader."""
        if isinstance(event, Text):
            self._pieces.append(event.delta)
            self.size += len(event.delta)
        return event

    def climb(self, rung: Rung, reason: str) -> Status:
        """Go to a rung of the ladder, because of what happened on the one before."""
        status = Status(rung, reason)
        self.rung, self.reason = rung, reason
        self.steps.append(status.step())
        return status


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


@dataclass(frozen=True)
class Ladder:
    """Models to ask, best first, within bounds; `reason` says why there are none, if that needs saying."""

    models: Sequence[Model] = ()
    bounds: Bounds = field(default_factory=Bounds)
    reason: str = ""


_RUNGS: tuple[Rung, ...] = ("model", "second_model")


async def answer(
    question: Question, conversation: Conversation, retrieve: Retrieve, ladder: Ladder, outcome: Outcome
) -> AsyncGenerator[Event, None]:
    """Yield the events of one answer. Never raises, except when it is cancelled.

    Daphne leaves a reader hanging when a body raises, so every failure becomes
    an event. Cancellation closes the upstream request, stores the partial
    answer (as aborted, unless the outcome already says otherwise), and passes on.
    """
    record = _Record(conversation, outcome)
    try:
        async with aclosing(_story(question, conversation, retrieve, ladder, outcome, record)) as events:
            async for event in events:
                yield event
    except Exception:  # the task boundary: nothing may leave a stream
        logger.exception("Answer %s failed.", conversation.message_id)
        outcome.state, outcome.reason = "error", "internal error"
        await record.end()
        yield Failed(SORRY)
    finally:
        if outcome.state == "running":
            outcome.state = "aborted"
        await record.end()


class _Record:
    """Stores the answer: now and then while it grows, beside the stream, and once before its end is told."""

    def __init__(self, conversation: Conversation, outcome: Outcome) -> None:
        self.conversation = conversation
        self.outcome = outcome
        self.saved_at, self.saved_size = time.monotonic(), 0
        self.saving: asyncio.Task[bool] | None = None
        self.ending: asyncio.Task[None] | None = None

    def checkpoint(self) -> None:
        """Store the answer as it stands, if it is time and no earlier checkpoint is still being written."""
        now, size = time.monotonic(), self.outcome.size
        due = now - self.saved_at > CHECKPOINT_SECONDS or size - self.saved_size > CHECKPOINT_SIZE
        if due and (self.saving is None or self.saving.done()):
            self.saved_at, self.saved_size = now, size
            self.saving = asyncio.create_task(self._save())

    async def end(self) -> None:
        """Store the answer for good, once, also when whoever waits for it is cancelled."""
        if self.ending is None:
            self.ending = asyncio.create_task(self._end())
        await asyncio.shield(self.ending)

    async def _end(self) -> None:
        if self.saving:
            await self.saving
        if not await self._save():  # go on trying, without holding up the reader
            later = asyncio.create_task(self._save_later())
            _late.add(later)
            later.add_done_callback(_late.discard)

    async def _save(self) -> bool:
        try:
            await self.conversation.save(self.outcome)
        except Exception:  # the same boundary: the reader has the answer, only the record is missing
            logger.exception("Answer %s could not be stored.", self.conversation.message_id)
            return False
        return True

    async def _save_later(self) -> None:
        for seconds in LATER:
            await asyncio.sleep(seconds)
            if await self._save():
                return


_late: set[asyncio.Task[None]] = set()


async def _story(
    question: Question,
    conversation: Conversation,
    retrieve: Retrieve,
    ladder: Ladder,
    outcome: Outcome,
    record: _Record,
) -> AsyncGenerator[Event, None]:
    yield Start(conversation.message_id, conversation.thread_id)

    query = search_query(question.text, conversation.history or question.claimed)
    call_id = f"call_{conversation.message_id.removeprefix('msg_')}"
    yield Searching(call_id, query)
    retrieved = await retrieve(question, query)
    grounded = bool(retrieved.hits) and retrieved.hits[0].score >= GROUNDED
    passages = [hit for hit in retrieved.hits if grounded and hit.score >= FURTHER]
    outcome.hits = passages
    yield Found(call_id, passages)

    citations = Citations(passages)
    outcome.sources = citations.sources
    reason = ladder.reason
    if passages:
        messages = prompts.build(question, passages, conversation.history)
        for rung, model in zip(_RUNGS, ladder.models, strict=False):
            yield outcome.climb(rung, reason)
            async with aclosing(_relayed(model, messages, ladder.bounds, citations, outcome, record)) as events:
                async for event in events:
                    yield event
            if outcome.state == "error":
                await record.end()
                yield Failed(SORRY)
                return
            if outcome.size:
                break
            reason = outcome.reason
    if not outcome.size:
        yield outcome.climb("extractive" if passages else "nearest_pages", reason)
        quoted = (
            extractive.answer(question.text, citations)
            if passages
            else extractive.nearest_pages(retrieved.hits, question.voice.support_url)
        )
        for piece in quoted:
            yield outcome.add(piece)
    outcome.state = "done"
    await record.end()  # before the reader is told that it is complete
    yield Status(cast(Rung, outcome.rung), outcome.reason, retrieved.scope)
    yield Finish(outcome.usage.prompt_tokens, outcome.usage.completion_tokens, outcome.ended)


async def _relayed(
    model: Model,
    messages: list[dict[str, str]],
    bounds: Bounds,
    citations: Citations,
    outcome: Outcome,
    record: _Record,
) -> AsyncGenerator[Source | Text, None]:
    """The model's answer with its citations checked. A failure is left in the outcome for the ladder.

    Before any text it is only a reason to try the next rung; after some, an error.
    """
    before, asked = outcome.spent, prompts.size(messages)
    outcome.spent = before + asked  # a reader who leaves before the first word has been paid for, too
    usage: Usage | None = None
    broken = ""
    async with aclosing(relay.stream(model, messages, bounds)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Piece):
                text = piece.text if outcome.size else piece.text.lstrip()  # blanks are no answer
                for event in citations.feed(text):
                    yield outcome.add(event)
                outcome.spent = before + asked + outcome.size // 4
                record.checkpoint()
            elif isinstance(piece, Usage):
                usage = piece
            elif isinstance(piece, Ended):
                outcome.ended = piece.reason
            else:
                broken = piece.reason
    for event in citations.end():
        yield outcome.add(event)
    if usage and usage.prompt_tokens:  # as the server counts, as long as that can be true
        prompt, completion = min(usage.prompt_tokens, 10 * asked), min(usage.completion_tokens, bounds.most_tokens)
        outcome.spent = before + prompt + completion
    elif broken and not outcome.size:
        outcome.spent = before
    if not outcome.size:
        outcome.reason, outcome.ended = broken or "the model server sent an empty answer", "stop"
        return
    outcome.usage = usage or outcome.usage
    if broken:
        outcome.state, outcome.reason = "error", broken


def search_query(text: str, history: Sequence[Turn]) -> str:
    """What to search for: the question, led by the one before when it says too little by itself."""
    content = [word for word in analysis.words(text) if word.lower() not in analysis.STOP_WORDS]
    before = [turn.text for turn in history if turn.role == "user"]
    return f"{before[-1]} {text}" if len(content) < 3 and before else text

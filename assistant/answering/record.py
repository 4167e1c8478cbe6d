"""An answer as it is stored: at checkpoints, while the stream goes on, and once at its end."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from assistant.answering.question import Turn
from assistant.citations.link_checker import CitationChecker
from assistant.citations.passages import Passages
from assistant.spending.prices import Charge
from assistant.upstream import Usage
from assistant.wire.events import FinishReason, Rung, Source, Status, Text
from search.hits import Hit

logger = logging.getLogger(__name__)

CHECKPOINT_SECONDS = 2.0
CHECKPOINT_SIZE = 2048  # characters
MAX_PIECES = 32  # of a text, until they are joined: a joined text takes an eighth of their memory
SAVE_RETRY_SECONDS = (1, 4, 15, 60)  # before each further attempt to store an answer

Kind = Literal["running", "answered", "closest_passages", "unsupported", "refused", "greeting", "cut", "failed"]
CutBy = Literal[
    "", "reader", "connection", "service", "time_limit", "model_server", "length_limit", "filter", "repetition"
]
_FINISH_REASONS: dict[CutBy, FinishReason] = {
    "length_limit": "length",
    "filter": "content-filter",
    "repetition": "other",
}


@dataclass
class Outcome:
    """An answer as it is stored, complete or not. `state` is that of `assistant.models.Message`.

    Times are those of `time.monotonic`. `started_at` is when the question came in.
    """

    state: str = "running"
    cut_by: CutBy = ""
    rung: str = ""
    reason: str = ""
    steps: list[dict[str, Any]] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    hits: Passages | list[Hit] = field(default_factory=list)
    usage: Usage = field(default_factory=lambda: Usage(0, 0))  # of all requests that were answered
    checks: list[dict[str, Any]] = field(default_factory=list)
    refused: bool = False  # by the model, although there were passages
    charge: Charge = field(default_factory=Charge)  # over all models asked; estimated where a server does not count
    size: int = 0  # characters
    attempt_size: int = 0  # characters since `begin_attempt`
    is_greeting: bool = False  # or thanks, which need no search
    model: str = ""  # the name of the one that answers
    chance: float | None = None  # that the passages answer (0..1); None before the search
    started_at: float = field(default_factory=time.monotonic)
    first_text_at: float | None = None
    ended_at: float | None = None
    _pieces: list[str] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """What became of the question, in one word."""
        if self.state == "running":
            return "running"
        if self.state != "done":
            return "failed" if self.state == "error" else "cut"
        if self.is_greeting:
            return "greeting"
        if self.cut_by:
            return "cut"
        if self.sources:
            return "closest_passages" if self.rung == "closest_passages" else "answered"
        return "refused" if self.refused or self.rung == "nearest_pages" else "unsupported"

    @property
    def finish_reason(self) -> FinishReason:
        """Why the text of a model ends, as clients get it."""
        return _FINISH_REASONS.get(self.cut_by, "stop")

    @property
    def first_token_ms(self) -> int | None:
        """Milliseconds from the question to the first text that the reader could see. None if there was none."""
        return self._milliseconds(self.first_text_at)

    @property
    def total_ms(self) -> int | None:
        """Milliseconds from the question to the end of the answer. None while it runs."""
        return self._milliseconds(self.ended_at)

    def _milliseconds(self, until: float | None) -> int | None:
        return None if until is None else round(1000 * (until - self.started_at))

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._pieces)

    def copy(self) -> "Outcome":
        """The answer as it is now, for another thread."""
        steps, sources, hits, checks = [*self.steps], [*self.sources], self.hits.copy(), [*self.checks]
        return replace(self, steps=steps, sources=sources, hits=hits, checks=checks, _pieces=[self.text])

    def cite_from(self, citations: CitationChecker) -> None:
        """Take the passages that the answer may cite, and what will be cited and checked of them."""
        self.hits, self.sources, self.checks = citations.passages, citations.sources, citations.checks

    def begin_attempt(self) -> None:
        """Begin a paragraph: what was written before is no answer, such as a model's words before it searches."""
        self.attempt_size = 0

    def add(self, event: Source | Text) -> Source | Text:
        """Add the text of an event to the answer, and return the event as a reader gets it."""
        if isinstance(event, Text) and event.delta:
            self.first_text_at = self.first_text_at or time.monotonic()
            if self.size and not self.attempt_size:
                event = Text(f"\n\n{event.delta}")
            self._pieces.append(event.delta)
            if len(self._pieces) == MAX_PIECES:
                self._pieces = [self.text]
            self.size += len(event.delta)
            self.attempt_size += len(event.delta)
        return event

    def enter_rung(self, rung: Rung, reason: str, model: str = "") -> Status:
        """Record who answers now, the model's name if it is one, and why the rung before failed."""
        status = Status(rung, reason)
        self.rung, self.reason, self.model = rung, reason, model
        self.steps.append(status.step())
        return status


class Conversation(Protocol):
    """Stores one running answer in its thread, and reserves the tokens that it may use."""

    thread_id: str
    message_id: str

    @property
    def history(self) -> Sequence[Turn]:
        """Earlier turns, oldest first."""

    async def reserve(self, most: Charge, sent: Charge) -> str:
        """Reserve the most that the whole answer may use. Returns why that is not possible; empty where it is.

        `sent`: what it has used as soon as the next request is sent.
        """

    async def save(self, outcome: Outcome) -> None:
        """Store the answer so far."""


class Record:
    """Stores an answer: every few seconds while it streams, and once at its end."""

    def __init__(self, conversation: Conversation, outcome: Outcome) -> None:
        self.conversation = conversation
        self.outcome = outcome
        self.saved_at, self.saved_size = time.monotonic(), 0
        self.saving: asyncio.Task[bool] | None = None
        self.ending: asyncio.Task[None] | None = None

    def checkpoint(self) -> None:
        """Store the answer so far, if it is time and no other checkpoint is being written."""
        now, size = time.monotonic(), self.outcome.size
        due = now - self.saved_at > CHECKPOINT_SECONDS or size - self.saved_size > CHECKPOINT_SIZE
        if due and self.saving is None:
            self.saved_at, self.saved_size = now, size
            self.saving = asyncio.create_task(self._save())
            self.saving.add_done_callback(self._forget_saving)

    async def complete(self) -> None:
        """Store the answer as done."""
        self.outcome.state = "done"
        await self.end()

    async def end(self) -> None:
        """Store the complete answer. Only the first call stores it, and goes on if its caller is cancelled."""
        if self.ending is None:
            self.outcome.ended_at = time.monotonic()
            self.ending = asyncio.create_task(self._end())
        await asyncio.shield(self.ending)

    async def _end(self) -> None:
        if self.saving:
            await self.saving
        if not await self._save():  # retry while the reader goes on
            retry = asyncio.create_task(self._retry_save())
            _retries.add(retry)
            retry.add_done_callback(_retries.discard)

    def _forget_saving(self, _: object) -> None:
        self.saving = None

    async def _save(self) -> bool:
        try:
            await self.conversation.save(self.outcome)
        except Exception:  # the same boundary: the reader has the answer, although it is not stored
            logger.exception("Answer %s could not be stored.", self.conversation.message_id)
            return False
        return True

    async def _retry_save(self) -> None:
        for seconds in SAVE_RETRY_SECONDS:
            await asyncio.sleep(seconds)
            if await self._save():
                return


_retries: set[asyncio.Task[None]] = set()

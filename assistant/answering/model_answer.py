"""The answer of one model: requests in turn with its own searches, until it writes its answer; and why that was cut."""

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from assistant.answering import prompts
from assistant.answering.question import Turn
from assistant.answering.record import CutBy, Outcome
from assistant.answering.refusals.detector import RefusalDetector
from assistant.answering.tools import TOOLS, Toolbox
from assistant.citations.link_checker import CitationChecker
from assistant.spending.prices import Charge, Price, compute_charge
from assistant.upstream import Delta, EndOfText, Item, Model, ToolCalls, Usage, relay
from assistant.upstream.relay import Bounds, StreamFailure
from assistant.wire.events import Event, Source, Text

Reserve = Callable[[Charge, Charge], Awaitable[str]]  # see `assistant.answering.record.Conversation`
TOOLS_TOKENS = prompts.estimate_tokens(json.dumps(TOOLS))
CHARGE_STEP = 64  # characters of a running answer, until they are charged
QUESTION_LIMIT_REACHED = "the question's token limit is reached"
_CUT_BY: dict[str, CutBy] = {"length": "length_limit", "content-filter": "filter", "repetition": "repetition"}


async def answer(
    model: Model,
    history: Sequence[Turn],
    bounds: Bounds,
    toolbox: Toolbox,
    citations: CitationChecker,
    outcome: Outcome,
    reserve: Reserve,
) -> AsyncGenerator[Event, None]:
    """Yield a model's searches and its answer, and complete the outcome, also after a failure.

    A request whose tokens cannot be reserved is not sent: the answer ends, and the next rung follows.

    The messages grow by the calls and their results. The last request, when no search is left, is a fresh one: it has
    no tools and no calls, and all passages stand before the question. So a model that calls whenever it may answers,
    too. The time for an answer holds for all requests together.
    """
    ends_at = time.monotonic() + bounds.whole_answer
    messages = toolbox.build_messages(history)
    while True:
        prompt_tokens, tools_tokens = messages.estimate_tokens(), TOOLS_TOKENS
        tokens_left = bounds.question_tokens - outcome.charge.tokens
        # Without tokens for another request, nothing could use what this one finds.
        may_search = toolbox.may_search and tokens_left >= 2 * (prompt_tokens + tools_tokens + bounds.max_tokens)
        if not may_search:
            messages = toolbox.build_last_messages(history)
            prompt_tokens, tools_tokens = messages.estimate_tokens(), 0
        sent = outcome.charge + compute_charge(model.price, prompt_tokens + tools_tokens, 0)
        denial = QUESTION_LIMIT_REACHED
        if tokens_left >= prompt_tokens + tools_tokens + bounds.max_tokens:
            denial = await reserve(sent + compute_charge(model.price, 0, bounds.max_tokens), sent)
        if denial:
            outcome.begin_attempt()  # what the model wrote beside its calls is no answer
            outcome.refused, outcome.reason = False, denial
            return
        remaining = replace(bounds, whole_answer=ends_at - time.monotonic())
        reply = _Reply(model.price, prompt_tokens, remaining, citations, outcome)
        try:
            async with aclosing(relay.stream(model, messages, remaining, TOOLS if may_search else ())) as items:
                async for item in items:
                    for event in reply.process(item):
                        yield event
        finally:
            reply.charge_text()
        for event in reply.end():
            yield event
        if not reply.calls or not may_search:
            break
        async with aclosing(toolbox.run(reply.calls, messages)) as searching:
            async for call_or_result in searching:
                yield call_or_result
    reply.complete()


class _Reply:
    """Checks what one request brings, and adds it to the outcome.

    After a failure without any text the pipeline asks the next model. A failure
    after some text is an error.
    """

    def __init__(
        self, price: Price | None, prompt_tokens: int, bounds: Bounds, citations: CitationChecker, outcome: Outcome
    ) -> None:
        self.calls: ToolCalls | None = None
        self._bounds = bounds
        self._outcome = outcome
        self._detector = RefusalDetector(citations)
        self._sources_before = len(citations.sources)
        self._price = price
        self._prompt_tokens = prompt_tokens
        self._charge_before = outcome.charge
        self._charged_size = 0  # characters
        self._usage: Usage | None = None
        self._failure = ""
        self._end_reason = "stop"
        citations.refused = False
        outcome.begin_attempt()
        self._charge(prompt_tokens, 0)  # the prompt costs even if the reader leaves before the first word

    def process(self, item: Item | StreamFailure) -> Sequence[Source | Text]:
        """Process an item of the relay. Returns its events."""
        outcome = self._outcome
        match item:
            case Delta():
                events = [outcome.add(event) for event in self._detector.feed(item.text)]
                if outcome.attempt_size - self._charged_size > CHARGE_STEP:
                    self.charge_text()
                return events
            case Usage():
                self._usage = item
            case EndOfText():
                self._end_reason = item.reason
            case ToolCalls():
                self.calls = item
            case StreamFailure():
                self._failure = item.reason
        return ()

    def end(self) -> Sequence[Source | Text]:
        """End the request. Returns the events that waited for more text, and charges the tokens."""
        outcome = self._outcome
        events = [outcome.add(event) for event in self._detector.end()]
        outcome.refused = self._detector.refused
        self._charge_tokens()
        return events

    def charge_text(self) -> None:
        """Charge the text so far, by an estimate."""
        if self._outcome.attempt_size != self._charged_size:
            self._charged_size = self._outcome.attempt_size
            self._charge(self._prompt_tokens, self._charged_size // 4)

    def complete(self) -> None:
        """Complete the outcome with the last request's reply, which is the answer."""
        outcome = self._outcome
        has_cited = len(outcome.sources) > self._sources_before
        if self.calls and not has_cited:  # what it wrote beside them is no answer
            outcome.begin_attempt()
            outcome.refused = False
            outcome.reason = "the model kept searching"
        elif not outcome.attempt_size and not outcome.refused:
            outcome.reason = self._failure or "the model server sent an empty answer"
        elif self._failure:
            outcome.state, outcome.reason = "error", self._failure
            outcome.cut_by = "time_limit" if self._failure == relay.TOO_LONG else "model_server"
        elif outcome.refused:
            outcome.reason = "the model found no answer in the passages"
            outcome.sources.clear()  # what it cited before it searched supports no answer
        else:
            outcome.cut_by = _CUT_BY.get(self._end_reason, "")

    def _charge_tokens(self) -> None:
        """Charge the tokens that the server counted, up to a plausible number. A failure without text costs nothing."""
        usage, outcome = self._usage, self._outcome
        has_reply = bool(outcome.attempt_size or outcome.refused or self.calls)
        if usage and usage.prompt_tokens:
            prompt = min(usage.prompt_tokens, 10 * self._prompt_tokens)
            self._charge(prompt, min(usage.completion_tokens, self._bounds.token_limit), usage.cached_tokens)
        elif self._failure and not has_reply:
            self._charge(0, 0)
        elif self.calls:
            reply = outcome.charge.reply_tokens - self._charge_before.reply_tokens
            self._charge(self._prompt_tokens, reply + prompts.estimate_message_tokens(self.calls.message))
        if usage and has_reply:
            before = outcome.usage
            outcome.usage = Usage(
                before.prompt_tokens + usage.prompt_tokens, before.completion_tokens + usage.completion_tokens
            )

    def _charge(self, prompt: int, reply: int, cached: int = 0) -> None:
        """Set what this request costs."""
        self._outcome.charge = self._charge_before + compute_charge(self._price, prompt, reply, cached)

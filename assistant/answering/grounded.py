"""An answer grounded in the documentation: search it, ask the models, else quote it or refuse, then close."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from assistant.answering import follow_ups, model_answer, prompts, refusals, small_talk, suggestions
from assistant.answering.question import Question
from assistant.answering.quoting import extractive
from assistant.answering.record import Conversation, Record
from assistant.answering.retriever import Retrieved, Retriever, build_excerpts
from assistant.answering.tools import Toolbox
from assistant.answering.translations import Phrases, phrases_in
from assistant.citations.link_checker import CitationChecker
from assistant.citations.passages import Passages
from assistant.upstream.relay import ModelChain
from assistant.wire.events import Event, Finish, Rung, Source, Status, Text, ToolCall, ToolResult
from search.hits import Hit
from search.text.language import detect_language

_MODEL_RUNGS: tuple[Rung, ...] = ("model", "second_model")


class GroundedAnswer:
    """Writes one answer. Whatever matches a question reaches a model, which refuses by its own judgement.

    Without a model the chance that the passages answer decides between an answer, the closest passages and a refusal.
    """

    def __init__(self, question: Question, retriever: Retriever, chain: ModelChain, record: Record) -> None:
        self._question = question
        self._retriever = retriever
        self._chain = chain
        self._record = record
        self._outcome = record.outcome
        self._reason = chain.reason  # why no model, or not the model before, has answered

    async def write(self) -> AsyncGenerator[Event, None]:
        """Yield the events of the answer. It is stored before the last two; a failure is left to the caller."""
        conversation, outcome = self._record.conversation, self._outcome
        searched, query = follow_ups.add_previous_questions(self._question, conversation.history)
        yield ToolCall(call_id := build_call_id(conversation), "search", {"query": query})
        retrieved = await self._search(searched)
        found = retrieved.hits if self._chain.models else retrieved.quotable(self._question.settings)[1]
        yield ToolResult(call_id, build_excerpts(found))

        passages = Passages([*found, *retrieved.neighbours] if self._chain.models else found)
        count_found, count, is_found = len(found), len(passages), bool(found)
        selected = " ".join(item.value for item in self._question.context)
        citations = CitationChecker(passages, query, prompts.find_addresses(self._question.settings), selected)
        outcome.cite_from(citations)
        if self._chain.models:
            retrieved, found = replace(retrieved, hits=[], neighbours=()), []  # `passages` alone hold them, packed
            # Else a model may find passages by a search of its own, in the language of the pages.
            if is_found or detect_language(self._question.text) not in ("", "en"):
                toolbox = Toolbox(self._question, self._retriever, citations, call_id, self._chain.passage_tokens)
                async with aclosing(self._ask_models(toolbox, citations)) as events:
                    with passages.packed_while_long():
                        async for event in events:
                            yield event
                if outcome.state == "error":
                    return
            retrieved = replace(retrieved, hits=passages[:count_found])

        for event in self._close(retrieved, citations, follow_ups.quotation_topic(searched)):
            yield event
        if self._question.suggestions and outcome.sources:
            found, further = passages[:count_found], passages[count:]
            for text in suggestions.build_block([*found, *further], outcome.sources):
                yield text  # only for the reader: the stored answer does not have it
        await self._record.complete()  # before the reader learns that it is complete
        scope = retrieved.scope | ({"refused": True} if outcome.kind == "refused" else {})
        yield Status(cast(Rung, outcome.rung), outcome.reason, scope)
        yield Finish(outcome.usage.prompt_tokens, outcome.usage.completion_tokens, outcome.finish_reason)

    async def _search(self, searched: Question) -> Retrieved:
        """Search the documentation. What is no question finds nothing where no model can understand it."""
        chain = self._chain
        retrieved = await self._retriever.search(searched, chain.passage_tokens if chain.models else 0)
        if not chain.models and small_talk.is_no_question(self._question.text):
            retrieved = replace(retrieved, hits=[], chance=0.0)
        self._outcome.chance = retrieved.chance
        return retrieved

    async def _ask_models(self, toolbox: Toolbox, citations: CitationChecker) -> AsyncGenerator[Event, None]:
        """Ask each model after the one before it has failed. One that has sent a text, or refused, is the last."""
        conversation, outcome = self._record.conversation, self._outcome
        for rung, model in zip(_MODEL_RUNGS, self._chain.models, strict=False):
            yield outcome.enter_rung(rung, self._reason, model.name)
            answering = model_answer.answer(
                model, conversation.history, self._chain.bounds, toolbox, citations, outcome, conversation.reserve
            )
            async with aclosing(answering):
                async for event in answering:
                    yield event
                    self._record.checkpoint()
            if outcome.state == "error" or outcome.attempt_size or outcome.refused:
                return
            self._reason = outcome.reason

    def _close(self, retrieved: Retrieved, citations: CitationChecker, topic: str) -> Iterator[Event]:
        """End a model's answer, or write one without a model: quotes about a topic, or a refusal."""
        question, outcome, thread_id = self._question, self._outcome, self._record.conversation.thread_id
        closing: Iterator[Source | Text] = iter(())
        if not (outcome.attempt_size or outcome.refused):
            rung, quotable = retrieved.quotable(question.settings)
            yield outcome.enter_rung(rung, self._reason)
            outcome.begin_attempt()
            if quotable:
                closing = extractive.answer(question, topic, citations, quotable, rung)
            else:
                closing = refusals.refuse(retrieved.hits, question, thread_id)
        elif not outcome.sources:
            closing = self._explain_no_sources(retrieved.hits)
        if outcome.cut_by == "repetition":
            yield outcome.add(Text(f"\n\n{self._phrases.repetition}"))
        for event in closing:
            yield outcome.add(event)

    def _explain_no_sources(self, hits: Sequence[Hit]) -> Iterator[Source | Text]:
        """What is added to a model's answer that cites nothing: a refusal or a warning, and links to nearby pages."""
        question, outcome, thread_id = self._question, self._outcome, self._record.conversation.thread_id
        if not outcome.attempt_size:
            yield from refusals.refuse(hits, question, thread_id)
            return
        if not outcome.refused:
            yield Text(f"\n\n{self._phrases.unsupported}")
        yield from refusals.suggest_alternatives(hits, question, thread_id)

    @property
    def _phrases(self) -> Phrases:
        """The service's sentences in the language of the question, or of the answer where that is not clear."""
        return phrases_in(detect_language(self._question.text) or detect_language(self._outcome.text))


def build_call_id(conversation: Conversation) -> str:
    """The id of the service's own search, which is that of its answer."""
    return f"call_{conversation.message_id.removeprefix('msg_')}"

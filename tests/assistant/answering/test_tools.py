"""The tools of a model and their limits, without servers."""

import asyncio
import re
from typing import Any

import pytest

from assistant.answering import prompts, tools
from assistant.answering.model_answer import TOOLS_TOKENS
from assistant.answering.question import Context, Question, Turn
from assistant.answering.retriever import Retrieved
from assistant.answering.tools import Toolbox
from assistant.citations.link_checker import CitationChecker
from assistant.upstream import ToolCall, ToolCalls
from search.hits import Filters, PageText
from tests.assistant.answering.test_pieces import hit
from tests.variants import first_of


class Library:
    """A documentation of many long sections. Every search finds all of them, best first."""

    def __init__(self, sections: int = 20, seconds: float = 0.0) -> None:
        self.hits = [hit(f"/{number}", body=f"Part {number}. " + "word " * 400) for number in range(sections)]
        self.seconds = seconds
        self.searches: list[tuple[Question, int]] = []

    async def search(self, question: Question, passage_tokens: int) -> Retrieved:
        self.searches.append((question, passage_tokens))
        await asyncio.sleep(self.seconds)
        if question.filters.version == "unknown":
            return Retrieved([], 0.0, {})
        return Retrieved(self.hits[:5], 0.9, {}, self.hits[5:])

    async def read_page(self, path: str, filters: Filters) -> PageText | None:
        return PageText(path, tuple(self.hits), ("More <passage>", "And more"))


def make_toolbox(library: Library, tokens: int = 6_000, passages: int = 1) -> tuple[Toolbox, CitationChecker]:
    citations = CitationChecker(library.hits[:passages])
    toolbox = Toolbox(Question("How?"), library, citations, "call_1", tokens)
    list(toolbox.build_messages([]))  # as for its first request
    return toolbox, citations


async def run(toolbox: Toolbox, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """The results of one round."""
    messages: list[dict[str, Any]] = []
    made = [ToolCall(str(number), name, arguments) for number, (name, arguments) in enumerate(calls)]
    async for _ in toolbox.run(ToolCalls({"role": "assistant"}, made), messages):
        pass
    return [message["content"] for message in messages[1:]]


SEARCH = ("search", {"query": "parts"})


async def test_each_search_gets_half_of_the_tokens_that_are_left():
    library = Library()
    toolbox, citations = make_toolbox(library)
    sizes = [prompts.estimate_tokens("".join(await run(toolbox, SEARCH))) for _ in range(3)]
    assert 2_000 < sizes[0] <= 3_020
    assert 800 < sizes[1] <= 1_700
    assert sum(sizes) <= 6_000
    budgets = [tokens for _, tokens in library.searches]
    assert budgets[0] == 3_000
    assert budgets == sorted(budgets, reverse=True)
    assert [*citations.passages] == library.hits[: len(citations.passages)], "each once, best first"


async def test_without_tokens_nothing_is_searched():
    toolbox, _ = make_toolbox(Library(), tokens=300)
    assert toolbox.may_search
    [first, second] = await run(toolbox, SEARCH, SEARCH)
    assert first.startswith('<passage number="2"')
    assert prompts.estimate_tokens(first) < 250, "the first passage is cut"
    assert second == "No search is left. Answer from the passages that you have."
    assert not toolbox.may_search


async def test_after_half_a_minute_no_search_begins(monkeypatch):
    monkeypatch.setattr(tools, "MAX_SECONDS", 0.05)
    library = Library(seconds=0.1)
    toolbox, _ = make_toolbox(library)
    [first, second] = await run(toolbox, SEARCH, SEARCH)
    assert "<passage" in first
    assert second.startswith("No search is left.")
    assert not toolbox.may_search
    assert len(library.searches) == 1


async def test_a_page_that_does_not_fit_names_its_other_headings():
    toolbox, citations = make_toolbox(Library())
    [page] = await run(toolbox, ("read_page", {"path": "/long"}))
    assert len(citations.passages) == 1 + page.count("<passage ")
    assert '<headings-1 path="/long">\nPart\nMore <passage>\nAnd more\n</headings-1>' in page
    assert "Passages that you already have: [1]." in page
    [again] = await run(toolbox, ("read_page", {"path": "/long"}))
    assert again.startswith(f'<passage number="{1 + page.count("<passage ") + 1}"'), "it goes on where it was left"


async def test_a_passage_that_the_prompt_had_no_room_for_keeps_its_number():
    library = Library()
    citations = CitationChecker(library.hits[:8])
    toolbox = Toolbox(Question("How?"), library, citations, "call_1", 2_600)
    list(toolbox.build_messages([]))  # room for five
    [found] = await run(toolbox, SEARCH)
    assert re.findall(r'number="(\d+)" page="A > Part" path="/(\d+)"', found)[:2] == [("6", "5"), ("7", "6")]
    assert "Passages that you already have: [1], [2], [3], [4], [5]." in found


@pytest.mark.parametrize("turns", first_of([0, 40], 2))
@pytest.mark.parametrize("selection", ["", "selected " * 2_000])
async def test_every_request_fits_a_context_of_4096_tokens_when_passages_are_few(turns, selection):
    library, history = Library(), [Turn("user", "word " * 100), Turn("assistant", "word " * 300)] * turns
    citations = CitationChecker(library.hits)
    question = Question("How?", context=[Context(selection)] if selection else [])
    toolbox = Toolbox(question, library, citations, "call_1", prompts.SMALL_BUDGET)
    messages, sizes = toolbox.build_messages(history), []
    for number in range(tools.MAX_ROUNDS):
        sizes.append(messages.estimate_tokens() + TOOLS_TOKENS)
        call = ToolCall("a", "search", {"query": f"parts {number}"})
        async for _ in toolbox.run(ToolCalls({"role": "assistant", "content": None}, [call]), messages):
            pass
    last = toolbox.build_last_messages(history)
    sizes.append(last.estimate_tokens())
    assert max(sizes) < 4_096 - 500, "the rest is for the answer"
    found = next(message["content"] for message in messages if message["role"] == "tool")
    assert re.search(r'<passage number="\d+"', found)[0] in [*last][-1]["content"], "what was found comes first"


async def test_a_small_context_has_each_passage_that_a_result_names():
    library = Library()
    citations = CitationChecker(library.hits)
    toolbox = Toolbox(Question("How?"), library, citations, "call_1", prompts.SMALL_BUDGET)
    messages, named, wanted = toolbox.build_messages([]), set(), []
    for number in range(tools.MAX_ROUNDS):
        request = "".join(message["content"] or "" for message in messages)
        shown = {int(number) for number in re.findall(r'<passage number="(\d+)"', request)}
        assert named <= shown
        assert shown == citations.shown
        assert wanted[:3] == sorted({*wanted[:3]} & shown), "what a search has found again stays"
        wanted = sorted(shown)[-2:]
        known = [citations.passages[number - 1] for number in wanted]
        library.hits = [*known, *(hit for hit in reversed(library.hits) if hit not in known)]
        call = ToolCall("a", "search", {"query": f"parts {number}"})
        async for _ in toolbox.run(ToolCalls({"role": "assistant", "content": None}, [call]), messages):
            pass
        [result] = [*messages][-1:]
        named |= {int(number) for number in re.findall(r"\[(\d+)\]", result["content"].rpartition("have: ")[2])}
    assert named


async def test_the_search_is_for_the_models_words_with_the_readers_filter():
    library = Library()
    page = {"page_size": 3, "current_path": "/here"}
    filters, selections = Filters(language="de"), [Context("code", "/a")]
    question = Question("How?", filters=filters, context=selections, previous_questions="What?", **page)
    toolbox = Toolbox(question, library, CitationChecker([]), "call_1", 6_000)
    await run(toolbox, ("search", {"query": "parts", "language": "fr", "version": 2.5, "other": {}}))
    [(searched, _)] = library.searches
    assert searched == Question("parts", filters=Filters("2.5", "de"), **page)


async def test_a_version_that_the_model_guessed_is_left_out_when_nothing_has_it():
    library = Library()
    toolbox, _ = make_toolbox(library)
    [found] = await run(toolbox, ("search", {"query": "parts", "version": "unknown"}))
    assert "<passage" in found
    assert [question.filters.version for question, _ in library.searches] == ["unknown", None]


async def test_the_readers_version_is_kept_though_nothing_has_it():
    library = Library()
    toolbox = Toolbox(Question("How?", filters=Filters("unknown")), library, CitationChecker([]), "call_1", 6_000)
    assert await run(toolbox, ("search", {"query": "parts", "version": "2"})) == ["Nothing was found. Use other words."]
    assert len(library.searches) == 1

"""The tools by which a model searches for itself, and their limits.

A model gets passages of the service's own search with the question. It may then call
`search` and `read_page`, in a few rounds. What they find become further passages of the
answer, with the next numbers.
"""

import math
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

from assistant.answering import prompts
from assistant.answering.question import Question, Turn
from assistant.answering.retriever import Retriever, build_excerpts
from assistant.citations.link_checker import CitationChecker
from assistant.upstream import ToolCall, ToolCalls
from assistant.wire import events
from search.hits import Filters, Hit

MAX_ROUNDS = 3  # of calls; the service's own search was a round before
MAX_SECONDS = 30.0  # since the first call, in which a search may begin
MAX_CALLS = 4  # of one round that are run
MIN_TOKENS = 200  # left over, for another search
MAX_QUERY = 500  # characters
MAX_FILTER = 100  # characters of a version or language
MAX_PATH = 1000  # characters
MAX_HEADINGS = 40  # of sections that are not quoted
MAX_HEADING = 100  # characters

_TEXT = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": (
                "Search the documentation for more passages. Call it when the passages that you have do not answer "
                "the question. Call it first when the question depends on earlier turns, or is in another language "
                "than the passages. Write one complete question that needs no context, in the language of the "
                "documentation and with its words."
            ),
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {**_TEXT, "description": "One complete question, in the language of the documentation."},
                    "version": {**_TEXT, "description": "Only if the question is about this version of the product."},
                    "language": {**_TEXT, "description": "Only if the pages must be in this language: en, de, pt-BR …"},
                },
                "required": ["query"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "read_page",
            "description": (
                "Read one page of the documentation from its beginning. Call it when a passage shows that its page "
                "has the answer, but the passage does not contain it."
            ),
            "parameters": {
                "type": "object",
                "properties": {"path": {**_TEXT, "description": "The path of the page, as a passage has it."}},
                "required": ["path"],
            },
        },
    },
]

_NO_SEARCH_LEFT = "No search is left. Answer from the passages that you have."
_TOO_MANY_CALLS = f"Not run: only {MAX_CALLS} calls at once are allowed."
_UNKNOWN_TOOL = "There is no such tool. The tools are search and read_page."
_BAD_QUERY = 'Not run: the arguments must be a JSON object with a text "query".'
_BAD_PATH = 'Not run: the arguments must be a JSON object with a text "path".'
_UNKNOWN_PAGE = "The documentation has no such page. Use the path of a passage, or search."
_NOTHING_FOUND = "Nothing was found. Use other words."
NOTHING_NEW = "Nothing else was found."


class Toolbox:
    """Runs the calls of the models of one answer. `call_id` is that of the service's own search."""

    def __init__(
        self, question: Question, retriever: Retriever, citations: CitationChecker, call_id: str, tokens: int
    ) -> None:
        self._question = question
        self._retriever = retriever
        self._citations = citations
        self._call_id = call_id
        self._passage_tokens = tokens  # of the first request
        self._tokens = tokens  # left for the passages of searches
        self._rounds = MAX_ROUNDS  # left
        self._ends_at = math.inf  # as time.monotonic(), from the first call on
        self._calls = 0
        self._searches: set[tuple[str, ...]] = set()  # words and filters
        self._numbers: dict[int, int] = {}  # of the passages
        self._quoted: set[int] = set()  # numbers of the passages that the model has in its latest request
        self._found: set[int] = set()  # of those that its calls have found, which all further requests have
        self._wanted: set[int] = set()  # of those of the prompt that its calls have found again

    def build_messages(self, history: Sequence[Turn]) -> prompts.Messages:
        """The messages of a model's first request. It gets what earlier models found, too."""
        count = len(self._citations.passages)  # without those that its calls will find
        self._quoted = self._citations.shown = set()
        self._found, self._wanted = set(), set()

        def build() -> list[dict[str, Any]]:
            passages = enumerate(self._citations.passages[:count], 1)
            others = [(number, hit) for number, hit in passages if number not in self._found]
            numbered = sorted(others, key=lambda passage: passage[0] not in self._wanted)
            room = prompts.find_room(self._question, history, self._passage_tokens)
            if self._passage_tokens <= prompts.SMALL_BUDGET:
                room -= self._passage_tokens - self._tokens  # what searches have found takes the place of others
            chosen = prompts.choose_passages(numbered, room, self._citations.question)
            self._quoted.clear()
            self._quoted.update(self._found, (number for number, _ in chosen))
            return prompts.build_around(chosen, self._question, history, self._passage_tokens)

        return prompts.Messages(build)

    def build_last_messages(self, history: Sequence[Turn]) -> prompts.Messages:
        """The messages of a request without calls. Its passages are those that the model already has.

        In a small context those that searches have found come first, and others as far as there is room.
        """
        tokens = self._passage_tokens
        is_small = tokens <= prompts.SMALL_BUDGET
        numbers = sorted(self._quoted, key=lambda number: (is_small and number not in self._found, number))

        def build() -> list[dict[str, Any]]:
            passages = [*self._citations.passages]
            room = prompts.find_room(self._question, history, tokens) if is_small else 2 * tokens
            kept = [(number, passages[number - 1]) for number in numbers]
            chosen = prompts.choose_passages(kept, room, self._citations.question)
            return prompts.build_around(chosen, self._question, history, tokens)

        return prompts.Messages(build)

    @property
    def may_search(self) -> bool:
        """Whether another round may begin."""
        return self._rounds > 0 and self._tokens >= MIN_TOKENS and time.monotonic() < self._ends_at

    async def run(
        self, calls: ToolCalls, messages: prompts.Messages | list[dict[str, Any]]
    ) -> AsyncGenerator[events.ToolCall | events.ToolResult, None]:
        """Run the calls of one round. Yields what a reader sees, and adds the calls and their results to `messages`."""
        messages.append(calls.message)
        if not self._numbers:
            self._numbers = {_key(hit): number for number, hit in enumerate(self._citations.passages, 1)}
        self._ends_at = min(self._ends_at, time.monotonic() + MAX_SECONDS)
        may_search = self.may_search
        self._rounds -= 1
        for position, call in enumerate(calls.calls):
            result = {"role": "tool", "tool_call_id": call.id, "content": _NO_SEARCH_LEFT}
            messages.append(result)
            if may_search and position >= MAX_CALLS:
                result["content"] = _TOO_MANY_CALLS
            elif may_search and self._tokens >= MIN_TOKENS and time.monotonic() < self._ends_at:
                run = {"search": self._search, "read_page": self._read_page}.get(call.name)
                if run is None:
                    result["content"] = _UNKNOWN_TOOL
                    continue
                async for event in run(call, result):
                    yield event

    async def _search(
        self, call: ToolCall, result: dict[str, str]
    ) -> AsyncGenerator[events.ToolCall | events.ToolResult, None]:
        input = _texts(call.arguments, query=MAX_QUERY, version=MAX_FILTER, language=MAX_FILTER)
        if "query" not in input:
            result["content"] = _BAD_QUERY
            return
        begun = self._begin("search", input)
        yield begun
        words = tuple(text.casefold() for text in input.values())
        if words in self._searches:
            self._rounds = 0  # a model that repeats a search would repeat it for ever
        self._searches.add(words)
        filters = self._question.filters
        version, language = filters.version or input.get("version"), filters.language or input.get("language")
        question = replace(
            self._question,
            text=input["query"],
            filters=Filters(version, language, filters.tag),
            context=(),
            client_history=(),
            previous_questions="",
        )
        budget = self._tokens // 2
        retrieved = await self._retriever.search(question, budget)
        if not retrieved.hits and question.filters != filters:  # the model guessed a version or language
            retrieved = await self._retriever.search(replace(question, filters=filters), budget)
        result["content"] = self._quote([*retrieved.hits, *retrieved.neighbours], budget) or _NOTHING_FOUND
        yield events.ToolResult(begun.call_id, build_excerpts(retrieved.hits))

    async def _read_page(
        self, call: ToolCall, result: dict[str, str]
    ) -> AsyncGenerator[events.ToolCall | events.ToolResult, None]:
        input = _texts(call.arguments, path=MAX_PATH)
        if "path" not in input:
            result["content"] = _BAD_PATH
            return
        page = await self._retriever.read_page(input["path"], self._question.filters)
        if page is None:
            result["content"] = _UNKNOWN_PAGE
            return
        begun = self._begin("read_page", {"path": page.path})
        yield begun
        quoted = self._quote(page.sections, self._tokens // 2)
        left_out = [hit.section for hit in page.sections if self._numbers.get(_key(hit)) not in self._quoted]
        headings = list(dict.fromkeys([*left_out, *page.further_headings]))[:MAX_HEADINGS]
        if headings:
            quoted += "\n\nThe page has more sections. Search for them, or read the page again:\n"
            quoted += prompts.quote_headings(page.path, [heading[:MAX_HEADING] for heading in headings])
        result["content"] = quoted or "The page is empty."
        yield events.ToolResult(begun.call_id, build_excerpts(page.sections))

    def _begin(self, name: str, input: dict[str, str]) -> events.ToolCall:
        self._calls += 1
        return events.ToolCall(f"{self._call_id}_{self._calls}", name, input)

    def _quote(self, hits: Sequence[Hit], budget: int) -> str:
        """Quote the first passages that fit the budget, and name those that the model already has by their numbers.

        The first new passage is cut, if it does not fit. Empty without hits.
        """
        chosen: list[prompts.NumberedHit] = []
        known: list[int] = []
        for hit in hits:
            number = self._numbers.get(_key(hit), len(self._citations.passages) + 1)
            if number in self._quoted:
                # In a small context, the next request has fewer passages of the prompt, so none of them is named.
                if number in self._found or self._passage_tokens > prompts.SMALL_BUDGET:
                    known.append(number)
                self._wanted.add(number)
                continue
            passage = prompts.cut_passage(hit, budget)
            size = prompts.estimate_passage(number, passage)
            if size > budget and chosen:
                break
            if _key(hit) not in self._numbers:
                self._citations.add_passages([hit])
                self._numbers[_key(hit)] = number
            self._quoted.add(number)
            self._found.add(number)
            budget, self._tokens = budget - size, self._tokens - size
            chosen.append((number, passage))
        new = prompts.quote_passages(chosen)
        if hits and not new:
            new.append(NOTHING_NEW)
        if known:
            numbers = ", ".join(f"[{number}]" for number in dict.fromkeys(known))
            new.append(f"Passages that you already have: {numbers}.")
        return "\n\n".join(new)


def _key(hit: Hit) -> int:
    """A hash, since the body itself would be in memory as long as the answer."""
    return hash((hit.path, hit.anchor, hit.body))


def _texts(arguments: dict[str, Any] | None, **limits: int) -> dict[str, str]:
    """The named arguments as texts up to these limits (characters), without those that are empty or no text."""
    texts = {}
    for name, limit in limits.items():
        value = (arguments or {}).get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)  # a version
        if isinstance(value, str):
            text = " ".join(value[:limit].replace("\x00", " ").encode(errors="replace").decode().split())
            if text:
                texts[name] = text
    return texts

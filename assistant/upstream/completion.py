"""Parses chat completions, whole or in events, into items. Servers differ in where they put what."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from assistant.upstream import Delta, EndOfText, FormatItem, Progress, UpstreamError, Usage, errors
from assistant.upstream.event_parser import NOT_AN_EVENT
from assistant.upstream.text_filter import TextFilter
from assistant.upstream.tool_calls import ToolCallCollector

# In small letters. Gateways pass on what Anthropic (`end_turn`) and Google (`MAX_TOKENS`) call them.
_END_REASONS: dict[str, Literal["stop", "length", "content-filter"]] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "eos", "tool_calls", "tool_use", "function_call"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length"), "length"),  # the last: Mistral
    **dict.fromkeys(("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal"),
                    "content-filter"),
}  # fmt: skip
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "thinking")
_REASONING_PARTS = {"thinking", "reasoning"}  # types of parts of a content; Mistral


class Completion:
    """Parses the events of one completion."""

    def __init__(self, *, starts_in_thoughts: bool = False) -> None:
        self.is_done = False  # the server sent `[DONE]`
        self._finished = False
        self._filter = TextFilter(starts_in_thoughts=starts_in_thoughts)
        self._has_text = False
        self._tool_calls = ToolCallCollector()
        self._half_character = ""

    @property
    def closed_unopened(self) -> bool:
        """Whether the text had the end of thoughts without their beginning, and an answer behind it."""
        return self._filter.closed_unopened

    def feed(self, events: Iterable[dict[str, Any] | None]) -> Iterator[FormatItem]:
        """The items of events, up to `[DONE]`, which is None. Raises `UpstreamError`."""
        for event in events:
            if event is None:
                self.is_done = True
                yield from self._end_text()
                return
            yield from self.parse(event)

    def feed_text(self, text: str) -> list[FormatItem]:
        """The items of an event that is a text alone."""
        self._has_text = True
        if text.isascii() and not self._half_character and "\x00" not in text and self._filter.passes(text):
            return [Delta(text)]
        items: list[FormatItem] = [*self._visible(self._filter.feed(text))]
        if self._filter.is_hiding:
            items.append(Progress())
        return items

    def parse(self, event: dict[str, Any]) -> list[FormatItem]:
        """The items of one event, or of a whole completion. Raises `UpstreamError`."""
        if error := event.get("error") or (event if event.get("object") == "error" else None):
            raise errors.build_error(errors.REPORTED, errors.error_status(error), errors.error_words(error))
        choices = event.get("choices") or []
        if not isinstance(choices, list):
            raise UpstreamError(NOT_AN_EVENT)
        items: list[FormatItem] = []
        for choice in choices:
            if not isinstance(choice, dict):
                raise UpstreamError(NOT_AN_EVENT)
            self._parse_choice(choice, items)
        usage = event.get("usage") or _object(event.get("x_groq")).get("usage")
        if isinstance(usage, dict):
            items.append(_parse_usage(usage))
        return items

    def end(self) -> None:
        """The stream ended. Raises `UpstreamError` when it was cut: no event said that the text ends."""
        if not self._finished:
            raise UpstreamError(
                "the model server broke off", advice="Look into the log of the server, or of the proxy before it."
            )

    def _parse_choice(self, choice: dict[str, Any], items: list[FormatItem]) -> None:
        delta = choice.get("delta")
        is_whole = not delta and self._has_text  # some servers end with the whole message, after its pieces
        delta = delta or choice.get("message") or {}
        if not isinstance(delta, dict):
            raise UpstreamError(NOT_AN_EVENT)
        if text := "" if is_whole else _text(delta.get("content")):
            items += self.feed_text(text)
        elif _has_reasoning(delta):
            items.append(Progress())
        if (not text or len(delta) > 1) and self._tool_calls.add(delta):  # most deltas are text alone
            items.append(Progress())
        if reason := choice.get("finish_reason"):
            if reason == "error":
                raise UpstreamError(errors.REPORTED)
            self._finished = True
            items += self._end_text()
            items.append(EndOfText(_END_REASONS.get(str(reason).lower(), "other")))

    def _end_text(self) -> list[FormatItem]:
        """What waited for more text, and the tool calls."""
        items: list[FormatItem] = [*self._visible(self._filter.end())]
        for call in self._filter.take_calls():
            self._tool_calls.add_text(call)
        calls = self._tool_calls.end()
        return [*items, *([calls] if calls else [])]

    def _visible(self, text: str) -> list[Delta]:
        """The delta of a text, if there is one."""
        if not text:
            return []
        whole, self._half_character = _split_whole_characters(self._half_character + text)
        return [Delta(whole)] if whole else []


def _parse_usage(usage: dict[str, Any]) -> Usage:
    written, read = _object(usage.get("completion_tokens_details")), _object(usage.get("prompt_tokens_details"))
    return Usage(
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        _count(written.get("reasoning_tokens")),
        _count(read.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens")),  # the latter: DeepSeek
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str:
    """The text of a delta: a string, or a list of parts of which some are text."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _has_reasoning(delta: dict[str, Any]) -> bool:
    content = delta.get("content")
    parts = content if isinstance(content, list) else ()
    return any(delta.get(name) for name in _REASONING_FIELDS) or any(
        _object(part).get("type") in _REASONING_PARTS for part in parts
    )


def _split_whole_characters(text: str) -> tuple[str, str]:
    """Text that can be stored and sent, and half a surrogate pair that waits for its other half."""
    if text.isascii():
        return text.replace("\x00", ""), ""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    whole = text[: len(text) - len(half)].replace("\x00", "")
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), half


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**31 else 0

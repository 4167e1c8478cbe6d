"""Puts tool calls together, which arrive in pieces. Servers differ in how they cut and number them."""

import json
import uuid
from typing import Any

from assistant.upstream import ToolCall, ToolCalls, written_calls

MAX_CALLS = 8  # further ones are left out
MAX_NAME = 64  # characters
MAX_ARGUMENTS = 16 * 1024  # characters of each call; arguments that are cut are no JSON
MAX_REASONING = 256 * 1024  # characters of thoughts, or of their details, that are sent back
_KNOWN = {"index", "id", "type", "function"}


class _Call:
    """One call as far as it has arrived."""

    def __init__(self, index: Any) -> None:
        self.index = index
        self.id = self.name = self.arguments = ""
        self.more: dict[str, Any] = {}  # such as `extra_content`, with a signature that Google's server wants back

    def add(self, piece: dict[str, Any], function: dict[str, Any]) -> None:
        self.id = self.id or _text(piece.get("id"))
        self.name = self.name or _text(function.get("name"))[:MAX_NAME]
        arguments = function.get("arguments")
        text = json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)
        self.arguments = (self.arguments + text)[:MAX_ARGUMENTS]
        self.more |= {key: value for key, value in piece.items() if key not in _KNOWN}

    def begins_another(self, piece: dict[str, Any], function: dict[str, Any]) -> bool:
        """Whether a piece with the same index, or with none, belongs to another call: Google numbers all of them 0."""
        id, name = _text(piece.get("id")), _text(function.get("name"))
        if id and self.id:
            return id != self.id
        return bool(name and self.name and (name != self.name or _parse(self.arguments) is not None))


class ToolCallCollector:
    """Collects the calls of one completion, and the thoughts that some servers want back with them."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._latest: _Call | None = None
        self._reasoning = ""
        self._details: list[Any] = []
        self._details_size = 0

    def add(self, delta: dict[str, Any]) -> bool:
        """Add the pieces of a delta. Returns whether it has any."""
        if reasoning := _text(delta.get("reasoning_content")):  # DeepSeek and Kimi want it back
            self._reasoning = (self._reasoning + reasoning)[:MAX_REASONING]
        if isinstance(details := delta.get("reasoning_details"), list):  # OpenRouter
            self._details_size += len(str(details))
            self._details += details if self._details_size <= MAX_REASONING else ()
        pieces = delta.get("tool_calls")
        pieces = [piece for piece in pieces if isinstance(piece, dict)] if isinstance(pieces, list) else []
        for piece in pieces:
            function = piece.get("function")
            function = function if isinstance(function, dict) else {}
            index = piece.get("index")
            call = self._latest
            if same := [call for call in self._calls if call.id and call.id == piece.get("id")]:
                call = same[0]
            elif index is not None:
                call = next((call for call in reversed(self._calls) if call.index == index), None)
            if call is None or call.begins_another(piece, function):
                call = _Call(index)
                if len(self._calls) < MAX_CALLS:
                    self._calls.append(call)
            self._latest = call
            call.add(piece, function)
        return bool(pieces)

    def add_text(self, text: str) -> None:
        """Add the calls that a model wrote as text. Other text is no call."""
        for name, arguments in written_calls.parse(text):
            if len(self._calls) < MAX_CALLS:
                self._calls.append(_Call(None))
                self._calls[-1].add({}, {"name": name, "arguments": arguments})

    def end(self) -> ToolCalls | None:
        """The complete calls, once; None without any."""
        calls, self._calls = [call for call in self._calls if call.name], []
        if not calls:
            return None
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if self._reasoning:
            message["reasoning_content"] = self._reasoning
        if self._details:
            message["reasoning_details"] = self._details
        message["tool_calls"], parsed = [], []
        for call in calls:
            arguments = _parse(call.arguments or "{}")
            id = call.id or uuid.uuid4().hex[:9]  # 9 letters and digits, as Mistral wants them
            # Servers parse the arguments that they get back, so these must be JSON.
            function = {"name": call.name, "arguments": call.arguments if arguments and call.arguments else "{}"}
            message["tool_calls"].append({**call.more, "id": id, "type": "function", "function": function})
            parsed.append(ToolCall(_clean(id), call.name, arguments))
        return ToolCalls(json.loads(_clean(json.dumps(message, ensure_ascii=False))), parsed)


def _parse(arguments: str) -> dict[str, Any] | None:
    value = written_calls.load(arguments)
    return value if isinstance(value, dict) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _clean(text: str) -> str:
    """The text without lone surrogates, which no request can hold."""
    return text.encode(errors="replace").decode()

"""Takes thoughts and tool calls out of a model's text. Some servers leave them there, between tags at the beginning."""

TOOL_CALL = "<tool_call>"  # Hermes and Qwen; a server with a parser for tool calls takes it out itself
_TAGS = {  # the opening and the closing tag
    "<think>": "</think>",  # DeepSeek, Qwen and most others
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",  # Gemini
    "[THINK]": "[/THINK]",  # Magistral
    TOOL_CALL: "</tool_call>",
}
_MAX_HELD = 256  # characters of white space before a tag
_MAX_CALL = 16 * 1024  # characters of a tool call


class TagFilter:
    """Filters the pieces of one text, which may be cut anywhere."""

    def __init__(self) -> None:
        self._tool_calls: list[str] = []
        self._call = ""  # the text of a call that has not ended
        self._is_call = False
        self._held = ""  # text that may be part of a tag
        self._closing_tag = ""  # of the thoughts or the tool call that the text is in
        self._after_thoughts = False
        self.passes = False  # the answer has begun: `feed` returns what it gets

    @property
    def is_reasoning(self) -> bool:
        """Whether the text so far ends inside of thoughts."""
        return bool(self._closing_tag)

    def feed(self, text: str) -> str:
        """The part of the answer that a piece of text completes."""
        if self.passes:
            return text
        self._held += text
        while True:
            if self._closing_tag:
                inside, closed, rest = self._held.partition(self._closing_tag)
                if not closed:
                    self._keep_call(inside[: -len(self._closing_tag)])
                    self._held = self._held[-len(self._closing_tag) :]
                    return ""
                self._keep_call(inside)
                self._end_call()
                self._held, self._closing_tag, self._after_thoughts = rest, "", True
            start = self._held.lstrip()
            tag = next((tag for tag in _TAGS if start.startswith(tag)), "")
            if not tag:
                break
            self._held, self._closing_tag, self._is_call = start.removeprefix(tag), _TAGS[tag], tag == TOOL_CALL
        if len(self._held) <= _MAX_HELD and any(tag.startswith(start) for tag in _TAGS):
            return ""
        self.passes = True
        return start if self._after_thoughts else self._held

    def end(self) -> str:
        """The part of the answer that only looked like the beginning of a tag. The text ends here."""
        if self._closing_tag:
            self._keep_call(self._held)  # some models leave the closing tag out
            self._end_call()
            self._held = ""
            return ""
        if self.passes:
            return ""
        self.passes = True
        return self._held

    def take_tool_calls(self) -> list[str]:
        """Remove and return the calls so far: each a JSON object with `name` and `arguments`, as text."""
        calls, self._tool_calls = self._tool_calls, []
        return calls

    def _keep_call(self, text: str) -> None:
        if self._is_call:
            self._call = (self._call + text)[:_MAX_CALL]

    def _end_call(self) -> None:
        if self._is_call:
            self._tool_calls.append(self._call)
        self._call, self._is_call = "", False

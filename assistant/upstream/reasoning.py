"""Takes a model's thoughts out of its text. Some servers send them there, between tags at the beginning."""

_TAGS = {  # the opening and the closing tag
    "<think>": "</think>",  # DeepSeek, Qwen and most others
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",  # Gemini
    "[THINK]": "[/THINK]",  # Magistral
}
_MAX_HELD = 256  # characters of white space before a tag


class ReasoningFilter:
    """Filters the pieces of one text, which may be cut anywhere."""

    def __init__(self) -> None:
        self._held = ""  # text that may be part of a tag
        self._closing_tag = ""  # what ends the thoughts that the text is in
        self._after_thoughts = False
        self._passes = False  # the answer has begun

    @property
    def is_reasoning(self) -> bool:
        """Whether the text so far ends inside of thoughts."""
        return bool(self._closing_tag)

    def feed(self, text: str) -> str:
        """The part of the answer that a piece of text completes."""
        if self._passes:
            return text
        self._held += text
        while True:
            if self._closing_tag:
                _, closed, rest = self._held.partition(self._closing_tag)
                if not closed:
                    self._held = self._held[-len(self._closing_tag) :]
                    return ""
                self._held, self._closing_tag, self._after_thoughts = rest, "", True
            start = self._held.lstrip()
            tag = next((tag for tag in _TAGS if start.startswith(tag)), "")
            if not tag:
                break
            self._held, self._closing_tag = start.removeprefix(tag), _TAGS[tag]
        if len(self._held) <= _MAX_HELD and any(tag.startswith(start) for tag in _TAGS):
            return ""
        self._passes = True
        return start if self._after_thoughts else self._held

    def end(self) -> str:
        """The part of the answer that only looked like the beginning of a tag. The text ends here."""
        if self._passes or self._closing_tag:
            return ""
        self._passes = True
        return self._held

"""The beginning of a Markdown text that is too long."""

import re

_FENCE = re.compile(r"(?m)^[ ]{0,3}(`{3,}|~{3,})")


def cut_markdown(body: str, length: int) -> str:
    """The beginning of a text. A code block that is cut gets an end."""
    kept = body[:length]
    fences = _FENCE.findall(kept)
    return f"{kept}\n{fences[-1]}" if len(fences) % 2 else kept

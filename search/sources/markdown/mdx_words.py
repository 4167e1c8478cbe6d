"""What a component without content says to readers: yes or no, a command, or the text in its attributes."""

import re
from collections.abc import Iterator, Mapping

_SHAPE = r"(?:(?:fa[rs]?|lucide|tabler|mdi|solid|regular|outline|circle|square|badge|octagon|green|red|is)[-_:]?)*"
_MARK = r"(?:[-_]?(?:mark|circle|icon))*"
_YES = re.compile(rf"{_SHAPE}(?:check|tick|yes|true|supported|included){_MARK}")
_NO = re.compile(rf"{_SHAPE}(?:cross|no|x|times|false|ban|unsupported|not?[-_]?(?:supported|included)){_MARK}")
_COMMANDS = frozenset(("command", "cmd", "code", "run", "install", "package", "packages", "pkg", "npm", "pip"))
# Attributes that no reader sees, or that are shown anyway. A lower-case word alone is rather a variant than a text.
_TECHNICAL = re.compile(
    r"(?:.*(?:class|classname|style|id|ref|href|url|src|file|path|icon|color|size|width|height|align|side|theme|variant|type"
    r"|kind|format|date)|key|slot|to|as|from|rel|target|lang|language|locale|loading|mode|position|layout|default|on\w*|.*[-:].*"
    r"|description|caption|alt|tip|content|subtitle|answer)"
)
_TEXT = re.compile(r"(?=.*[^\W\d_])(?=.*[^a-z])(?![#./]|https?:|mailto:)[^<>{}\n]{2,200}")


def find_word(name: str) -> str:
    """Yes or No, if a component or an icon with this name in lower case says so; empty for any other name."""
    return "Yes" if _YES.fullmatch(name) else "No" if _NO.fullmatch(name) else ""


def find_texts(attributes: Mapping[str, str]) -> Iterator[str]:
    """The texts in the attributes of an unknown component. Commands and packages become code."""
    for name, value in attributes.items():
        if name.lower() in _COMMANDS and value.strip() and "`" not in value:
            yield f"`{' '.join(value.split())}`"
        elif not _TECHNICAL.fullmatch(name.lower()) and _TEXT.fullmatch(value):
            yield value

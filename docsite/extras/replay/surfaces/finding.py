"""What is found on a surface, and the lengths at which common agents cut what they read.

Sources, read in November 2026: the README of mcp-server-fetch, the reference server
(https://github.com/modelcontextprotocol/servers/tree/main/src/fetch), whose `max_length` is 5,000 and which a model may
call again for more; Appendix A of the Agent-Friendly Documentation Spec (https://agentdocsspec.com), by which WebFetch
of Claude Code leaves out what follows 100,000; and https://code.claude.com/docs/en/mcp, by which a result of an MCP
server of more than 50,000 characters is put into a file.
"""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

FIRST_CUT = 5_000  # characters: what follows is read by a second call, or not at all
LAST_CUT = 100_000
MAX_TOOL_RESULT = 50_000


class State(StrEnum):
    """Whether a surface tells the fact; the best one first."""

    TELLS = "tells"
    LATE = "late"
    LOST = "lost"
    UNKNOWN = "unknown"  # nobody could look


_ORDER = list(State)
_WORD = re.compile(r"\]\([^()\s]*\)|(?P<word>[^\W_]+)")  # the target of a link is no word of a text


@dataclass(frozen=True)
class Finding:
    """What was found on a surface. `detail` is a few words, to be read after its name and a colon."""

    surface: str
    state: State
    detail: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as a JSON object."""
        return asdict(self)


class Fact:
    """The words of a fact. Markup, signs and upper case do not matter: surfaces write them in their own way."""

    def __init__(self, text: str) -> None:
        self._words = f" {' '.join(word for word, _ in _split(text))} "

    def find_end(self, text: str) -> int:
        """The number of characters of a text until the fact is told; -1: it never is."""
        words = list(_split(text))
        start = f" {' '.join(word for word, _ in words)} ".find(self._words) if self._words.strip() else -1
        if start < 0:
            return -1
        size = 0
        for word, end in words:
            size += len(word) + 1
            if size >= start + len(self._words) - 1:
                return end
        return len(text)

    def is_in(self, text: str) -> bool:
        """Whether a text tells it."""
        return self.find_end(text) >= 0


def _split(text: str) -> Iterable[tuple[str, int]]:
    """The words in lower case, each with its end."""
    return ((found["word"].lower(), found.end()) for found in _WORD.finditer(text) if found["word"])


def place(surface: str, end: int, *, read_end: int | None = None) -> Finding:
    """The finding for a fact that ends at so many characters of all that is served; -1: it is not there.

    `read_end` is its end in the text without navigation, which the reference server returns.
    """
    if end < 0:
        return Finding(surface, State.LOST, "does not have these words")
    if end > LAST_CUT:
        return Finding(surface, State.LOST, f"after {end:,} characters")
    first = end if read_end is None or read_end < 0 else read_end
    if first > FIRST_CUT:
        return Finding(surface, State.LATE, f"after {first:,} characters")
    return Finding(surface, State.TELLS)


def choose_best(findings: Iterable[Finding]) -> Finding | None:
    """Of several pages, the one that tells the fact best."""
    return min(findings, key=lambda finding: _ORDER.index(finding.state), default=None)

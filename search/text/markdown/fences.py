"""Code fences, line by line."""

import re

_FENCE = re.compile(r"((?:\s|>|[-*+]\s|\d{1,9}[.)]\s)*)(`{3,}(?=[^`]*$)|~{3,})")


class Fence:
    """An open code fence. `depth` says how many containers it stands in."""

    def __init__(self, prefix: str, mark: str, depth: int) -> None:
        self.prefix, self.mark, self.depth = prefix, mark, depth

    def closes(self, line: str) -> bool:
        """Whether the line ends the code."""
        bare = line.strip(" \t>" if ">" in self.prefix else " \t")
        return bare.startswith(self.mark) and not bare.strip(self.mark[0])

    def goes_on(self, line: str) -> bool:
        """False when the quote that holds the code is over."""
        return ">" not in self.prefix or line.lstrip().startswith(">")


def fence_of(line: str, depth: int = 0) -> Fence | None:
    """The fence that a line opens."""
    if "```" not in line and "~~~" not in line:
        return None
    found = _FENCE.match(line)
    return Fence(found[1], found[2], depth) if found else None

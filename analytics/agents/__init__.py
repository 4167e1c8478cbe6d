"""What kind of client a user agent is, which rule says so, and what it asked for.

Named clients first, then families of AI names, HTTP libraries and the marks of bots; whoever is left and looks like a
browser is a person. Names are words: `bot` or `ai` inside of a word proves nothing.
"""

from analytics.agents.rules import classify
from analytics.agents.surfaces import prefers_markdown, reads, surface_of
from analytics.agents.verdict import AI_CLASSES, KNOWN_CRAWLERS, LONGEST, Verdict

VERSION = 3  # raise it when a rule changes: views carry the version that classed them

__all__ = [
    "AI_CLASSES",
    "KNOWN_CRAWLERS",
    "LONGEST",
    "VERSION",
    "Verdict",
    "classify",
    "prefers_markdown",
    "reads",
    "surface_of",
]

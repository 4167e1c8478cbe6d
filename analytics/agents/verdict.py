"""What a user agent is taken for."""

from dataclasses import dataclass

MAX_LENGTH = 512  # characters of a user agent that are looked at

AI_CLASSES = ("ai_user", "ai_agent", "ai_search", "ai_training")
KNOWN_CRAWLERS = ("search_crawler", "other_bot", "ai_search", "ai_training")


@dataclass(frozen=True)
class Verdict:
    """The class of a client, its name and operator where it gives them, and the rule that decided."""

    client_class: str
    rule: str
    agent: str = ""
    operator: str = ""

"""The result of classifying a user agent."""

from dataclasses import dataclass

MAX_LENGTH = 512  # characters of a user agent that are read

AI_CLASSES = ("ai_user", "ai_agent", "ai_search", "ai_training")
MCP_MARK = "(MCP client)"  # ends the user agent that we give to a client of the MCP server
KNOWN_CRAWLERS = ("search_crawler", "other_bot", "ai_search", "ai_training")


@dataclass(frozen=True)
class Verdict:
    """The class of a client, the rule that decided, and name and operator of the client if they are known."""

    client_class: str
    rule: str
    agent: str = ""
    operator: str = ""

"""Classify a client by its user agent, and find the format that it requested.

Others import only the names in `__all__`, and `assistants` (the hosts from which assistants send people). The rules
apply in this order: clients of the MCP server, clients by name, families of AI names, HTTP libraries, marks of a bot,
browsers. Names are compared as whole words: `bot` or `ai` inside a longer word means nothing.

To add a client, add its name to `names.toml`, and a user agent to the tests.
"""

from analytics.agents.classification import classify, describe_signed
from analytics.agents.requested_format import is_markdown_fetch, prefers_markdown, requested_format
from analytics.agents.verdict import AI_CLASSES, KNOWN_CRAWLERS, MAX_LENGTH, MCP_MARK, Verdict

VERSION = 3  # raise it when a rule changes: each view carries the version that classified it

__all__ = [
    "AI_CLASSES",
    "KNOWN_CRAWLERS",
    "MAX_LENGTH",
    "MCP_MARK",
    "VERSION",
    "Verdict",
    "classify",
    "describe_signed",
    "is_markdown_fetch",
    "prefers_markdown",
    "requested_format",
]

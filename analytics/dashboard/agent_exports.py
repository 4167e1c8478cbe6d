"""Export the agents of a report as a file."""

from collections.abc import Iterator, Sequence
from typing import Any

from analytics.dashboard.tables import AgentRow
from analytics.models import PageView
from docsite.core.workspace.reports.downloads import CHUNK_ROWS, Format, format_rows

_NAMES = (
    *("name", "operator", "class", "views", "countedAsAi", "html", "md", "llms"),
    *("verified", "claimed", "rules", "lastSeen"),
)


def format_agents(rows: Sequence[AgentRow], form: Format) -> Iterator[str]:
    """All agents in chunks of text, as CSV (RFC 4180) with a header or as JSON lines with the same names.

    Agents make up their names: a CSV cell that a spreadsheet would take for a formula
    is written after an apostrophe.
    """
    if form == "csv":
        yield ",".join(_NAMES) + "\r\n"
    for start in range(0, len(rows), CHUNK_ROWS):
        yield format_rows([_build_row(row) for row in rows[start : start + CHUNK_ROWS]], form)


def _build_row(row: AgentRow) -> dict[str, Any]:
    agent = row.agent
    return {
        "name": agent.name,
        "operator": agent.operator,
        "class": agent.client_class,
        "views": agent.views,
        "countedAsAi": row.counted,
        **{form: agent.surfaces[form] for form in PageView.Surface.values},
        "verified": row.verified,
        "claimed": row.claimed,
        "rules": agent.rules,
        "lastSeen": f"{agent.last_seen:%Y-%m-%dT%H:%M:%SZ}",
    }

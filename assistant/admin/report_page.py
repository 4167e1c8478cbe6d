"""What the reports of questions have in common: the picker of their range."""

from datetime import datetime
from typing import Any

from docsite.core.workspace.reports import links
from docsite.core.workspace.reports.report_state import ReportState

GROUPING_SECONDS = 0.3  # a page waits so long for new questions to be grouped


def build_range(
    state: ReportState, now: datetime, errors: list[str], context: dict[str, Any]
) -> tuple[datetime, datetime] | None:
    """The range of a report, whose picker goes into `context`. None with a sentence in `errors` for wrong dates."""
    context |= {"ranges": links.range_choices(state), "range_fields": state.hidden("range", "from", "to")}
    try:
        start, end = state.window(now)
    except ValueError as problem:
        errors += problem.args
        context["fields"] = links.range_fields(state, None, None, errors)
        return None
    context |= {"fields": links.range_fields(state, start, end, errors), "start": start, "end": end}
    return start, end

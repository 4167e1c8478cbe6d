"""The sections of the digest about questions: what to write this week, and the numbers."""

from datetime import datetime

from assistant.conversations.outcomes import measure_rate
from assistant.improving.gaps import questions, report
from assistant.improving.gaps.report import Cause, Gap
from assistant.models import QuestionGroup
from docsite.core.http.dates import find_day
from docsite.core.notifications.email_content import Item, Section
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.report_state import previous_period
from docsite.core.workspace.reports.tables import Change

MAX_PAGES = 3
_MAX_TEXT = 160  # characters of a question


def list_pages_to_write(project: Project, start: datetime, end: datetime) -> Section | None:
    """The open gaps that most readers met."""
    counts = report.count_gaps(project, start, end, state=QuestionGroup.State.OPEN)[:MAX_PAGES]
    gaps = report.describe(project, counts, start, end)
    names = {1: "One page to write this week", 2: "Two pages to write this week"}
    heading = names.get(len(gaps), "Three pages to write this week")
    dates = f"?from={find_day(start)}&to={find_day(end)}"
    return Section(heading, [_describe_gap(project, gap, dates) for gap in gaps]) if gaps else None


def _describe_gap(project: Project, gap: Gap, dates: str) -> Item:
    nearest = gap.group.nearest[0] if gap.group.nearest else ""
    advice = f"No page fits. The nearest one is {nearest}." if nearest else "No page fits."
    if gap.cause != Cause.NO_PAGE:
        advice = f"{gap.cause.label}.{f' The nearest page is {nearest}.' if nearest else ''}"
    path = f"/admin/project/{project.domain}/gaps/{gap.group.pk}{dates}"
    return Item(_shorten(gap.text), advice, path, f"{gap.count.now:,} ×")


def count_questions(project: Project, start: datetime, end: datetime) -> Section | None:
    """The questions and the answered rate, beside those of the week before."""
    windows = ((start, end), previous_period(start, end) or (start, start))
    now, before = (questions.count_outcomes(project, *window, questions.QuestionFilters()) for window in windows)
    asked = Change(now.total(), before.total())
    if not asked.now and not asked.before:
        return None
    path = f"/admin/project/{project.domain}/questions?from={find_day(start)}&to={find_day(end)}"
    items = [Item("questions were asked", f"{asked.before:,} in the week before", path, f"{asked.now:,}")]
    if (rate := measure_rate(now)) is not None:
        earlier_rate = measure_rate(before)
        note = "" if earlier_rate is None else f"{earlier_rate:.0%} in the week before"
        items.append(Item("were answered with a page", note, path, f"{rate:.0%}"))
    return Section("Questions", items)


def _shorten(text: str) -> str:
    """A reader's text on one line, without personal data."""
    line = redact(" ".join(text.split()))
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"

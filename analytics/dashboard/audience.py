"""The panels of the visitors report: where readers come from and what they read with, as filters to click."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import numpy as np
from django.urls import reverse

from analytics.audience import LABELS
from analytics.audience.channels import CHANNELS
from analytics.counting import pages
from analytics.dashboard.report_state import ReportState
from analytics.reports import audience_counts, audience_report
from analytics.reports.audience_counts import PAGE, Metric
from analytics.reports.audience_report import AudienceReport, AudienceRow
from analytics.reports.filtered_counts import FilteredCounts, kept_from
from analytics.reports.visitor_counts import Counts, StepCounts
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.downloads import list_choices
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.links import Choice
from docsite.core.workspace.reports.tables import Change

TOP_ROWS = 8  # of a panel
MAX_ROWS = 500  # of a panel that shows all; the file has every row
_TITLES = {
    **{"channel": "Channels", "source": "Sources", "entry": "Entry pages", "utm_source": "Campaign sources"},
    **{"utm_medium": "Campaign media", "utm_campaign": "Campaigns", "device": "Devices", "browser": "Browsers"},
    "language": "Languages",
}

_OPTIONAL = ("utm_source", "utm_medium", "utm_campaign")  # many sites have no campaigns


@dataclass(frozen=True)
class PanelRow:
    """A value with its counts, and the link that filters by it."""

    label: str
    link: str
    row: AudienceRow
    change: Change | None
    width: int  # percent of the longest bar


@dataclass(frozen=True)
class Panel:
    """The values of one dimension. `rest`: how many are not shown, and the link that shows them."""

    dimension: str
    title: str
    rows: list[PanelRow]
    rest: int
    more: str
    files: list[Choice]


def build_chips(state: ReportState) -> list[Choice]:
    """The filters, each with the link that removes it."""
    return [
        Choice(
            f"{'Page' if name == 'path' else LABELS[name]}: {_label(name, getattr(state, name))}",
            state.link(**{name: ""}),
        )
        for name in state.filter_names
    ]


def build_panels(
    project: Project, state: ReportState, start: datetime, end: datetime, filtered: "FilteredRange | None"
) -> dict[str, Any]:
    """The context of the panels."""
    views = filtered.counts if filtered else None
    report = AudienceReport.load(
        project, start, end, cast(Metric, state.metric), state.filters, fresh=False, filtered=views
    )
    shown = [state.all] if state.all else [name for name in _TITLES if report.rows(name) or name not in _OPTIONAL]
    began = audience_report.recorded_from(project)
    return {
        "panels": [_build_panel(project, state, report, name) for name in shown],
        "fewer": state.link(all=""),
        "recorded_from": began if began is None or began > start else None,
        "is_recorded": began is not None,
    }


def _build_panel(project: Project, state: ReportState, report: AudienceReport, dimension: str) -> Panel:
    rows = report.rows(dimension)
    limit = MAX_ROWS if state.all else TOP_ROWS
    highest = max((row.total for row in rows), default=1)
    return Panel(
        dimension,
        _TITLES[dimension],
        [
            PanelRow(
                _label(dimension, row.value),
                state.link(**{dimension: row.value}),
                row,
                Change(row.total, row.previous) if state.compare and row.previous is not None else None,
                round(100 * row.total / highest),
            )
            for row in rows[:limit]
        ],
        max(0, len(rows) - limit),
        "" if state.all else state.link(all=dimension),
        list_choices(lambda form: file_url(project, f"{dimension}.{form}") + state.link()),
    )


def file_url(project: Project, name: str) -> str:
    """The address of a table of the report as a file."""
    return reverse("admin:analytics_export", args=[project.domain, name])


def _label(dimension: str, value: str) -> str:
    return CHANNELS.get(value, value) if dimension == "channel" else visible(value)


@dataclass(frozen=True)
class FilteredRange:
    """The counts of a range under filters: its pages and steps. See `analytics.reports.filtered_counts`."""

    project: Project
    state: ReportState
    counted_from: datetime
    counts: FilteredCounts

    @classmethod
    def load(cls, project: Project, state: ReportState, start: datetime, end: datetime) -> "FilteredRange":
        """Load the single views that match the filters of the state."""
        counted_from = min(end, max(start, kept_from(project)))
        return cls(project, state, counted_from, FilteredCounts.load(project, state.filters, counted_from, end))

    def pages(self, metric: Metric, start: datetime, end: datetime) -> Counts:
        """The counts by page; the totals of a single filter are those of the whole range."""
        counts = self.counts.pages(metric)
        if len(self.state.filters) > 1 or self.counted_from == start:
            return counts
        ((dimension, value),) = self.state.filters.items()
        (step,) = audience_counts.count_steps(self.project, [(start, end)], dimension, value)
        totals = list((step.visitors if metric == "visitors" else step.views).values())
        number = pages.for_project(self.project.pk).numbers.get(value, 0) if dimension == PAGE else 0
        table = np.array([[number, *totals]]) if number else counts.table[1:]
        return Counts(self.project.pk, np.vstack([np.array([[0, *totals]], table.dtype), table]))

    def count_steps(self, steps: Sequence[tuple[datetime, datetime]]) -> list[StepCounts]:
        """The counts of steps: of a single filter over any range, of several since single views are kept."""
        if len(self.state.filters) == 1:
            ((dimension, value),) = self.state.filters.items()
            return audience_counts.count_steps(self.project, steps, dimension, value)
        return self.counts.steps(steps)

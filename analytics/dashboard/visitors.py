"""The visitors report in the admin: parse the state from the address, count, render a template.

Every report has these parts: `state`, numbers (`analytics.reports`, `counting.agent_views`), `tables`, the chart
(`time_series`, `charts`) and `links`, then `templates/admin/reports`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from analytics.audience import DIMENSIONS
from analytics.counting import agent_views, pages
from analytics.dashboard import audience, coverage, live, tables, time_series
from analytics.dashboard.report_state import METRICS, ReportState
from analytics.dashboard.tables import PageRow
from analytics.models import PageView
from analytics.reports import annotations, audience_report, visitor_counts
from analytics.reports.audience_counts import Metric
from analytics.reports.audience_report import AudienceReport
from analytics.reports.filtered_counts import is_rounded, kept_from
from analytics.reports.visitor_counts import Counts, StepCounts
from docsite.core.access.readers import reader_groups
from docsite.core.base_path import service_url
from docsite.core.http.dates import begin_day, find_day
from docsite.core.tenants.models import Project
from docsite.core.tenants.roles import find_rule, has_role
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import charts, links
from docsite.core.workspace.reports.downloads import list_choices, name_file, parse_format, refuse, send_file
from docsite.core.workspace.reports.links import TABLES, Choice
from docsite.core.workspace.reports.report_state import previous_period
from docsite.core.workspace.reports.tables import FEW, Change, Table
from docsite.core.workspace.reports.tiles import Tile
from docsite.core.workspace.reports.time_steps import LABELS
from search.indexing.page_groups import find_hidden

FILES = ("visitors", "views")


@dataclass(frozen=True)
class ReportCounts:
    """The counts of a report, and of the previous period if it is compared and has views.

    `since`: when collection began, if it began after the start of the previous period.
    """

    start: datetime
    end: datetime
    visitors: Counts
    views: Counts
    since: datetime | None
    earlier: tuple[datetime, datetime] | None
    earlier_visitors: Counts | None
    earlier_views: Counts | None
    filtered: audience.FilteredRange | None = None

    @classmethod
    def load(cls, project: Project, state: ReportState, start: datetime, end: datetime) -> "ReportCounts":
        """Count the views that are sealed."""
        filtered = audience.FilteredRange.load(project, state, start, end) if state.filters else None

        def count(first: datetime, last: datetime) -> tuple[Counts, Counts]:
            if filtered:
                same = (first, last) == (start, end)
                views = filtered if same else audience.FilteredRange.load(project, state, first, last)
                return views.pages("visitors", first, last), views.pages("views", first, last)
            return visitor_counts.count_visitors(project, first, last, fresh=False), visitor_counts.count_views(
                project, first, last, fresh=False
            )

        earlier = previous_period(start, end) if state.compare else None
        if earlier and state.filters and earlier[0] < kept_from(project):
            earlier = None
        first = coverage.first_hour(project) if earlier else None
        since = first if earlier and first and first > earlier[0] else None
        if earlier and since and since >= earlier[1]:
            earlier = None
        visitors, views = count(start, end)
        earlier_visitors, earlier_views = count(*earlier) if earlier else (None, None)
        return cls(start, end, visitors, views, since, earlier, earlier_visitors, earlier_views, filtered)

    @property
    def dates(self) -> tuple[str, str]:
        """Both ends as the API takes them."""
        return links.api_time(self.start), links.api_time(self.end)


def show_visitors(request: HttpRequest, domain: str) -> HttpResponse:
    """The report: unique visitors of a range (human, AI and both), over time, and by page."""
    project = project_of(request, domain)
    if request.GET.get("tab") == "agents":  # they were a table of this report
        query = request.GET.copy()
        del query["tab"]
        return HttpResponseRedirect(f"{navigation.page_url('agents', project)}?{query.urlencode()}")
    context = describe_report(request, project)
    context |= {
        "opts": PageView._meta,
        "base_url": service_url(request),
        "live_link": navigation.page_url(navigation.HOME, project, name="live"),
        **_own_links(request, project, context["state"]),
    }
    title = f"Visitors: {project.name}"
    return navigation.render(request, "admin/reports/visitors.html", project, title, context, wrong=context["wrong"])


def describe_report(request: HttpRequest, project: Project) -> dict[str, Any]:
    """The context of the report, without what only members of the organization may see or do."""
    now = timezone.now()
    state, window, errors = ReportState.read(request.GET)
    try:
        _check_path(project, state.path)
    except ValueError as problem:
        errors += problem.args
        window = None
    context = {"project": project, **links.range_picker(state, window, errors), **_choices(state)}
    if window:
        start, end = window
        context["complete"] = visitor_counts.refresh(project, visitor_counts.PAGE_SECONDS)
        context |= _report(project, state, ReportCounts.load(project, state, start, end), now)
    return context


def _check_path(project: Project, path: str) -> None:
    """Refuse the filter for a page that the present reader does not see, as if there were no such page."""
    if not path or reader_groups() is None:
        return
    known = pages.for_project(project.pk)
    known.load()
    if path not in known.numbers or find_hidden(project, [path]):
        raise ValueError("path: no page of this report.")


def download(request: HttpRequest, domain: str, name: str) -> HttpResponseBase:
    """A table as a file: `visitors.csv`, `source.jsonl` and so on, with the range and the filters of the address."""
    project = project_of(request, domain)
    what, _, form = name.partition(".")
    if what not in (*FILES, *DIMENSIONS):
        raise Http404
    kind = parse_format(form)
    state, window, errors = ReportState.read(request.GET)
    if errors or window is None:
        return refuse(errors)
    start, end = window
    visitor_counts.refresh(project)
    if what in DIMENSIONS:
        metric: Metric = "visitors" if state.metric == "visitors" else "views"
        report = AudienceReport.load(project, start, end, metric, state.filters, fresh=False)
        lines = audience_report.format_rows(report.rows(what), kind)
    else:
        state = replace(state, metric=what, tab="pages")
        numbers = ReportCounts.load(project, state, start, end)
        table, counts, earlier = _build_table(project, state, numbers, whole=True)
        lines = tables.format_pages(table.rows, counts, earlier, kind)
    return send_file(lines, kind, name_file(f"{domain}-{name}", window))


def _report(project: Project, state: ReportState, numbers: ReportCounts, now: datetime) -> dict[str, Any]:
    """The context of the template for a range."""
    start, end, total = numbers.start, numbers.end, numbers.visitors.totals["total"]
    marks = annotations.list_marks(project, start, end)
    points, step = time_series.build_points(
        partial(_count_steps, project, state, numbers),
        start,
        end,
        numbers.earlier is not None,
        state.metric,
        now,
        marks,
    )
    uncounted = [] if total else agent_views.list_agents(project, start, end)
    if state.tab == "sources":
        shown = audience.build_panels(project, state, start, end, numbers.filtered)
    else:
        shown = _pages(project, state, numbers)
    kept = kept_from(project)
    return {
        **live.describe_live(project),
        "numbers": numbers,
        "tiles": _tiles(numbers),
        "chart": charts.build_chart(points) if total else None,
        "step": LABELS[step],
        "marks": marks,
        "now": now,
        "is_open": end > now,
        "few": 0 < total < FEW,
        "chips": audience.build_chips(state),
        "audience_query": urlencode(state.filters),
        "cut_at": kept if state.filters and start < kept else None,
        "rounded": is_rounded(project, start, end, *(numbers.earlier or ())),
        **shown,
        "pager": links.page_choices(state, shown["table"]) if "table" in shown else [],
        "agents_views": sum(agent.views for agent in uncounted),
        **({} if total else _empty(project, state, start, now)),
    }


def _count_steps(
    project: Project, state: ReportState, numbers: ReportCounts, steps: Sequence[tuple[datetime, datetime]]
) -> list[StepCounts]:
    if not numbers.filtered:
        return visitor_counts.count_steps(project, steps)
    if len(state.filters) == 1 or steps[0][0] >= numbers.start:
        return numbers.filtered.count_steps(steps)
    return audience.FilteredRange.load(project, state, steps[0][0], steps[-1][1]).count_steps(steps)


def _tiles(numbers: ReportCounts) -> list[Tile]:
    seen, viewed = numbers.visitors.totals, numbers.views.totals
    past_seen = numbers.earlier_visitors.totals if numbers.earlier_visitors is not None else None
    past_viewed = numbers.earlier_views.totals if numbers.earlier_views is not None else None

    def tile(label: str, name: str, note: str) -> Tile:
        change = Change(seen[name], past_seen[name]) if past_seen else None
        return Tile(label, f"{seen[name]:,}", note=note, change=change)

    overlap = numbers.visitors.overlap
    both = f"{overlap:,} {'was' if overlap == 1 else 'were'} seen as both" if overlap else "none was seen as both"
    return [
        tile("Human visitors", "human", "" if seen["human"] else "no people in this range"),
        tile("AI visitors", "ai", "" if seen["ai"] else "no AI clients in this range"),
        tile("Unique across both", "total", both if seen["total"] else "nobody in this range"),
        Tile(
            "Page views",
            f"{viewed['total']:,}",
            note=f"{viewed['human']:,} human, {viewed['ai']:,} AI" if viewed["total"] else "no pages read",
            change=Change(viewed["total"], past_viewed["total"]) if past_viewed else None,
        ),
    ]


def _build_table(
    project: Project, state: ReportState, numbers: ReportCounts, *, whole: bool = False
) -> tuple[Table[PageRow], Counts, Counts | None]:
    """The table of pages, with the counts of the chosen metric and those of the period before."""
    shown, other, earlier = numbers.visitors, numbers.views, numbers.earlier_visitors
    if state.metric == "views":
        shown, other, earlier = other, shown, numbers.earlier_views
    return tables.build_page_table(state, project, shown, other, earlier, whole=whole), shown, earlier


def _pages(project: Project, state: ReportState, numbers: ReportCounts) -> dict[str, Any]:
    table, _, earlier = _build_table(project, state, numbers)
    labels = {"other": "Visitors" if state.metric == "views" else "Views"}
    if earlier is None:
        labels["change"] = ""
    filtered = [(row, state.link(path=row.path, q="")) for row in table.rows]
    return {"table": table, "filtered": filtered, "headings": links.table_headings(state, **labels)}


def _choices(state: ReportState) -> dict[str, Any]:
    """The context of the switches."""
    return {
        "compare": links.compare_choice(state),
        "metrics": [
            Choice(key.capitalize(), f"{state.link(metric=key)}#over-time", key == state.metric) for key in METRICS
        ],
        "tabs": [
            Choice(label, state.link(tab=key, sort="", q="", all="") + TABLES, key == state.tab)
            for key, label in (("pages", "Pages"), ("sources", "Sources"))
        ],
    }


def _own_links(request: HttpRequest, project: Project, state: ReportState) -> dict[str, Any]:
    """The context of the links for members: other projects and pages, downloads, and the forms."""
    is_owner = has_role(request, project.organization_id, find_rule("analytics_share").reads)

    def list_files(what: str) -> list[Choice]:
        return list_choices(lambda form: audience.file_url(project, f"{what}.{form}") + state.link())

    return {
        "annotations_link": reverse("admin:analytics_annotations", args=[project.domain]),
        "share_link": reverse("admin:analytics_share", args=[project.domain]) if is_owner else "",
        "back": state.link(),
        "agents_link": navigation.page_url("agents", project) + state.keep_link(state.path),
        "exports": {what.capitalize(): list_files(what) for what in FILES},
    }


def _empty(project: Project, state: ReportState, start: datetime, now: datetime) -> dict[str, Any]:
    """The context of an empty report: why it is empty, and a link to the latest day with views."""
    latest = coverage.latest_hour(project)
    day, after = latest and str(find_day(latest)), latest and str(find_day(begin_day(latest, 1)))
    return {
        "never": latest is None,
        "in_future": start > now,
        "latest": day and after and Choice(day, state.link(start=day, end=after)),
    }

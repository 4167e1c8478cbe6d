"""The questions of a project in the admin: how many, answered or not, from where, and what is asked most often."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import dropwhile
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from assistant.admin.conversations.list_state import CALLERS, OUTCOMES, RUNGS
from assistant.conversations.outcomes import count_asked, count_unanswered
from assistant.improving.gaps import questions, report
from assistant.improving.gaps.questions import GroupCount, QuestionFilters
from assistant.improving.question_groups import grouping
from assistant.models import Message
from docsite.core.base_path import service_url
from docsite.core.http.dates import begin_day, find_day
from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import charts, downloads, links, report_state, time_steps
from docsite.core.workspace.reports.formatting import percent, visible
from docsite.core.workspace.reports.links import Choice
from docsite.core.workspace.reports.report_state import DAY, Column, previous_period
from docsite.core.workspace.reports.tables import Change, Table, page_slice

ANSWERED = Message.Outcome.ANSWERED
COLUMNS = (
    *(Column("question", "Question"), Column("total", "Asked", "number"), Column("answered", "Answered", "number")),
    *(Column("share", "Share", "number"), Column("latest", "Latest", "value")),
)
FILES = ("groups", "days")
MAX_EMPTY = timedelta(days=800)
GROUP_COLUMNS = ("group", "question", "asked", "answered", "latest")
DAY_COLUMNS = ("day", "questions", *(value for value in Message.Outcome.values if value != Message.Outcome.RUNNING))
_SORT_KEYS: dict[str, Callable[[GroupCount], float]] = {
    "total": lambda group: group.total,
    "answered": lambda group: group.answered,
    "share": lambda group: group.answered / group.total,
    "latest": lambda group: group.newest,
}
_NAMES = {
    "outcome": ("Outcome", OUTCOMES),
    "rung": ("Answered by", RUNGS),
    "caller": ("Asked in", CALLERS),
    "language": ("Language", {"": "Unknown"}),
}


@dataclass(frozen=True)
class QuestionState(report_state.ReportState):
    """The state of the report: its range, and one filter for each facet."""

    outcome: str = ""
    rung: str = ""
    caller: str = ""
    language: str = ""
    group: str = ""

    table_columns = COLUMNS
    choices: ClassVar = {"outcome": OUTCOMES, "caller": Message.Caller.values}  # other filters take any value
    default_sort = "-total"

    @classmethod
    def accepts_path(cls, path: str) -> bool:
        """Whether a filter by page is valid: a path, or `none` for questions that were asked on no page."""
        return path == "none" or super().accepts_path(path)

    @property
    def filters(self) -> QuestionFilters:
        """The filters for the queries."""
        group = self.group if self.group.isascii() and self.group.isdigit() and len(self.group) < 16 else "0"
        return QuestionFilters(
            self.outcome, self.rung[:20], self.caller, self.language[:7], self.path, group if self.group else ""
        )


@dataclass(frozen=True)
class Value:
    """One value of a facet, with the link that filters by it, or removes the filter."""

    label: str
    number: int
    share: str
    link: str
    chosen: bool


def show_questions(request: HttpRequest, project: Project) -> HttpResponse:
    """The questions of a range."""
    now = timezone.now()
    state, window, errors = QuestionState.read(request.GET)
    context = links.range_picker(state, window, errors)
    if window:
        start, end = window
        context["complete"] = grouping.catch_up(grouping.PAGE_SECONDS)
        context |= _report(request, project, state, start, end, now)
    return navigation.render(
        request, "admin/assistant/questions/report.html", project, "Questions", context, wrong=errors
    )


def send_file(request: HttpRequest, project: Project, name: str, form: str) -> HttpResponseBase:
    """All groups, or all days, of the range as a file, with the filters of the address."""
    state, window, errors = QuestionState.read(request.GET)
    kind = downloads.parse_format(form)
    if name not in FILES:
        raise Http404
    if errors or window is None:
        return downloads.refuse(errors)
    grouping.catch_up()
    rows = (_group_rows if name == "groups" else _day_rows)(project, state, *window)
    columns = GROUP_COLUMNS if name == "groups" else DAY_COLUMNS
    file = downloads.name_file(f"{project.domain}-questions-{name}.{form}", window)
    return downloads.send_file(downloads.format_table(columns, rows, kind), kind, file)


def _report(
    request: HttpRequest, project: Project, state: QuestionState, start: datetime, end: datetime, now: datetime
) -> dict[str, Any]:
    filters = state.filters
    step = time_steps.choose_step(start, end)
    steps = list(time_steps.split(start, end, step))
    totals = questions.summarize(project, steps, filters)
    earlier = previous_period(start, end)
    before = questions.count_outcomes(project, *earlier, filters) if earlier else Counter[str]()
    groups = _sorted_groups(project, state, start, end)
    page, rows = page_slice(state, len(groups))
    shown = groups[rows]
    newest = report.load_rows([count.newest for count in shown])
    paths = questions.count_pages(project, start, end, filters)
    table = Table(shown, len(groups), len(groups), page)
    points = _build_points(totals, steps, step, now)
    return {
        "totals": totals,
        "period": earlier,
        "before": (before[ANSWERED], count_asked(before)),
        "change": Change(totals.total, before.total()),
        "chart": charts.build_chart(points) if totals.total else None,
        "step": time_steps.LABELS[step],
        "facets": [
            (label, _list_values(state, name, totals.facets[name].most_common(), labels, totals.total))
            for name, (label, labels) in _NAMES.items()
        ],
        "pages": _list_values(state, "path", paths, {"": "No page"}, totals.total),
        "table": table,
        "rows": [
            (
                count,
                newest.get(count.newest),
                percent(count.answered, count.total),
                state.link(group=str(count.group)),
                navigation.page_url("gaps", project, count.group, name="group") + state.dates_link,
            )
            for count in shown
        ],
        "headings": links.table_headings(state),
        "pager": links.page_choices(state, table),
        "chips": _build_chips(state, next((row.text for row in newest.values()), "")),
        "exports": {
            what.capitalize(): downloads.list_choices(partial(_file_url, project, state, what)) for what in FILES
        },
        "dates": (links.api_time(start), links.api_time(end)),
        "base_url": service_url(request),
        "conversations": "?" + urlencode({"project": project.domain}),
    }


def _file_url(project: Project, state: QuestionState, what: str, form: str) -> str:
    return navigation.page_url("questions", project, what, form, name="file") + state.link()


def _sorted_groups(project: Project, state: QuestionState, start: datetime, end: datetime) -> list[GroupCount]:
    groups = questions.count_groups(project, start, end, state.filters)
    by, descending = state.sorted_by
    groups.sort(key=_SORT_KEYS[by], reverse=descending)
    return groups


def _list_values(
    state: QuestionState, name: str, numbers: Iterable[tuple[str, int]], labels: Mapping[str, str], total: int
) -> list[Value]:
    """The values of a facet, in their order. A chosen value links to the report without its filter."""
    values = []
    for value, number in numbers:
        if key := value or {"language": "unknown", "path": "none"}.get(name, ""):
            chosen = getattr(state, name) == key
            link = state.link(**{name: "" if chosen else key})
            values.append(Value(labels.get(value, value), number, percent(number, total), link, chosen))
    return values


def _build_chips(state: QuestionState, question: str) -> list[Choice]:
    """The filters that apply, each with the link that removes it."""
    chips = links.page_chip(state)
    for name, (label, values) in _NAMES.items():
        if value := getattr(state, name):
            chips.append(Choice(f"{label}: {visible(values.get(value, value))}", state.link(**{name: ""})))
    if state.group:
        chips.append(Choice(f"Group: {visible((question or state.group)[:60])}", state.link(group="")))
    return chips


def _build_points(
    totals: questions.QuestionTotals, steps: list[time_steps.Step], step: timedelta, now: datetime
) -> list[charts.Point]:
    """The points of the chart: answered questions and all others, without greetings. Nothing is in the future."""
    shown = [pair for pair in zip(steps, totals.steps, strict=True) if pair[0][0] < begin_day(now, 1)]
    if shown and steps[-1][1] - steps[0][0] > MAX_EMPTY:  # years without questions are left out
        shown = list(dropwhile(lambda pair: not pair[1], shown))
    counts = [(outcomes[ANSWERED], count_unanswered(outcomes), count_asked(outcomes)) for _, outcomes in shown]
    return time_steps.build_points([times for times, _ in shown], step, now, counts)


def _group_rows(project: Project, state: QuestionState, start: datetime, end: datetime) -> Iterator[list[Any]]:
    groups = _sorted_groups(project, state, start, end)
    for at in range(0, len(groups), downloads.CHUNK_ROWS):
        chunk = groups[at : at + downloads.CHUNK_ROWS]
        newest = report.load_rows([count.newest for count in chunk])
        for count in chunk:
            if row := newest.get(count.newest):
                yield [count.group, row.text, count.total, count.answered, row.at.isoformat()]


def _day_rows(project: Project, state: QuestionState, start: datetime, end: datetime) -> Iterator[list[Any]]:
    days = list(time_steps.split(start, end, DAY))
    for (begin, _), outcomes in zip(days, questions.summarize(project, days, state.filters).steps, strict=True):
        if outcomes:
            yield [str(find_day(begin)), outcomes.total(), *(outcomes[name] for name in DAY_COLUMNS[2:])]


navigation.add_page(
    "questions",
    "Questions",
    group="Questions",
    position=38,
    views=[("", show_questions, ""), ("<slug:name>.<slug:form>", send_file, "file")],
    reads=Role.VIEWER,
    acts=Role.WRITER,
    is_report=True,
)

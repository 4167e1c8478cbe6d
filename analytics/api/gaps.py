"""Export the gaps: questions that were not answered well, in groups of the same meaning."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router
from pydantic import BaseModel, BeforeValidator, Field

from analytics.api import paging
from analytics.api.question_schemas import NextCursor, PageQuery
from analytics.api.schemas import single_value, whole_number
from analytics.limits import analytics_charges
from assistant.improving.gaps import report
from assistant.improving.question_groups import grouping
from docsite.core.access.request_checks import AdminKey, CallerRequest
from docsite.core.db import REPORTS, in_db
from docsite.core.http.dates import find_zone
from docsite.core.tenants.models import Project

router = Router()

State = Literal["open", "assigned", "dismissed", "fixed", "all"]
Problem = Literal["refused", "closest_passages", "unsupported", "cut", "failed", "disliked", "no_result", "no_click"]


class GapsQuery(PageQuery):
    """The range and the page of the gaps, and which of them."""

    state: Annotated[State, BeforeValidator(single_value)] = Field(
        "open", description="State of the group. `open` includes `assigned`."
    )
    problem: Annotated[Problem | Literal["without_answer"] | None, BeforeValidator(single_value)] = Field(
        None, description="Only this kind. `without_answer`: all questions that are `unanswered`."
    )
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(50, ge=1, le=100, description="Rows on this page.")


class GapProblem(BaseModel):
    """How many questions of a group had one kind of problem."""

    problem: Problem
    count: int


class GapRow(BaseModel):
    """A group of questions with the same meaning."""

    id: str
    question: str = Field(description="Its latest wording in the range.")
    count: int = Field(description="Its questions and searches with a problem.")
    countBefore: int = Field(description="The same in the period of equal length before.")
    problems: list[GapProblem]
    lastAskedAt: datetime
    cause: Literal["no_page", "not_found", "disliked", "cut", "failed"] = Field(description="The likely cause.")
    nearestPages: list[str] = Field(description="Paths of the pages that the search finds for it.")
    state: Literal["open", "assigned", "dismissed", "fixed"]
    assignee: str | None
    answeredSince: datetime | None = Field(description="Since when it is answered whenever it is asked again.")


class GapsResponse(BaseModel):
    """One page of gaps."""

    gaps: list[GapRow]
    nextCursor: NextCursor
    hasMore: bool = Field(description="Whether rows follow this page.")


@router.get(
    "/{projectId}/assistant/gaps",
    auth=AdminKey(analytics_charges),
    operation_id="getGaps",
    summary="Get gaps",
    description="The group with most questions first. Later pages count the same questions as the first page.",
    response=GapsResponse,
)
async def gaps(request: CallerRequest, projectId: str, params: Query[GapsQuery]) -> HttpResponse:
    """Questions that were not answered well, in groups."""
    return await in_db(_gaps, REPORTS)(request.auth.project, params)


def _gaps(project: Project, params: GapsQuery) -> HttpResponse:
    problem = params.problem or ""
    begin = paging.start_cursor(params, f"gaps {project.project_id} {params.state} {problem}")
    if not begin.place:
        grouping.catch_up()
    total, newest, newest_row = begin.place or (0, 0, 0)
    found = report.count_gaps(
        project, begin.start, begin.end, params.state, problem, order="-count", newest_row=newest_row
    )
    if begin.place:
        found = [count for count in found if (count.total, count.newest) < (total, newest)]
    newest_row = newest_row or max((count.newest for count in found), default=0)
    shown, following = paging.split_page(
        begin, found, params.limit, lambda count: [count.total, count.newest, newest_row]
    )
    with timezone.override(find_zone(params.timezone)):  # the period before has as many days of it
        rows = [_row(gap) for gap in report.describe(project, shown, begin.start, begin.end, problem)]
    return paging.json_response(GapsResponse(gaps=rows, nextCursor=following, hasMore=following is not None))


def _row(gap: report.Gap) -> GapRow:
    group = gap.group
    values: dict[str, Any] = {"cause": gap.cause.value, "state": group.state}
    problems: list[dict[str, Any]] = [{"problem": kind.value, "count": number} for kind, number in gap.problems]
    return GapRow(
        id=str(group.pk),
        question=gap.text,
        count=gap.count.now,
        countBefore=gap.count.before,
        problems=[GapProblem(**problem) for problem in problems],
        lastAskedAt=gap.latest,
        nearestPages=group.nearest,
        assignee=group.assignee.get_username() if group.assignee else None,
        answeredSince=group.answered_since,
        **values,
    )

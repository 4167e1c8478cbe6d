"""Export what the models of a project have cost."""

from datetime import date, timedelta
from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, BeforeValidator, Field

from analytics.api import paging
from analytics.api.schemas import DatesQuery, single_value
from analytics.limits import analytics_charges
from analytics.models import EPOCH
from assistant.spending import cost_report
from assistant.spending.cost_report import Costs
from docsite.core.access.request_checks import AdminKey, CallerRequest
from docsite.core.db import in_db
from docsite.core.http.dates import find_day, find_zone
from docsite.core.tenants.models import Project

router = Router()


class CostsQuery(DatesQuery):
    """The range of the costs, and the length of a row."""

    step: Annotated[Literal["day", "month"], BeforeValidator(single_value)] = Field(
        "day", description="Whether a row is a day or a calendar month (UTC)."
    )


class CostsOut(BaseModel):
    """Tokens of models, and what they cost."""

    tokens: int = Field(description="Tokens that were charged.")
    unpricedTokens: int = Field(description="Of these, tokens of models without a price. They are not in the cost.")
    costMicros: int = Field(description="The cost, in millionths of the currency of the project's prices.")


class CostsRow(CostsOut):
    """The costs of a day or a month."""

    start: date = Field(description="The day, or the first day of the month.")


class CostsResponse(BaseModel):
    """The costs of a range."""

    costs: list[CostsRow] = Field(description="The earliest first, without days or months that used no tokens.")
    totals: CostsOut


@router.get(
    "/{projectId}/costs",
    auth=AdminKey(analytics_charges),
    operation_id="getCosts",
    summary="Get costs",
    description="What the models have cost, as it was charged: answers, their searches, trials and evaluations. "
    "Counted in whole days: both ends of the range are rounded outwards. Of the first and the last month only the days "
    "of the range count. Costs are charged by day in UTC, so `timezone` chooses the dates of these days only.",
    response=CostsResponse,
)
async def costs(request: CallerRequest, projectId: str, params: Query[CostsQuery]) -> HttpResponse:
    """The costs of a range by day or by month."""
    return await in_db(_costs)(request.auth.project, params)


def _costs(project: Project, params: CostsQuery) -> HttpResponse:
    start, end = paging.parse_range(params)
    # Nothing was charged before 1970, and the first day of the calendar has none before it.
    zone = find_zone(params.timezone)
    first, last = find_day(start, zone), find_day(max(end, EPOCH) - timedelta(microseconds=1), zone)
    last = min(last, date.max - timedelta(days=1))
    rows = cost_report.list_costs(project, first, last + timedelta(days=1), params.step)
    totals = cost_report.sum_up(rows, first)
    return paging.json_response(
        CostsResponse(
            costs=[CostsRow(start=row.start, **_amounts(row)) for row in rows], totals=CostsOut(**_amounts(totals))
        )
    )


def _amounts(row: Costs) -> dict[str, int]:
    return {"tokens": row.tokens, "unpricedTokens": row.unpriced_tokens, "costMicros": row.cost}

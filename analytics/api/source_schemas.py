"""Request and response of the export of sources."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from analytics.api.question_schemas import NextCursor, PageQuery
from analytics.api.schemas import VisitorsTrafficTotals, single_value, whole_number

Dimension = Literal[
    "channel", "source", "utm_source", "utm_medium", "utm_campaign", "device", "browser", "language", "entry"
]
_Filter = Annotated[str | None, BeforeValidator(single_value)]


def _filter(meaning: str) -> str | None:
    value: str | None = Field(None, min_length=1, max_length=400, description=f"Only views {meaning}.")
    return value


class SourcesQuery(PageQuery):
    """The dimension, the range and the page of the sources, and filters."""

    dimension: Annotated[Dimension, BeforeValidator(single_value)] = Field(
        "source", description="What to count by. `entry` is the page on which a visit began."
    )
    metric: Annotated[Literal["visitors", "views"], BeforeValidator(single_value)] = Field(
        "visitors", description="Whether to count unique visitors or views."
    )
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(50, ge=1, le=100, description="Rows on this page.")
    channel: _Filter = _filter("of this channel")
    source: _Filter = _filter("from this host")
    utm_source: _Filter = _filter("with this `utm_source`")
    utm_medium: _Filter = _filter("with this `utm_medium`")
    utm_campaign: _Filter = _filter("with this `utm_campaign`")
    device: _Filter = _filter("on this device")
    browser: _Filter = _filter("in this browser")
    language: _Filter = _filter("in this language")
    entry: _Filter = _filter("that began a visit on this page")
    page: _Filter = _filter("of this page")


class SourceRow(BaseModel):
    """Unique visitors or views of one value."""

    value: str
    human: int
    ai: int
    total: int
    previousTotal: int | None = Field(
        description="`total` of the period of the same length before; null if not all of it was recorded."
    )


class SourcesResponse(BaseModel):
    """Visitors or views of the range, and one page of the values of a dimension."""

    dimension: Dimension
    countedFrom: datetime = Field(
        description="Start of the range; later if filters need single views, which are kept for 30 days."
    )
    totals: VisitorsTrafficTotals
    sources: list[SourceRow]
    nextCursor: NextCursor

"""Request and response of the export of sources."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from analytics.api.question_schemas import NextCursor, PageQuery
from analytics.api.schemas import TextFilter, VisitorsTrafficTotals, single_value, text_filter, whole_number

Dimension = Literal[
    "channel", "source", "utm_source", "utm_medium", "utm_campaign", "device", "browser", "language", "entry"
]


class SourcesQuery(PageQuery):
    """The dimension, the range, which rows, and filters. `page` filters by page of the documentation."""

    dimension: Annotated[Dimension, BeforeValidator(single_value)] = Field(
        "source", description="What to count by. `entry` is the page on which a visit began."
    )
    metric: Annotated[Literal["visitors", "views"], BeforeValidator(single_value)] = Field(
        "visitors", description="Whether to count unique visitors or views."
    )
    limit: Annotated[int, BeforeValidator(whole_number)] = Field(50, ge=1, le=100, description="Rows on this page.")
    channel: TextFilter = text_filter("views of this channel")
    source: TextFilter = text_filter("views from this host")
    utm_source: TextFilter = text_filter("views with this `utm_source`")
    utm_medium: TextFilter = text_filter("views with this `utm_medium`")
    utm_campaign: TextFilter = text_filter("views with this `utm_campaign`")
    device: TextFilter = text_filter("views on this device")
    browser: TextFilter = text_filter("views in this browser")
    language: TextFilter = text_filter("views in this language")
    entry: TextFilter = text_filter("views that began a visit on this page")
    page: TextFilter = text_filter("views of this page")


class SourceRow(BaseModel):
    """Unique visitors or views of one value."""

    value: str
    human: int
    ai: int
    total: int
    previousTotal: int | None = Field(
        description="`total` of the period of the same length before, up to the same hour if the range still runs; "
        "null if not all of it was recorded."
    )


class SourcesResponse(BaseModel):
    """Visitors or views of the range, and one page of the values of a dimension."""

    dimension: Dimension
    countedFrom: datetime = Field(
        description="Start of the range; later if filters need single views, and older ones are not stored any more."
    )
    totals: VisitorsTrafficTotals
    sources: list[SourceRow]
    nextCursor: NextCursor

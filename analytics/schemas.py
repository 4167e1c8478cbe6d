"""Analytics over HTTP: what comes in and what goes out (specification 2.1 to 2.3, 4.1)."""

import ipaddress
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from ninja import Schema
from pydantic import BaseModel, BeforeValidator, Field, StrictStr, field_validator

from analytics import dates
from docsite.http import client_ip

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


def _once(value: Any) -> Any:
    if isinstance(value, list):
        raise ValueError("is given more than once")
    return value


def _digits(value: Any) -> Any:
    value = _once(value)
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit() and len(value) <= 16):
            raise ValueError("must be a whole number in digits")
        return int(value)
    return value


def _instant(value: Any) -> Any:
    value = _once(value)
    if not isinstance(value, str):
        raise ValueError("must be YYYY-MM-DD or an ISO 8601 date-time")
    return dates.parse(value)


Instant = Annotated[datetime | None, BeforeValidator(_instant)]


class RangeQuery(BaseModel):
    """The range and the page of an export."""

    dateFrom: Instant = Field(
        None,
        description="Start, inclusive: YYYY-MM-DD (00:00 UTC) or ISO 8601 date-time. Default: 30 days before the end.",
    )
    dateTo: Instant = Field(None, description="End, exclusive, in the same forms. Default: tomorrow 00:00 UTC.")
    limit: Annotated[int, BeforeValidator(_digits)] = Field(50, ge=1, le=250, description="Rows on this page.")
    offset: Annotated[int, BeforeValidator(_digits)] = Field(0, ge=0, le=2**53, description="Rows to skip.")


class VisitorsTrafficTotals(Schema):
    """Site-wide unique visitors."""

    human: int = Field(description="From human traffic.")
    ai: int = Field(description="From AI-bot traffic.")
    total: int = Field(description="Across both, each visitor once.")


class VisitorsByPageRow(Schema):
    """Unique visitors of one page."""

    path: str
    human: int
    ai: int
    total: int


class VisitorsByPageResponse(Schema):
    """Unique visitors of the range: site-wide, and one page of rows."""

    totals: VisitorsTrafficTotals
    visitors: list[VisitorsByPageRow]
    hasMore: bool = Field(description="Whether rows follow this page.")


class ViewsTrafficTotals(Schema):
    """Site-wide page views."""

    human: int = Field(description="By people.")
    ai: int = Field(description="By AI clients.")
    total: int = Field(description="Both together.")


class ViewsByPageRow(Schema):
    """Views of one page."""

    path: str
    human: int
    ai: int
    total: int


class ViewsByPageResponse(Schema):
    """Page views of the range: site-wide, and one page of rows."""

    totals: ViewsTrafficTotals
    views: list[ViewsByPageRow]
    hasMore: bool = Field(description="Whether rows follow this page.")


class ViewIn(BaseModel):
    """A view reported by a reader's browser."""

    id: StrictStr = Field(min_length=1, max_length=64, description="Made by the client: the same id counts once.")
    path: StrictStr = Field(min_length=1, max_length=2000)
    referrer: StrictStr | None = Field(None, max_length=2000)


class CollectedView(BaseModel):
    """A view that a server, an edge worker or a log shipper saw."""

    id: StrictStr = Field(min_length=1, max_length=64)
    path: StrictStr = Field(min_length=1, max_length=2000)
    timestamp: Annotated[datetime, BeforeValidator(_instant)] = Field(
        description="When the page was read; at most five minutes ahead of now."
    )
    ip: StrictStr = Field(max_length=64, description="The reader's address. Only its keyed hash is kept.")
    userAgent: StrictStr = Field(max_length=4000)
    accept: StrictStr | None = Field(None, max_length=2000)
    referrer: StrictStr | None = Field(None, max_length=2000)

    @field_validator("timestamp")
    @classmethod
    def _not_ahead(cls, value: datetime) -> datetime:
        if value > datetime.now(UTC) + timedelta(minutes=5):
            raise ValueError("is more than 5 minutes ahead")
        if value < EARLIEST:
            raise ValueError("is before the year 2000")
        return value

    @field_validator("ip")
    @classmethod
    def _address(cls, value: str) -> str:
        if client_ip.parse(value) is None:
            raise ValueError("is not an IP address")
        return value

    @property
    def address(self) -> client_ip.Address:
        """The reader's address."""
        return client_ip.parse(self.ip) or ipaddress.IPv4Address(0)


class CollectIn(BaseModel):
    """A batch of views. Nothing is taken when one of them is bad."""

    views: list[CollectedView] = Field(min_length=1, max_length=1000)


class CollectOut(Schema):
    """What became of a batch."""

    accepted: int = Field(description="New views that count as human or AI.")
    duplicates: int = Field(description="Views whose id was known.")
    ignored: int = Field(description="New views of other bots and HTTP clients: kept for the report, in no count.")

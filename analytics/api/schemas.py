"""Requests and responses of the visitors, views and collect endpoints (specification 2.1 to 2.3, 4.1)."""

from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, Self

import msgspec
from ninja import Schema
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    SkipValidation,
    StrictStr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)

from analytics.api.view_json import (
    MAX_HEADER,
    MAX_ID,
    MAX_PATH,
    MAX_USER_AGENT,
    MAX_VIEWS,
    ViewJson,
    parse_batch,
)
from analytics.collecting.recording import CLOCK_SKEW, EARLIEST, Observation
from analytics.collecting.signatures import SignedRequest
from docsite.core.http import client_address, dates
from docsite.core.http.body import QuickBody
from docsite.core.http.errors import BadRequest
from docsite.core.http.schemas import configure_with_example, describe_errors


def single_value(value: Any) -> Any:
    """The value of a parameter. Raises ValueError when it is given more than once."""
    if isinstance(value, list):
        raise ValueError("is given more than once")
    return value


def whole_number(value: Any) -> Any:
    """Parse a whole number in ASCII digits. Raises ValueError, also when it is given more than once."""
    value = single_value(value)
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit() and len(value) <= 16):
            raise ValueError("must be a whole number in digits")
        return int(value)
    return value


def _parse_time(value: Any, zone: tzinfo | None = UTC) -> Any:
    value = single_value(value)
    if not isinstance(value, str):
        raise ValueError("must be YYYY-MM-DD or an ISO 8601 date-time")
    return dates.parse(value, zone)


def _check_zone(name: Any) -> Any:
    if dates.find_zone(single_value(name)) is None:
        raise ValueError("must be the IANA name of a time zone, such as Europe/Berlin")
    return name


def _parse_query_time(value: Any, info: ValidationInfo) -> Any:
    try:
        return _parse_time(value, dates.find_zone(info.data.get("timezone", "UTC")))
    except ValueError as error:  # in a query a bare + is a space
        raise ValueError(f"{error} (write + as %2B)" if isinstance(value, str) and " " in value else error) from None


TextFilter = Annotated[str | None, BeforeValidator(single_value)]


def text_filter(meaning: str) -> str | None:
    """A filter by a text of at most 400 characters, such as a path."""
    value: str | None = Field(None, min_length=1, max_length=400, description=f"Only {meaning}.")
    return value


Instant = Annotated[
    datetime | None,
    BeforeValidator(_parse_query_time),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}),
]


class DatesQuery(BaseModel):
    """The range of an export.

    `timezone` is declared before the dates, because fields are validated in order and dates need it.
    """

    timezone: Annotated[str, BeforeValidator(_check_zone)] = Field(
        "UTC", description="IANA name of the time zone of the dates, such as Europe/Berlin."
    )
    dateFrom: Instant = Field(
        None,
        description="Start, inclusive: YYYY-MM-DD (00:00 in `timezone`) or ISO 8601 date-time. Default: 30 days before "
        "the end.",
    )
    dateTo: Instant = Field(None, description="End, exclusive, in the same forms. Default: tomorrow 00:00.")


class RangeQuery(DatesQuery):
    """The range and the page of an export."""

    limit: Annotated[int, BeforeValidator(whole_number)] = Field(50, ge=1, le=250, description="Rows on this page.")
    offset: Annotated[int, BeforeValidator(whole_number)] = Field(0, ge=0, le=2**53, description="Rows to skip.")


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


class ViewsByPageRow(VisitorsByPageRow):
    """Views of one page."""


class ViewsByPageResponse(Schema):
    """Page views of the range: site-wide, and one page of rows."""

    totals: ViewsTrafficTotals
    views: list[ViewsByPageRow]
    hasMore: bool = Field(description="Whether rows follow this page.")


class ViewIn(BaseModel):
    """A view reported by a reader's browser."""

    model_config = configure_with_example({"id": "5f0c9a", "path": "/install", "referrer": "https://search.example/"})

    id: StrictStr = Field(min_length=1, max_length=64, description="Made by the client. The same id counts once.")
    path: StrictStr = Field(min_length=1, max_length=2000)
    referrer: StrictStr | None = Field(None, max_length=2000)
    visitor: StrictStr | None = Field(
        None,
        min_length=1,
        max_length=64,
        description="Random id that the page keeps in the reader's browser. Used only if the project enables it, and "
        "never for a reader who sent `Sec-GPC` or `DNT`.",
    )


def _parse_view_time(value: Any) -> datetime:
    instant: datetime = _parse_time(value)
    if instant > datetime.now(UTC) + CLOCK_SKEW:
        raise ValueError("is more than 5 minutes ahead")
    if instant < EARLIEST:
        raise ValueError("is before the year 2000")
    return instant


def _parse_address(value: str) -> client_address.Address:
    address = client_address.parse_address(value) if isinstance(value, str) else None
    if address is None:
        raise ValueError("is not an IP address")
    return address


class CollectedView(BaseModel):
    """A view that a server, an edge worker or a log shipper reports."""

    id: StrictStr = Field(min_length=1, max_length=MAX_ID)
    path: StrictStr = Field(min_length=1, max_length=MAX_PATH)
    timestamp: Annotated[datetime, PlainValidator(_parse_view_time, json_schema_input_type=datetime)] = Field(
        description="When the page was read; at most five minutes ahead of now."
    )
    ip: Annotated[
        client_address.Address,
        PlainValidator(_parse_address),
        WithJsonSchema({"anyOf": [{"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}]}),
    ] = Field(description="The reader's address. Only its keyed hash is kept.")
    userAgent: StrictStr = Field(max_length=MAX_USER_AGENT)
    accept: StrictStr | None = Field(None, max_length=MAX_HEADER)
    referrer: StrictStr | None = Field(None, max_length=MAX_HEADER)
    signature: StrictStr | None = Field(
        None,
        max_length=MAX_HEADER,
        description="The headers `Signature`, `Signature-Input` and `Signature-Agent` of an agent that signed its GET "
        "request. All three, or none.",
    )
    signatureInput: StrictStr | None = Field(None, max_length=MAX_HEADER)
    signatureAgent: StrictStr | None = Field(None, max_length=MAX_HEADER)


Batch = Annotated[list[CollectedView], Field(min_length=1, max_length=MAX_VIEWS)]


class CollectIn(QuickBody):
    """A batch of views. If one of them is invalid, none is stored."""

    model_config = configure_with_example(
        {
            "views": [
                {
                    "id": "5f0c9b",
                    "path": "/install",
                    "timestamp": "2026-11-01T12:00:00Z",
                    "ip": "203.0.113.7",
                    "userAgent": "Mozilla/5.0",
                }
            ]
        }
    )

    views: SkipValidation[Batch]  # `validate_views` does it in a thread: a thousand views take some milliseconds

    @classmethod
    def parse_valid(cls, raw: bytes) -> Self | None:
        """The body, parsed by msgspec; None if it may be invalid. Times and addresses are not checked yet."""
        views = parse_batch(raw)
        return None if views is None else cls.model_construct(views=views)


def validate_views(payload: CollectIn) -> list[Observation]:
    """The validated views of a batch. Raises BadRequest with the first errors."""
    views: Any = payload.views  # whatever the client sent, unless msgspec has parsed it
    if isinstance(views, list) and views and isinstance(views[0], ViewJson):
        try:
            return _observe_valid(views)
        except ValueError:  # pydantic names every mistake
            views = msgspec.to_builtins(views)
    try:
        return [_observe(view, view.timestamp, view.ip) for view in _BATCH.validate_python(views)]
    except ValidationError as error:
        raise BadRequest(*describe_errors(error.errors(include_url=False), prefix=["views"])) from None


def _observe_valid(views: list[ViewJson]) -> list[Observation]:
    """The same as pydantic. Raises ValueError if a time or an address is wrong."""
    latest = datetime.now(UTC) + CLOCK_SKEW
    instants: dict[str, datetime] = {}  # a log has many views of one second
    found = []
    for view in views:
        at = instants.get(view.timestamp) or instants.setdefault(view.timestamp, dates.parse(view.timestamp))
        address = client_address.parse_address(view.ip)
        if address is None or not EARLIEST <= at <= latest:
            raise ValueError
        found.append(_observe(view, at, address))
    return found


def _observe(view: CollectedView | ViewJson, at: datetime, address: client_address.Address) -> Observation:
    seen = Observation(view.id, view.path, at, address, view.userAgent, view.accept or "", view.referrer or "")
    if not (view.signature and view.signatureInput and view.signatureAgent):
        return seen
    headers = {
        "Signature": view.signature,
        "Signature-Input": view.signatureInput,
        "Signature-Agent": view.signatureAgent,
        "User-Agent": view.userAgent,
        "Accept": view.accept,
        "Referer": view.referrer,
    }
    sent = tuple((name, value) for name, value in headers.items() if value)
    return seen._replace(signed=SignedRequest(view.path, sent))


_BATCH: TypeAdapter[list[CollectedView]] = TypeAdapter(Batch)


class CollectOut(Schema):
    """The result of a batch."""

    accepted: int = Field(description="New views that count as human or AI.")
    duplicates: int = Field(description="Views whose id was stored before.")
    ignored: int = Field(description="New views of other bots and HTTP clients: kept for the report, in no count.")
    refused: int | None = Field(
        None, description="Of a batch with a collecting key only: views of people, which it cannot add."
    )

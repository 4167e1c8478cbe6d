"""Cursor pagination of exports: parse the range, find where a page starts, write the response."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from django.http import HttpResponse
from django.utils import timezone
from pydantic import BaseModel

from analytics.api.question_schemas import PageQuery
from analytics.api.schemas import DatesQuery
from docsite.core.http import dates
from docsite.core.http.cursor import Cursor, Moment
from docsite.core.http.errors import BadRequest

Row = TypeVar("Row")


def parse_range(params: DatesQuery) -> tuple[datetime, datetime]:
    """Start (included) and end (excluded) of the range. Raises `BadRequest`."""
    try:
        return dates.window(params.dateFrom, params.dateTo, timezone.now(), dates.find_zone(params.timezone))
    except ValueError as wrong:
        raise BadRequest(f"dateFrom: {wrong}") from None


def start_cursor(params: PageQuery, list_name: str) -> Cursor:
    """The cursor at which a page begins. Raises `BadRequest` when it belongs to another list or to other dates."""
    start, end = parse_range(params)
    cursor = params.cursor
    if cursor is None:
        return Cursor(list_name, start, end, [])
    dates_given = params.dateFrom or cursor.start, params.dateTo or cursor.end
    if (cursor.list_name, cursor.start, cursor.end) != (list_name, *dates_given):
        raise BadRequest("cursor: belongs to another list or to other dates")
    return cursor


def last_row(start_cursor: Cursor) -> Moment | None:
    """The last row of the previous page, in a list sorted by time; None on the first page."""
    if not start_cursor.place:
        return None
    at, pk = start_cursor.place
    return Moment(datetime.fromisoformat(at), pk)


def split_page(
    start_cursor: Cursor, rows: Sequence[Row], limit: int, place_of: Callable[[Row], Iterable[Any]]
) -> tuple[Sequence[Row], str | None]:
    """The first `limit` rows, and the cursor of the next page; None when no more rows follow.

    `place_of` is the position of a row in the list: what its cursor holds, such as a `Moment`.
    """
    if len(rows) <= limit:
        return rows, None
    place = [one.isoformat() if isinstance(one, datetime) else one for one in place_of(rows[limit - 1])]
    return rows[:limit], str(replace(start_cursor, place=place))


def json_response(body: BaseModel) -> HttpResponse:
    """The body as JSON, without unset fields."""
    return HttpResponse(body.model_dump_json(exclude_unset=True), content_type="application/json")

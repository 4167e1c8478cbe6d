"""What exports that go on by a cursor share: their range, where a page begins, and the answer as JSON."""

from dataclasses import replace
from datetime import datetime

from django.http import HttpResponse
from django.utils import timezone
from pydantic import BaseModel

from analytics import dates
from analytics.api.question_schemas import PageQuery
from analytics.api.schemas import DatesQuery
from docsite.core.http.cursor import Cursor, Moment
from docsite.core.http.errors import BadRequest


def parse_range(params: DatesQuery) -> tuple[datetime, datetime]:
    """Start and end, itself excluded. Raises `BadRequest`."""
    try:
        return dates.window(params.dateFrom, params.dateTo, timezone.now())
    except ValueError as wrong:
        raise BadRequest(f"dateFrom: {wrong}") from None


def start_cursor(params: PageQuery, of: str) -> Cursor:
    """Where a page begins: at its cursor, which must be of this list and these dates, or with the range."""
    start, end = parse_range(params)
    cursor = params.cursor
    if cursor is None:
        return Cursor(of, start, end, [])
    given = params.dateFrom or cursor.start, params.dateTo or cursor.end
    if (cursor.of, (cursor.start, cursor.end)) != (of, given):
        raise BadRequest("cursor: belongs to another list or to other dates")
    return cursor


def last_row(start_cursor: Cursor) -> Moment | None:
    """The last row of the page before, in a list by time; None on the first page."""
    if not start_cursor.place:
        return None
    at, pk = start_cursor.place
    return Moment(datetime.fromisoformat(at), pk)


def next_cursor(start_cursor: Cursor, last: Moment) -> str:
    """The cursor of the page that follows this row."""
    return str(replace(start_cursor, place=[last.at.isoformat(), last.pk]))


def json_response(body: BaseModel) -> HttpResponse:
    """The body as JSON, without the fields that were left out of it."""
    return HttpResponse(body.model_dump_json(exclude_unset=True), content_type="application/json")

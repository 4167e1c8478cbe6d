"""Send the rows of a report as a file: CSV (RFC 4180) with a header, or JSON lines with the same names."""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from typing import Any, Literal

from django.http import Http404, HttpResponseBadRequest, StreamingHttpResponse
from django.utils import timezone

from docsite.core.db import REPORTS, in_db
from docsite.core.http.dates import find_day
from docsite.core.workspace.reports.links import Choice

Format = Literal["csv", "jsonl"]
FORMATS: dict[Format, tuple[str, str]] = {
    "csv": ("CSV", "text/csv; charset=utf-8"),
    "jsonl": ("JSON lines", "application/jsonl; charset=utf-8"),
}
CHUNK_ROWS = 500  # of one chunk
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def list_choices(build_link: Callable[[Format], str]) -> list[Choice]:
    """A link for each format; `build_link` gets its key and returns the address."""
    return [Choice(label, build_link(form)) for form, (label, _) in FORMATS.items()]


def parse_format(name: str) -> Format:
    """The format of a download. Raises Http404 if there is none of that name."""
    for form in FORMATS:
        if form == name:
            return form
    raise Http404


def format_table(names: Sequence[str], rows: Iterable[Sequence[Any]], form: Format) -> Iterator[str]:
    """A whole table in chunks of text. `names`: the columns."""
    if form == "csv":
        yield ",".join(names) + "\r\n"
    following = iter(rows)
    while chunk := [dict(zip(names, row, strict=True)) for row in islice(following, CHUNK_ROWS)]:
        yield format_rows(chunk, form)


def format_rows(rows: Sequence[Mapping[str, Any]], form: Format) -> str:
    """Rows with the same names, as lines: of CSV without a header, or of JSON.

    A CSV cell that a spreadsheet would take for a formula is written after an apostrophe.
    """
    if form == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow(map(_escape_cell, row.values()))
    return text.getvalue()


def send_file(lines: Iterator[str], form: Format, name: str) -> StreamingHttpResponse:
    """A download that is sent chunk by chunk. `name`: of the file."""
    return StreamingHttpResponse(
        _stream(lines, timezone.get_current_timezone()),
        content_type=FORMATS[form][1],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def name_file(name: str, window: tuple[datetime, datetime]) -> str:
    """The name of a file with the first and the last day of its range: `docs-gaps-2026-10-01-2026-10-31.csv`."""
    first, last = (find_day(instant) for instant in (window[0], max(window[0], window[1] - timedelta(microseconds=1))))
    stem, _, ending = name.rpartition(".")
    return f"{stem}-{first}-{last}.{ending}"


def refuse(errors: Sequence[str]) -> HttpResponseBadRequest:
    """The answer to an address with wrong parameters: a sentence a line."""
    return HttpResponseBadRequest("\n".join([*errors, ""]), content_type="text/plain; charset=utf-8")


async def _stream(chunks: Iterator[str], zone: tzinfo) -> AsyncIterator[str]:
    """Yield chunk by chunk. Django would collect all chunks of a plain iterator before it sends the first.

    `zone`: the time zone of the request, which has ended by then.
    """

    def build_chunk() -> str | None:
        with timezone.override(zone):
            return next(chunks, None)

    fetch = in_db(build_chunk, REPORTS)
    while (chunk := await fetch()) is not None:
        yield chunk


def _escape_cell(value: Any) -> Any:
    text = "; ".join(value) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA) else text

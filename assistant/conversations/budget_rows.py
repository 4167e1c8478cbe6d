"""The rows of budgets in plain SQL. Each question uses several of them, and the ORM takes ten times as long.

`TokenUse` has a row for each day of a project, `TokenReservation` one for each answer.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import connection

from assistant.models import AssistantSettings, TokenReservation, TokenUse

_SETTINGS, _USES, _RESERVATIONS = (model._meta.db_table for model in (AssistantSettings, TokenUse, TokenReservation))
_RUNNING = "project_id = %s AND reserved_tokens > 0 AND id <> %s"


class Amounts(NamedTuple):
    """What an answer has used, or a day."""

    tokens: int
    cost: int
    unpriced_tokens: int


class Reservation(NamedTuple):
    """What is reserved for an answer, and what it has used. Nothing is reserved for one that has ended."""

    day: date
    address: str
    reserved_tokens: int
    used: Amounts


def lock_day(project_id: int, day: date) -> None:
    """Lock a project's row of a day until the end of the transaction. It is created, if it is missing."""
    lock = " FOR UPDATE" if connection.features.has_select_for_update else ""
    query = f"SELECT 1 FROM {_USES} WHERE project_id = %s AND day = %s{lock}"
    if _fetch(query, [project_id, day]) is None:
        _execute(
            f"INSERT INTO {_USES} (project_id, day, tokens, cost, unpriced_tokens) VALUES (%s, %s, 0, 0, 0) "
            "ON CONFLICT (project_id, day) DO NOTHING",
            [project_id, day],
        )
        _fetch(query, [project_id, day])


def add_to_day(project_id: int, day: date, added: Amounts) -> None:
    """Add to what a project has used on a day, which is locked."""
    _execute(
        f"UPDATE {_USES} SET tokens = tokens + %s, cost = cost + %s, unpriced_tokens = unpriced_tokens + %s "
        "WHERE project_id = %s AND day = %s",
        [*added, project_id, day],
    )


def sum_days(project_id: int, start: date, end: date) -> tuple[int, int]:
    """The tokens and the cost of all days from `start` to `end`."""
    tokens, cost = _fetch_sums(
        f"SELECT SUM(tokens), SUM(cost) FROM {_USES} WHERE project_id = %s AND day >= %s AND day <= %s",
        [project_id, start, end],
    )
    return tokens, cost


def read_cost_limits(project_id: int) -> tuple[int | None, int | None]:
    """The owner's limits of a day's and of a month's cost; None where there is none."""
    query = f"SELECT daily_cost_limit, monthly_cost_limit FROM {_SETTINGS} WHERE project_id = %s"
    row: tuple[int | None, int | None] | None = _fetch(query, [project_id])
    return row or (None, None)


def read_reservation(pk: int) -> Reservation | None:
    """A reservation; None if its project was deleted."""
    row = _fetch(
        "SELECT day, address, reserved_tokens, used_tokens, used_cost, unpriced_tokens "
        f"FROM {_RESERVATIONS} WHERE id = %s",
        [pk],
    )
    if row is None:
        return None
    day = row[0] if isinstance(row[0], date) else date.fromisoformat(row[0])  # SQLite has no dates
    return Reservation(day, row[1], row[2], Amounts(*row[3:]))


def add_reservation(
    project_id: int, day: date, address: str, reserved: tuple[int, int], used: Amounts, expires_at: datetime
) -> int:
    """Reserve tokens and cost. Returns the id of the reservation."""
    row = _fetch(
        f"INSERT INTO {_RESERVATIONS} (project_id, day, address, reserved_tokens, reserved_cost, used_tokens, "
        "used_cost, unpriced_tokens, expires_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id",
        [project_id, day, address, *reserved, *used, _moment(expires_at)],
    )
    assert row
    return int(row[0])


def change_reservation(pk: int, reserved: tuple[int, int], used: Amounts, expires_at: datetime) -> None:
    """Reserve other amounts: (0, 0) when the answer has ended."""
    _execute(
        f"UPDATE {_RESERVATIONS} SET reserved_tokens = %s, reserved_cost = %s, used_tokens = %s, used_cost = %s, "
        "unpriced_tokens = %s, expires_at = %s WHERE id = %s",
        [*reserved, *used, _moment(expires_at), pk],
    )


def note_use(pk: int, used: Amounts, expires_at: datetime) -> None:
    """Note what a running answer has used so far. A reservation that has expired stays as it is."""
    _execute(
        f"UPDATE {_RESERVATIONS} SET used_tokens = %s, used_cost = %s, unpriced_tokens = %s, expires_at = %s "
        "WHERE id = %s AND reserved_tokens > 0",
        [*used, _moment(expires_at), pk],
    )


def has_expired(project_id: int, day: date, now: datetime, besides: int) -> bool:
    """Whether a reservation of a day, other than `besides`, has expired."""
    query = f"SELECT 1 FROM {_RESERVATIONS} WHERE {_RUNNING} AND day = %s AND expires_at < %s LIMIT 1"
    return _fetch(query, [project_id, besides, day, _moment(now)]) is not None


def sum_reserved(project_id: int, start: date, end: date, besides: int) -> dict[str, int]:
    """The tokens and the cost that are reserved on all days from `start` to `end`, other than `besides`."""
    tokens, cost = _fetch_sums(
        f"SELECT SUM(reserved_tokens), SUM(reserved_cost) FROM {_RESERVATIONS} "
        f"WHERE {_RUNNING} AND day >= %s AND day <= %s",
        [project_id, besides, start, end],
    )
    return {"tokens": tokens, "cost": cost}


def sum_of_address(project_id: int, day: date, address: str, besides: int) -> dict[str, int]:
    """The tokens and the cost that an address has reserved or used on a day, other than `besides`."""
    tokens, cost = _fetch_sums(
        "SELECT SUM(CASE WHEN reserved_tokens = 0 THEN used_tokens ELSE reserved_tokens END), "
        "SUM(reserved_cost) + SUM(CASE WHEN reserved_tokens = 0 THEN used_cost ELSE 0 END) "
        f"FROM {_RESERVATIONS} WHERE project_id = %s AND day = %s AND address = %s AND id <> %s",
        [project_id, day, address, besides],
    )
    return {"tokens": tokens, "cost": cost}


def _moment(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)


def _execute(query: str, values: Sequence[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, values)


def _fetch(query: str, values: Sequence[Any]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchone()


def _fetch_sums(query: str, values: Sequence[Any]) -> list[int]:
    return [int(value or 0) for value in _fetch(query, values)]

"""The rows of budgets in plain SQL. Each question uses several of them, and the ORM takes ten times as long.

`TokenUse` has a row for each day of a project, `TokenReservation` one for each answer.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import connection

from assistant.models import AssistantSettings, TokenReservation, TokenUse
from docsite.core import sql

_SETTINGS, _USES, _RESERVATIONS = (model._meta.db_table for model in (AssistantSettings, TokenUse, TokenReservation))
_RUNNING = "project_id = %s AND reserved_tokens > 0 AND id <> %s"
_SUMS = (
    "SUM(CASE WHEN day = %s THEN {0}tokens END), SUM(CASE WHEN day = %s THEN {0}cost END), SUM({0}tokens), SUM({0}cost)"
)


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


class Sums(NamedTuple):
    """Tokens and their cost."""

    tokens: int
    cost: int


class Use(NamedTuple):
    """What a project has used on a day and in its month until then, and the owner's limits of their cost."""

    daily: Sums
    monthly: Sums
    daily_cost_limit: int | None
    monthly_cost_limit: int | None


class Reserved(NamedTuple):
    """What running answers have reserved on a day and in its month, and what an address has reserved or used that day.

    `has_expired`: whether a reservation of the day has expired.
    """

    daily: Sums
    monthly: Sums
    address: Sums
    has_expired: bool


def lock_day(project_id: int, day: date) -> None:
    """Lock a project's row of a day until the end of the transaction. It is created, if it is missing."""
    if not lock_existing_day(project_id, day):
        sql.execute(
            f"INSERT INTO {_USES} (project_id, day, tokens, cost, unpriced_tokens) VALUES (%s, %s, 0, 0, 0) "
            "ON CONFLICT (project_id, day) DO NOTHING",
            [project_id, day],
        )
        lock_existing_day(project_id, day)


def lock_existing_day(project_id: int, day: date) -> bool:
    """Lock a project's row of a day until the end of the transaction, after other holders. False if there is none."""
    lock = " FOR UPDATE" if connection.features.has_select_for_update else ""
    return (
        sql.fetch_one(f"SELECT 1 FROM {_USES} WHERE project_id = %s AND day = %s{lock}", [project_id, day]) is not None
    )


def add_to_day(project_id: int, day: date, added: Amounts) -> None:
    """Add to what a project has used on a day, which is locked."""
    sql.execute(
        f"UPDATE {_USES} SET tokens = tokens + %s, cost = cost + %s, unpriced_tokens = unpriced_tokens + %s "
        "WHERE project_id = %s AND day = %s",
        [*added, project_id, day],
    )


def read_use(project_id: int, day: date) -> Use:
    """What a project has used until a day, and its owner's limits."""
    *used, daily_cost_limit, monthly_cost_limit = sql.fetch_one(
        f"SELECT {_SUMS.format('')}, "
        f"(SELECT daily_cost_limit FROM {_SETTINGS} WHERE project_id = %s), "
        f"(SELECT monthly_cost_limit FROM {_SETTINGS} WHERE project_id = %s) "
        f"FROM {_USES} WHERE project_id = %s AND day >= %s AND day <= %s",
        [day, day, *[project_id] * 3, day.replace(day=1), day],
    )
    daily, monthly = _pair(used)
    return Use(daily, monthly, daily_cost_limit, monthly_cost_limit)


def read_reservation(pk: int) -> Reservation | None:
    """A reservation; None if its project was deleted."""
    row = sql.fetch_one(
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
    row = sql.fetch_one(
        f"INSERT INTO {_RESERVATIONS} (project_id, day, address, reserved_tokens, reserved_cost, used_tokens, "
        "used_cost, unpriced_tokens, expires_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id",
        [project_id, day, address, *reserved, *used, _moment(expires_at)],
    )
    assert row
    return int(row[0])


def change_reservation(pk: int, reserved: tuple[int, int], used: Amounts, expires_at: datetime) -> None:
    """Reserve other amounts: (0, 0) when the answer has ended."""
    sql.execute(
        f"UPDATE {_RESERVATIONS} SET reserved_tokens = %s, reserved_cost = %s, used_tokens = %s, used_cost = %s, "
        "unpriced_tokens = %s, expires_at = %s WHERE id = %s",
        [*reserved, *used, _moment(expires_at), pk],
    )


def note_use(pk: int, used: Amounts, expires_at: datetime) -> None:
    """Note what a running answer has used so far. A reservation that has expired stays as it is."""
    sql.execute(
        f"UPDATE {_RESERVATIONS} SET used_tokens = %s, used_cost = %s, unpriced_tokens = %s, expires_at = %s "
        "WHERE id = %s AND reserved_tokens > 0",
        [*used, _moment(expires_at), pk],
    )


def read_reserved(project_id: int, day: date, address: str, now: datetime, besides: int) -> Reserved:
    """What is reserved until a day, by reservations other than `besides`. An empty address has nothing."""
    of_address = f"FROM {_RESERVATIONS} WHERE project_id = %s AND day = %s AND address = %s AND id <> %s"
    row = sql.fetch_one(
        f"SELECT {_SUMS.format('reserved_')}, "
        f"(SELECT SUM(CASE WHEN reserved_tokens = 0 THEN used_tokens ELSE reserved_tokens END) {of_address}), "
        "(SELECT SUM(reserved_cost) + SUM(CASE WHEN reserved_tokens = 0 THEN used_cost ELSE 0 END) "
        f"{of_address}), MAX(CASE WHEN day = %s AND expires_at < %s THEN 1 ELSE 0 END) "
        f"FROM {_RESERVATIONS} WHERE {_RUNNING} AND day >= %s AND day <= %s",
        [
            *(day, day),
            *[project_id, day, address, besides] * 2,
            *(day, _moment(now)),
            *(project_id, besides, day.replace(day=1), day),
        ],
    )
    daily, monthly, address_sums = _pair(row[:6])
    return Reserved(daily, monthly, address_sums if address else Sums(0, 0), bool(row[6]))


def _moment(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)


def _pair(values: Sequence[Any]) -> list[Sums]:
    """Sums from values in the order tokens, cost, tokens, cost … None, of no rows, is 0; PostgreSQL gives decimals."""
    numbers = [int(value or 0) for value in values]
    return [Sums(*numbers[at : at + 2]) for at in range(0, len(numbers), 2)]

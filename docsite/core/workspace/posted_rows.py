"""Find the row that a form names."""

from typing import TypeVar

from django.db.models import Model, QuerySet

MAX_DIGITS = 18  # of a number that a database can compare with its keys

Row = TypeVar("Row", bound=Model)


def find_posted_row(rows: "QuerySet[Row]", number: str) -> Row | None:
    """The row with this number as its key. None if there is none, or if the text is no number."""
    is_number = number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS
    return rows.filter(pk=number).first() if is_number else None

"""Types that every endpoint shares: JSON numbers, and the error as the OpenAPI document shows it."""

import math
from typing import Annotated, Any

from ninja import Schema
from pydantic import BeforeValidator


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return value


def _whole(value: Any) -> int:
    if _number(value) != math.floor(value):
        raise ValueError("must be a whole number")
    return int(value)


Number = Annotated[float, BeforeValidator(_number)]
Whole = Annotated[int, BeforeValidator(_whole)]  # 5 and 5.0
Floored = Annotated[int, BeforeValidator(lambda value: math.floor(_number(value)))]


class ErrorDetail(Schema):
    """One thing that is wrong: `field: what is wrong`."""

    message: str


class AnalyticsErrorResponse(Schema):
    """What went wrong, in a sentence."""

    error: str
    details: list[ErrorDetail] | None = None


_STATUSES = (400, 401, 403, 404, 413, 415, 429, 500, 503)


def responses(success: Any, *, bodyless: bool = False) -> dict[int, Any]:
    """200 with the given schema, and every error an endpoint may answer."""
    without = {413, 415} if bodyless else set()
    return {200: success} | {status: AnalyticsErrorResponse for status in _STATUSES if status not in without}

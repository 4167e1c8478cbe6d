"""Types that every endpoint shares: JSON numbers, and the error as the OpenAPI document shows it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from ninja import Schema
from pydantic import BeforeValidator

MAX_DETAILS = 20  # of one error


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
    """An error: a sentence for people, and one detail for each wrong field."""

    error: str
    details: list[ErrorDetail] | None = None


def describe_errors(items: Iterable[Mapping[str, Any]], skipped: int = 0, prefix: Sequence[str] = ()) -> list[str]:
    """The first validation errors of pydantic. Their locations are put behind `prefix`, without `skipped` names."""
    return [_describe_error(item, (*prefix, *item["loc"][skipped:])) for item in islice(items, MAX_DETAILS)]


def _describe_error(item: Mapping[str, Any], where: Sequence[Any]) -> str:
    """A validation error of pydantic as `field: what is wrong`, without the input, which pydantic would repeat."""
    path = [str(part) for part in where]
    if path and path[0] in ("payload", "params"):  # names of view arguments
        path = path[1:]
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] in ("model_type", "model_attributes_type", "dict_type"):
        message = "must be an object"
    return f"{'.'.join(path)[:100] or 'body'}: {message[:1].lower()}{message[1:200]}"


_STATUSES = (400, 401, 403, 404, 413, 415, 429, 500, 503)


def responses(success: Any, *, status: int = 200, bodyless: bool = False) -> dict[int, Any]:
    """The responses of an endpoint for OpenAPI: success with this schema, and every error. `bodyless`: as of a GET."""
    impossible = {413, 415} if bodyless else set()
    return {status: success} | {status: AnalyticsErrorResponse for status in _STATUSES if status not in impossible}

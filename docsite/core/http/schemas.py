"""Types that every endpoint shares: JSON numbers, and the error as the OpenAPI document shows it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, StrictStr
from pydantic.json_schema import SkipJsonSchema

MAX_DETAILS = 20  # of one error


def require_number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return value


def _whole(value: Any) -> int:
    if require_number(value) != math.floor(value):
        raise ValueError("must be a whole number")
    return int(value)


Whole = Annotated[int, BeforeValidator(_whole)]  # 5 and 5.0


def _reject_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


NonBlank = Annotated[StrictStr, AfterValidator(_reject_blank)]
floor_number = BeforeValidator(lambda value: math.floor(require_number(value)))


class ErrorDetail(Schema):
    """One thing that is wrong: `field: what is wrong`."""

    message: str


class AnalyticsErrorResponse(Schema):
    """An error: a sentence for people, and one detail for each wrong field."""

    error: str
    details: list[ErrorDetail] | SkipJsonSchema[None] = None


def describe_errors(items: Iterable[Mapping[str, Any]], skipped: int = 0, prefix: Sequence[str] = ()) -> list[str]:
    """The first validation errors of pydantic.

    `prefix` stands before each location; the first `skipped` names of a location are left out.
    """
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


def configure_with_example(body: dict[str, Any]) -> ConfigDict:
    """The configuration of a model of request bodies: this body is its example in the OpenAPI document."""
    return ConfigDict(json_schema_extra={"examples": [body]})

"""The error of every endpoint as the OpenAPI document shows it."""

from typing import Any

from ninja import Schema


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

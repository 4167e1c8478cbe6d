"""The HTTP API: its routers, imported by name, and its errors."""

import traceback
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.utils.datastructures import MultiValueDict
from django.utils.module_loading import import_string
from ninja import NinjaAPI
from ninja.errors import ValidationError
from ninja.parser import Parser

from docsite.core.http.errors import ApiError, BadRequest
from docsite.core.http.schemas import describe_errors

Error = TypeVar("Error", bound=Exception)


class StrictParser(Parser):
    """Takes the body that the request checks have parsed, once. A repeated query parameter is refused."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body that the request check has validated; Ninja takes it as it is.

        The request forgets its body: Django's requests are in reference cycles, which stay for long.
        """
        payload = request.__dict__.pop("payload")  # set by the check
        request._body = b""
        return payload

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """One value for each parameter. A repeated parameter becomes a list, which no field accepts."""
        return {key: data.getlist(key) if len(data.getlist(key)) > 1 else data[key] for key in data}


api = NinjaAPI(
    title="Documentation Site Service",
    version="1.0.0",
    description="Visitor analytics, a streaming assistant and search for documentation sites.",
    parser=StrictParser(),
    openapi_url=None,
    urls_namespace="api",
)


def _release(error: Error) -> Error:
    """Forget the variables of the functions that an error has left: the request, its body, and the error itself.

    Otherwise this cycle would keep them until the next full garbage collection, which is rare.
    """
    traceback.clear_frames(error.__traceback__)
    return error.with_traceback(None)


@api.exception_handler(ApiError)
def _api_error(request: HttpRequest, error: ApiError) -> HttpResponse:
    return _release(error).response()


@api.exception_handler(ValidationError)
def _validation_error(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return BadRequest(*describe_errors(_release(error).errors, skipped=1)).response()


api.add_router("/v1/analytics", "analytics.api.views.router", tags=["Analytics"])
api.add_router("/v1/analytics", "analytics.api.questions.router", tags=["Analytics"])
api.add_router("/v1/analytics", "analytics.api.sources.router", tags=["Analytics"])
api.add_router("/v1/analytics", "analytics.api.gaps.router", tags=["Analytics"])
api.add_router("/v1/analytics", "analytics.api.agents.router", tags=["Analytics"])
api.add_router("/v1/analytics", "analytics.api.costs.router", tags=["Analytics"])
api.add_router("/v1/analytics", "analytics.feedback.api.router", tags=["Analytics"])
api.add_router("/v1/collect", "analytics.api.views.collect_router", tags=["Collecting"])
api.add_router("/discovery/v1/view", "analytics.api.views.view_router", tags=["Collecting"])
api.add_router("/discovery/v1/feedback", "analytics.feedback.api.collect_router", tags=["Collecting"])
for protocol, router in import_string("assistant.asking.api.routers").items():
    api.add_router(f"/discovery/{protocol}/assistant", router, tags=["Assistant"])
api.add_router("/discovery/v1/widget", "assistant.widget.api.router", tags=["Assistant"])
api.add_router("/discovery/v1/support", "assistant.support_requests.api.router", tags=["Assistant"])
api.add_router("/discovery/v1/search", "search.api.router", tags=["Search"])
api.add_router("/discovery/v1/page", "search.api.page_router", tags=["Search"])
api.add_router("/v1/sources", "search.pushes.api.router", tags=["Sources"])

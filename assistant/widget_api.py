"""`/discovery/v1/widget`: what the widget needs to know of its project before anybody asks."""

from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema

from assistant.models import AssistantSettings
from docsite.db import in_db
from docsite.http.schemas import responses
from docsite.projects.gate import own_origin
from docsite.projects.guards import AnyOrigin, BrowserRequest
from docsite.projects.models import Project

router = Router()


class WidgetOn(Schema):
    """To a page that may use the widget."""

    enabled: Literal[True] = True
    starterQuestions: list[str]


class WidgetOff(Schema):
    """To any other page: why it may not, for who builds it."""

    enabled: Literal[False] = False
    reason: str


@router.get(
    "/{domain}",
    auth=AnyOrigin(),
    summary="Get the widget's configuration",
    response=responses(WidgetOn | WidgetOff, bodyless=True),
)
async def widget(request: BrowserRequest, response: HttpResponse, domain: str) -> WidgetOn | WidgetOff:
    """The starter questions for an allowed origin; for any other the reason why the widget cannot be used there."""
    response.headers["Cache-Control"] = "public, max-age=60"  # one for each origin, since the gate adds Vary
    origin = _origin(request)
    if origin != own_origin(request) and origin not in request.auth.origins:
        return WidgetOff(reason=_refusal(request.auth, origin))
    told = await in_db(AssistantSettings.of)(request.auth)
    return WidgetOn(starterQuestions=told.starter_questions)


def _origin(request: HttpRequest) -> str:
    """The page's origin; browsers name none where it is the service's own."""
    return request.headers.get("Origin") or own_origin(request)


def _refusal(project: Project, origin: str) -> str:
    if origin == "null":
        return "The origin of this page is null, as of files and sandboxed frames: serve the page from a host."
    return (
        f"{origin[:200]} is not an allowed origin of the project {project.domain}: "
        "add it to the project's allowed origins in the admin."
    )

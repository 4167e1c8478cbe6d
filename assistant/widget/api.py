"""`/discovery/v1/widget`: the configuration that the widget loads before the first question."""

from typing import Literal

from django.conf import settings
from django.forms import model_to_dict
from django.http import HttpResponse
from ninja import Router, Schema
from pydantic import Field

from assistant.models import AssistantSettings, WidgetSettings
from assistant.widget import starters
from docsite.core.access.api_middleware import own_origin
from docsite.core.access.origins import is_allowed_origin
from docsite.core.access.request_checks import AnyOrigin, BrowserRequest
from docsite.core.db import in_db
from docsite.core.tenants.models import Project

router = Router()

QUOTED = (  # what “About” says of answers where no model is set; the widget's own sentence is about a model
    "They are passages of these docs, quoted word for word. No language model writes them. Check the linked pages "
    "before you rely on one."
)


class Appearance(Schema):
    """The look that is set for the project. The widget has a default for each field that is left out."""

    variant: Literal["widget", "panel", "modal"] | None = None
    theme: Literal["system", "light", "dark"] | None = None
    accent: str | None = Field(None, description="A CSS colour.")
    radius: int | None = Field(None, ge=0, le=32, description="Radius of corners in pixels.")
    font: str | None = Field(None, description="A CSS `font-family`.")
    side: Literal["start", "end", "left", "right"] | None = None
    align: Literal["bottom", "top"] | None = None
    logo: str | None = Field(None, description="Address of an image, or its path on the page's site.")
    zIndex: int | None = None


class WidgetOn(Schema):
    """The answer to a page that may use the widget."""

    enabled: Literal[True] = True
    appearance: Appearance
    labels: dict[str, str] = Field(description="Texts in place of the widget's own, by label name.")
    starterQuestions: list[str]
    support: str | None = Field(None, description="Address of the form for support requests, if readers can send them.")


class WidgetOff(Schema):
    """The answer to any other page: why it may not use the widget, for its developer."""

    enabled: Literal[False] = False
    reason: str


@router.get(
    "/{domain}",
    auth=AnyOrigin(),
    operation_id="getWidgetConfiguration",
    summary="Get the widget's configuration",
    response=WidgetOn | WidgetOff,
    exclude_none=True,
)
async def widget(request: BrowserRequest, response: HttpResponse, domain: str) -> WidgetOn | WidgetOff:
    """The look and labels of the widget; or a reason, if it is switched off or the page's origin is not allowed."""
    response.headers["Cache-Control"] = "public, max-age=60"  # for each origin: the API middleware adds Vary
    origin = request.headers.get("Origin") or own_origin(request)  # browsers do not send that of the service
    if origin != own_origin(request) and not is_allowed_origin(request.auth, origin):
        return WidgetOff(enabled=False, reason=_explain_refusal(request.auth, origin))
    return await in_db(_load_configuration)(request.auth)


def _load_configuration(project: Project) -> WidgetOn | WidgetOff:
    widget, assistant = WidgetSettings.for_project(project), AssistantSettings.for_project(project)
    if not widget.enabled:
        return WidgetOff(enabled=False, reason=f"The widget of the project {project.domain} is switched off.")
    look = {**model_to_dict(widget, Appearance.model_fields), "zIndex": widget.z_index}
    return WidgetOn(
        enabled=True,
        appearance=Appearance.model_validate({name: None if value == "" else value for name, value in look.items()}),
        labels=widget.labels if settings.ENV.openai_base_url else {"aboutAnswersText": QUOTED, **widget.labels},
        starterQuestions=assistant.starter_questions or starters.propose(project),
        support=assistant.support_form_url or None,
    )


def _explain_refusal(project: Project, origin: str) -> str:
    if origin == "null":
        return "The origin of this page is null, as of files and sandboxed frames: serve the page from a host."
    return (
        f"{origin[:100]} is not an allowed origin of the project {project.domain}: "
        "add it to the project's allowed origins in the admin."
    )

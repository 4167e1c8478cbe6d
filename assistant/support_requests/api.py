"""`/discovery/v1/support`: send a question to a person, and count what happens in an owner's own form."""

from django.http import HttpResponse
from ninja import Router

from assistant.support_requests import form_tokens, store
from assistant.support_requests.limits import SUPPORT_IP, SUPPORT_ORG
from assistant.support_requests.schemas import (
    SupportForm,
    SupportFormEvent,
    SupportRequestIn,
    SupportRequestOut,
)
from docsite.core.access.request_checks import AllowedOrigin, AnyOrigin, BrowserRequest
from docsite.core.db import in_db
from docsite.core.tenants.models import Project

router = Router()


@router.get(
    "/{domain}",
    auth=AnyOrigin(),
    operation_id="getSupportForm",
    summary="Begin a support request",
    response=SupportForm,
)
async def get_form(request: BrowserRequest, domain: str) -> SupportForm:
    """A token for the form of a support request; 404 where the owner takes no requests."""
    return await in_db(_begin)(request.auth)


def _begin(project: Project) -> SupportForm:
    store.require_settings(project)
    store.count_form(project, "begun")
    return SupportForm(token=form_tokens.issue(project), waitSeconds=form_tokens.WAIT_SECONDS)


@router.post(
    "/{domain}",
    auth=AllowedOrigin(SupportRequestIn, SUPPORT_IP, SUPPORT_ORG),
    operation_id="sendSupportRequest",
    summary="Send a support request",
    description="It is stored before it is sent to the owner. The same token twice is the same request.",
    response={201: SupportRequestOut},
)
async def send_request(
    request: BrowserRequest, domain: str, payload: SupportRequestIn
) -> tuple[int, SupportRequestOut]:
    """Store a reader's question to a person: 201 with its id once it is committed."""
    return 201, await in_db(_record)(request.auth, payload)


def _record(project: Project, body: SupportRequestIn) -> SupportRequestOut:
    thread = store.find_thread(project, body.fp, body.threadId)
    return SupportRequestOut(id=store.record(project, body, thread).request_id)


@router.post(
    "/{domain}/event",
    auth=AllowedOrigin(SupportFormEvent),
    operation_id="countSupportFormEvent",
    summary="Count what happens in your own support form",
    description="The search tag with `data-deflect` sends these.",
    response={204: None},
)
async def count_event(request: BrowserRequest, domain: str, payload: SupportFormEvent) -> HttpResponse:
    """Count an event of today: 204."""
    await in_db(store.count_form)(request.auth, payload.event)
    return HttpResponse(status=204)

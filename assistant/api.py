"""`POST /discovery/v1/assistant/{domain}/message`."""

from django.http import StreamingHttpResponse
from ninja import Router

from assistant import doors
from assistant.models import Message
from assistant.schemas import Ask
from assistant.wire import v1
from docsite.http.schemas import responses
from docsite.http.streams import streamed
from docsite.projects.guards import AssistantKey, CallerRequest, assistant_charges

router = Router()

_STREAM = {
    "responses": {
        200: {
            "description": "AI SDK v4 data stream. `X-Thread-Id` names the conversation.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        }
    }
}


@router.post(
    "/{domain}/message",
    auth=AssistantKey(assistant_charges),
    summary="Ask a question, stream the answer",
    deprecated=True,
    response={status: schema for status, schema in responses(None).items() if status != 200},
    openapi_extra=_STREAM,
)
async def message_v1(request: CallerRequest, domain: str, payload: Ask) -> StreamingHttpResponse:
    """Answer a question from the documentation as an AI SDK v4 data stream."""
    caller = Message.Caller.WEB if request.headers.get("Origin") else Message.Caller.API
    conversation, events = await doors.ask(request.auth.project, payload, caller)
    return streamed(v1.encode(events), {**v1.HEADERS, "X-Thread-Id": conversation.thread_id})

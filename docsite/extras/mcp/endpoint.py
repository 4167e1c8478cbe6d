"""`POST /mcp/{domain}`: JSON-RPC over HTTP. Each request is answered as JSON, and no session is kept."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from docsite.core.access.api_middleware import own_origin
from docsite.core.access.readers import set_reader_groups
from docsite.core.context import limit_database_time
from docsite.core.db import REQUESTS, in_db
from docsite.core.http import body, cpu_time
from docsite.core.http.client_address import client_ip, network_of, reader_ip
from docsite.core.http.errors import BadRequest
from docsite.extras.mcp import access, agents, protocol, server
from docsite.extras.mcp.json_rpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Call,
    RpcError,
    build_error,
    build_result,
    find_id,
    parse_call,
)
from docsite.extras.mcp.tools.tool import ToolContext

MAX_BATCH = 20
# HTTP statuses of errors in the versions without a handshake. In older versions, an error has the status 200.
STATUSES = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}


@require_POST
async def endpoint(request: HttpRequest, domain: str) -> HttpResponse:
    """Answer a message, or a batch of them. Notifications get 202. Raises `ApiError` before the body is read."""
    cpu_time.measure(network_of(client_ip(request)))
    caller, usages = await in_db(access.admit)(request, domain)
    set_reader_groups(caller.groups)
    request.usages = usages  # type: ignore[attr-defined]  # the middleware makes headers of them
    context = ToolContext(caller, reader_ip(request), "", own_origin(request), usages)
    try:
        message = await _read_message(request)
    except RpcError as error:
        return JsonResponse(build_error(None, error), status=400)
    return await _answer_message(request, context, message)


async def _read_message(request: HttpRequest) -> Any:
    """The JSON in the body. Raises `RpcError` if it is broken, `ApiError` if it is too large or of another type."""
    raw = body.read_bytes(request, body.BROWSER_LIMIT, {"application/json"})
    try:
        if len(raw) <= body.SMALL_BODY:
            return body.parse_value(raw)
        return await body.parse_large(lambda: body.parse_value(raw))
    except BadRequest as wrong:
        raise RpcError(PARSE_ERROR, f"{wrong.details[0]}.") from None


async def _answer_message(request: HttpRequest, context: ToolContext, message: Any) -> HttpResponse:
    try:
        is_first = isinstance(message, dict) and message.get("method") == "initialize"
        version = protocol.ASSUMED_VERSION if is_first else protocol.parse_version(request.headers)
        if isinstance(message, list):
            return await _answer_batch(request, context, message, version)
        call = parse_call(message)
    except RpcError as error:
        return JsonResponse(build_error(find_id(message), error), status=400)
    if call is None or call.id is None:
        return HttpResponse(status=202)
    is_stateless = version in protocol.STATELESS_VERSIONS
    try:
        if is_stateless:
            protocol.check_envelope(call, request.headers)
        result = await _answer(request, context, call, version)
    except RpcError as error:
        return JsonResponse(build_error(call.id, error), status=STATUSES.get(error.code, 200) if is_stateless else 200)
    response = JsonResponse(build_result(call.id, result))
    if call.method == "initialize" and (client := agents.name_client(call.params.get("clientInfo"))):
        response[agents.SESSION_HEADER] = agents.issue_session(client)
    return response


async def _answer_batch(request: HttpRequest, context: ToolContext, messages: list[Any], version: str) -> HttpResponse:
    """Answer the messages one after the other. Only one version of the protocol has batches."""
    if version != protocol.BATCH_VERSION:
        raise RpcError(INVALID_REQUEST, f"Only version {protocol.BATCH_VERSION} takes more than one message at once.")
    if not 0 < len(messages) <= MAX_BATCH:
        raise RpcError(INVALID_REQUEST, f"Send 1 to {MAX_BATCH} messages at once.")
    responses = []
    for message in messages:
        try:
            call = parse_call(message)
            if call and call.id is not None:
                if call.method == "initialize":
                    raise RpcError(INVALID_REQUEST, "Send initialize alone.")
                responses.append(build_result(call.id, await _answer(request, context, call, version)))
        except RpcError as error:
            responses.append(build_error(find_id(message), error))
    return JsonResponse(responses, safe=False) if responses else HttpResponse(status=202)


async def _answer(request: HttpRequest, context: ToolContext, call: Call, version: str) -> dict[str, Any]:
    context.user_agent = agents.find_user_agent(request, call.meta)
    with limit_database_time(REQUESTS.seconds):  # anew: a batch may ask several questions
        return await server.answer(context, call, version)

"""The methods of the server: from a call to its result."""

from typing import Any

from docsite.core.access.authentication import Caller
from docsite.core.access.readers import PUBLIC
from docsite.core.db import in_db
from docsite.core.http.errors import NotFound
from docsite.extras.mcp import protocol, resources
from docsite.extras.mcp.discovery import SERVER_VERSION
from docsite.extras.mcp.json_rpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    Call,
    RpcError,
)
from docsite.extras.mcp.models import McpSettings, get_access
from docsite.extras.mcp.tools import read_page, registry
from docsite.extras.mcp.tools.tool import ToolContext
from search.limits import search_charges

CACHE_MS = {  # how long clients may keep a result
    "server/discover": 300_000,
    "tools/list": 300_000,
    "resources/list": 60_000,
    "resources/templates/list": 300_000,
    "resources/read": 60_000,
}
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}}


async def answer(context: ToolContext, call: Call, version: str) -> dict[str, Any]:
    """The result of a request in a version of the protocol. Raises `RpcError`, or `ApiError` at a limit."""
    result = await _respond(context, call, version)
    if version not in protocol.STATELESS_VERSIONS:
        return result
    result = {"resultType": "complete", **result, "_meta": {protocol.SERVER_KEY: describe_server(context.caller)}}
    if call.method in CACHE_MS:
        is_open = get_access(context.caller.project) == McpSettings.Access.OPEN and context.caller.groups == PUBLIC
        result |= {"ttlMs": CACHE_MS[call.method], "cacheScope": "public" if is_open else "private"}
    return result


async def _respond(context: ToolContext, call: Call, version: str) -> dict[str, Any]:
    project, params = context.caller.project, call.params
    match call.method:
        case "initialize":
            return {
                "protocolVersion": protocol.choose_version(params.get("protocolVersion")),
                "capabilities": CAPABILITIES,
                "serverInfo": describe_server(context.caller),
                "instructions": write_instructions(context.caller),
            }
        case "server/discover":
            return {
                "supportedVersions": list(protocol.VERSIONS),
                "capabilities": CAPABILITIES,
                "instructions": write_instructions(context.caller),
            }
        case "ping":
            return {}
        case "tools/list":
            return registry.list_tools()
        case "tools/call":
            return await registry.call_tool(context, params.get("name"), params.get("arguments") or {})
        case "resources/list":
            await context.spend(search_charges(context.caller))
            return await in_db(resources.list_resources)(project, params.get("cursor"))
        case "resources/templates/list":
            return resources.list_templates(project)
        case "resources/read":
            return await _read_resource(context, params.get("uri"), version)
    raise RpcError(METHOD_NOT_FOUND, f"There is no method {call.method[:100]}.")


async def _read_resource(context: ToolContext, uri: Any, version: str) -> dict[str, Any]:
    path = resources.parse_uri(context.caller.project, uri)
    try:
        if path is None:
            raise NotFound("There is no such resource.")
        page = await read_page.read(context, path)
    except NotFound:
        code = INVALID_PARAMS if version in protocol.STATELESS_VERSIONS else RESOURCE_NOT_FOUND
        raise RpcError(code, "uri: there is no such page.", {"uri": str(uri)[:100]}) from None
    return {"contents": [{"uri": uri, "mimeType": resources.MARKDOWN, "text": page.content}]}


def describe_server(caller: Caller) -> dict[str, str]:
    """The name of the server and of its site."""
    project = caller.project
    return {
        "name": f"{project.domain}-docs",
        "title": project.name,
        "version": SERVER_VERSION,
        "websiteUrl": project.docs_url,
    }


def write_instructions(caller: Caller) -> str:
    """What a model should know before it calls a tool."""
    project = caller.project
    return (
        f"The documentation “{project.name}”, published at {project.docs_url}. Use it for every task that involves "
        "what it describes, rather than what you remember: it is current. Look names, settings and errors up with "
        "search_docs, read whole pages with read_page, and ask questions of how and why with ask_docs. Link to the "
        "public URLs that these tools return. If a page is wrong or something is missing, say so with give_feedback."
    )

"""The tools by name, and how a call is checked and answered."""

import contextlib
import json
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from docsite.core.http.errors import ApiError
from docsite.core.http.schemas import describe_errors
from docsite.extras.mcp.json_rpc import INVALID_PARAMS, RpcError
from docsite.extras.mcp.tools import ask_docs, give_feedback, read_page, search_docs
from docsite.extras.mcp.tools.tool import Tool, ToolContext

TOOLS: dict[str, Tool] = {module.TOOL.name: module.TOOL for module in (search_docs, read_page, ask_docs, give_feedback)}


def list_tools() -> dict[str, Any]:
    """All tools."""
    return {"tools": [tool.describe() for tool in TOOLS.values()]}


async def call_tool(context: ToolContext, name: Any, arguments: Any) -> dict[str, Any]:
    """The result of a tool. A call that fails has a sentence, which the model can act upon.

    Raises `RpcError` for a tool that does not exist, and for arguments that are no object.
    """
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(INVALID_PARAMS, f"There is no such tool. The tools are {', '.join(TOOLS)}.")
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments: must be an object.")
    try:
        valid = tool.arguments.model_validate(_convert(tool.arguments, arguments))
    except ValidationError as wrong:
        details = describe_errors(wrong.errors(include_url=False))
        return _build_error(f"The arguments of {name} are not valid.", details)
    try:
        output = await tool.call(context, valid)
    except ApiError as error:
        return _build_error(error.sentence, error.details)
    return {
        "content": [{"type": "text", "text": output.text}],
        "structuredContent": output.data.model_dump(),
        "isError": False,
    }


def _convert(schema: type[BaseModel], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with the types of a schema, where models write `"3"` or `"true"`, and without optional nulls."""
    converted = {}
    for name, value in arguments.items():
        field = schema.model_fields.get(name)
        if field and value is None and not field.is_required():
            continue
        if field and isinstance(value, str) and not issubclass(_type_of(field), str):
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(value.strip().lower())
        converted[name] = value
    return converted


def _type_of(field: FieldInfo) -> type:
    return field.annotation if isinstance(field.annotation, type) else str


def _build_error(sentence: str, details: Any) -> dict[str, Any]:
    text = "\n".join([sentence, *(f"- {detail}" for detail in details)])
    return {"content": [{"type": "text", "text": text}], "isError": True}

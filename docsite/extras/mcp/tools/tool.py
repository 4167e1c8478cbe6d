"""What a tool is, what it gets, and what it returns."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from docsite.core.access.authentication import Caller
from docsite.core.db import in_db
from docsite.core.http import ratelimit
from docsite.core.http.client_address import Address
from docsite.core.http.ratelimit import LimitCharge, Usage


@dataclass
class ToolContext:
    """One HTTP request of an agent. `user_agent` is the one that analytics stores; `usages` become headers.

    `reader` is the agent's address, if it can be read.
    """

    caller: Caller
    reader: Address | None
    user_agent: str
    origin: str
    usages: list[Usage] = field(default_factory=list)

    async def spend(self, charges: list[LimitCharge]) -> None:
        """Count a call against limits, as the HTTP API does. Raises `TooMany`."""
        usages = await in_db(ratelimit.spend)(*charges)
        latest = {usage.limit.name: usage for usage in [*self.usages, *usages]}
        self.usages[:] = latest.values()  # the calls of a batch share limits
        if seconds := ratelimit.compute_delay(usages):
            await asyncio.sleep(seconds)


@dataclass(frozen=True)
class Output:
    """The result of a call: Markdown for the model, and the same as data."""

    text: str
    data: BaseModel


@dataclass(frozen=True)
class Tool:
    """A tool. `arguments` and `result` are the schemas that agents see; `call` gets valid arguments."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    call: Callable[[ToolContext, Any], Awaitable[Output]]
    reads_only: bool = True

    def describe(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": _schema(self.arguments),
            "outputSchema": _schema(self.result),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.reads_only,
                "destructiveHint": False,
                "idempotentHint": self.reads_only,
                "openWorldHint": False,
            },
        }


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a model without the titles and docstrings that pydantic adds."""
    schema: dict[str, Any] = _drop_titles(model.model_json_schema())
    schema.pop("description", None)
    return schema


def _drop_titles(value: Any) -> Any:
    if isinstance(value, list):
        return [_drop_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _drop_titles(item) for key, item in value.items() if key != "title" or not isinstance(item, str)}

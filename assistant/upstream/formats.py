"""The wire formats of model servers, by the name that `Model.format` has."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, Protocol

from assistant.upstream import FormatItem, Model, openai


class Format(Protocol):
    """One wire format. A module with these functions is one."""

    def stream(
        self,
        model: Model,
        messages: Iterable[dict[str, Any]],
        *,
        max_tokens: int,
        connect_seconds: float,
        tools: Sequence[dict[str, Any]] = (),
    ) -> AsyncGenerator[FormatItem, None]:
        """Yield what the model writes as it arrives. `messages` are OpenAI's; `tools` are JSON schemas.

        Raises `UpstreamError`, and only that, for whatever the server does.
        Closing the iterator closes the request.
        """

    def refused_parameters(self, model: Model) -> frozenset[str]:
        """The parameters that requests to a model leave out, because it refused them before."""

    async def close(self) -> None:
        """Close this event loop's connections, since the process ends."""


FORMATS: dict[str, Format] = {
    "openai": openai,
}


async def close() -> None:
    """Close this event loop's connections to model servers."""
    for format in FORMATS.values():
        await format.close()

"""Find models on this machine: what Ollama, LM Studio, llama.cpp and vLLM serve on their usual ports.

Only loopback is asked, and only for lists of models. Whether a model chats is seen from its name and from what its
server says of it; whoever uses one must try it.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

SECONDS = 0.5  # for all servers together
MAX_BYTES = 1024 * 1024  # of a list
MAX_NAME = 200  # characters
# Models that make vectors, judge passages, or hear and speak; and those that Ollama passes on to another machine.
_DOES_NOT_CHAT = re.compile(
    r"embed|rerank|minilm|whisper|paraphrase|(?:^|[/_-])(?:bge|e5|gte|tts)(?:[/_:.-]|$)|[:-]cloud$", re.IGNORECASE
)


@dataclass(frozen=True)
class Server:
    """A program that serves models. `details` is the path of a list that says more than `/v1/models`."""

    name: str
    port: int
    details: str = ""


SERVERS = (
    Server("Ollama", 11434, "/api/tags"),
    Server("LM Studio", 1234, "/api/v0/models"),
    Server("llama.cpp", 8080),
    Server("vLLM", 8000),
)


@dataclass(frozen=True)
class LocalModel:
    """A model on this machine. `server` is the program that usually has its port."""

    name: str
    base_url: str
    server: str


def find_models(own_port: int, servers: Sequence[Server] = SERVERS) -> list[LocalModel]:
    """The models that can probably chat, in the order of the servers. Of one server, models in memory come first.

    Nothing is sent to `own_port`. What is no model server, or does not answer within `SECONDS`, has none.
    """
    return asyncio.run(_ask_all([server for server in servers if server.port != own_port]))


async def _ask_all(servers: Sequence[Server]) -> list[LocalModel]:
    async with httpx.AsyncClient(trust_env=False, timeout=SECONDS) as client:
        tasks = [asyncio.create_task(_ask(client, server)) for server in servers]
        if tasks:
            await asyncio.wait(tasks, timeout=SECONDS)
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
    return [model for models in found if isinstance(models, list) for model in models]


async def _ask(client: httpx.AsyncClient, server: Server) -> list[LocalModel]:
    """The models of one server."""
    address = f"http://127.0.0.1:{server.port}"
    listing, details = await asyncio.gather(
        _fetch(client, f"{address}/v1/models"), _fetch(client, f"{address}{server.details}" if server.details else "")
    )
    facts = dict(_list_items(details))
    known = [(name, facts.get(name, {})) for name, _ in _list_items(listing)]
    chatting = [(name, item) for name, item in known if _chats(name, item)]
    chatting.sort(key=lambda model: model[1].get("state") == "not-loaded")
    return [LocalModel(name, f"{address}/v1", server.name) for name, _ in chatting]


async def _fetch(client: httpx.AsyncClient, address: str) -> Any:
    """The JSON at an address; None if there is none, or if the address is empty."""
    if not address:
        return None
    try:
        async with client.stream("GET", address) as response:
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_BYTES:
                    return None
        return json.loads(body) if response.status_code == 200 else None
    except (httpx.HTTPError, ValueError, RecursionError):
        return None


def _list_items(listing: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The models of a list with their names: `data` with `id`, or as Ollama has it, `models` with `name`."""
    fields = listing if isinstance(listing, dict) else {}
    items = fields.get("data") or fields.get("models")
    for item in items if isinstance(items, list) else ():
        name = (item.get("id") or item.get("name")) if isinstance(item, dict) else None
        if isinstance(name, str) and len(name) <= MAX_NAME and name.isprintable():
            yield name, item


def _chats(name: str, item: dict[str, Any]) -> bool:
    """Whether a model seems to chat on this machine. `item` is what its server says of it; may be empty."""
    details = item.get("details")
    family = str(details.get("family", "")) if isinstance(details, dict) else ""
    abilities = item.get("capabilities")
    if "type" in item:  # of LM Studio, whose capabilities do not name completion
        completes = item["type"] in ("llm", "vlm")
    else:
        completes = not (isinstance(abilities, list) and abilities) or "completion" in abilities
    return completes and not (_DOES_NOT_CHAT.search(name) or "bert" in family or item.get("remote_host"))

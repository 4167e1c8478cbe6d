"""The least a relay in Python can do: Starlette, uvicorn and httpx, passing bytes through unread."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

client: httpx.AsyncClient


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """One client for the process."""
    global client
    limits = httpx.Limits(max_connections=2_000, max_keepalive_connections=20)
    async with httpx.AsyncClient(timeout=httpx.Timeout(120, pool=5), limits=limits, trust_env=False) as client:
        yield


async def relay(request: Request) -> StreamingResponse:
    """Forward one request and stream what comes back."""
    body = await request.json()

    async def pieces() -> AsyncIterator[bytes]:
        async with client.stream("POST", f"{os.environ['OPENAI_BASE_URL']}/chat/completions", json=body) as answer:
            async for piece in answer.aiter_bytes():
                yield piece

    return StreamingResponse(pieces(), media_type="text/event-stream")


app = Starlette(routes=[Route("/v1/chat/completions", relay, methods=["POST"])], lifespan=lifespan)

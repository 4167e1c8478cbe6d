"""Answers `/health/live`, `/health/ready` and `/metrics` to machines, whatever host name they use."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

from docsite.core.http.open_sockets import header
from docsite.server.health import readiness, reflection
from docsite.server.metrics import endpoint

PATHS = ("/health/live", "/health/ready", "/metrics")


def answers(path: str) -> bool:
    """Whether `respond` is for this path. `/metrics` exists only with `METRICS_TOKEN`."""
    return path in PATHS and (path != "/metrics" or bool(settings.ENV.metrics_token))


async def application(
    scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """An ASGI application for a process that answers nothing else."""
    if scope["type"] == "http":
        await respond(scope, send)
    else:
        await receive()
        await send({"type": "websocket.close"})


async def respond(scope: dict[str, Any], send: Callable[[Any], Awaitable[None]]) -> None:
    """Respond to a request. `/health/ready` is 503 with a reason for each thing that fails."""
    status, body, extra = 200, "", [(b"Content-Type", b"application/json")]
    if not answers(scope["path"]):
        status, body = 404, json.dumps({"error": "There is nothing at this path."})
    elif scope["method"] not in ("GET", "HEAD"):
        status, body = 405, json.dumps({"error": "This path takes GET, HEAD."})
        extra.append((b"Allow", b"GET, HEAD"))
    elif scope["path"] == "/health/live":
        body = json.dumps({"status": "ok", **reflection.describe(scope)})
    elif scope["path"] == "/health/ready":
        checks = await readiness.check()
        is_ready = set(checks.values()) == {"ok"}
        status = 200 if is_ready else 503
        body = json.dumps({"status": "ready" if is_ready else "not ready", **checks})
    elif endpoint.is_allowed(header(scope, b"authorization")):
        body, extra = await endpoint.build(), [(b"Content-Type", endpoint.CONTENT_TYPE)]
    else:
        status, body = 401, json.dumps({"error": "Send the METRICS_TOKEN: Authorization: Bearer …"})
        extra.append((b"WWW-Authenticate", b"Bearer"))
    content = body.encode()
    headers = [
        *extra,
        (b"Content-Length", str(len(content)).encode()),
        (b"Cache-Control", b"no-store"),
        (b"X-Content-Type-Options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})

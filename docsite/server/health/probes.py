"""Answers `/health/live` and `/health/ready` to load balancers and orchestrators, whatever host name they use."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from docsite.server.health import readiness

PATHS = ("/health/live", "/health/ready")


async def respond(scope: dict[str, Any], send: Callable[[Any], Awaitable[None]]) -> None:
    """Respond to a request for one of `PATHS`: 200, or 503 with a reason for each thing that does not work."""
    status, body, extra = 200, {"status": "ok"}, []
    if scope["method"] not in ("GET", "HEAD"):
        status, body, extra = 405, {"error": "This path takes GET, HEAD."}, [(b"Allow", b"GET, HEAD")]
    elif scope["path"] == "/health/ready":
        checks = await readiness.check()
        is_ready = set(checks.values()) == {"ok"}
        status, body = (200 if is_ready else 503), {"status": "ready" if is_ready else "not ready", **checks}
    content = json.dumps(body).encode()
    headers = [
        (b"Content-Type", b"application/json"),
        (b"Content-Length", str(len(content)).encode()),
        (b"Cache-Control", b"no-store"),
        (b"X-Content-Type-Options", b"nosniff"),
        *extra,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})

"""Answers `/metrics`."""

import asyncio
import secrets
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError

from analytics.collecting.view_log.connection import LogUnavailableError
from docsite.core.db import HEALTH, in_db
from docsite.server.metrics import facts, requests
from docsite.server.metrics.exposition import render

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


def is_allowed(authorization: str) -> bool:
    """Whether a request has the token, in constant time."""
    return secrets.compare_digest(authorization.encode(), f"Bearer {settings.ENV.metrics_token}".encode())


async def build() -> str:
    """The metrics. Those of the database, or of the view log, are missing while it does not answer."""
    metrics = [*requests.collect(), *await asyncio.to_thread(facts.collect_process)]
    with suppress(DatabaseError, TimeoutError):  # docs_store_up says so
        metrics += await asyncio.wait_for(in_db(facts.collect_stored, HEALTH)(), facts.DATABASE_SECONDS)
    with suppress(LogUnavailableError, TimeoutError):
        metrics += await asyncio.wait_for(asyncio.to_thread(facts.collect_view_log), facts.VIEW_LOG_SECONDS)
    return render(metrics)

"""Answers `/metrics`."""

import asyncio
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError

from docsite.core import components
from docsite.core.components.metrics import Metric
from docsite.core.context import limit_database_time
from docsite.core.db import HEALTH, in_db
from docsite.server.metrics import requests

STORE_SECONDS = 2.0
CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


def is_allowed(authorization: str) -> bool:
    """Whether a request has the token, in constant time."""
    return secrets.compare_digest(authorization.encode(), f"Bearer {settings.ENV.metrics_token}".encode())


async def build() -> str:
    """The metrics. Those of a store are missing while it does not answer: `docs_store_up` says so."""
    metrics = [*requests.collect(), *await asyncio.to_thread(_collect_process)]
    for component in components.load():
        if component.stored_metrics:
            with suppress(DatabaseError, TimeoutError):
                collected = in_db(_collect_stored, HEALTH)(component.stored_metrics)
                metrics += await asyncio.wait_for(collected, STORE_SECONDS)
    return render(_merge(metrics))


def _merge(metrics: Iterable[Metric]) -> Iterable[Metric]:
    """Each name once, with the values of all components that report it: the format has one block for a name."""
    merged: dict[str, Metric] = {}
    for metric in metrics:
        if metric.name in merged:
            merged[metric.name].values += metric.values
        else:
            merged[metric.name] = metric
    return merged.values()


def _collect_process() -> list[Metric]:
    return [metric for component in components.load() if component.metrics for metric in component.metrics()]


def _collect_stored(measure: Callable[[], Iterable[Metric]]) -> list[Metric]:
    with limit_database_time(STORE_SECONDS):
        return list(measure())


def render(metrics: Iterable[Metric]) -> str:
    """The lines of metrics (https://prometheus.io/docs/instrumenting/exposition_formats/)."""
    lines: list[str] = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        for suffix, labels, value in metric.values:
            inside = ",".join(f'{name}="{_escape(text)}"' for name, text in labels)
            lines.append(f"{metric.name}{suffix}{f'{{{inside}}}' if inside else ''} {value:.17g}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

"""A span for each request and answer, sent over OTLP if a variable of `VARIABLES` is set.

The SDK reads its other variables itself, such as those of the sampler.
"""

import logging
import os
import time

from docsite.core import context, request_times

logger = logging.getLogger(__name__)

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PACKAGES = "'opentelemetry-sdk~=1.45' 'opentelemetry-exporter-otlp-proto-http~=1.45'"


def start() -> None:
    """Send spans from now on, if an endpoint is set."""
    if not any(os.environ.get(name) for name in VARIABLES):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        logger.warning("An OTLP endpoint is set, but packages of OpenTelemetry are missing: pip install %s", PACKAGES)
        return
    os.environ.setdefault("OTEL_SERVICE_NAME", "docs-service")
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("docsite")

    def record(subject: str, detail: str, seconds: float, times: request_times.Times) -> None:
        end = time.time_ns()
        attributes: dict[str, str | float] = {f"docs.{part}_seconds": spent for part, spent in times.items()}
        attributes |= {"docs.detail": detail, "docs.request_id": context.request_id.get()}
        span = tracer.start_span(subject, start_time=end - int(seconds * 1e9), attributes=attributes)
        span.end(end)

    request_times.observers.append(record)

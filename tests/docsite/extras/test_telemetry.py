"""A collector of OpenTelemetry gets spans and Sentry gets errors, and neither gets anything of readers."""

import gzip
import json
import logging
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from tests.conftest import PATIENCE, question

pytestmark = pytest.mark.slow

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
pytest.importorskip("sentry_sdk")

QUESTION = "Where did Xanthippe hide the zucchini"
ADDRESS = "198.51.100.77"
FP = "fingerprint-of-xanthippe"


class Receiver(BaseHTTPRequestHandler):
    """Keeps the bodies of all requests, by path."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        elif self.headers.get("Content-Encoding") == "deflate":
            body = zlib.decompress(body)
        self.server.bodies.setdefault(self.path, []).append(body)
        self.server.has_arrived.set()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"")

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    server.bodies, server.has_arrived = {}, threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def broken(*arguments: str) -> None:
    """A service in which searches fail, with the reader's text in the exception."""
    import django

    django.setup()
    from search.retrieval import page_search
    from tests.processes import manage

    def fail(*values: object, **named: object) -> None:
        raise ValueError(f"cannot find {values!r} {named!r} for {FP} at {ADDRESS}\nas {QUESTION}")

    page_search.find = fail
    manage(*arguments)


def test_spans_and_errors_arrive_without_anything_of_readers(start, project, receiver) -> None:
    url = f"http://127.0.0.1:{receiver.server_port}"
    service = start.fresh(
        broken,
        TRUSTED_PROXIES="127.0.0.1",
        OTEL_EXPORTER_OTLP_ENDPOINT=url,
        OTEL_BSP_SCHEDULE_DELAY="100",
        SENTRY_DSN=f"http://public@127.0.0.1:{receiver.server_port}/1",
    )
    headers = {**project.assistant, "X-Forwarded-For": ADDRESS, "User-Agent": f"Browser of {FP}"}
    with httpx.Client(timeout=PATIENCE, trust_env=False, headers=headers) as http:
        search = http.post(f"{service.url}/v1/search/{project.domain}", json={"query": QUESTION})
        assert search.status_code == 500
        ask = http.post(f"{service.url}/v2/assistant/{project.domain}/message", json=question(QUESTION, fp=FP))
        assert ask.status_code == 200
    traces, events = wait_for(receiver, "/v1/traces", b"first words"), wait_for(receiver, "/api/1/envelope/", b"")
    spans = b"".join(traces)
    assert b"search" in spans
    assert b"docs.database_seconds" in spans
    assert search.headers["X-Request-Id"].encode() in spans
    (event,) = [json.loads(body.splitlines()[-1]) for body in events]
    assert event["tags"] == {"request": search.headers["X-Request-Id"]}
    assert [value["type"] for value in event["exception"]["values"]] == ["ValueError"]
    everything = b"".join(body for bodies in receiver.bodies.values() for body in bodies)
    for secret in (QUESTION, "Xanthippe", FP, ADDRESS, project.assistant["Authorization"].split()[1], project.domain):
        assert secret.encode() not in everything, secret


def wait_for(receiver: HTTPServer, path: str, part: bytes) -> list[bytes]:
    """The bodies at a path, as soon as one of them has the part."""
    while not any(part in body for body in receiver.bodies.get(path, [])):
        assert receiver.has_arrived.wait(PATIENCE), receiver.bodies
        receiver.has_arrived.clear()
    return list(receiver.bodies[path])


def test_an_error_that_cannot_be_sent_disturbs_nobody(monkeypatch, caplog, capfd) -> None:
    import sentry_sdk

    from docsite.extras.telemetry import error_reports

    def fail(*arguments: object) -> None:
        raise RuntimeError(f"cannot send {QUESTION}")

    monkeypatch.setattr(sentry_sdk, "capture_event", fail)
    error_reports._Handler().handle(logging.makeLogRecord({"msg": "It broke.", "levelno": logging.ERROR}))
    assert "not sent to Sentry: RuntimeError" in caplog.text
    assert "Xanthippe" not in caplog.text + capfd.readouterr().err


def test_errors_that_wait_are_sent_at_the_end(monkeypatch) -> None:
    import sentry_sdk

    from docsite.extras.telemetry import error_reports

    calls: list[float] = []
    monkeypatch.setattr(sentry_sdk, "flush", calls.append)
    error_reports.stop()
    assert calls == [], "nothing is configured"
    monkeypatch.setenv("SENTRY_DSN", "http://public@127.0.0.1:1/1")
    error_reports.stop()
    assert calls == [2.0]


def test_a_missing_package_is_named(monkeypatch, caplog) -> None:
    from docsite.extras.telemetry import error_reports, traces

    for name in ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "sentry_sdk"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("SENTRY_DSN", "http://public@127.0.0.1:1/1")
    traces.start()
    error_reports.start()
    assert "opentelemetry-sdk~=1.45" in caplog.text
    assert "sentry-sdk~=2.70" in caplog.text

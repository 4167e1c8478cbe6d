"""A process without file descriptors answers 503 in the one shape, and is well again when there are some."""

import http.client
import json
import resource
import socket
from urllib.parse import urlsplit

import pytest
from django.core.checks import run_checks

from docsite.server.health import descriptors
from tests.conftest import wait_for
from tests.processes import manage

LIMIT = 90  # so many that the service starts


def with_few_descriptors(*arguments: str) -> None:
    """A service that may open few files."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
    manage(*arguments)


@pytest.mark.matrix
def test_without_descriptors_api_paths_answer_503(start, project):
    service = start.fresh(with_few_descriptors)
    address = urlsplit(service.url)
    openings = [http.client.HTTPConnection(address.hostname, address.port, timeout=30) for _ in range(6)]
    for connection in openings:
        connection.connect()
    others = [socket.create_connection((address.hostname, address.port)) for _ in range(LIMIT)]
    path = f"/v1/search/{project.domain}"
    headers = {**project.assistant, "Content-Type": "application/json"}
    statuses = set()
    for connection in openings:
        connection.request("POST", path, json.dumps({"query": "install"}), headers)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        statuses.add(answer.status)
        assert answer.status == 200 or body["error"], body
        connection.close()
    assert statuses == {503}
    for other in others:
        other.close()

    def is_well() -> bool:
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        try:
            connection.request("POST", path, json.dumps({"query": "install"}), headers)
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    wait_for(is_well, "descriptors")
    log = service.log.read_text()
    assert log.count("Traceback") <= 1, log
    assert "may open only 90 files" in log


def test_few_descriptors_are_a_warning_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "raise_limit", lambda: 1_024)
    (warning,) = [message for message in run_checks() if message.id == "docsite.W003"]
    assert "1024" in warning.msg
    assert "LimitNOFILE" in warning.hint

"""Requests that arrive slowly, are too large or are no HTTP: each is answered or closed, and soon."""

import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from unittest.mock import Mock

import pytest

from docsite.server.connection import Request
from tests.conftest import PATIENCE, assert_error
from tests.processes import constants
from tests.variants import first_of

pytestmark = pytest.mark.slow

POST = b"POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
UPGRADE = (
    b"Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
LIMIT = 2 * 1024 * 1024


@pytest.fixture
def hasty(start, django_db_setup):
    return start(
        **constants(
            {"docsite.server.connection.REQUEST_SECONDS": 3, "docsite.server.connection.REQUEST_PAUSE_SECONDS": 1}
        )
    )


def connect(service) -> socket.socket:
    host, port = service.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def read_all(raw: socket.socket) -> bytes:
    """What the server sends until it closes the connection."""
    received = b""
    while chunk := raw.recv(65536):
        received += chunk
    return received


def status_of(response: bytes) -> int:
    head, _, body = response.partition(b"\r\n\r\n")
    if body:
        assert json.loads(body)["error"].endswith(".")
        assert b"nosniff" in head
        assert b"no-store" in head
    return int(head.split(b" ")[1])


def send(service, data: bytes) -> bytes:
    with connect(service) as raw:
        raw.sendall(data)
        return read_all(raw)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (POST + b"Content-Length: 99999999999999999999\r\n\r\n{", 404),
        (POST + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n", 404),
        (POST + b"Content-Length: -1\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{", 404),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 5_000, 400),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        (b"GET /" + b"a" * 20_000, 414),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 9_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 600, 431),
        (b"nonsense\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400),
        (b"GET /?\xff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
    ],
)
def test_nonsense_is_answered_at_once_and_the_connection_is_closed(service, data, status):
    response = send(service, data)
    assert status_of(response) == status
    assert re.search(rb"\r\nx-request-id: [0-9a-f]{16}\r\n", response, re.IGNORECASE)


@pytest.mark.parametrize(
    "data",
    first_of(
        [
            b"G",
            b"GET / HTTP/1.1\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\n",
            POST + b"Content-Length: 100\r\n\r\n",
            POST + b"Content-Length: 100\r\n\r\n" + b"x" * 50,
            POST + b"Transfer-Encoding: chunked\r\n\r\n",
            POST + b"Transfer-Encoding: chunked\r\n\r\nff\r\nhalf",
        ],
        1,
    ),
)
def test_half_a_request_is_answered_after_a_pause(hasty, data):
    assert status_of(send(hasty, data)) == 408


@pytest.mark.matrix
def test_a_connection_without_a_byte_is_closed_after_a_pause(hasty):
    began = time.monotonic()
    assert send(hasty, b"") == b""
    assert time.monotonic() - began < 30  # Twisted would wait for a minute


def test_a_connection_stays_open_between_two_requests(hasty):
    with connect(hasty) as raw:
        for _ in range(2):
            raw.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = b""
            while b'"ok"}' not in received:  # head and body may come apart
                received += (part := raw.recv(65536))
                assert part, received
            assert received.startswith(b"HTTP/1.1 200")
            time.sleep(1.5)  # longer than a request may pause


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("start_of_request", "repeated", "least"),
    first_of(
        [
            (b"GET / HTTP/1.1\r\n", b"X: a\r\n", 0.5),
            (POST + b"Content-Length: 1000\r\n\r\n", b"x", 2),
            (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 2),
        ],
        1,
    ),
)
def test_a_request_that_drips_is_ended(hasty, start_of_request, repeated, least):
    began = time.monotonic()
    with connect(hasty) as raw:
        raw.sendall(start_of_request)
        raw.settimeout(0.2)
        received = b""
        while time.monotonic() < began + PATIENCE:
            try:
                received = raw.recv(65536)
                break
            except TimeoutError:
                raw.sendall(repeated)
        assert status_of(received) == 408
        assert time.monotonic() - began > least


@pytest.mark.matrix
def test_an_idle_connection_is_not_ended_between_two_requests(hasty):
    connection = HTTPConnection(hasty.url.removeprefix("http://"), timeout=PATIENCE)
    for _ in range(2):
        connection.request("GET", "/health")
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b'{"status": "ok"}')
        open_socket = connection.sock
        time.sleep(1.5)  # longer than a pause
    assert connection.sock is open_socket
    connection.close()


def test_a_body_is_counted_while_it_arrives(http, service, project):
    """Whoever has no key cannot send more than the limit: the rest is not read, and the answer comes before it."""
    url = f"/discovery/v1/search/{project.domain}"
    sizes = {b"Content-Length: %d\r\n\r\n" % (100 * LIMIT): b"", b"Transfer-Encoding: chunked\r\n\r\n": b"100000\r\n"}
    for header, frame in sizes.items():
        with connect(service) as raw:
            raw.settimeout(0.05)
            raw.sendall(POST.replace(b"/v1/nothing", url.encode()) + header)
            received, sent = b"", 0
            while not received and sent < 50 * LIMIT:
                try:
                    raw.sendall(frame + b"x" * 0x100000 + (b"\r\n" if frame else b""))
                    sent += 0x100000
                    received = raw.recv(65536)
                except TimeoutError:
                    pass
                except OSError:  # closed, so the answer is there
                    received = raw.recv(65536)
            assert status_of(received) == 401
            assert sent < 5 * LIMIT
    large = b" " * (LIMIT + 1)
    headers = {**project.assistant, "Content-Type": "application/json", "Origin": "https://docs.acme.example"}
    for content in (large, iter([large])):
        response = http.post(service.url + url, content=content, headers=headers)
        assert_error(response, 413)
        assert response.headers["access-control-allow-origin"] == "https://docs.acme.example"
    assert http.post(f"{service.url}/ask", content=large).status_code == 413
    assert http.post(service.url + url, json={"query": "install"}, headers=project.assistant).status_code == 200


@pytest.mark.matrix
def test_two_thousand_bad_connections_do_not_hang(service):
    """Of each kind many at once, with a good request between them."""
    kinds = [b"nonsense\r\n\r\n", b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", POST + b"Content-Length: x\r\n\r\n"]
    with ThreadPoolExecutor(20) as pool:
        responses = list(pool.map(lambda number: send(service, kinds[number % 3]), range(2_000)))
    assert {status_of(response) for response in responses} == {400, 414}
    assert b"200 OK" in send(service, b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")


@pytest.mark.matrix
def test_a_client_that_pings_and_does_not_read_is_cut_off(service, project):
    """Each ping has a reply, which the server would keep in memory."""
    frame = b"\x89\xfd" + bytes(4) + b"x" * 125  # of a client: masked, here with zeros
    with connect(service) as raw:
        raw.sendall(f"GET /discovery/v1/assistant/{project.domain}/socket HTTP/1.1\r\n".encode() + UPGRADE)
        assert raw.recv(65536).startswith(b"HTTP/1.1 101")
        with pytest.raises(ConnectionError):
            raw.sendall(frame * 500_000)


def test_a_message_of_very_many_frames_is_cut_off(service, project):
    first, more = b"\x01\x81" + bytes(4) + b"{", b"\x00\x81" + bytes(4) + b" "
    with connect(service) as raw:
        raw.sendall(f"GET /discovery/v1/assistant/{project.domain}/socket HTTP/1.1\r\n".encode() + UPGRADE)
        assert raw.recv(65536).startswith(b"HTTP/1.1 101")
        with pytest.raises(ConnectionError):
            raw.sendall(first + more * 1_000_000)


def test_a_response_that_fails_half_way_is_cut_off():
    """Its reader would wait for the rest."""
    request = Request.__new__(Request)
    request._response_started, request.channel = True, Mock()
    request.basic_error(500, b"Internal Server Error", "Exception inside application.")
    request.channel.transport.abortConnection.assert_called_once_with()


@pytest.mark.parametrize(("method", "body"), [(b"HEAD", b""), (b"GET", b"4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n")])
def test_a_response_to_head_has_no_body_also_in_pieces(method, body):
    """Whatever followed the head would be read as the next response of the connection."""
    from twisted.web.test.requesthelper import DummyChannel  # it needs Daphne's reactor, which is installed by now

    channel = DummyChannel()
    channel.factory = Mock()
    request = Request(channel)
    request.server.server_name = ""
    request.method, request.clientproto, request._response_started = method, b"HTTP/1.1", False
    request.handle_reply({"type": "http.response.start", "status": 200, "headers": []})
    for piece in (b"one ", b"two"):
        request.handle_reply({"type": "http.response.body", "body": piece, "more_body": True})
    request.handle_reply({"type": "http.response.body"})
    assert channel.transport.written.getvalue().partition(b"\r\n\r\n")[2] == body

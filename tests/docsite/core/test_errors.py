"""One error shape on every API path, wherever the error comes from."""

import errno
import json
import socket

import pytest
from django.db import OperationalError, connection
from redis.exceptions import ConnectionError as RedisConnectionError

from docsite.core import ids
from docsite.core.access.api_middleware import as_api_error
from docsite.core.http.errors import TooMany
from tests.conftest import PATIENCE, assert_error, question

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", ["/v1/", "/v1/nothing", "/v2/x", "/discovery", "/discovery/v1/assistant/x", "/v9"])
def test_an_unknown_path_is_a_json_404(http, service, path):
    assert_error(http.get(service.url + path), 404)


def test_a_405_names_the_allowed_methods(http, service, project):
    response = http.get(f"{service.url}/discovery/v1/search/{project.domain}")
    assert_error(response, 405)
    assert response.headers["allow"] == "POST"
    response = http.post(f"{service.url}/v1/analytics/{project.project_id}/visitors", json={})
    assert_error(response, 405)
    assert response.headers["allow"] == "GET, HEAD"


def test_head_works_where_get_does(http, service, project):
    url = f"{service.url}/v1/analytics/{project.project_id}/visitors"
    response = http.head(url, headers=project.admin)
    assert response.status_code == 200
    assert response.content == b""


def test_a_path_is_never_redirected(http, service, project):
    url = f"{service.url}/discovery/v1/search/{project.domain}/"
    assert_error(http.post(url, json={"query": "x"}, headers=project.assistant), 404)


def test_an_unknown_host_is_a_400(http, service):
    assert_error(http.get(f"{service.url}/v1/nothing", headers={"Host": "evil.example"}), 400, "Host:")


@pytest.mark.parametrize(
    "path",
    [
        "/discovery/v1/assistant/a%00b/message",
        "/v1/analytics/prj%00x/views",
        "/discovery/v1/nothing/%00",
        "/discovery/v2/assistant/x/message/%00/stream",
    ],
)
@pytest.mark.parametrize("headers", [{}, {"Origin": "https://docs.acme.example"}])
def test_a_nul_in_a_path_is_a_400(http, service, path, headers):
    """PostgreSQL would refuse it as an internal error."""
    assert_error(http.get(service.url + path, headers=headers), 400, "path: contains a NUL")


def test_a_nul_in_a_query_or_a_cookie_is_a_400(http, service, project):
    url = f"{service.url}/v1/analytics/{project.project_id}/views"
    assert_error(http.get(f"{url}?limit=1&cursor=a%00", headers=project.admin), 400, "cursor: contains a NUL")
    assert_error(http.get(f"{url}?a%00b=1", headers=project.admin), 400, "a\0b: contains a NUL")
    cookie = {"Cookie": r'docs_session="\000\000\000\000\000\000\000\000"'}
    assert_error(http.get(f"{service.url}/v1/nothing", headers=cookie), 400, "docs_session: contains a NUL")
    for page in ("/search?q=%00", "/%00", "/admin/login/?next=%00"):
        assert http.get(service.url + page).status_code == 400
    assert http.get(f"{service.url}/admin/", headers=cookie).status_code == 400


def test_only_failures_of_a_store_say_that_it_does_not_answer():
    for failure in (OperationalError("database is locked"), RedisConnectionError()):
        assert as_api_error(failure).status == 503
    for bug in (TimeoutError(), OSError(errno.ENOENT, "No such file"), ValueError()):
        assert as_api_error(bug).status == 500


@pytest.mark.skipif(
    connection.vendor != "sqlite", reason="only SQLite reports a wrong statement with the error class of an outage"
)
def test_a_mistake_in_a_statement_is_a_500():
    with pytest.raises(OperationalError) as wrong, connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM nothing")
    assert as_api_error(wrong.value).status == 500


BAD_BODIES = {
    "empty": b"",
    "not JSON": b"{",
    "an array": b"[]",
    "a string": b'"x"',
    "NaN": b'{"query": NaN}',
    "Infinity": b'{"query": "x", "scoreThreshold": -Infinity}',
    "not UTF-8": b'{"query": "\xff"}',
    "NUL": b'{"query": "a\\u0000b"}',
    "a lone surrogate": b'{"query": "a\\ud800b"}',
    "too deep": b'{"query": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a huge integer": b'{"query": ' + b"9" * 5_000 + b"}",
    "a number beyond any": b'{"query": "x", "pageSize": 1e400}',
    "brackets before an open string of quotes": b'{"query": ' + b"[" * 65 + b'"' + b'\\"' * 400_000,
    "an open string of quotes": b'{"query": ' + b"[" * 63 + b"]" * 63 + b'"' + b'\\"' * 400_000,
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_a_bad_body_is_a_400_with_the_reason(http, service, shared_project, body):
    response = http.post(
        f"{service.url}/discovery/v1/search/{shared_project.domain}",
        content=body,
        headers={**shared_project.assistant, "Content-Type": "application/json"},
    )
    assert assert_error(response, 400)["details"]


def test_text_that_no_database_holds_is_found_where_it_is(http, service, project):
    for text, fault in (("\0", "a NUL character"), ("\ud800", "half of a surrogate pair")):
        body = json.dumps({"views": [{"id": "a"}, {"id": text}]})
        headers = {**project.admin, "Content-Type": "application/json"}
        response = http.post(f"{service.url}/v1/collect/{project.project_id}/views", content=body, headers=headers)
        assert assert_error(response, 400)["details"] == [{"message": f"views.1.id: contains {fault}"}]


def test_pages_may_send_smaller_bodies_only(http, service, project):
    response = http.post(
        f"{service.url}/discovery/v1/view/{project.domain}",
        content=b" " * (128 * 1024 + 1),
        headers={"Origin": "https://docs.acme.example", "Content-Type": "text/plain"},
    )
    assert_error(response, 413)


@pytest.mark.parametrize("path", ["/health", "/openapi.json"])
def test_read_only_endpoints_accept_only_get(http, service, path):
    assert http.get(service.url + path).status_code == 200
    for method in ("PUT", "POST", "DELETE"):
        assert_error(http.request(method, service.url + path), 405)


def test_an_unreachable_database_is_a_503_for_pages_too(http, start, copy_database, tmp_path):
    """The database is a file of its own here, replaced by a folder."""
    service = start(**copy_database(tmp_path))
    for file in tmp_path.glob("db.sqlite3*"):
        file.unlink()
    (tmp_path / "db.sqlite3").mkdir()
    token = ids.token("svc_dsc_")
    for origin in ({}, {"Origin": "https://docs.acme.example"}):
        response = http.post(
            f"{service.url}/discovery/v1/search/acme",
            json={"query": "x"},
            headers={"Authorization": f"Bearer {token}", **origin},
        )
        assert_error(response, 503)
        assert int(response.headers["retry-after"]) >= 1


def test_a_large_body_is_413_with_and_without_a_length(http, service, project):
    headers = {**project.assistant, "Content-Type": "application/json"}
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    large = json.dumps(question("x" * (2 * 1024 * 1024))).encode()
    assert_error(http.post(url, content=large, headers=headers), 413)
    assert_error(http.post(url, content=iter([large[:1_000_000], large[1_000_000:]]), headers=headers), 413)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/html"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_another_type_or_encoding_is_415(http, service, project, headers):
    url = f"{service.url}/discovery/v1/search/{project.domain}"
    assert_error(http.post(url, content=b'{"query": "x"}', headers={**project.assistant, **headers}), 415)


def test_a_key_is_checked_before_the_body_is_read(http, service, project):
    url = f"{service.url}/discovery/v1/search/{project.domain}"
    assert_error(http.post(url, content=b"{", headers={"Content-Type": "text/html"}), 401)


def test_no_answer_names_the_server_sets_a_cookie_or_may_be_stored(http, service, project):
    discovery, analytics = f"{service.url}/discovery/v1", f"{service.url}/v1/analytics/{project.project_id}"
    answers = [
        http.post(f"{discovery}/search/{project.domain}", json={"query": "x"}, headers=project.assistant),
        http.post(f"{discovery}/page/{project.domain}", json={"path": "/install"}, headers=project.assistant),
        http.post(f"{discovery}/assistant/{project.domain}/message", json=question("x"), headers=project.assistant),
        http.get(f"{analytics}/visitors", headers=project.admin),
        http.get(f"{analytics}/assistant", headers=project.admin),
    ]
    for response in answers:
        assert response.status_code == 200
        assert not {"server", "set-cookie", "x-powered-by"} & set(response.headers)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "no-store" in response.headers["cache-control"]


LONG = "zebra-" * 40


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/discovery/v1/search/{domain}", {"query": [LONG], "pageSize": LONG, "scoreThreshold": LONG, "filter": LONG}),
        ("/discovery/v1/search/{domain}", {"query": "x", "filter": {"version": [LONG], "tag": {LONG: LONG}}}),
        ("/discovery/v1/search/{domain}", {"query": f"{LONG}\0"}),
        ("/discovery/v1/search/{domain}", {LONG: "\0"}),
        ("/discovery/v1/assistant/{domain}/message", {"messages": [{"role": [LONG], "parts": LONG}], "fp": {LONG: 1}}),
        ("/discovery/v1/assistant/{domain}/message", question("x", context=[{"type": LONG, "value": [LONG]}])),
        ("/discovery/v2/assistant/{domain}/message", question("x", trigger=LONG, id=[LONG], messageId=[LONG])),
        ("/discovery/v1/page/{domain}", {"path": [LONG]}),
        ("/discovery/v1/page/{domain}", {"path": LONG}),
        (f"/discovery/v1/page/{LONG}", {"path": "/"}),
        (f"/discovery/v1/{LONG}/{{domain}}", {}),
    ],
)
def test_an_error_repeats_at_most_100_characters_of_the_input(http, service, shared_project, path, body):
    url = service.url + path.format(domain=shared_project.domain)
    response = http.post(
        url, json=body, headers={**shared_project.assistant, "X-Request-Id": LONG, "Cookie": f"a={LONG}"}
    )
    assert 400 <= response.status_code < 500, response.text
    assert_error(response, response.status_code)
    assert LONG[:101] not in response.text
    assert shared_project.assistant_key not in response.text


@pytest.mark.parametrize(
    ("report", "params"),
    [
        ("visitors", {"limit": LONG, "offset": LONG, "dateFrom": LONG, "dateTo": LONG}),
        ("assistant", {"cursor": LONG}),
        ("feedback", {"source": LONG, "status": LONG}),
        ("views", {LONG: "\0"}),
    ],
)
def test_a_bad_parameter_is_not_repeated_whole(http, service, project, report, params):
    url = f"{service.url}/v1/analytics/{project.project_id}/{report}"
    response = http.get(url, params=params, headers=project.admin)
    details = assert_error(response, 400)["details"]
    assert len(details) == len(params)
    assert LONG[:101] not in response.text


@pytest.mark.parametrize("path", ["/nothing", "/discovery/v1/assistant/a%00b/socket"])
def test_a_socket_to_an_unknown_path_is_refused(service, path):
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as raw:
        raw.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert raw.recv(100).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (0, "1 second"),
        (1, "1 second"),
        (90, "90 seconds"),
        (91, "2 minutes"),
        (2405, "41 minutes"),
        (5400, "90 minutes"),
        (5401, "2 hours"),
        (86_400, "24 hours"),
    ],
)
def test_the_time_to_wait_is_named_in_a_fitting_unit(seconds, says):
    refused = TooMany(seconds)
    assert refused.sentence == f"Too many requests. Try again in {says}."
    assert refused.headers["Retry-After"] == str(max(1, seconds))

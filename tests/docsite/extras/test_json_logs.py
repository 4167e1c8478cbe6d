"""JSON lines of many log libraries: which field is which, and what happens to a line that does not say it."""

import io
import json
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from docsite.extras.access_logs.lines import SkipReason, ViewParser
from tests.analytics.conftest import CHROME
from tests.docsite.extras.test_importlog import combined, written

NOON = "2026-03-10T12:00:00Z"
IP = "198.51.100.1"
NGINX = {"time_iso8601": NOON, "remote_addr": IP, "request": "GET /a HTTP/2.0", "http_user_agent": CHROME}
HEADERS = {"Host": "docs.acme.example", "User-Agent": CHROME, "Referer": "https://x.example/", "Status": "200"}


def parse(line: dict) -> str:
    """What a line is: `view`, or why it is none."""
    seen = ViewParser("https://docs.acme.example").parse(json.dumps(line).encode())
    if isinstance(seen, SkipReason):
        return seen.name
    expected = (datetime(2026, 3, 10, 12, tzinfo=UTC), IP, CHROME)
    assert (seen.at, str(seen.address), seen.user_agent) == expected, line
    assert seen.raw_path == "/a", line
    return "view"


@pytest.mark.parametrize(
    "name",
    [
        *("status", "status_code", "statusCode", "StatusCode", "HTTPStatus", "http_status", "httpStatusCode"),
        *("http.status_code", "http.response.status_code", "response.status", "res.statusCode", "meta.res.statusCode"),
        *("sc-status", "sc_status", "DownstreamStatus", "EdgeResponseStatus", "resp_status", "response_status"),
        *("response_code", "responseCode", "statuscode", "code", "response", "final-status", "properties.httpStatus"),
    ],
)
def test_a_status_is_known_under_any_name(name):
    nested: dict = {}
    for key in reversed(name.split(".")):
        nested = {key: nested or 404}
    for status in ({name: 404}, {name: "404"}, {name: 404.0}, {name: "404 Not Found"}, nested):
        assert parse(NGINX | status) == "STATUS", status
    assert parse(NGINX | {name: 200}) == "view"
    assert parse(NGINX | {name: "304"}) == "view"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({}, "NO_STATUS"),
        ({"ergebnis": 404}, "NO_STATUS"),
        ({"status": ""}, "NO_STATUS"),
        ({"status": "ok"}, "NO_STATUS"),
        ({"status": "info", "http": {"status_code": 404}}, "STATUS"),
        ({"status": 0}, "NO_STATUS"),
        ({"status": 4040}, "NO_STATUS"),
        ({"status": True}, "NO_STATUS"),
        ({"status": 200, "response_status": 404}, "NO_STATUS"),  # they contradict each other
        ({"status": 404, "upstream_status": "200"}, "STATUS"),
        ({"upstream_status": "200"}, "NO_STATUS"),  # of another request
        ({"EdgeResponseStatus": 404, "OriginResponseStatus": 200, "CacheResponseStatus": 200}, "STATUS"),
        ({"sc-status": 404, "sc-win32-status": 258}, "STATUS"),
        ({"status": 200, "geo.metro_code": 501, "country_code": "404"}, "view"),
        ({"headers": {"Status": "404"}, "status": 200}, "view"),  # a client writes its headers
        ({"headers": {"Status": "200"}}, "NO_STATUS"),
        ({"status": 200, "request_method": "HEAD"}, "METHOD"),
        ({"status": 200, "request": "POST /a HTTP/2.0"}, "METHOD"),
        ({"status": 200, "request": "/a", "cs-method": "POST"}, "METHOD"),
        ({"status": 200, "request": "/a", "verb": "get"}, "view"),
        ({"status": 200, "request": "/a"}, "NO_METHOD"),
        ({"status": 200, "request": "/a", "auth_method": "password"}, "NO_METHOD"),
        ({"status": 200, "request": "/a", "req": {"method": "PUT"}}, "METHOD"),
        ({"status": 200, "request": "-"}, "NO_TARGET"),
        ({"status": 200, "http_user_agent": None, "browser": CHROME}, "NO_USER_AGENT"),
        ({"status": 200, "time_iso8601": "noon"}, "NO_TIME"),
        ({"status": 404, "time_iso8601": "noon"}, "NO_TIME"),  # of a log whose times cannot be read, no line can
        ({"status": 200, "remote_addr": "crawler.example"}, "NO_ADDRESS"),
        ({"status": 200, "remote_addr": "", "x_forwarded_for": IP}, "NO_ADDRESS"),  # anybody may write it
        ({"status": 200, "remote_addr": "", "pod_ip": IP, "server_addr": IP}, "NO_ADDRESS"),
    ],
)
def test_a_line_that_does_not_say_what_it_is_does_not_count(line, reason):
    assert parse({name: value for name, value in (NGINX | line).items() if value is not None}) == reason


LIBRARIES = {
    "Traefik": {
        **{"ClientAddr": f"{IP}:61002", "ClientHost": IP, "ClientPort": "61002", "DownstreamStatus": 200},
        **{"OriginStatus": 404, "RequestMethod": "GET", "RequestPath": "/a?b=1", "RequestHost": "docs.acme.example"},
        **{"StartUTC": NOON, "time": NOON, "request_User-Agent": CHROME, "level": "info", "Duration": 1000000},
    },
    "Envoy": {
        **{"start_time": NOON, "method": "GET", "path": "/a", "x_envoy_original_path": "/b", "response_code": 200},
        **{"response_code_details": "via_upstream", "downstream_remote_address": f"{IP}:61002", "user_agent": CHROME},
        **{"downstream_local_address": "10.0.0.1:443", "authority": "docs.acme.example", "upstream_host": "10.0.0.2"},
    },
    "CloudFront": {
        **{"date": "2026-03-10", "time": "12:00:00", "c-ip": IP, "cs-method": "GET", "cs-uri-stem": "/a"},
        **{"sc-status": "200", "cs(User-Agent)": CHROME.replace(" ", "%20"), "cs(Host)": "d1.cloudfront.net"},
        **{"x-host-header": "docs.acme.example", "x-edge-request-id": "f" * 56, "s-ip": "203.0.113.9"},
    },
    "Elastic Common Schema": {
        **{"@timestamp": NOON, "source": {"ip": IP}, "user_agent": {"original": CHROME, "name": "Chrome"}},
        **{"http": {"request": {"method": "GET", "referrer": "-"}, "response": {"status_code": 200}}},
        **{"url": {"path": "/a", "domain": "docs.acme.example"}, "log": {"file": {"path": "/var/log/x.log"}}},
        **{"agent": {"name": "filebeat", "version": "8"}, "host": {"ip": ["10.0.0.3"], "name": "web-1"}},
    },
    "OpenTelemetry": {
        **{"timestamp": NOON, "http.request.method": "GET", "url.path": "/a", "http.response.status_code": 200},
        **{"client.address": IP, "user_agent.original": CHROME, "server.address": "10.0.0.1"},
    },
    "Google Cloud": {
        "timestamp": NOON,
        "httpRequest": {
            **{"requestMethod": "GET", "requestUrl": "https://docs.acme.example/a", "status": 200},
            **{"remoteIp": IP, "serverIp": "10.0.0.1", "userAgent": CHROME, "cacheLookup": True},
        },
    },
    "Azure Front Door": {
        "time": NOON,
        "category": "FrontDoorAccessLog",
        "properties": {
            **{"httpMethod": "GET", "requestUri": "https://docs.acme.example:443/a", "httpStatusCode": "200"},
            **{"clientIp": IP, "clientPort": "61002", "userAgent": CHROME, "originStatusCode": "404"},
        },
    },
    "Vercel": {
        "timestamp": 1773144000000,
        "statusCode": 200,
        "proxy": {
            **{"method": "GET", "path": "/a", "statusCode": 200, "clientIp": IP, "userAgent": [CHROME]},
            **{"host": "docs.acme.example", "cacheId": "x"},
        },
    },
    "Netlify": {
        **{"timestamp": NOON, "status_code": 200, "method": "GET", "url": "https://docs.acme.example/a"},
        **{"client_ip": IP, "user_agent": CHROME, "referrer": ""},
    },
    "Fastly": {
        **{"timestamp": NOON, "client_ip": IP, "host": "docs.acme.example", "url": "/a", "request_method": "GET"},
        **{"request_user_agent": CHROME, "request_referer": "", "response_state": "HIT", "response_status": 200},
    },
    "Kong": {
        **{"started_at": 1773144000000, "client_ip": IP, "upstream_uri": "/", "upstream_status": "404"},
        "request": {"method": "GET", "uri": "/a", "url": "http://docs.acme.example:8000/a", "headers": HEADERS},
        "response": {"status": 200, "headers": {"user-agent": "none"}},
    },
    "pino-http": {
        **{"level": 30, "time": 1773144000000, "hostname": "web-1", "msg": "request completed", "responseTime": 12},
        "req": {"id": 1, "method": "GET", "url": "/a", "headers": HEADERS, "remoteAddress": IP, "remotePort": 61002},
        "res": {"statusCode": 200, "headers": {"host": "none.example"}},
    },
    "Caddy": {
        **{"ts": 1773144000.0, "logger": "http.log.access", "status": 200, "resp_headers": {"Server": ["Caddy"]}},
        "request": {
            **{"remote_ip": IP, "client_ip": IP, "method": "GET", "uri": "/a", "host": "docs.acme.example"},
            "headers": {name: [value] for name, value in HEADERS.items()},
        },
    },
    "Logstash": {
        **{"clientip": IP, "timestamp": "10/Mar/2026:12:00:00 +0000", "verb": "GET", "request": "/a"},
        **{"response": "200", "agent": CHROME, "referrer": "-", "httpversion": "1.1"},
    },
    "API Gateway": {
        **{"ip": IP, "requestTime": "10/Mar/2026:12:00:00 +0000", "httpMethod": "GET", "path": "/a", "status": "200"},
        **{"userAgent": CHROME, "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"},
    },
    "collect": {"timestamp": NOON, "ip": IP, "path": "/a", "userAgent": CHROME, "id": "1", "referrer": ""},
}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
def test_lines_of_known_libraries_are_views(library):
    assert parse(LIBRARIES[library]) == "view"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([NGINX] * 3, "cannot be read: 3 lines, 3 without a known status (first: line 1)."),
        ([{"status": 200, **NGINX, "remote_addr": ""}, NGINX | {"status": 404, "remote_addr": ""}], "a known address"),
        ([{"ts": 1}, {"level": "info", "msg": "started"}], "2 without a known time"),
        (["junk"], "none of its lines is in a format that is read."),
        ([NGINX | {"status": 200}], "it holds no whole line."),  # cut before its end
        (["[" + "1," * 50_000], "it holds no whole line."),
    ],
)
def test_a_log_that_cannot_be_read_fails_with_the_reason(make_project, tmp_path, lines, says):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    log = written(tmp_path / "log", text[:-1] if "no whole" in says else text + "\n")
    with pytest.raises(CommandError) as failure:
        call_command("importlog", make_project().domain, str(log), stdout=io.StringIO())
    assert says in str(failure.value)
    assert str(failure.value).endswith("Nothing was imported.")
    assert failure.value.returncode == 2


def test_what_did_not_count_is_said(make_project, tmp_path):
    lines = [NGINX | {"status": 200}, NGINX, NGINX | {"status": 404}]
    log = written(tmp_path / "log", "".join(json.dumps(line) + "\n" for line in lines))
    output = io.StringIO()
    call_command("importlog", make_project().domain, str(log), stdout=output)
    assert "3 lines: 1 view (1 new, 0 known already), 1 redirects, errors" in output.getvalue()
    assert "1 without a known status (first: line 2)." in output.getvalue()


def test_a_log_whose_new_lines_cannot_be_read_fails(make_project, tmp_path):
    domain, text = make_project().domain, combined()
    call_command("importlog", domain, str(written(tmp_path / "log", text)), stdout=io.StringIO())
    log = written(tmp_path / "log", text + json.dumps(NGINX) + "\n")
    with pytest.raises(CommandError, match="1 lines, 1 without a known status"):
        call_command("importlog", domain, str(log), stdout=io.StringIO())

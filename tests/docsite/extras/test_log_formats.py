"""A line of every server, as its documentation shows it: what is read, and why the rest is refused."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from docsite.extras.access_logs import compression
from docsite.extras.access_logs.lines import SkipReason, ViewParser
from tests.analytics.conftest import CHROME
from tests.conftest import Tenant
from tests.variants import first_of

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
IP, REFERRER = "198.51.100.1", "https://x.example/"
QUOTED = CHROME.replace(" ", "%20")
COMBINED = f'{IP} - - [10/Mar/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 512 "{REFERRER}" "{CHROME}"'
TRAEFIK = {
    **{"ClientAddr": f"{IP}:50312", "ClientHost": IP, "ClientPort": "50312", "ClientUsername": "-"},
    **{"DownstreamStatus": 200, "Duration": 1200000, "OriginStatus": 200, "RequestAddr": "docs.acme.example"},
    **{"RequestCount": 12, "RequestHost": "docs.acme.example", "RequestMethod": "GET", "RequestPath": "/a"},
    **{"RequestProtocol": "HTTP/2.0", "RetryAttempts": 0, "RouterName": "docs@docker", "ServiceURL": "http://10.0.0.3"},
    **{"StartUTC": "2026-03-10T12:00:00Z", "entryPointName": "websecure", "level": "info", "msg": ""},
    **{"request_User-Agent": CHROME, "request_Referer": REFERRER, "time": "2026-03-10T12:00:01Z"},
}
CLOUDFRONT = (
    "2026-03-10 12:00:00 FRA56-P2 2390 {ip} GET d111111abcdef8.cloudfront.net /a 200 {referrer} {agent} - - Hit "
    "sR0LIZ4_FeXxrAADzkqLs-dcHz_FBVs6YL4ZZYBUlY4-1pA== docs.acme.example https 33 0.001 - TLSv1.3 - Hit HTTP/2.0 - - "
    "11040 0.001 Hit text/html 78 - -"
)
BALANCER = (
    f"https 2026-03-10T12:00:00.000000Z app/my-loadbalancer/50dc6c495c0c9188 {IP}:2817 10.0.0.1:80 0.086 0.048 0.037 "
    f'200 200 0 57 "GET https://docs.acme.example:443/a?b=1 HTTP/1.1" "{CHROME}" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 '
    'arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281" '
    '"docs.acme.example" "arn:aws:acm:us-east-2:123456789012:certificate/12345678" 1 2026-03-10T12:00:00.364000Z '
    '"authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-" TID_1234abcd5678ef90'
)
HAPROXY = (
    f"haproxy[14389]: {IP}:33317 [10/Mar/2026:12:00:00.000] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- "
    f'1/1/1/1/0 0/0 {{docs.acme.example|{CHROME}|{REFERRER}}} {{}} "GET /a HTTP/1.1"'
)
READ = {
    "Apache": COMBINED,
    "Apache with virtual hosts": f"docs.acme.example:443 {COMBINED}",
    "client, proxy": COMBINED.replace(IP, f"{IP}, 10.0.0.1"),
    "client, proxies": COMBINED.replace(IP, f"{IP}:5123, 203.0.113.9, 10.0.0.1"),
    "client,proxy": COMBINED.replace(IP, f"{IP},10.0.0.1"),
    "“client, proxy”": COMBINED.replace(IP, f'"{IP}, 10.0.0.1"'),
    "host and client, proxy": f"docs.acme.example:443 {COMBINED.replace(IP, f'{IP}, 10.0.0.1')}",
    "ingress-nginx": f'{COMBINED} 413 0.003 [docs-docs-80] [] 10.0.0.7:8080 512 0.003 200 {"f" * 32}',
    "Traefik": json.dumps(TRAEFIK),
    "Traefik, common format": f'{COMBINED} 12 "docs@docker" "http://172.18.0.3:80" 1ms',
    "CloudFront": "\t".join(CLOUDFRONT.format(ip=IP, referrer=REFERRER, agent=QUOTED).split()),
    "CloudFront, encoded twice": "\t".join(
        CLOUDFRONT.format(ip=IP, referrer=REFERRER, agent=QUOTED.replace("%", "%25")).split()
    ),
    "CloudFront before 2014": "\t".join(CLOUDFRONT.format(ip=IP, referrer=REFERRER, agent=QUOTED).split()[:12]),
    "ALB": BALANCER,
    "classic load balancer": BALANCER.removeprefix("https "),
    "HAProxy": HAPROXY.removeprefix("haproxy[14389]: "),
    "HAProxy by syslog": f"<134>Mar 10 12:00:00 lb1 {HAPROXY}",
    "HAProxy in a syslog file": f"Mar 10 12:00:00 localhost {HAPROXY}",
    "nginx by syslog": f"<190>Mar 10 12:00:00 web1 nginx: {COMBINED}",
    "nginx by rsyslog": f"2026-03-10T12:00:00.123456+00:00 web1 nginx: {COMBINED}",
    "syslog of RFC 5424": f"<134>1 2026-03-10T12:00:00.123Z web1 nginx 7 - - {COMBINED}",
    "Docker": json.dumps({"log": f"{COMBINED}\n", "stream": "stdout", "time": "2026-03-10T12:00:09.1Z"}),
    "Docker with JSON in it": json.dumps({"log": json.dumps(TRAEFIK) + "\n", "stream": "stdout", "time": "x"}),
    "docker logs --timestamps": f"2026-03-10T12:00:09.669794202Z {COMBINED}",
    "docker compose logs": f"web-1  | {COMBINED}",
    "Kubernetes": f"2026-03-10T12:00:09.669794202Z stdout F {COMBINED}",
    "Kubernetes with JSON in it": f"2026-03-10T12:00:09.669794202+01:00 stdout F {json.dumps(TRAEFIK)}",
    "a collector": json.dumps({"message": COMBINED, "@timestamp": "2026-03-10T12:00:09Z", "host": {"name": "web1"}}),
    "journalctl -o json": json.dumps({"MESSAGE": COMBINED, "_HOSTNAME": "web1", "__REALTIME_TIMESTAMP": "1773144009"}),
}  # fmt: skip


@pytest.mark.parametrize("server", READ)
def test_a_line_of_each_server_is_read(server: str) -> None:
    seen = ViewParser("https://docs.acme.example").parse(READ[server].encode())
    assert not isinstance(seen, SkipReason), seen
    referrer = "" if "load" in server or server == "ALB" else REFERRER
    assert (seen.raw_path, str(seen.address), seen.user_agent) == ("/a", IP, CHROME)
    assert (seen.referrer, seen.at) == (referrer, NOON)


def test_what_a_server_lacks_is_named() -> None:
    views = ViewParser("https://docs.acme.example")
    without = READ["HAProxy in a syslog file"].replace(f"{{docs.acme.example|{CHROME}|{REFERRER}}} {{}} ", "")
    assert views.parse(without.encode()) is SkipReason.NO_USER_AGENT
    for name in ("ClientHost", "ClientAddr"):
        assert views.parse(json.dumps({**TRAEFIK, name: "-"}).encode()) != SkipReason.UNREADABLE
    no_agent = {name: value for name, value in TRAEFIK.items() if name != "request_User-Agent"}
    assert views.parse(json.dumps(no_agent).encode()) is SkipReason.NO_USER_AGENT
    assert views.parse(READ["CloudFront"].replace("docs.acme.example", "shop.acme.example").encode()) is SkipReason.HOST
    assert views.parse(b"#Version: 1.0") is SkipReason.COMMENT
    # The rest of a line that Kubernetes has cut is no line.
    assert views.parse(b"2026-03-10T12:00:09.669794202Z stdout P 198.51.100.1 - - [10/Mar") is SkipReason.UNREADABLE


IIS = (
    "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2026-03-10 12:00:00\n"
    "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status\n"
    f"2026-03-10 12:00:00 10.0.0.1 GET /a - 443 - {IP} {CHROME.replace(' ', '+')} 200\n"
)
NETLIFY = {
    "log_type": "traffic",
    "method": "GET",
    "path": "/a",
    "status_code": 200,
    "timestamp": "2026-03-10T12:00:00Z",
}
VERCEL = {"deploymentId": "dpl_1", "source": "lambda", "projectId": "p", "path": "/a", "statusCode": 200, "id": "1"}
ENVOY = (
    '[2026-03-10T12:00:00.310Z] "GET /a HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "docs" '
    '"tcp://10.0.2.1:80"\n'
)
S3 = (
    f"{'79a5' * 16} bucket [10/Mar/2026:12:00:00 +0000] {IP} {'79a5' * 16} 3E57427F3EXAMPLE REST.GET.OBJECT a "
    f'"GET /a HTTP/1.1" 200 - 113 - 7 - "-" "{CHROME}" -\n'
)
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "IIS": (IIS, "a W3C log as IIS writes it"),
    "another W3C log": ("#Version: 1.0\n#Fields: time cs-method cs-uri\n00:34:23 GET /a\n", "only CloudFront's"),
    "Netlify without addresses": (json.dumps(NETLIFY) + "\n", "a log drain of Netlify"),
    "functions of Netlify": ('{"log_type": "functions", "message": "hi", "level": "info"}\n', "a log drain of Netlify"),
    "Vercel without addresses": (json.dumps(VERCEL) + "\n", "a log drain of Vercel"),
    "vercel logs": ("12:00:00.00  info  GET 200  docs.acme.example  /a\n", "in a format that is read"),
    "Envoy": (ENVOY, "the text format of Envoy"),
    "S3": (S3, "a log of an S3 bucket"),
    "one JSON document": (json.dumps([NETLIFY, NETLIFY]) + "\n", "one JSON document"),
    "a JSON document of many lines": (json.dumps([NETLIFY], indent=1) + "\n", "one JSON document"),
    "messages in JSON": ('{"level": "info", "msg": "started"}\n', "messages of programs"),
    "broken JSON": ('{"level": \n', "begin like JSON"),
    "messages": ("2026/03/10 12:00:00 [error] 7#7: *1 open() failed\n", "in a format that is read"),
    "HAProxy without user agents": (f"Mar 10 12:00:00 lb1 {HAPROXY.replace(CHROME, '')}\n", "a known user agent"),
    "an archive": (b"PK\x03\x04" + b"\0" * 99, "is a ZIP archive. Unpack it"),
    "LZ4": (b"\x04\x22\x4d\x18" + b"\0" * 99, "lz4 -dc FILE"),
    "a picture": (b"\x89PNG\r" + b"\0" * 99, "holds no whole line"),
}


@pytest.mark.parametrize("kind", first_of(REFUSED, 10))
@pytest.mark.parametrize("age", [0, 3600])
def test_what_is_not_read_is_refused_with_its_reason(kind: str, age: int, project: Tenant, tmp_path: Path) -> None:
    content, reason = REFUSED[kind]
    log = tmp_path / "log"
    log.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(log, (log.stat().st_mtime - age,) * 2)
    with pytest.raises(CommandError) as refusal:
        call_command("importlog", project.domain, str(log), stdout=io.StringIO())
    assert refusal.value.returncode == 2
    assert reason in str(refusal.value)
    assert str(refusal.value).endswith("Nothing was imported.") or "Unpack" in str(refusal.value)


def test_a_log_of_cloudfront_is_imported_once(project: Tenant, tmp_path: Path) -> None:
    head = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status\n"
    lines = [READ["CloudFront"], READ["CloudFront"].replace("sR0LIZ", "other1")]
    for name, content in (("a.gz", head + "\n".join(lines) + "\n"), ("b.gz", head), ("c.gz", f"{head}{lines[0]}\n")):
        (tmp_path / name).write_bytes(gzip.compress(content.encode()))
    said = io.StringIO()
    for names in (["a.gz", "b.gz", "c.gz"], ["a.gz", "b.gz"]):
        call_command("importlog", project.domain, *(str(tmp_path / name) for name in names), stdout=said)
    text = said.getvalue()
    assert "a.gz: 4 lines: 2 views (2 new, 0 known already), 2 comments." in text
    assert "b.gz: holds no line." in text
    assert "c.gz: 3 lines: 1 view (0 new, 1 known already), 2 comments." in text
    assert sum(map(int, re.findall(r"\((\d+) new", text))) == 2


PACKED: dict[str, Any] = {"bz2": bz2.compress, "xz": lzma.compress, "gz": gzip.compress}


@pytest.mark.parametrize("kind", first_of([*PACKED, "zst"], 1))
def test_a_packed_log_is_read_or_damaged(kind: str, project: Tenant, tmp_path: Path) -> None:
    text = "".join(COMBINED.replace("/a ", f"/a{number} ") + "\n" for number in range(50)).encode()
    if kind == "zst":
        if shutil.which("zstd") is None:
            pytest.fail("install zstd")
        packed = subprocess.run(["zstd", "-c"], input=text, capture_output=True, check=True).stdout
    else:
        packed = PACKED[kind](text)
    whole, cut = tmp_path / "log.1", tmp_path / "log.2"
    whole.write_bytes(packed)
    cut.write_bytes(packed[:-30])
    said = io.StringIO()
    if kind == "zst" and not has_zstd():
        with pytest.raises(CommandError, match=r"zstd -dc FILE \| manage importlog DOMAIN -") as refusal:
            call_command("importlog", project.domain, str(whole), stdout=said)
        assert refusal.value.returncode == 2
        return
    call_command("importlog", project.domain, str(whole), stdout=said)
    assert "50 views (50 new" in said.getvalue()
    call_command("importlog", project.domain, str(whole), "--again", stdout=said)
    assert "50 views (0 new, 50 known" in said.getvalue()
    with pytest.raises(CommandError, match="ends too early or is damaged"):
        call_command("importlog", project.domain, str(cut), stdout=said)


def has_zstd() -> bool:
    """Whether this Python can unpack zstd."""
    try:
        compression._open_zstd(io.BufferedReader(io.BytesIO(b"\x28\xb5\x2f\xfd")))
    except compression.UnknownCompression:
        return False
    return True

"""The site of nginx in `docsite/deploy`, in front of a service, and of one that does not answer."""

import asyncio
import json
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import websockets

from tests.conftest import PATIENCE, question, wait_for
from tests.docsite.server.operating.test_deploy_files import DEPLOY, PROGRAMS, needs_program
from tests.ports import free_port

pytestmark = needs_program("nginx")
LARGE = b" " * (3 << 20)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of the site. Nobody listens at the ports of the service."""
    with serve_site(tmp_path_factory.mktemp("nginx"), free_port()) as client:
        yield client


@contextmanager
def serve_site(folder: Path, port: int) -> Iterator[httpx.Client]:
    """The site in front of a service at a port."""
    certificate = f"-x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout {folder}/privkey.pem -out {folder}/fullchain.pem"
    subprocess.run(["openssl", "req", *certificate.split()], check=True, capture_output=True)
    text = (DEPLOY / "nginx.conf").read_text()
    text = text.replace("/etc/docs-service/tls", str(folder)).replace("/var/log/nginx", str(folder))
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace("127.0.0.1:8001", f"127.0.0.1:{port}")
    ports = {"80": free_port(), "443": free_port()}
    text = re.sub(r" +listen \[::\].*\n", "", text)
    text = re.sub(r"listen (80|443)", lambda found: f"listen 127.0.0.1:{ports[found[1]]}", text)
    paths = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ {paths} {text} }}"
    (folder / "nginx.conf").write_text(whole)
    program = shutil.which("nginx", path=PROGRAMS) or "nginx"
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    with subprocess.Popen([*command, "-e", str(folder / "error.log")]) as server:
        try:
            url = f"https://127.0.0.1:{ports['443']}"
            with httpx.Client(base_url=url, verify=False, timeout=PATIENCE, trust_env=False) as client:
                wait_for(lambda: _answers(client), "nginx to start")
                yield client
        finally:
            server.terminate()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/metrics").status_code == 404
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    ("path", "origins"),
    [
        ("/discovery/v2/assistant/acme/message", "*"),
        ("/discovery/v1/page/acme/index.html", "*"),
        ("/v1/search/acme", "*"),
        ("/v1/analytics/p1/visitors", None),
        ("/v1/sources/p1/docs", None),
    ],
)
def test_its_own_errors_on_api_paths_are_those_of_the_service(
    site: httpx.Client, path: str, origins: str | None
) -> None:
    answers = {503: site.post(path, json={})}
    if not path.startswith("/v1/sources"):
        answers[413] = site.post(path, content=LARGE)
    for status, answer in answers.items():
        assert answer.status_code == status
        assert answer.headers["Content-Type"] == "application/json"
        assert list(answer.json()) == ["error"]
        assert answer.headers.get("Access-Control-Allow-Origin") == origins
        assert answer.headers["Cache-Control"] == "no-store"
        assert ("Retry-After" in answer.headers) == (status == 503)


def test_a_page_keeps_the_error_of_nginx(site: httpx.Client) -> None:
    answer = site.get("/quickstart")
    assert answer.status_code == 502
    assert answer.headers["Content-Type"] == "text/html"


@pytest.mark.slow
def test_requests_streams_and_sockets_reach_the_service(tmp_path: Path, service, project) -> None:
    with serve_site(tmp_path, urlsplit(service.url).port or 0) as client:
        for prefix in ("/discovery", ""):
            path = f"{prefix}/v1/search/{project.domain}"
            assert client.post(path, json={"query": "labels"}, headers=project.assistant).json()
        path = f"/discovery/v2/assistant/{project.domain}/message"
        with client.stream("POST", path, json=question("How do I print labels?"), headers=project.assistant) as answer:
            assert '"finish"' in "".join(answer.iter_text())
        path = f"/v1/analytics/{project.project_id}/visitors"
        assert client.get(path, headers=project.admin).status_code == 200
        assert client.get(path).status_code == 401
        assert asyncio.run(ask_by_socket(str(client.base_url), project)) == "finish"


async def ask_by_socket(url: str, project: Any) -> str:
    """Ask on a WebSocket. Returns the type of the last part."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    address = f"{url.replace('http', 'ws', 1)}/v1/assistant/{project.domain}/socket"
    async with websockets.connect(address, ssl=trusting, origin=project.project.docs_url, proxy=None) as socket:
        await socket.send(json.dumps({"type": "ask", "key": project.assistant_key, **question("How do I install?")}))
        async for text in socket:
            if (part := json.loads(text)["type"]) in ("finish", "error", "abort"):
                return part
    return ""

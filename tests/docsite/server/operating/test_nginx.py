"""The site of nginx in `docsite/deploy`, in front of a service that does not answer."""

import re
import shutil
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import NO_TLS, PATIENCE, wait_for
from tests.docsite.server.operating.test_deploy_files import DEPLOY, PROGRAMS, needs_program
from tests.ports import free_port

pytestmark = needs_program("nginx")
LARGE = b" " * (3 << 20)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of the site. Nobody listens at the ports of the service."""
    folder = tmp_path_factory.mktemp("nginx")
    certificate = f"-x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout {folder}/privkey.pem -out {folder}/fullchain.pem"
    subprocess.run(["openssl", "req", *certificate.split()], check=True, capture_output=True)
    text = (DEPLOY / "nginx.conf").read_text()
    text = text.replace("/etc/docs-service/tls", str(folder)).replace("/var/log/nginx", str(folder))
    for port in ("8000", "8001"):
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free_port()}")
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
            with httpx.Client(base_url=url, verify=NO_TLS, timeout=PATIENCE, trust_env=False) as client:
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

"""The files for nginx and Caddy before a site: with a service that answers, and one that is away, slow or wrong."""

import os
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from docsite.core import ids
from docsite.core.tenants.models import Project
from docsite.extras.agent_pages import edge
from tests.conftest import PATIENCE, Tenant, wait_for
from tests.docsite.server.operating.test_deploy_files import PROGRAMS, needs_program
from tests.ports import free_port
from tests.variants import first_of

MAX_BYTES = 4096
MARKDOWN = "text/markdown; charset=utf-8"
SEEN = 'add_header X-Seen "$args $http_cookie";'
HTML = "<!doctype html><html><head></head><body class=x><h1>{}</h1></body></html>"


class FakeService(ThreadingHTTPServer):
    """Answers as the service does, or as its path says: `slow` (never), `wrong` (500), `typed` (HTML), `gone` (404)."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.release = threading.Event()


class _Answers(BaseHTTPRequestHandler):
    server: FakeService

    def do_GET(self) -> None:
        """Answer as the path says."""
        self.server.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        if "slow" in self.path:
            self.server.release.wait(PATIENCE)
        status = 500 if "wrong" in self.path else 404 if "gone" in self.path else 200
        if self.headers.get("If-None-Match") == '"known"':
            status = 304
        body = b"" if status == 304 else f"# Markdown of {self.path}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if "typed" in self.path else MARKDOWN)
        self.send_header("ETag", '"known"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Write nothing."""


@contextmanager
def fake_service(certificate: Path | None = None) -> Iterator[FakeService]:
    """A service, with TLS if it has a certificate, whose key is in the same file."""
    with FakeService() as server:
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
            server.url = f"https://localhost:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.release.set()
            server.shutdown()


def write_site(folder: Path) -> Path:
    """A site with pages, and with Markdown of its own that shows who has answered."""
    site = folder / "site"
    for name in ("index", "guide", "guides/index", "slow", "wrong", "gone", "typed"):
        page = site / "docs" / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(HTML.format(name))
    for name in ("slow", "wrong", "gone", "typed", "guide"):
        (site / "docs" / f"{name}.md").write_text(f"Own {name}")
    (site / "docs/llms.txt").write_text("Own list")
    (site / "other.md").write_text("Outside")
    return site


def configure_nginx(folder: Path, text: str, port: int) -> list[str]:
    site = write_site(folder)
    (folder / "agents.conf").write_text(text)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    location = f"location / {{ root {site}; try_files $uri $uri.html $uri/ =404; }}"
    types = "types { text/html html; text/plain md txt; }"
    server = f"server {{ listen 127.0.0.1:{port}; include {folder}/agents.conf; {SEEN} {location} }}"
    log = f"access_log {folder}/access.log;"
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr; events {{}} "
        f"http {{ {temporary} {types} {log} {server} }}"
    )
    return ["-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]


def configure_caddy(folder: Path, text: str, port: int) -> list[str]:
    site = write_site(folder)
    (folder / "agents.caddy").write_text(text.replace("20211", str(free_port())))
    block = f"import agents\nroot * {site}\ntry_files {{path}} {{path}}.html {{path}}/index.html\nfile_server\n"
    block += 'header {\nX-Seen "{query} {header.Cookie}"\ndefer\n}\n'
    block += f"log {{\noutput file {folder}/access.log\n}}\n"
    (folder / "Caddyfile").write_text(
        f"{{\nadmin off\nauto_https off\nstorage file_system {folder}\n}}\n"
        f"import agents.caddy\nhttp://127.0.0.1:{port} {{\nbind 127.0.0.1\n{block}}}\n"
    )
    return ["run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


SERVERS = {"nginx": (configure_nginx, "nginx.conf"), "caddy": (configure_caddy, "agents.caddy")}
EACH = [pytest.param(name, marks=needs_program(name)) for name in SERVERS]


@contextmanager
def serve(
    program: str, folder: Path, project: Any, service_url: str, trusted: Path | None = None
) -> Iterator[httpx.Client]:
    """A client of a site behind the file of a project. `trusted`: certificates instead of the system's."""
    port = free_port()
    configure, name = SERVERS[program]
    text = edge.write_file(project, service_url, name)
    assert text
    if trusted:
        text = text.replace("/etc/ssl/certs/ca-certificates.crt", str(trusted))
    command = [shutil.which(program, path=PROGRAMS) or program, *configure(folder, text, port)]
    log = (folder / "log").open("w+")
    environment = {**os.environ, "HOME": str(folder)}
    with log, subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=url, verify=False, timeout=PATIENCE, trust_env=False) as client:
                wait_for(lambda: server.poll() is not None or _answers(client), f"{program} to start")
                assert server.poll() is None, (folder / "log").read_text()
                yield client
        finally:
            server.terminate()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/docs/guide").status_code > 0
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def project(make_project: Any) -> Any:
    """A project whose docs URL has a folder."""
    return make_project("https://acme.example/docs").project


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeService]:
    with fake_service() as server:
        yield server


@pytest.fixture(scope="module", params=EACH)
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, project: Any, fake: FakeService
) -> Iterator[httpx.Client]:
    """A site behind each of the files."""
    with serve(request.param, tmp_path_factory.mktemp(request.param), project, fake.url) as client:
        client.program = request.param  # type: ignore[attr-defined]
        yield client


def test_a_file_is_small_and_needs_nothing() -> None:
    site = "https://documentation.example.com/"
    longest = Project(domain="a" * 63, project_id=ids.project_id(), docs_url=site + "a-b.c" * ((200 - len(site)) // 5))
    service = f"https://{'a' * 63}.{'b' * 20}.example/path"
    for name in edge.NAMES:
        text = edge.write_file(longest, service, name)
        assert text
        assert len(text.encode()) <= MAX_BYTES, name
        assert not re.search("@[A-Z]+@", text)
        assert "import " not in text or name == "agents.caddy"
    assert edge.write_file(longest, "https://service.example", "other.conf") is None


def test_its_address_is_stable(http, service, shared_project):
    at = f"{service.url}/agents/{shared_project.domain}/edge"
    for name in edge.NAMES:
        response = http.get(f"{at}/{name}")
        assert response.headers["content-type"] == "text/plain; charset=utf-8"
        assert response.text == edge.write_file(shared_project.project, service.url, name)
    assert http.get(f"{at}/other").status_code == 404


def test_markdown_comes_from_the_service(site: httpx.Client, project: Any) -> None:
    start = f"# Markdown of /agents/{project.domain}"
    for address in ("/docs/guide.md", "/docs/llms.txt", "/docs/api/llms-1.txt", "/docs/llms-full.txt"):
        response = site.get(address)
        assert (response.text, response.headers["content-type"]) == (f"{start}{address}\n", MARKDOWN)
    for address in ("/docs/guide", "/docs/guides/", "/docs/guide.html"):
        response = site.get(address, headers={"Accept": "text/markdown, text/html;q=0.5"})
        assert response.text.startswith(start), address
    assert site.get("/docs/guide.md", headers={"If-None-Match": '"known"'}).status_code == 304
    assert site.head("/docs/guide").status_code == 200
    assert site.get("/other.md").text == "Outside"


def test_html_says_where_its_markdown_is(site: httpx.Client) -> None:
    listed = '</docs/llms.txt>; rel="describedby"; type="text/markdown"'
    for address, file in (
        ("/docs/guide", "/docs/guide.md"),
        ("/docs/guide.html", "/docs/guide.md"),
        ("/docs/guides/", "/docs/guides/index.md"),
        ("/docs/", "/docs/index.md"),
    ):
        response = site.get(address, headers={"Accept": "text/html"})
        assert response.headers["link"] == f'<{file}>; rel="alternate"; type="text/markdown", {listed}', address
        assert "Accept" in response.headers["vary"]
        assert "<h1>" in response.text
        if site.program == "nginx":  # type: ignore[attr-defined]
            assert response.text.index("/docs/llms.txt") < response.text.index("<h1>")
    assert "link" not in site.get("/other.md").headers
    assert "injected" not in site.get("/docs/guide%0d%0ainjected:%20x").headers


FAULTS = {name: ["slow", "wrong", "gone", "typed"] for name in SERVERS}
FAULTS["nginx"].remove("typed")  # it does not know the type of an answer before it sends it


@pytest.mark.parametrize(
    ("site", "what"),
    [pytest.param(name, what, marks=needs_program(name)) for name in SERVERS for what in FAULTS[name]],
    indirect=["site"],
)
def test_the_site_answers_if_the_service_does_not(site: httpx.Client, fake: FakeService, what: str) -> None:
    response = site.get(f"/docs/{what}.md")
    assert (response.status_code, response.text) == (200, f"Own {what}")
    response = site.get(f"/docs/{what}", headers={"Accept": "text/markdown"})
    assert response.status_code == 200
    assert f"<h1>{what}</h1>" in response.text
    assert site.get(f"/docs/no-page-{what}.md").status_code == 404
    assert not fake.release.is_set()


@pytest.mark.parametrize("program", EACH)
def test_the_site_answers_while_the_service_is_away(program: str, project: Any, tmp_path: Path) -> None:
    with serve(program, tmp_path, project, f"http://127.0.0.1:{free_port()}") as site:
        assert site.get("/docs/guide.md").text == "Own guide"
        assert site.get("/docs/llms.txt").text == "Own list"
        assert "<h1>guide</h1>" in site.get("/docs/guide", headers={"Accept": "text/markdown"}).text
        assert site.get("/docs/guides/", headers={"Accept": "text/markdown"}).status_code == 200


def test_no_secret_of_a_reader_reaches_the_service(site: httpx.Client, fake: FakeService, project: Any) -> None:
    secrets = {
        "Cookie": "s=secret",
        "Authorization": "Bearer secret",
        "X-Api-Key": "secret",
        "Referer": "https://secret",
    }
    headers = {**secrets, "X-Forwarded-For": "192.0.2.1", "If-None-Match": '"x"', "Accept": "text/markdown"}
    for address in ("/docs/guide.md", "/docs/guide"):
        assert site.get(f"{address}?token=secret", headers=headers).text.startswith("# Markdown")
        path, sent = fake.requests[-1]
        assert path.removesuffix(".html") == f"/agents/{project.domain}{address}"
        for name in ("accept-encoding", "connection", "x-forwarded-proto", "x-forwarded-host"):
            sent.pop(name, None)
        forwarded = sent.pop("x-forwarded-for", "127.0.0.1")  # Caddy's own hop
        assert forwarded == "127.0.0.1"
        assert sent == {
            "accept": "text/markdown",
            "if-none-match": '"x"',
            "x-docs-edge": "1",
            "host": fake.url.removeprefix("http://"),
        }


def certify(file: Path) -> Path:
    """A certificate of localhost with its key, in one file. It is its own authority."""
    name = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *name, "-keyout", "-", "-out", "-"]
    file.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return file


@pytest.mark.slow
@needs_program("nginx")
def test_nginx_reads_only_from_a_service_with_a_certificate(project: Any, tmp_path: Path) -> None:
    trusted, other = certify(tmp_path / "trusted.pem"), certify(tmp_path / "other.pem")
    for certificate, text in ((trusted, "# Markdown"), (other, "Own guide")):
        with fake_service(certificate) as fake, serve("nginx", tmp_path, project, fake.url, trusted) as site:
            assert site.get("/docs/guide.md").text.startswith(text)
    assert "proxy_ssl" not in (edge.write_file(project, "http://service.example", "nginx.conf") or "")


@pytest.mark.parametrize("address", ["/docs/gone", "/docs/gone.md", "/docs/guide"])
def test_the_site_gets_the_whole_request_that_it_answers(site: httpx.Client, address: str) -> None:
    asking = {"Accept": "text/html"} if address == "/docs/guide" else {"Accept": "text/markdown"}
    response = site.get(f"{address}?page=2", headers={**asking, "Cookie": "theme=dark"})
    assert "gone" in response.text or "guide" in response.text
    assert response.headers["x-seen"] == "page=2 theme=dark"


@pytest.mark.parametrize("program", first_of(EACH, 1))
def test_with_the_service_itself_and_the_log_is_imported(
    program: str, service: Any, make_acme: Any, tmp_path: Path
) -> None:
    from django.core.management import call_command

    from analytics.models import PageView

    tenant: Tenant = make_acme()
    tenant.project.docs_url = "https://acme.example/docs"
    tenant.project.save()
    agent = {"User-Agent": "ChatGPT-User/1.0"}
    with serve(program, tmp_path, tenant.project, service.url) as site:
        page = site.get("/docs/install.md", headers=agent)
        assert 'url: "https://acme.example/docs/install"' in page.text
        assert "[Installing acme](https://acme.example/docs/install.md)" in site.get("/docs/llms.txt").text
        assert site.get("/docs/install.md", headers={"If-None-Match": page.headers["etag"]}).status_code == 304
        assert site.get("/docs/slow.md", headers=agent).text == "Own slow"
    log = tmp_path / "access.log"
    if program == "caddy":  # its lines name the host of the test
        log.write_text(log.read_text().replace('"host":"127.0.0.1', '"host":"acme.example'))
    call_command("importlog", tenant.domain, str(log), verbosity=0)
    views = PageView.objects.filter(project=tenant.project, client_class="ai_user")
    assert sorted(views.values_list("surface", flat=True)) == ["md", "md"]

"""Log-in, widget, sockets and counting behind real nginx, Caddy and HAProxy with TLS, at the root and below a path.

Their settings are the examples of the documentation, with the addresses of the test.
"""

import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Browser, expect

from analytics.models import PageView
from tests import scenarios
from tests.browser.test_widget import Host, make_host
from tests.conftest import PATIENCE, ROOT, Service, Tenant, wait_for
from tests.docsite.server.operating.test_deploy_files import PROGRAMS, needs_program
from tests.ports import free_port

pytestmark = [pytest.mark.browser, pytest.mark.matrix]

__all__ = ["make_host"]  # a fixture

CONTENT = ROOT / "docsite/site/content"
PATH = "/docs-service"
PASSWORD = "correct horse battery staple"
ADDRESS = "subjectAltName=IP:127.0.0.1"
HOST = "docs-service.example.com"


def example(page: str, begin: str) -> str:
    """The block of a documentation page that begins with these words."""
    blocks: list[str] = re.findall(r"^```\w+\n(.*?)^```$", (CONTENT / f"{page}.md").read_text(), re.M | re.S)
    return next(block for block in blocks if block.startswith(begin))


def certify(folder: Path) -> None:
    """Make a certificate that only those trust who are told to."""
    names = ("-addext", ADDRESS, "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"))
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", *names]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "both.pem").write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())


def configure_nginx(folder: Path, port: int, service: int, path: str) -> list[str]:
    text = example("configuration", "map $http_upgrade")
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace(HOST, "127.0.0.1")
    if path:
        text = text.replace("    location / {\n", f"    location {path}/ {{\n")
    keys = f"ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem; access_log off;"
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{service}")
    whole = f"daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ {temporary} {keys} {text} }}"
    (folder / "nginx.conf").write_text(whole)
    return ["-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]


def configure_caddy(folder: Path, port: int, service: int, path: str) -> list[str]:
    text = example("deployment", HOST).replace("127.0.0.1:8000", f"127.0.0.1:{service}")
    address, _, rest = text.partition(" {\n")
    if path:  # Caddy removes the path
        inner = rest.rstrip().removesuffix("}")
        rest = f"handle_path {path}/* {{\n{inner}}}\n}}\n"
    assert address == HOST
    text = f"https://127.0.0.1:{port} {{\nbind 127.0.0.1\ntls {folder}/cert.pem {folder}/key.pem\n{rest}"
    (folder / "Caddyfile").write_text(f"{{\nadmin off\nauto_https off\nstorage file_system {folder}\n}}\n{text}")
    return ["run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def configure_haproxy(folder: Path, port: int, service: int, path: str) -> list[str]:
    text = example("deployment", "frontend docs_service").replace("127.0.0.1:8000", f"127.0.0.1:{service}")
    text = re.sub(r"bind .*", f"bind 127.0.0.1:{port} ssl crt {folder}/both.pem", text)
    if path:  # HAProxy removes the path, too
        text = text.replace(
            "    option forwardfor\n", f"    option forwardfor\n    http-request replace-path {path}/(.*) /\\1\n"
        )
    (folder / "haproxy.cfg").write_text(text)
    return ["-db", "-f", str(folder / "haproxy.cfg")]


PROXIES = {"nginx": configure_nginx, "caddy": configure_caddy, "haproxy": configure_haproxy}


@contextmanager
def serve(program: str, folder: Path, service: Service, path: str) -> Iterator[str]:
    """A proxy in front of a service. Gives its address, with the path."""
    certify(folder)
    port = free_port()
    options = PROXIES[program](folder, port, urlsplit(service.url).port or 0, path)
    command = [shutil.which(program, path=PROGRAMS) or program, *options]
    log = (folder / "log").open("w+")
    with log, subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "HOME": str(folder)}) as server:
        try:
            url = f"https://127.0.0.1:{port}{path}"
            wait_for(lambda: server.poll() is not None or answers(f"{url}/health"), f"{program} to start")
            assert server.poll() is None, (folder / "log").read_text()
            yield url
        finally:
            server.terminate()


def answers(url: str, **options: Any) -> bool:
    try:
        return httpx.get(url, verify=False, trust_env=False, **options).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("path", ["", PATH])
@pytest.mark.parametrize("program", [pytest.param(name, marks=needs_program(name)) for name in PROXIES])
def test_people_log_in_ask_and_are_counted(
    program: str,
    path: str,
    make_host: Callable[..., Host],
    browser: Browser,
    start: Any,
    project: Tenant,
    tmp_path: Path,
) -> None:
    settings = {"ALLOWED_HOSTS": f"127.0.0.1{path},localhost", "TRUSTED_PROXIES": "127.0.0.1", "HTTPS_ONLY": "1"}
    service = start(**settings)
    with serve(program, tmp_path, service, path) as url:
        log_in(browser, url, project)
        use_the_tags(make_host, url, project)
        count(url, project)
        examine(url, SSL_CERT_FILE=str(tmp_path / "cert.pem"), **settings)


def examine(url: str, **environment: str) -> None:
    """`doctor` arrives as a reader, and logs in."""
    found = scenarios.complete("doctor", "--url", url, **environment)
    assert "✓ Proxy: address, host and scheme of a reader arrive through 127.0.0.1" in found.stdout, found
    assert "✓ Log-in: an account that was made for it could log in" in found.stdout, found


def log_in(browser: Browser, url: str, project: Tenant) -> None:
    """By name and password, as the owner does, and out again."""
    name = f"proxied {project.domain}"
    owner, is_new = get_user_model().objects.get_or_create(username=name, is_staff=True)
    owner.set_password(PASSWORD)
    owner.save()
    project.project.organization.memberships.get_or_create(user=owner)
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(f"{url}/admin/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/admin/")
    cookies = {cookie["name"]: cookie["secure"] for cookie in context.cookies()}
    assert cookies == dict.fromkeys(("__Host-docs_session", "__Host-docs_csrf", "docs_device"), True)
    answer = page.goto(f"{url}/admin/project/{project.domain}")
    assert answer
    assert answer.status == 200
    links = page.evaluate("[...document.links, ...document.styleSheets].map((one) => one.href)")
    own = [link for link in links if link and link.startswith(url.removesuffix(urlsplit(url).path))]
    assert own
    assert [link for link in own if not link.startswith(f"{url}/") and link != url] == []
    context.close()
    assert is_new


def use_the_tags(make_host: Callable[..., Host], url: str, project: Tenant) -> None:
    """A page of another origin asks in the widget, by its socket."""
    host = make_host(tenant=project, ignore_https_errors=True)
    type(project.project).objects.filter(pk=project.project.pk).update(allowed_origins=[host.url])
    host.tag = (
        f'<script async src="{url}/widget.js" data-domain="{project.domain}" data-key="{project.assistant_key}">'
        f'</script><script async src="{url}/views.js" data-domain="{project.domain}"></script>'
    )
    sockets: list[str] = []
    host.page.on("websocket", lambda socket: sockets.append(socket.url))
    host.open()
    host.ask("How do I install acme?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    assert sockets == [f"{url.replace('https', 'wss', 1)}/discovery/v1/assistant/{project.domain}/socket"]
    assert host.errors == []


def count(url: str, project: Tenant) -> None:
    """Readers of two addresses are two visitors, whatever they claim in front of the proxy."""
    PageView.objects.filter(project=project.project).delete()
    for address in ("127.0.0.2", "127.0.0.3"):
        transport = httpx.HTTPTransport(local_address=address, verify=False)
        with httpx.Client(transport=transport, timeout=PATIENCE) as reader:
            for number in range(2):
                body = {"id": str(uuid.uuid4()), "path": f"/{number}"}
                headers = {"Origin": project.project.docs_url, "User-Agent": "Mozilla/5.0 (X11) Firefox/140.0"}
                answer = reader.post(f"{url}/discovery/v1/view/{project.domain}", json=body, headers=headers)
                assert answer.status_code < 300, answer.text
    views = PageView.objects.filter(project=project.project)
    wait_for(lambda: views.count() == 4, "the views to be stored")
    assert len(set(views.values_list("visitor", flat=True))) == 2

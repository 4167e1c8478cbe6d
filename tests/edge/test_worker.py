"""The worker before a site, in the runtime of Cloudflare: whose pages it sends, and whose views it reports."""

import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from analytics.models import PageView
from docsite.core.tenants.models import ApiKey
from docsite.extras.agent_pages import edge
from tests.analytics.conftest import CHATGPT, CHROME
from tests.conftest import PATIENCE, ROOT, Tenant, wait_for
from tests.docsite.extras.agent_pages.test_edge_files import FakeService, fake_service
from tests.ports import free_port

FOLDER = ROOT / "tests" / "edge"
pytestmark = [pytest.mark.node, pytest.mark.matrix]

AGENT = {"User-Agent": CHATGPT, "CF-Connecting-IP": "198.51.100.1"}
BROWSER = {"User-Agent": CHROME, "CF-Connecting-IP": "198.51.100.2"}


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """A page, or for a path with an ending text that says who has answered."""
        is_page = "." not in self.path
        body = (f"<body class=x><h1>{self.path}</h1></body>" if is_page else f"Own {self.path}").encode()
        self.send_response(404 if "nosuch" in self.path else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8" if is_page else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The site of the owner."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def fake() -> Iterator[FakeService]:
    with fake_service() as server:
        yield server


def run(project: Any, service_url: str, *requests: dict[str, Any], token: str = "", wait: int = 0) -> list[Any]:
    """The responses of the worker of a project."""
    script = edge.write_file(project, service_url, "worker.js")
    job = json.dumps({"script": script, "token": token, "requests": requests, "wait": wait})
    command = ["node", "worker.mjs", job]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_markdown_comes_from_the_service_and_html_names_it(fake, site, make_project):
    project = make_project(f"{site}/docs").project
    accept = {"headers": {"Accept": "text/markdown"}}
    secrets = {
        "Cookie": "a=secret",
        "Authorization": "Bearer secret",
        "X-Api-Key": "secret",
        "Referer": "https://secret",
    }
    markdown, listed, negotiated, known, page, home, folder, outside, posted = run(
        project,
        fake.url,
        {"url": f"{site}/docs/guide.md?token=secret", "headers": secrets},
        {"url": f"{site}/docs/llms.txt"},
        {"url": f"{site}/docs/guide", **accept},
        {"url": f"{site}/docs/guide.md", "headers": {"If-None-Match": '"known"'}},
        {"url": f"{site}/docs/guide"},
        {"url": f"{site}/docs/"},
        {"url": f"{site}/docs"},
        {"url": f"{site}/other.md"},
        {"url": f"{site}/docs/nosuch", **accept, "method": "HEAD"},
    )
    start = f"# Markdown of /agents/{project.domain}/docs"
    assert (markdown["text"], listed["text"]) == (f"{start}/guide.md\n", f"{start}/llms.txt\n")
    assert negotiated["text"] == f"{start}/guide\n"
    assert known["status"] == 304
    assert "secret" not in repr(fake.requests)
    assert page["text"].index("/docs/llms.txt") < page["text"].index("<h1>")
    assert '</docs/guide.md>; rel="alternate"; type="text/markdown"' in page["headers"]["link"]
    assert home["headers"]["link"] == folder["headers"]["link"]
    assert '</docs/index.md>; rel="alternate"' in home["headers"]["link"]
    assert "Accept" in page["headers"]["vary"]
    assert outside["text"] == "Own /other.md"
    assert posted["status"] in (404, 501)


def test_the_site_answers_if_the_service_is_slow_wrong_or_away(fake, site, make_project):
    project = make_project(site).project
    names = ("slow", "wrong", "gone", "typed")
    requests = [{"url": f"{site}/{name}.md"} for name in names]
    requests += [{"url": f"{site}/{name}", "headers": {"Accept": "text/markdown"}} for name in names]
    texts = [response["text"] for response in run(project, fake.url, *requests)]
    assert texts[:4] == [f"Own /{name}.md" for name in names]
    assert all(f"<h1>/{name}</h1>" in text for name, text in zip(names, texts[4:], strict=True))
    assert not fake.release.is_set()
    away = run(project, f"http://127.0.0.1:{free_port()}", *requests)
    assert [response["text"] for response in away] == texts


def test_it_reports_agents_and_markdown_and_no_browsers(service, site, make_acme):
    tenant: Tenant = make_acme()
    tenant.project.docs_url = site
    tenant.project.save()
    _, token = ApiKey.issue(ApiKey.Kind.COLLECTING, tenant.project.organization, tenant.project)
    browsing = {**BROWSER, "Sec-Fetch-Mode": "navigate"}
    run(
        tenant.project,
        service.url,
        {"url": f"{site}/install.md", "headers": AGENT},
        {"url": f"{site}/install", "headers": {**AGENT, "Accept": "text/markdown"}},
        {"url": f"{site}/install", "headers": AGENT},
        {"url": f"{site}/install.md", "headers": browsing},
        {"url": f"{site}/install", "headers": browsing},  # the page's script counts it
        {"url": f"{site}/configure", "headers": BROWSER},  # an old browser: refused by the service
        {"url": f"{site}/nosuch", "headers": AGENT},
        {"url": f"{site}/style.css", "headers": AGENT},
        token=token,
        wait=3000,
    )
    views = PageView.objects.filter(project=tenant.project)
    wait_for(lambda: views.count() >= 4, "the views")
    assert sorted(views.values_list("client_class", "surface")) == [
        ("ai_user", "html"),
        ("ai_user", "md"),
        ("ai_user", "md"),
        ("human", "md"),
    ]


REPORTED = """
const sent = [];
globalThis.fetch = async (url, options) => {
  if (options?.body) sent.push(...JSON.parse(options.body).views);
  return new Response("<body>", { headers: { "content-type": "text/html" } });
};
const [script, env, cf, headers] = JSON.parse(process.argv[1]);
const worker = (await import(`data:text/javascript,${encodeURIComponent(script)}`)).default;
const request = Object.assign(new Request("https://acme.example/guide", { headers }), cf && { cf });
const waiting = [];
globalThis.setTimeout = (call) => call();
await worker.fetch(request, { AGENTS_TOKEN: "key", ...env }, { waitUntil: (one) => waiting.push(one) });
await Promise.all(waiting);
console.log(JSON.stringify(sent.map((view) => view.ip)));
"""


@pytest.mark.parametrize(
    ("env", "cf", "expected"),
    [
        pytest.param({}, {"country": "DE"}, ["192.0.2.1"], id="Cloudflare"),
        pytest.param({}, None, [], id="elsewhere"),
        pytest.param({"address": "x-nf-client-connection-ip"}, None, ["192.0.2.2"], id="Netlify"),
        pytest.param({"address": "x-real-ip"}, None, ["192.0.2.3"], id="Vercel"),
    ],
)
def test_a_header_is_an_address_only_where_the_host_writes_it(make_project, env, cf, expected):
    script = edge.write_file(make_project("https://acme.example").project, "https://service.example", "worker.js")
    headers = {
        "CF-Connecting-IP": "192.0.2.1",
        "X-Nf-Client-Connection-IP": "192.0.2.2",
        "X-Real-IP": "192.0.2.3",
    }
    command = ["node", "--input-type=module", "--eval", REPORTED, json.dumps([script, env, cf, headers])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected

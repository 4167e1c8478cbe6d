"""No surface of the service shows a protected page to a reader who may not see it.

`SURFACES` has every endpoint of the OpenAPI document, every socket, and every address of the pages. A test compares it
with the code, so a new surface needs a case here. Each case is called as a reader without a token, as one of another
group, and as one of the page's group.
"""

import json
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpx
import jwt
import pytest
from django.urls import URLPattern, URLResolver
from websockets.sync.client import connect

from tests.analytics.conftest import CHROME
from tests.variants import first_of

pytestmark = pytest.mark.slow

CANARY = "quokkazebra"
PATH = f"/vault/{CANARY}"
QUESTION = f"How do I configure the {CANARY} relay of acme?"
ORIGIN = "https://docs.acme.example"
VAULT = f"""# The {CANARY} relay

To configure the {CANARY} relay of acme, set {CANARY}.mode in the relay file and start acme again.

```python
{CANARY}.configure(mode="relay")
```

## Limits of the {CANARY} relay

The {CANARY} relay of acme takes nine requests.
"""
PUBLIC = """# Install acme

Install acme with pip, then configure the relay of acme in its file. See [the relay](vault/quokkazebra.md).

## Start acme

To start acme, run acme serve and wait for its first request.
"""


@dataclass
class Site:
    """A service whose own project has a protected page, and the tokens of readers."""

    url: str
    domain: str
    project_id: str
    key: str
    admin_key: str
    share_token: str
    tokens: dict[str, str]


@dataclass
class Reader:
    """A caller of the surfaces: without a token, of another group, of the page's group, or with an admin key."""

    site: Site
    name: str
    http: httpx.Client

    def call(self, method: str, path: str, **options: Any) -> str:
        """The status and body of a response, with its headers."""
        headers = {"Authorization": f"Bearer {self.site.key}", "Origin": ORIGIN, **options.pop("headers", {})}
        if token := self.site.tokens.get(self.name):
            headers["X-Reader-Token"] = token
        response = self.http.request(method, f"{self.site.url}{path}", headers=headers, **options)
        assert response.status_code < 500, response.text
        return f"{response.status_code} {response.headers} {response.text}"

    def ask(self, version: str, text: str = QUESTION, **more: Any) -> str:
        """The stream of an answer."""
        message = {"id": "1", "role": "user", "content": text, "parts": [{"type": "text", "text": text}]}
        body = {"fp": f"reader-{self.name}", "messages": [message], "suggestions": True, **more}
        return self.call("POST", f"/discovery/{version}/assistant/{self.site.domain}/message", json=body)


@pytest.fixture(scope="module")
def site(start: Any, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The service, after a view of each page."""
    from analytics.dashboard.share_links import digest
    from analytics.models import ShareLink
    from docsite.core.tenants.management.commands.createproject import create_project
    from docsite.core.tenants.models import ReaderKey
    from search.indexing.ingest import ingest
    from search.models import SearchSettings
    from search.sources.markdown.folder import read_folder

    domain = f"leaks-{os.getpid()}"
    project, key, admin_key = create_project(domain, f"Leaks {os.getpid()}", ORIGIN, origins=[])
    folder = tmp_path_factory.mktemp("docs")
    (folder / "vault").mkdir()
    (folder / "index.md").write_text(PUBLIC)
    (folder / "vault" / f"{CANARY}.md").write_text(f"---\ngroups: [staff]\n---\n\n{VAULT}")
    ingest(project, read_folder(folder))
    SearchSettings.objects.create(project=project, promotions=f"relay => {PATH}", synonyms=f"tunnel, {CANARY}")
    ShareLink.objects.create(project=project, name="all", digest=digest("share"))
    reader_key = ReaderKey.objects.create(project=project, algorithm="HS256")
    tokens = {
        name: jwt.encode(
            {"aud": domain, "exp": time.time() + 3600, "groups": [name]},
            reader_key.secret,
            "HS256",
            headers={"kid": reader_key.kid},
        )
        for name in ("staff", "others")
    }
    service = start(SITE_DOMAIN=domain, SITE_ASSISTANT_KEY=key)
    site = Site(service.url, domain, project.project_id, key, admin_key, "share", tokens)
    views = [
        {
            "id": str(uuid.uuid4()),
            "timestamp": f"{datetime.now(UTC):%FT%TZ}",
            "path": path,
            "ip": ip,
            "userAgent": CHROME,
        }
        for path, ip in ((PATH, "198.51.100.1"), (PATH, "198.51.100.2"), ("/install-page", "198.51.100.3"))
    ]
    headers = {"Authorization": f"Bearer {admin_key}"}
    sent = httpx.post(f"{site.url}/v1/collect/{site.project_id}/views", json={"views": views}, headers=headers)
    assert sent.status_code == 200, sent.text
    return site


def _admin(path: str) -> Callable[[Reader], str]:
    """An export: an assistant key gets nothing, whoever the reader is; an admin key gets all."""

    def call(reader: Reader) -> str:
        headers = {"Authorization": f"Bearer {reader.site.admin_key}"} if reader.name == "admin" else {}
        return reader.call("GET", path.format(projectId=reader.site.project_id, threadId="thr_x"), headers=headers)

    return call


def _post(address: str, **body: Any) -> Callable[[Reader], str]:
    return lambda reader: reader.call("POST", address.format(domain=reader.site.domain), json=body)


def _get(path: str) -> Callable[[Reader], str]:
    return lambda reader: reader.call("GET", path.format(domain=reader.site.domain, token=reader.site.share_token))


def _markdown(path: str) -> Callable[[Reader], str]:
    """A page as Markdown, at its file and at its own address, from this service and through an edge file."""

    def call(reader: Reader) -> str:
        at = path.format(domain=reader.site.domain)
        wanted = {"Accept": "text/markdown", "X-Docs-Edge": "1"}
        return reader.call("GET", f"{at}.md") + reader.call("GET", at, headers=wanted)

    return call


def _forms(path: str) -> Callable[[Reader], str]:
    """A page with a form, read and sent."""

    def call(reader: Reader) -> str:
        form = {"question": QUESTION, "path": PATH, "comment": "fine", "rating": "up"}
        own = {"headers": {"Origin": reader.site.url}}
        at = path.format(domain=reader.site.domain)
        return reader.call("GET", f"{at}?path={PATH}", **own) + reader.call("POST", at, data=form, **own)

    return call


def _answers(version: str) -> Callable[[Reader], str]:
    """Answers: to a question about the page, on it, about it as the reader's page, and with its words selected."""

    def call(reader: Reader) -> str:
        selection = [{"type": "textSelection", "value": "takes nine requests", "path": PATH}]
        return "\n".join([
            reader.ask(version),
            reader.ask(version, "What is this page about?", currentPath=PATH),
            reader.ask(version, "Summarize this.", currentPath="/", context=selection),
            reader.ask(version, "tunnel"),
            reader.ask(version, "Where is the relay of acme configured?", filter={"groups": ["staff"]}),
        ])  # fmt: skip

    return call


def _search(reader: Reader) -> str:
    """Searches: by its words, by a synonym, by the words that promote it, by a prefix, with filters."""
    bodies: list[dict[str, Any]] = [
        {"query": CANARY},
        {"query": f"configure {CANARY} relay", "pageSize": 50},
        {"query": "tunnel"},
        {"query": "relay"},
        {"query": CANARY[:6]},
        {"query": "quokkazebre"},
        {"query": CANARY, "filter": {"groups": ["staff"]}},
    ]
    path = f"/discovery/v1/search/{reader.site.domain}"
    return "\n".join(reader.call("POST", path, json=body) for body in bodies)


def _shared(reader: Reader) -> str:
    """The visitors report by a share link: its tables, sorted by what the page leads, and filtered by its path."""
    address = f"/shared/{reader.site.share_token}"
    whole = reader.call("GET", address)
    assert "/install-page" in whole, "the report has the views"
    views = reader.call("GET", f"{address}?metric=views&q=vault")
    filtered = reader.call("GET", f"{address}?path={PATH}")
    unknown = reader.call("GET", f"{address}?path=/nosuch")
    assert filtered[:3] == unknown[:3] == "400", "a protected page is like no page"
    return f"{whole}\n{views}"


def _resume(reader: Reader) -> str:
    """The answer of a chat that a reader of the group has just asked, from the same browser."""
    address = f"/discovery/v2/assistant/{reader.site.domain}/message"
    headers = {"Authorization": f"Bearer {reader.site.key}", "Origin": ORIGIN}
    chat = f"chat-{reader.name}"
    message = {"id": "1", "role": "user", "content": QUESTION}
    body = {"fp": "one-browser", "id": chat, "messages": [message], "resumable": True}
    member = {**headers, "X-Reader-Token": reader.site.tokens["staff"]}
    with httpx.stream("POST", f"{reader.site.url}{address}", headers=member, json=body) as response:
        next(response.iter_raw())  # and leave before its end
    return reader.call("GET", f"{address}/{chat}/stream")


def _socket(reader: Reader) -> str:
    """An answer over the socket; then that of a reader of the group, resumed with the same fp."""
    address = f"{reader.site.url.replace('http', 'ws', 1)}/v1/assistant/{reader.site.domain}/socket"

    def exchange(name: str, message: dict[str, Any]) -> list[str]:
        token = reader.site.tokens.get(name)
        with connect(address, additional_headers={"Origin": ORIGIN}) as socket:
            named = {"readerToken": token} if token else {}
            socket.send(json.dumps({"key": reader.site.key, "fp": "socket", **message, **named}))
            parts = []
            while not parts or not _ends(parts[-1]):
                parts.append(str(socket.recv(timeout=20)))
        return parts

    question = {"type": "ask", "messages": [{"id": "1", "role": "user", "content": QUESTION}]}
    own = exchange(reader.name, question)
    theirs = [json.loads(part) for part in exchange("staff", question)]
    first = next(part for part in theirs if part.get("messageId"))
    thread = next(part["messageMetadata"]["threadId"] for part in theirs if "messageMetadata" in part)
    resumed = exchange(reader.name, {"type": "resume", "threadId": thread, "messageId": first["messageId"]})
    return "\n".join([*own, *resumed])


def _mcp(reader: Reader) -> str:
    """What a coding agent asks: to search, read and ask, and for the list and the text of pages."""
    tools: dict[str, dict[str, Any]] = {
        "search_docs": {"query": f"configure relay {CANARY}"},
        "read_page": {"path": PATH},
        "ask_docs": {"question": QUESTION},
        "give_feedback": {"path": PATH, "helpful": True},
    }
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in tools.items()),
        *(("initialize", {}), ("tools/list", {}), ("resources/list", {})),
        ("resources/read", {"uri": f"docs://{reader.site.domain}{PATH}"}),
    ]
    bodies = [{"jsonrpc": "2.0", "id": 1, "method": method, "params": params} for method, params in calls]
    return "\n".join(reader.call("POST", f"/mcp/{reader.site.domain}", json=body) for body in bodies)


def _pushes(method: str, path: str = "", **options: Any) -> Callable[[Reader], str]:
    """Pushed documentation: for admin keys that may write."""
    return lambda reader: reader.call(method, f"/v1/sources/{reader.site.project_id}/docs{path}", **options)


def _ends(part: str) -> bool:
    return json.loads(part)["type"] in ("finish", "error", "abort")


@dataclass(frozen=True)
class Surface:
    """How a surface is called, and who sees the page there: its group (`staff`), nobody, or an admin key.

    `echo`: the surface repeats the words of the request, so only other words of the page count.
    """

    call: Callable[[Reader], str]
    seen_by: str = ""
    echo: bool = False


ANALYTICS = "/v1/analytics/{projectId}"
RANGE = "?dateFrom=2020-01-01&dateTo=2099-01-01"
API: dict[str, Surface] = {
    f"get {ANALYTICS}/visitors": Surface(_admin(f"{ANALYTICS}/visitors{RANGE}"), "admin"),
    f"get {ANALYTICS}/views": Surface(_admin(f"{ANALYTICS}/views{RANGE}"), "admin"),
    f"get {ANALYTICS}/searches": Surface(_admin(f"{ANALYTICS}/searches{RANGE}")),
    f"get {ANALYTICS}/sources": Surface(_admin(f"{ANALYTICS}/sources{RANGE}")),
    f"get {ANALYTICS}/assistant": Surface(_admin(f"{ANALYTICS}/assistant{RANGE}")),
    f"get {ANALYTICS}/assistant/threads/{{threadId}}": Surface(_admin(f"{ANALYTICS}/assistant/threads/{{threadId}}")),
    f"get {ANALYTICS}/assistant/caller-stats": Surface(_admin(f"{ANALYTICS}/assistant/caller-stats{RANGE}")),
    f"get {ANALYTICS}/assistant/gaps": Surface(_admin(f"{ANALYTICS}/assistant/gaps{RANGE}")),
    f"get {ANALYTICS}/feedback": Surface(_admin(f"{ANALYTICS}/feedback{RANGE}")),
    f"get {ANALYTICS}/feedback/by-page": Surface(_admin(f"{ANALYTICS}/feedback/by-page{RANGE}")),
    "post /v1/collect/{projectId}/views": Surface(
        lambda reader: reader.call("POST", f"/v1/collect/{reader.site.project_id}/views", json={"views": []})
    ),
    "post /discovery/v1/assistant/{domain}/message": Surface(_answers("v1"), "staff", echo=True),
    "post /discovery/v1/assistant/{domain}/forget": Surface(
        _post("/discovery/v1/assistant/{domain}/forget", fp="a", threadId="thr_x")
    ),
    "post /discovery/v1/assistant/{domain}/preview": Surface(
        _post("/discovery/v1/assistant/{domain}/preview", question=f"{CANARY} relay takes nine requests"), "staff"
    ),
    "post /discovery/v2/assistant/{domain}/message": Surface(_answers("v2"), "staff", echo=True),
    "get /discovery/v2/assistant/{domain}/message/{chatId}/stream": Surface(_resume, "staff"),
    "post /discovery/v2/assistant/{domain}/stop": Surface(
        _post("/discovery/v2/assistant/{domain}/stop", fp="a", threadId="thr_x", messageId="msg_x")
    ),
    "post /discovery/v1/search/{domain}": Surface(_search, "staff"),
    "post /discovery/v1/search/{domain}/click": Surface(
        _post("/discovery/v1/search/{domain}/click", query=CANARY, path=PATH, position=1)
    ),
    "post /discovery/v1/page/{domain}": Surface(_post("/discovery/v1/page/{domain}", path=PATH), "staff"),
    "post /discovery/v1/view/{domain}": Surface(_post("/discovery/v1/view/{domain}", path=PATH, url=f"{ORIGIN}{PATH}")),
    "post /discovery/v1/feedback/{domain}": Surface(
        _post("/discovery/v1/feedback/{domain}", path=PATH, rating="up", fp="a")
    ),
    "get /discovery/v1/widget/{domain}": Surface(_get("/discovery/v1/widget/{domain}")),
    f"get {ANALYTICS}/agents": Surface(_admin(f"{ANALYTICS}/agents{RANGE}")),
    f"get {ANALYTICS}/costs": Surface(_admin(f"{ANALYTICS}/costs{RANGE}")),
    f"get {ANALYTICS}/annotations": Surface(_admin(f"{ANALYTICS}/annotations{RANGE}")),
    "get /discovery/v1/support/{domain}": Surface(_get("/discovery/v1/support/{domain}")),
    "post /discovery/v1/support/{domain}": Surface(
        _post("/discovery/v1/support/{domain}", email="a@acme.example", subject="Hm", message="Hm", token="x")
    ),
    "post /discovery/v1/support/{domain}/event": Surface(_post("/discovery/v1/support/{domain}/event", event="begun")),
    "get /v1/sources/{projectId}": Surface(lambda reader: reader.call("GET", f"/v1/sources/{reader.site.project_id}")),
    "put /v1/sources/{projectId}/{name}": Surface(_pushes("PUT", content=b"")),
    "delete /v1/sources/{projectId}/{name}": Surface(_pushes("DELETE")),
    "post /v1/sources/{projectId}/{name}/manifest": Surface(_pushes("POST", "/manifest", json={"files": {}})),
}
SOCKETS = {
    "socket v1/assistant": Surface(_socket, "staff", echo=True),
}
ANY_PAGE = f"/{CANARY}"  # of the site: an address that resembles that of the page
PAGES = {
    "health": Surface(_get("/health")),
    "health/live": Surface(_get("/health/live")),
    "health/ready": Surface(_get("/health/ready")),
    "metrics": Surface(_get("/metrics")),
    "openapi.json": Surface(_get("/openapi.json")),
    "widget.js": Surface(_get("/widget.js")),
    "search.js": Surface(_get("/search.js")),
    "widget.d.ts": Surface(_get("/widget.d.ts")),
    "widget/licences.txt": Surface(_get("/widget/licences.txt")),
    "widget/": Surface(_get("/widget/0123456789abcdef/panel.js")),
    "mcp/<str:domain>": Surface(_mcp, "staff", echo=True),
    "mcp/<str:domain>/": Surface(_mcp, "staff", echo=True),
    "mcp/<str:domain>/server-card": Surface(_get("/mcp/{domain}/server-card")),
    "mcp/<str:domain>/skill.md": Surface(_get("/mcp/{domain}/skill.md")),
    "agents/<str:domain>/edge/<str:name>": Surface(_get("/agents/{domain}/edge/worker.js")),
    "agents/<str:domain>/llms.txt": Surface(_get("/agents/{domain}/llms.txt")),
    "agents/<str:domain>/llms-<int:part>.txt": Surface(_get("/agents/{domain}/llms-1.txt")),
    "agents/<str:domain>/llms-full.txt": Surface(_get("/agents/{domain}/llms-full.txt")),
    "agents/<str:domain>/<path:folder>/llms.txt": Surface(_get("/agents/{domain}/vault/llms.txt")),
    "agents/<str:domain>/<path:folder>/llms-<int:part>.txt": Surface(_get("/agents/{domain}/vault/llms-1.txt")),
    "agents/<str:domain>/<path:folder>/llms-full.txt": Surface(_get("/agents/{domain}/vault/llms-full.txt")),
    "agents/<str:domain>/": Surface(_markdown("/agents/{domain}/")),
    "agents/<str:domain>/<path:address>": Surface(_markdown("/agents/{domain}" + PATH)),
    "views.js": Surface(_get("/views.js")),
    "favicon.ico": Surface(_get("/favicon.ico")),
    "admin/": Surface(_get("/admin/")),  # for staff, who see all: the tests of each page
    "shared/<str:token>": Surface(_shared),
    "": Surface(_get("/")),
    "llms.txt": Surface(_get("/llms.txt")),
    "llms-full.txt": Surface(_get("/llms-full.txt")),
    "sitemap.xml": Surface(_get("/sitemap.xml")),
    "robots.txt": Surface(_get("/robots.txt")),
    "opensearch.xml": Surface(_get("/opensearch.xml")),
    "changelog.atom": Surface(_get("/changelog.atom")),
    ".well-known/security.txt": Surface(_get("/.well-known/security.txt")),
    "skill.md": Surface(_get("/skill.md")),
    ".well-known/mcp/server-card.json": Surface(_get("/.well-known/mcp/server-card.json")),
    ".well-known/mcp": Surface(_get("/.well-known/mcp")),
    ".well-known/ai-catalog.json": Surface(_get("/.well-known/ai-catalog.json")),
    ".well-known/agent-skills/index.json": Surface(_get("/.well-known/agent-skills/index.json")),
    "push.py": Surface(_get("/push.py")),
    "support/<str:domain>": Surface(_get("/support/{domain}?page=" + PATH), echo=True),
    "try-your-docs": Surface(_forms("/try-your-docs"), echo=True),
    "try-your-docs/<str:domain>": Surface(_get("/try-your-docs/{domain}")),
    "try-your-docs/<str:domain>/state": Surface(_get("/try-your-docs/{domain}/state")),
    "try-your-docs/<str:domain>/end": Surface(_forms("/try-your-docs/{domain}/end"), echo=True),
    "first-account": Surface(_get("/first-account")),
    "invitations/<str:token>": Surface(_get("/invitations/x")),
    "unsubscribe/<str:token>": Surface(_get("/unsubscribe/x")),
    "confirm-address/<str:token>": Surface(_get("/confirm-address/x")),
    "search": Surface(_get(f"/search?q=configure+relay+{CANARY}"), echo=True),
    "ask": Surface(_forms("/ask"), echo=True),
    "feedback": Surface(_forms("/feedback"), echo=True),
    "<slug:slug>": Surface(_get(ANY_PAGE), echo=True),
    "<slug:slug>.md": Surface(_get(f"{ANY_PAGE}.md"), echo=True),
    "<slug:slug>/": Surface(_get(f"{ANY_PAGE}/"), echo=True),
    "de": Surface(_get("/de")),
    "de/": Surface(_get("/de/")),
    "de/<slug:slug>": Surface(_get(f"/de{ANY_PAGE}"), echo=True),
    "de/<slug:slug>.md": Surface(_get(f"/de{ANY_PAGE}.md"), echo=True),
    "de/<slug:slug>/": Surface(_get(f"/de{ANY_PAGE}/"), echo=True),
}
SURFACES = {**API, **SOCKETS, **PAGES}
OWN_WORDS = ("nine requests", f"{CANARY} relay of acme takes", f"{CANARY}.mode", f"{CANARY}.configure", "vault/quokka")


def shows_page(surface: Surface, text: str) -> bool:
    """Whether a response holds a word of the page that was not in the request."""
    if not surface.echo:
        return CANARY in text
    plain = (
        re.sub(r'"data": \{"uri": "[^"]*"\}', "", text)
        .replace("\\/", "/")
        .replace(f"&quot;{PATH}", "")
        .replace(f'value="{PATH}"', "")
        .replace(f"no page at {PATH}", "")
    )
    return any(words in plain for words in OWN_WORDS)


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    """A client that keeps no cookie, so that a call knows nothing of the calls before."""
    with httpx.Client(timeout=30, follow_redirects=True) as client:
        client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        yield client


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("reader", first_of(["others", "nobody"], 1))
def test_a_reader_without_the_group_sees_nothing_of_the_page(
    http: httpx.Client, site: Site, name: str, reader: str
) -> None:
    text = SURFACES[name].call(Reader(site, reader, http))
    assert not shows_page(SURFACES[name], text), text


@pytest.mark.parametrize("name", [name for name, surface in SURFACES.items() if surface.seen_by])
def test_the_same_call_shows_the_page_to_its_readers(http: httpx.Client, site: Site, name: str) -> None:
    """Otherwise the case above would prove nothing."""
    text = SURFACES[name].call(Reader(site, SURFACES[name].seen_by, http))
    assert shows_page(SURFACES[name], text), text


def test_every_surface_has_a_case(site: Site) -> None:
    from docsite.server import api_urls, routing, urls
    from docsite.server.health import probes

    document = httpx.get(f"{site.url}/openapi.json").json()
    operations = {f"{method} {path}" for path, methods in document["paths"].items() for method in methods}
    assert operations == API.keys()
    assert len(SOCKETS) == 1, "the only socket"
    assert routing._SOCKET.fullmatch("/discovery/v1/assistant/acme/socket")
    api = [pattern for pattern in api_urls.urlpatterns if getattr(pattern, "app_name", "") != "ninja"]
    pages = {_shorten(route) for route in _routes([*api, *urls.urlpatterns])}
    assert pages | {path.removeprefix("/") for path in probes.PATHS} == PAGES.keys()


def _routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver) and not route.startswith("admin/"):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern | URLResolver):
            yield route


def _shorten(route: str) -> str:
    """A route without what follows in addresses of the admin, and in those with a version."""
    return "admin/" if route.startswith("admin/") else "widget/" if route.startswith("^widget/") else route

"""Pages of the documentation are sent again without rendering them, and each view is recorded."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from docsite.site.page_cache import MAX_RESPONSES, PageCache
from tests.conftest import PATIENCE, Service, wait_for

pytestmark = pytest.mark.slow

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
STAFF = "page-cache-staff"


class Site:
    """The service with documentation of its own, and a browser."""

    def __init__(self, service: Service, project: Any, client: httpx.Client) -> None:
        self.service = service
        self.project = project
        self.client = client

    def get(self, path: str, **headers: str) -> httpx.Response:
        """A page as Firefox requests it."""
        defaults = {"User-Agent": FIREFOX, "Accept": "text/html"}
        return self.client.get(
            path, headers={**defaults, **{name.replace("_", "-"): headers[name] for name in headers}}
        )

    def views(self, path: str) -> int:
        """The recorded views of a path."""
        from analytics.counting import pages
        from analytics.models import PageView

        numbers = PageView.objects.filter(project=self.project).values_list("page", flat=True)
        return pages.paths_of(self.project.pk, list(numbers)).count(path)


@pytest.fixture(scope="module")
def site(start: Any, django_db_setup: None) -> Iterator[Site]:
    """See `Site`."""
    from docsite.core.tenants.management.commands.createproject import create_project

    project, key, _ = create_project("page-cache", "Page cache", "https://docs.example.com", [])
    service = start(SITE_DOMAIN="page-cache", SITE_ASSISTANT_KEY=key)
    with httpx.Client(base_url=service.url, timeout=PATIENCE, trust_env=False) as client:
        yield Site(service, project, client)


def without_id(response: httpx.Response) -> dict[str, str]:
    """The headers of a response that are the same for every request."""
    return {name: value for name, value in response.headers.items() if name != "x-request-id"}


def test_the_second_response_is_the_first_one(site: Site) -> None:
    """With all its headers; other encodings, formats and hosts have responses of their own. All views count."""
    first, second = site.get("/streaming"), site.get("/streaming?utm_source=x")
    assert (second.status_code, second.content, without_id(second)) == (200, first.content, without_id(first))
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert second.headers["content-encoding"] == "gzip"
    plain = [site.get("/streaming", Accept_Encoding="identity") for _ in range(2)]
    assert [("content-encoding" in response.headers, response.text) for response in plain] == [(False, first.text)] * 2
    markdown = [site.get("/streaming", Accept="text/markdown") for _ in range(2)]
    assert {response.headers["content-type"] for response in markdown} == {"text/markdown; charset=utf-8"}
    port = site.service.url.rpartition(":")[2]
    elsewhere = [site.get("/streaming", Host=f"localhost:{port}") for _ in range(2)]
    assert all(f"http://localhost:{port}/streaming" in response.headers["link"] for response in elsewhere)
    assert site.get("/streaming", Host="evil.example").status_code == 400
    assert site.get("/streaming?q=%00").status_code == 400
    wait_for(lambda: site.views("/streaming") == 8, "eight views")
    site.get("/streaming", Sec_Purpose="prefetch")
    site.client.head("/streaming")
    site.get("/streaming")
    wait_for(lambda: site.views("/streaming") == 9, "the ninth view, and none of a prefetch")


def test_a_client_that_has_the_page_gets_no_body(site: Site) -> None:
    """304 with the same ETag; that reading counts, too."""
    first = site.get("/models")
    again = site.get("/models", If_None_Match=first.headers["etag"])
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert not [name for name in again.headers if name.startswith("content-") and name != "content-security-policy"]
    assert site.get("/models", If_None_Match='"another"').status_code == 200
    wait_for(lambda: site.views("/models") == 3, "three views")


def test_staff_that_is_logged_in_is_not_counted(site: Site) -> None:
    """Neither before nor after others have read the page."""
    user, _ = get_user_model().objects.get_or_create(username=STAFF, is_staff=True)
    browser = Client()
    browser.force_login(user)
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in browser.cookies.items())
    assert site.get("/embed", Cookie=cookie).status_code == 200
    site.get("/embed")
    assert site.get("/embed", Cookie=cookie).status_code == 200
    site.get("/embed")
    wait_for(lambda: site.views("/embed") == 2, "two views of readers")


async def test_only_good_responses_are_stored_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails, sets a cookie, or is no page of the documentation is made anew each time."""
    clock = 1000.0
    monkeypatch.setattr("docsite.site.page_cache.time.monotonic", lambda: clock)
    monkeypatch.setattr("docsite.site.page_cache.record_view", nothing)
    status, headers, calls = 200, [(b"ETag", b'"a"')], []

    async def pages(scope: Any, receive: Any, send: Any) -> None:
        calls.append(scope["path"])
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"page"})

    cache = PageCache(pages)

    async def count(path: str = "/quickstart", host: bytes = b"a", times: int = 2) -> int:
        calls.clear()
        for _ in range(times):
            scope = {"type": "http", "method": "GET", "path": path, "scheme": "http", "query_string": b""}
            await cache({**scope, "headers": [(b"host", host)]}, nothing, nothing)
        return len(calls)

    assert await count() == 1
    assert await count() == 0
    clock += 11
    assert await count() == 1
    assert await count("/search") == 2
    assert await count("/nowhere") == 2
    headers.append((b"Set-Cookie", b"a=b"))
    assert await count(host=b"b") == 2
    headers.pop()
    status = 404
    assert await count(host=b"c") == 2
    status = 200
    for number in range(MAX_RESPONSES):
        await count(host=str(number).encode(), times=1)
    assert len(cache._responses) == MAX_RESPONSES
    assert await count() == 1, "the oldest is forgotten"


@pytest.mark.parametrize(("known_tags", "status"), [('"a"', 304), ('W/"a", "b"', 304), ("*", 304), ('"b"', 200)])
async def test_whether_a_client_has_the_page_does_not_depend_on_the_cache(
    monkeypatch: pytest.MonkeyPatch, known_tags: str, status: int
) -> None:
    """A 304 has the headers of the page, without those that describe its body: length, type and encoding."""
    monkeypatch.setattr("docsite.site.page_cache.record_view", nothing)
    kept = [(b"ETag", b'W/"a"'), (b"Content-Security-Policy", b"x")]

    async def pages(scope: Any, receive: Any, send: Any) -> None:
        headers = [*kept, (b"Content-Type", b"text/html"), (b"Content-Length", b"4")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"pa", "more_body": True})
        await send({"type": "http.response.body", "body": b"ge"})

    cache = PageCache(pages)
    scope = {"type": "http", "method": "GET", "path": "/quickstart", "scheme": "http", "query_string": b""}
    for _ in range(2):
        sent: list[Any] = []

        async def keep(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        await cache({**scope, "headers": [(b"if-none-match", known_tags.encode())]}, nothing, keep)
        start, end = sent
        assert (start["status"], end["body"]) == (status, b"page" if status == 200 else b"")
        assert start["headers"][: len(kept)] == kept
        assert (len(start["headers"]) == len(kept)) is (status == 304)


async def nothing(*_: Any) -> None:
    """Accept a message."""

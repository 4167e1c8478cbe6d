"""Views of the service's own pages are queued without a thread when all that they need is cached."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import RequestFactory

from analytics.collecting import middleware, writer
from analytics.counting import pages
from analytics.models import PageView
from docsite.core.access import authentication
from docsite.core.db import in_db
from tests.analytics.conftest import CHROME


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the middleware does in a thread of the database, by the name of the function."""
    names: list[str] = []

    def note(function: Any) -> Any:
        names.append(function.__name__)
        return in_db(function)

    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)  # caches do not expire
    monkeypatch.setattr(middleware, "in_db", note)
    monkeypatch.setattr(middleware, "_no_project_until", 0.0)
    authentication.ttl_cache.clear()
    return names


def open_page(path: str, **more: Any) -> None:
    """Record a view, as the pages do."""
    request = RequestFactory().get(path, HTTP_USER_AGENT=CHROME)
    vars(request).update(more)
    async_to_sync(middleware.record_view)(request)
    writer.flush()


def test_only_the_first_view_of_a_site_needs_a_thread(make_project: Any, settings: Any, asked: list[str]) -> None:
    """A request that carries a user needs a thread, too: only the database knows whether that is staff."""
    tenant = make_project()
    settings.ENV = settings.ENV.model_copy(update={"site_domain": tenant.domain})
    for path in ("/first?utm_source=x", "/second"):
        open_page(path)
        assert asked == ["_send"]
    open_page("/third", user=SimpleNamespace(is_staff=False))
    open_page("/fourth", user=SimpleNamespace(is_staff=True))
    assert asked == ["_send"] * 3
    numbers = PageView.objects.filter(project=tenant.project).order_by("id").values_list("page", flat=True)
    assert pages.paths_of(tenant.project.pk, list(numbers)) == ["/first", "/second", "/third"]


def test_a_page_that_nobody_known_reads_is_no_view(make_project: Any, settings: Any, asked: list[str]) -> None:
    tenant = make_project()
    changed = {"site_domain": tenant.domain, "trusted_proxies": ("127.0.0.1",)}
    settings.ENV = settings.ENV.model_copy(update=changed)
    for forwarded in ("unknown", "198.51.100.1:61002", "198.51.100.2:61002"):
        open_page("/first", META={**RequestFactory().get("/first").META, "HTTP_X_FORWARDED_FOR": forwarded})
    assert PageView.objects.filter(project=tenant.project).values("visitor").distinct().count() == 2


@pytest.mark.django_db
def test_a_site_without_a_project_is_looked_up_seldom(
    settings: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pages work, and their views are in no report."""
    settings.ENV = settings.ENV.model_copy(update={"site_domain": "nobody"})
    for _ in range(3):
        open_page("/first")
    assert asked == ["_send"]
    monkeypatch.setattr(middleware, "_no_project_until", 0.0)  # as later
    open_page("/first")
    assert asked == ["_send", "_send"]


@pytest.mark.matrix
def test_a_mistake_of_ours_does_not_change_the_page(
    make_project: Any, settings: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """The view is lost, and the log says so."""
    tenant = make_project()
    settings.ENV = settings.ENV.model_copy(update={"site_domain": tenant.domain})
    open_page("/first")

    def fail(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(writer, "submit", fail)
    open_page("/second")
    assert "A page view could not be stored." in caplog.text
    assert asked == ["_send"]

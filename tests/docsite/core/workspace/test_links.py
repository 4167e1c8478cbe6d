"""Every link of every page of the admin leads somewhere, for each kind of person."""

from collections import defaultdict, deque
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.test import Client, override_settings
from django.urls import Resolver404, resolve

from analytics.counting import sealer
from docsite.core.tenants.models import Role
from docsite.extras.demo.sample import life
from docsite.extras.demo.sample.views import make_sample_views
from docsite.server.api_additions import find_name
from search.models import Document
from tests.conftest import Tenant, logged_in
from tests.docsite.core.workspace import test_roles

pytestmark = [pytest.mark.slow, pytest.mark.matrix]  # `test_navigation.py` opens each page

rows = test_roles.rows  # of each kind of thing one, which the sample does not have

START = "/admin/"
OF_OWNERS = ("admin:projects_project_change",)  # Django links a row to its project
MOST_PATHS = 2  # that are opened of one kind of page, such as a conversation
OTHERS = ("superuser", "viewer", "writer")
MOST_VALUES = 2  # that are tried of one parameter of a page; of an order, all


class Links(HTMLParser):
    """The addresses that a page leads to: its links, and its forms of GET with each choice."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._form: str | None = None  # the action of the open form, if it sends GET
        self._select = ""
        self._fields: list[tuple[str, str]] = []
        self._choices: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        name, value = facts.get("name", ""), facts.get("value", "")
        if tag == "a" and "href" in facts:
            self.found.append(facts["href"])
        elif tag == "form":
            is_get = facts.get("method", "get").lower() == "get"
            self._form, self._fields, self._choices = facts.get("action", "") if is_get else None, [], []
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            self._choices.append((self._select, value))
        elif name and (tag == "button" or facts.get("type") in ("radio", "checkbox")):
            self._choices.append((name, value))
        elif name and tag == "input" and facts.get("type") != "submit":
            self._fields.append((name, value))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form is not None:
            for choice in ((), *((one,) for one in self._choices)):
                self.found.append(f"{self._form}?{urlencode([*self._fields, *choice])}")
            self._form = None


class Crawl:
    """Follows links as one person. Of equal kinds of pages it opens some, and of a parameter some values."""

    def __init__(self, client: Client, most_values: int, forbidden: Collection[str] = ()) -> None:
        self._client = client
        self._most_values = most_values
        self._forbidden = forbidden
        self.wrong: list[str] = []
        self.opened: set[str] = set()
        self._paths: defaultdict[str, set[str]] = defaultdict(set)
        self._values: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    def run(self, *starts: str) -> None:
        """Open pages and all that they lead to."""
        waiting = deque((start, "the beginning") for start in starts)
        while waiting:
            address, source = waiting.popleft()
            if not self._is_new(address):
                continue
            self.opened.add(address)
            response: Any = self._open(address)
            name = _name(address)
            if response.status_code not in (200, 302) and (response.status_code != 403 or name not in self._forbidden):
                self.wrong.append(f"{response.status_code} {address}, a link of {source}")
            if response.streaming and response.is_async:
                async_to_sync(_read)(response)
            elif response.streaming:
                list(response)
            elif "Location" in response:
                waiting.append((urljoin(address, response["Location"]), address))
            elif address.startswith(START) and response["Content-Type"].startswith("text/html"):
                waiting += [(link, address) for link in _list_links(address, response.content.decode())]

    def _open(self, address: str) -> Any:
        """The answer of a page, or of what optional parts serve behind the API middleware."""
        path = address.partition("?")[0]
        with override_settings(**{"ROOT_URLCONF": "docsite.server.api_urls"} if find_name(path) else {}):
            return self._client.get(address)

    def _is_new(self, address: str) -> bool:
        """Whether to open an address: its page, or a value of its parameters, was not seen yet."""
        path, _, query = address.partition("?")
        name = _name(address)
        if not name:
            return address not in self.opened
        paths = self._paths[name]
        if path not in paths and len(paths) >= MOST_PATHS:
            return False
        is_new = path not in paths
        paths.add(path)
        for key, value in parse_qsl(query, keep_blank_values=True):
            values = self._values[name, key]
            limit = len(values) + 1 if key == "sort" and self._most_values > 1 else self._most_values
            if value not in values and len(values) < limit:
                values.add(value)
                is_new = True
        return is_new


def _name(address: str) -> str:
    """The name of the page at an address; empty if there is none."""
    try:
        return resolve(address.partition("?")[0]).view_name
    except Resolver404:
        return ""


async def _read(response: Any) -> None:
    """Read a file to its end."""
    async for _ in response:
        pass


def _list_links(address: str, html: str) -> Iterator[str]:
    """The addresses of this service to which a page leads, without the log-out and without what they lead back to."""
    for link in Links(html).found:
        parts = urlsplit(urljoin(f"http://testserver{address}", link))
        query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != "_changelist_filters"]
        if parts.netloc == "testserver" and "/logout/" not in parts.path:
            yield f"{parts.path}?{urlencode(query)}" if query else parts.path


@pytest.fixture
def tenant(project: Tenant, rows: Any) -> Tenant:
    """A project with the life of the demo."""
    make_sample_views(
        project.project, list(Document.objects.filter(project=project.project).values_list("path", flat=True))
    )
    life.create_sample(project.project)
    sealer.seal(timeout=60)
    return project


@pytest.mark.parametrize(
    ("person", "most_values"), [("owner", 1), ("owner", MOST_VALUES), *((other, 1) for other in OTHERS)]
)
def test_every_link_of_the_admin_leads_somewhere(tenant: Tenant, person: str, most_values: int) -> None:
    organization, name = tenant.project.organization, f"{person} {tenant.project.pk}"
    if person == "superuser":
        client = logged_in(name, is_superuser=True)
    else:
        client = logged_in(name, organization)
        organization.memberships.filter(user__username=name).update(role=person)
    client.raise_request_exception = False
    crawl = Crawl(client, most_values, OF_OWNERS if person in (Role.VIEWER, Role.WRITER) else ())
    crawl.run(START, f"/admin/project/{tenant.domain}")
    assert crawl.wrong == []
    assert len(crawl.opened) > 100

"""Real parts for every test: a Daphne process, a model server, and a fresh tenant in one shared database.

Tests do not clean up after themselves. Each makes an organization of its own,
which must see nothing of the others; so isolation is tested all the time.
"""

import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 180  # seconds that a test waits for anything, however busy the machine; only a failure takes so long
_numbers = itertools.count(1)
NO_TLS = False  # for clients of plain HTTP: reading the certificates of all authorities takes 40 ms
_held: list[socket.socket] = []

PAGES = {
    "index": "---\ntitle: Acme\n---\n# Acme\n\nAcme keeps parcels in order.\n",
    "install": "---\ntitle: Installing acme\ndescription: How to install acme on any machine.\n---\n"
    "# Installing acme\n\nYou need Python 3.11 to install acme.\n\n"
    "## With pip\n\nRun this command to install acme:\n\n```sh\npip install acme\n```\n\n"
    "## From source\n\nClone the repository, then build it with `make install`.\n",
    "configure": "---\ntitle: Configuring acme\ntags: [settings]\nversion: '2.0'\n---\n# Configuring acme\n\n"
    "## Environment\n\nSet `ACME_HOME` to the folder where acme keeps its parcels.\n",
    "guides/labels": "---\ntitle: Printing labels\n---\n# Printing labels\n\n"
    "## Label printers\n\nUse `acme.labels.printLabel()` to print a label on a thermal printer.\n",
}


def free_port() -> int:
    """A port that nobody listens on now. It is held on another address, so that no other worker picks it, too."""
    held = socket.socket()
    held.bind(("127.0.0.2", 0))
    _held.append(held)
    return int(held.getsockname()[1])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test first, so that it does not run alone at the end."""
    items.sort(key=lambda item: item.get_closest_marker("services") is None)


@dataclass
class Service:
    """A running process of the service."""

    url: str
    process: subprocess.Popen[str]
    log: Path

    @property
    def ws(self) -> str:
        """The same address for sockets."""
        return self.url.replace("http", "ws", 1)


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
    """One migrated database for this process and the servers it starts."""
    from django.core.management import call_command

    with django_db_blocker.unblock():
        call_command("migrate", verbosity=0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start `manage.py serve` with extra environment; every process ends with the session."""
    running: list[subprocess.Popen[str]] = []

    def run(**environment: str) -> Service:
        port = free_port()
        log = tmp_path_factory.mktemp("serve") / "log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(port)],
                cwd=ROOT, env={**os.environ, **environment}, stdout=out, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        running.append(process)
        wait_for(lambda: "Ready:" in log.read_text() or process.poll() is not None, "the service to start")
        assert process.poll() is None, log.read_text()
        return Service(f"http://127.0.0.1:{port}", process, log)

    yield run
    for process in running:
        process.terminate()
    for process in running:
        process.wait(PATIENCE)


def wait_for(condition: Any, what: str) -> None:
    """Poll until the condition holds; fail with words when it does not."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            pytest.fail(f"waited {PATIENCE} s for {what}")
        time.sleep(0.02)


@pytest.fixture(scope="session")
def own_database(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A SQLite database for tests that need one to themselves: the environment of those who use it."""
    from tests import scenarios

    return scenarios.migrate({"DATA_DIR": str(tmp_path_factory.mktemp("data"))})


@pytest.fixture(scope="session")
def service(start: Any, django_db_setup: None) -> Service:
    """The service without a model: answers are quoted."""
    return start()


@dataclass
class Upstream:
    """The fake model server."""

    url: str

    @property
    def log(self) -> list[dict[str, Any]]:
        """Every request it saw."""
        return self.asked("")

    def asked(self, marker: str) -> list[dict[str, Any]]:
        """The requests whose question holds the marker, oldest first."""
        return httpx.get(f"{self.url}/log", params={"of": marker}, trust_env=False, verify=NO_TLS).json()

    def last(self, marker: str) -> dict[str, Any]:
        """The latest of them."""
        return self.asked(marker)[-1]


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    """A model server in a process of its own."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "tests/upstream.py", str(port)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    yield Upstream(f"http://127.0.0.1:{port}")
    process.terminate()
    process.wait(PATIENCE)


@pytest.fixture(scope="session")
def model_service(start: Any, upstream: Upstream, django_db_setup: None) -> Service:
    """The service with the fake model server behind it."""
    return start(OPENAI_BASE_URL=f"{upstream.url}/v1", OPENAI_API_KEY="sk-secret", OPENAI_MODEL="fake-1")


@dataclass
class Tenant:
    """A project of an organization of its own, with its keys."""

    project: Any
    assistant_key: str
    admin_key: str
    domain: str
    project_id: str
    assistant: dict[str, str] = field(init=False)
    admin: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.assistant = {"Authorization": f"Bearer {self.assistant_key}"}
        self.admin = {"Authorization": f"Bearer {self.admin_key}"}


@pytest.fixture
def make_project() -> Iterator[Any]:
    """Make a tenant, without documentation."""
    from django.db import connection

    from docsite.core.tenants.management.commands.createproject import create_project
    from docsite.core.tenants.models import Project
    from search.backends import sqlite

    made: list[int] = []

    def make(docs_url: str = "https://docs.acme.example", **options: Any) -> Tenant:
        number = f"{os.getpid()}-{next(_numbers)}"
        domain = f"acme-{number}"
        project, assistant_key, admin_key = create_project(
            domain, f"Acme {number}", docs_url, **{"origins": [], **options}
        )
        made.append(project.pk)
        return Tenant(project, assistant_key, admin_key, domain, project.project_id)

    yield make
    if connection.vendor == "sqlite":  # whose every change of tables takes longer the more there are
        for pk in made:
            sqlite.drop(Project(pk=pk))


@pytest.fixture
def project(make_project: Any, tmp_path: Path) -> Tenant:
    """A tenant with a few pages about acme."""
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    tenant = make_project()
    for name, text in PAGES.items():
        file = tmp_path / "docs" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    ingest(tenant.project, read_folder(tmp_path / "docs"))
    return tenant


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    """A plain client."""
    with httpx.Client(timeout=PATIENCE, trust_env=False, verify=NO_TLS) as client:
        yield client


def fake(mode: str, marker: str = "") -> list[dict[str, str]]:
    """A context that tells the fake model server what to do, and by which the request is found in its log."""
    return [{"type": "textSelection", "value": f"fake:{mode} {marker}"}]


def question(text: str, **more: Any) -> dict[str, Any]:
    """The body of a question."""
    return {"fp": "anonymous", "messages": [{"id": "m1", "role": "user", "content": text}], **more}


def assert_error(response: httpx.Response, status: int, *details: str) -> dict[str, Any]:
    """The one error shape, with these beginnings among its details."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("application/json")
    body = response.json()
    assert set(body) <= {"error", "details"}
    assert body["error"].endswith(".")
    messages = [detail["message"] for detail in body.get("details", [])]
    for detail in details:
        assert any(message.startswith(detail) for message in messages), messages
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "no-store" in response.headers["cache-control"]
    return body


def set_analytics(project: Any, **values: Any) -> None:
    """Change the analytics settings of a project, as its owner does in the admin."""
    from analytics.models import AnalyticsSettings

    settings = AnalyticsSettings.stored_for(project)
    for name, value in values.items():
        setattr(settings, name, value)
    settings.save()


def visitor_secret(project: Any) -> str:
    """The key of a project's visitor hashes."""
    from analytics.models import AnalyticsSettings

    return AnalyticsSettings.stored_for(project).visitor_secret


def logged_in(name: str, *organizations: Any, **facts: Any) -> Any:
    """A browser session of a staff user who belongs to these organizations."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    user, _ = get_user_model().objects.get_or_create(username=name, defaults={"is_staff": True, **facts})
    for organization in organizations:
        organization.memberships.get_or_create(user=user)
    client = Client()
    client.force_login(user)
    return client

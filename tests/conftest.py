"""Real parts for every test: a Daphne process, a model server, and a fresh tenant in one shared database.

Tests do not clean up after themselves. Each makes an organization of its own,
which must see nothing of the others; so isolation is tested all the time.
"""

import contextlib
import fcntl
import functools
import gc
import itertools
import json
import os
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import httpx
import pytest
from django.db import transaction

from tests import scenarios, variants
from tests.copies import Copies
from tests.ports import free_port
from tests.processes import ROOT, Process, collect_garbage_less, manage

ASYNC_UNSAFE = "DJANGO_ALLOW_ASYNC_UNSAFE"  # of tests that share their thread with Playwright
PATIENCE = 600  # seconds that a test waits for anything, however busy the machine; only a failure takes so long
_numbers = itertools.count(1)
MAX_WAIT = 0.5  # seconds that a probe of `nobody_waits` may take, on a machine that is not busy

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a background job of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # services under test end by it

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


def pytest_configure(config: pytest.Config) -> None:
    """Collect no parameters of the matrix for a run that leaves them out: a quarter of the time."""
    variants.collects_matrix = "not matrix" not in config.option.markexpr


def pytest_sessionstart() -> None:
    """Load all pages of the admin, as a service does, before a test imports some of them: their order is shown."""
    import docsite.server.urls  # noqa: F401


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with servers first, so that they do not run alone at the end. None empties the database of all."""
    for item in items:
        marker = item.get_closest_marker("django_db")
        assert not (marker and marker.kwargs.get("transaction")), item.nodeid
    items.sort(key=lambda item: item.get_closest_marker("services") is None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Wait for the packages of tests/contract, which `make test` installs beside the tests."""
    needs_them = item.get_closest_marker("node") or {"browser", "contract"}.intersection(item.path.parts)
    if needs_them and "WAIT_FOR_CLIENTS" in os.environ:
        wait_for((ROOT / "tests/contract/node_modules/.package-lock.json").exists, "npm to install tests/contract")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all tests of a file to one worker, since they share services.

    The tests with PostgreSQL and Redis share one worker, those with Chromium two. The run inside a test, which repeats
    tests on PostgreSQL and Redis, starts servers of its own.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            if file.startswith("tests/browser/"):
                return f"tests/browser, half {crc32(file.encode()) % 2}"
            shares = file.startswith("tests/services/") and not file.endswith("/test_postgres_and_redis.py")
            return "tests/services" if shares else file

    return Scheduling(config, log)


def pytest_collection_finish() -> None:
    """The tests themselves are no garbage."""
    collect_garbage_less()
    gc.enable()


@dataclass
class Service:
    """A running process of the service."""

    url: str
    process: Process
    log: Path

    @property
    def ws(self) -> str:
        """The same address for sockets."""
        return self.url.replace("http", "ws", 1)


@pytest.fixture(scope="session", autouse=True)
def _read_certificates_once() -> Iterator[None]:
    """Read the certificates of all authorities once in a process: each httpx client would read them anew, in 40 ms."""
    create = ssl.create_default_context
    cached = functools.cache(create)

    def choose(*purpose: Any, **options: Any) -> ssl.SSLContext:
        """Create one context for each certificate file, and share it.

        A call without a file gets a context of its own, since a test may have set `SSL_CERT_FILE`.
        """
        return (cached if "cafile" in options else create)(*purpose, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", choose)
        yield


@pytest.fixture(scope="session", autouse=True)
def _scan_static_files_once() -> Iterator[None]:
    """Look for static files once in a process: each test client makes the middleware anew, which looks for them."""
    from docsite.server.middleware.static_files import StaticFiles

    found: dict[str, Any] = {}

    def add_files(middleware: StaticFiles) -> None:
        if not found:
            scan(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    scan = StaticFiles.add_files_from_finders
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFiles, "add_files_from_finders", add_files)
        yield


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite database without rows of ours, to be copied. The workers of a run share one."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "migrated" / "db.sqlite3").exists():
            building = folder / "migrating"
            scenarios.manage(("migrate", "--verbosity=0"), {"DATA_DIR": str(building)})
            building.rename(folder / "migrated")
    return folder / "migrated" / "db.sqlite3"


@pytest.fixture(scope="session")
def copy_database(migrated: Path) -> Callable[[Path], dict[str, str]]:
    """Make a migrated database in a folder. Returns the environment of those who use it."""

    def copy(folder: Path) -> dict[str, str]:
        shutil.copy(migrated, folder / "db.sqlite3")
        return {"DATA_DIR": str(folder), "DATABASE_URL": ""}

    return copy


@pytest.fixture(scope="session")
def django_db_setup(request: pytest.FixtureRequest, django_db_blocker: Any) -> Iterator[None]:
    """One migrated database for this process and the servers it starts."""
    from django.core.management import call_command
    from django.db import connection

    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":
            request.getfixturevalue("copy_database")(Path(os.environ["DATA_DIR"]))
        else:
            call_command("migrate", verbosity=0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield


Environment = frozenset[tuple[str, str]]


class Start:
    """Start `manage.py serve` with extra environment. All but a few end with the file of tests that started them.

    A start takes 0.2 s of processor time. Services that tests share run with `--no-background`: their threads would
    look for work in the projects of all tests, a quarter of a run's processor time. Tests of sources, deliveries,
    alerts, groups, vectors or sweeps take `fresh`.
    """

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self._lasting: dict[Environment, Service] = {}
        self._shared: dict[Environment, Service] = {}
        self._fresh: list[Service] = []

    def __call__(self, **environment: str) -> Service:
        """A service with this environment, which other tests use, too: it may not be ended."""
        key = frozenset(environment.items())
        if key in self._lasting:
            return self._lasting[key]
        if key not in self._shared:
            self._shared[key] = self._start(manage, environment, "--no-background")
        return self._shared[key]

    def lasting(self, **environment: str) -> Service:
        """A service with this environment that tests of many files use. It ends with the session."""
        key = frozenset(environment.items())
        if key not in self._lasting:
            self._lasting[key] = self._start(manage, environment, "--no-background")
        return self._lasting[key]

    def fresh(self, run: Callable[..., None] = manage, **environment: str) -> Service:
        """A service for one test or one file, which may end it and read its log. `run` calls `manage.py`.

        Unlike shared services, it runs the background threads.
        """
        self._fresh.append(self._start(run, environment))
        return self._fresh[-1]

    def _start(self, run: Callable[..., None], environment: dict[str, str], *options: str) -> Service:
        port = free_port()
        log = self._factory.mktemp("serve") / "log"
        inherited = {name: value for name, value in os.environ.items() if name != ASYNC_UNSAFE}
        process = Process(run, ("serve", "--port", str(port), *options), {**inherited, **environment}, log, log)
        service = Service(f"http://127.0.0.1:{port}", process, log)
        wait_for(
            lambda: process.poll() is not None or (log.exists() and "Ready:" in log.read_text()), "the service to start"
        )
        assert process.poll() is None, log.read_text()
        return service

    def end_file(self) -> None:
        """End the services of a file."""
        services = [*self._fresh, *self._shared.values()]
        self._fresh, self._shared = [], {}
        _end(services)

    def end(self) -> None:
        """End those that last."""
        _end([*self._lasting.values()])


def _end(services: list[Service]) -> None:
    """End services. None may have blocked its event loop."""
    for service in services:
        service.process.terminate()
    for service in services:
        service.process.wait(PATIENCE)
        assert "BlockingError" not in service.log.read_text(), service.log.read_text()


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start services; every process ends with the session."""
    start = Start(tmp_path_factory)
    yield start
    start.end()


@pytest.fixture(scope="module", autouse=True)
def _end_services_of_file(start: Start) -> Iterator[None]:
    yield
    start.end_file()


def wait_for(condition: Any, what: str) -> None:
    """Poll until the condition holds; fail with words when it does not."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            pytest.fail(f"waited {PATIENCE} s for {what}")
        time.sleep(0.02)


@pytest.fixture(scope="session")
def own_database(tmp_path_factory: pytest.TempPathFactory, copy_database: Any) -> dict[str, str]:
    """A SQLite database for tests that need one to themselves: the environment of those who use it."""
    return copy_database(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def service(start: Any, django_db_setup: None) -> Service:
    """The service without a model: answers are quoted."""
    return start.lasting()


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
        return httpx.get(f"{self.url}/log", params={"of": marker}, trust_env=False).json()

    def release(self, marker: str) -> None:
        """Let answers in the mode `held` go on whose question holds the marker."""
        httpx.get(f"{self.url}/release", params={"of": marker}, trust_env=False).raise_for_status()

    def last(self, marker: str) -> dict[str, Any]:
        """The latest of them."""
        return self.asked(marker)[-1]


@contextlib.contextmanager
def probe(service: Service) -> Iterator[list[float]]:
    """Ask for `/health` every 100 ms while the block runs. Afterwards the list has the wait of each request (s)."""
    waits: list[float] = []
    command = [sys.executable, "tests/probe.py", service.url]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    process.stdout.readline()
    try:
        yield waits
    finally:
        process.stdin.close()
        waits += json.loads(process.stdout.read())
        process.wait(PATIENCE)


@pytest.fixture
def nobody_waits() -> Callable[[Service], contextlib.AbstractContextManager[None]]:
    """`with nobody_waits(service):` fails if another reader had to wait while the block ran.

    The limit is generous. On a busy machine it grows with what a probe of the idle service takes, and with the number
    of processes that compete for a core.
    """

    @contextlib.contextmanager
    def watch(service: Service) -> Iterator[None]:
        with probe(service) as waits:
            yield
        if max(waits) < MAX_WAIT:
            return
        with probe(service) as idle_waits:
            time.sleep(0.5)
        competing = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        limit = (MAX_WAIT + 20 * statistics.median(idle_waits)) * competing
        assert max(waits) < limit, f"probes waited {sorted(waits)[-5:]} s, limit {limit} s"

    return watch


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
    return start.lasting(OPENAI_BASE_URL=f"{upstream.url}/v1", OPENAI_API_KEY="sk-secret", OPENAI_MODEL="fake-1")


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


@contextlib.contextmanager
def unaudited() -> Iterator[None]:
    """Nothing of this thread is added to the audit, which takes most of the time of making a project or a user."""
    from docsite.privacy import chain

    with pytest.MonkeyPatch.context() as patch, transaction.atomic():
        patch.setattr(chain, "append", lambda entry: None)
        yield


@pytest.fixture(scope="session")
def make_project(django_db_setup: None) -> Any:
    """Make a tenant, without documentation. It is as `createproject` makes it, but for its entries in the audit."""
    from docsite.core.tenants.models import ApiKey, Organization, Project

    def make(docs_url: str = "https://docs.acme.example", origins: Sequence[str] = ()) -> Tenant:
        number = f"{os.getpid()}-{next(_numbers):05}"  # of one length: names are markers, and none begins another
        domain = f"acme-{number}"
        with unaudited():
            owner = Organization(name=f"Acme {number}")
            Organization.objects.bulk_create([owner])
            values = {"docs_url": docs_url, "allowed_origins": [*origins]}
            project = Project(organization=owner, domain=domain, name=domain, **values)
            Project.objects.bulk_create([project])
            _, assistant_key = ApiKey.issue(ApiKey.Kind.ASSISTANT, owner, project, name="First assistant key")
            _, admin_key = ApiKey.issue(ApiKey.Kind.ADMIN, owner, name=f"First admin key of {domain}")
        return Tenant(project, assistant_key, admin_key, domain, project.project_id)

    return make


@pytest.fixture(scope="session")
def acme_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages about acme, which no test changes."""
    folder = tmp_path_factory.mktemp("acme")
    for name, text in PAGES.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def acme_docs(acme_folder: Path, tmp_path: Path) -> Path:
    """A copy of that folder for a test that changes pages."""
    return Path(shutil.copytree(acme_folder, tmp_path / "docs"))


@pytest.fixture(scope="session")
def make_acme(make_project: Any, acme_folder: Path) -> Callable[[], Tenant]:
    """Make a tenant with a few pages about acme."""
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    @functools.cache
    def prepare() -> Copies:
        project = make_project().project
        ingest(project, read_folder(acme_folder))
        return Copies(project)

    def make() -> Tenant:
        tenant: Tenant = make_project()
        prepare().copy_to(tenant.project)
        return tenant

    return make


@pytest.fixture
def project(make_acme: Callable[[], Tenant]) -> Tenant:
    """A tenant with a few pages about acme."""
    return make_acme()


@pytest.fixture(scope="module")
def shared_project(make_acme: Callable[[], Tenant]) -> Tenant:
    """Such a tenant for all tests of a file that change nothing of it."""
    return make_acme()


@dataclass
class People:
    """Browsers of staff users: two of a project's organization, and one of another."""

    owner: Any
    teammate: Any
    stranger: Any


@pytest.fixture
def people(project: Tenant, make_project: Any) -> People:
    """Who may and who may not see a project in the admin. All three are logged in."""
    mine, other = project.project.organization, make_project().project.organization
    names = {"owner": mine, "teammate": mine, "stranger": other}
    return People(*(logged_in(f"{name} of {project.domain}", organization) for name, organization in names.items()))


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    """A plain client."""
    with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
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

    client = Client()
    with unaudited():
        user, _ = get_user_model().objects.get_or_create(username=name, defaults={"is_staff": True, **facts})
        for organization in organizations:
            organization.memberships.get_or_create(user=user)
        client.force_login(user)
        session = client.session
        session["proved_at"] = time.time()  # as after a log-in
        session.save()
    return client

"""When a replica becomes the primary, processes follow it, and forget what they remember of the old one."""

import itertools
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from tests import scenarios
from tests.conftest import PATIENCE, wait_for
from tests.ports import free_port
from tests.services.conftest import postgres_program
from tests.services.slow_network import SlowNetwork

pytestmark = pytest.mark.services

_numbers = itertools.count(1)

READER = {
    "Origin": "https://docs.acme.example",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}


class Replica:
    """A streaming replica of the server of the tests."""

    def __init__(self, primary: str, folder: Path) -> None:
        self.primary, server, self.port = primary, urlsplit(primary), free_port()
        self._user = "postgres" if os.getuid() == 0 else None
        self._folder = folder
        if self._user:
            shutil.chown(folder, self._user)
        self.url = primary.replace(f":{server.port}/", f":{self.port}/")
        connect = ("-h", "127.0.0.1", "-p", str(server.port), "-U", "docs")
        options = ("-D", str(folder / "data"), "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")
        subprocess.run([postgres_program("pg_basebackup"), *connect, *options], check=True, user=self._user, cwd=folder)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = ("-D", self._folder / "data", "-p", str(self.port), "-k", self._folder, "-h", "127.0.0.1")
        self._server = subprocess.Popen(
            [postgres_program("postgres"), *options, "-c", "max_connections=500", "-c", "fsync=off"],
            user=self._user, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        ready = [postgres_program("pg_isready"), "-h", "127.0.0.1", "-p", str(self.port)]
        wait_for(lambda: subprocess.run(ready, capture_output=True).returncode == 0, "the replica")

    def start_as_primary(self) -> None:
        """Start it as a primary, without what it had not received when it was stopped."""
        (self._folder / "data" / "standby.signal").unlink()
        self.start()

    def promote(self) -> None:
        """Make a primary of it."""
        self.run("SELECT pg_promote() WHERE pg_is_in_recovery()")

    def stop(self) -> None:
        """Stop it at once."""
        self._server.kill()
        self._server.wait(PATIENCE)
        (self._folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def run(self, statement: str) -> list[tuple]:
        """The rows of a statement."""
        with psycopg.connect(self.url, autocommit=True) as database:
            cursor = database.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def replica(postgres: str, new_database) -> Iterator[Replica]:
    """Of all databases; its address is that of a migrated one."""
    folder = Path(tempfile.mkdtemp(prefix="docs-service-replica-"))
    name = f"replicated_{next(_numbers)}"
    replica = Replica(new_database(name)["DATABASE_URL"], folder)
    yield replica
    replica.stop()
    shutil.rmtree(folder)


def set_up() -> None:
    """Make a project with a page, and print its domain and key."""
    from docsite.core.tenants.management.commands.createproject import create_project

    project, key, _ = create_project("replicated", "Acme", "https://docs.acme.example", [])
    print(project.domain, key)  # noqa: T201


def add_page(word: str) -> None:
    """Read the documentation again, with a page about a word."""
    from docsite.core.tenants.models import Project
    from search.indexing.ingest import ingest
    from search.sources import Page

    ingest(Project.objects.get(), [Page(f"{word}.md", f"/{word}", f"# {word.title()}\n\nAll about {word}.\n")])


def write_on_a_server_that_became_read_only() -> None:
    """Write on a connection whose server may no longer be written, and on the next one."""
    from django.db import OperationalError, close_old_connections, connection

    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE projects_counter SET value = value")

    write()
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    with pytest.raises(OperationalError, match="no primary any more"):
        write()
    close_old_connections()
    write()


@pytest.mark.matrix
def test_a_promoted_replica_is_followed_without_a_restart(replica: Replica, start):
    server = urlsplit(replica.primary)
    domain = scenarios.run(set_up, {"DATABASE_URL": replica.primary}).split()[0]
    network = SlowNetwork(server.hostname, server.port)
    both = f"postgres://docs@127.0.0.1:{network.port},127.0.0.1:{replica.port}{server.path}"
    service = start.fresh(DATABASE_URL=both)
    with httpx.Client(base_url=service.url, timeout=PATIENCE, trust_env=False, verify=False) as http:

        def view(path: str) -> int:
            body = {"id": uuid.uuid4().hex, "path": path}
            return http.post(f"/discovery/v1/view/{domain}", json=body, headers=READER).status_code

        assert view("/before") == 204
        wait_for(lambda: replica.run("SELECT path FROM analytics_page") == [("/before",)], "the replica")
        network.close()
        assert view("/between") == 503, "a replica cannot store it"
        assert http.get("/health/ready").status_code == 503
        replica.promote()
        assert view("/after") == 204
        assert set(replica.run("SELECT path FROM analytics_page")) == {("/before",), ("/after",)}
        assert http.get("/health/ready").status_code == 200
        found = scenarios.complete("doctor", DATABASE_URL=both).stdout
        assert f"at 127.0.0.1:{replica.port} answers and can be written" in found

        scenarios.run(write_on_a_server_that_became_read_only, {"DATABASE_URL": both})
        replica.run("ALTER SYSTEM SET default_transaction_read_only = on")  # as a primary that was put out of use
        replica.run("SELECT pg_reload_conf()")
        wait_for(lambda: view("/read-only") == 503, "connections to be given up")
        replica.run("ALTER SYSTEM RESET default_transaction_read_only")
        replica.run("SELECT pg_reload_conf()")
        wait_for(lambda: view("/again") == 204, "the server")
    assert "Traceback" not in service.log.read_text()


@pytest.mark.matrix
def test_what_the_new_primary_lacks_is_forgotten(replica: Replica, start):
    old = {"DATABASE_URL": replica.primary}
    domain, key = scenarios.run(set_up, old).split()
    scenarios.run(add_page, old, "quill")
    server = urlsplit(replica.primary)
    network = SlowNetwork("127.0.0.1", server.port)
    service = start.fresh(DATABASE_URL=replica.primary.replace(f":{server.port}/", f":{network.port}/"))
    with httpx.Client(base_url=service.url, timeout=PATIENCE, trust_env=False, verify=False) as http:

        def find(word: str) -> list[str] | int:
            headers = {"Authorization": f"Bearer {key}"}
            response = http.post(f"/v1/search/{domain}", json={"query": word}, headers=headers)
            found = response.status_code == 200
            return [urlsplit(hit["metadata"]["url"]).path for hit in response.json()] if found else response.status_code

        def view(path: str) -> str:
            body = {"id": uuid.uuid4().hex, "path": path}
            send(body)
            return body["id"]

        def send(body: dict[str, str]) -> None:
            def is_stored() -> bool:
                status = http.post(f"/discovery/v1/view/{domain}", json=body, headers=READER).status_code
                assert status in (204, 503)
                return status == 204

            wait_for(is_stored, "a view to be stored")

        view("/first")
        views = "SELECT count(*) FROM analytics_pageview"
        wait_for(lambda: replica.run(views) == [(1,)], "the replica to have the view")
        replica.stop()
        lost = view("/lost")
        scenarios.run(add_page, old, "wort")
        assert find("wort") == ["/wort"]

        replica.start_as_primary()
        scenarios.run(add_page, {"DATABASE_URL": replica.url}, "thyme")
        network.lead_to("127.0.0.1", replica.port)
        view("/other")
        wait_for(lambda: find("thyme") == ["/thyme"], "a search on the new primary")
        assert find("wort") == []
        send({"id": lost, "path": "/lost"})
        named = (
            "SELECT path, count(*) FROM analytics_pageview AS view JOIN analytics_page AS page "
            "ON page.number = view.page AND page.project_id = view.project_id GROUP BY path ORDER BY path"
        )
        assert replica.run(named) == [("/first", 1), ("/lost", 1), ("/other", 1)]
    assert service.log.read_text().count("another server answers. What was remembered") == 1


def notice_another_server() -> None:
    """Go on behind a pooler, where another server answers on the same connection."""
    from django.db import OperationalError, transaction

    from analytics.collecting import recording
    from analytics.counting import pages, sealer
    from docsite.core.postgresql import primary
    from docsite.core.tenants.management.commands.createproject import create_project
    from tests.analytics.collecting.test_collecting import observations

    project, *_ = create_project("pooled", "Acme", "https://docs.acme.example", [])
    known = pages.for_project(project.pk)
    known.load()
    sealer.add_seal(project.pk)
    lease = sealer.acquire_lease(project.pk)
    assert lease
    server = primary.check_server()
    primary._server = known._server = "earlier"
    with pytest.raises(OperationalError, match="another server"):
        known.load()
    assert pages.for_project(project.pk) is not known
    assert primary.check_server(server) == server
    with transaction.atomic(), pytest.raises(OperationalError, match="another server"):
        sealer.release_lease(replace(lease, server="earlier"))
    primary._server = "earlier"
    assert recording.record(project, observations(2)).accepted == 2, "what was remembered is read anew"


def lose_a_connection() -> None:
    """Use a connection again: it is not tried before, but replaced if the server has closed it."""
    from django.db import close_old_connections, connection

    def find_process() -> int:
        close_old_connections()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return cursor.fetchone()[0]

    process = find_process()
    connection.is_usable = None
    assert find_process() == process
    del connection.is_usable
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
    assert find_process() != process


def test_a_connection_that_the_server_closed_is_replaced(new_database):
    scenarios.run(lose_a_connection, new_database(f"closed_{next(_numbers)}"))


@pytest.mark.matrix
def test_another_server_on_the_same_connection_is_noticed(new_database):
    scenarios.run(notice_another_server, new_database(f"noticed_{next(_numbers)}"))

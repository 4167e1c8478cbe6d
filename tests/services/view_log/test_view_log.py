"""Each view that the log has acknowledged is stored in the database exactly once, whichever process or server fails."""

import asyncio
import itertools
import os
import signal
import time

import pytest
from nats import connect

from analytics.collecting.writer import Facts, View
from docsite.core.access.authentication import CACHE_SECONDS
from docsite.extras.view_log import connection, messages
from tests import processes, scenarios
from tests.conftest import PATIENCE, assert_error, wait_for
from tests.grown.parts import wait_until
from tests.ports import free_port
from tests.services.slow_network import SlowNetwork
from tests.services.view_log.servers import Server, stream

pytestmark = pytest.mark.services


def redelivers_soon(*arguments: str) -> None:
    """A service for which messages that a dead process has taken do not wait for long."""
    from docsite.extras.view_log import stream

    stream.CONSUMER_SETTINGS["ack_wait"] = 10**9
    processes.manage(*arguments)


def stores_late(*arguments: str) -> None:
    """A service that stores the messages of the log half a second after it has taken them."""
    from docsite.extras.view_log import messages

    decode = messages.decode
    messages.decode = lambda body: time.sleep(0.5) or decode(body)
    processes.manage(*arguments)


def test_views_are_acknowledged_by_the_log_and_a_report_has_them(site, http, nats):
    service = site.start(stores_late)
    answer = site.send(http, "one", "two", "one")
    assert answer.json() == {"accepted": 2, "duplicates": 1, "ignored": 0}
    assert site.count(http) == 2, "a report waits for the log"
    assert site.send(http, "one", "two").json() == {"accepted": 0, "duplicates": 2, "ignored": 0}, "the same batch"
    assert site.send(http, "two", "three").json()["accepted"] == 2, "the log does not know single views"
    assert [site.open(http, "four").status_code for _ in range(2)] == [204, 204]
    assert site.count(http) == 4
    site.check_all_stored_once()
    assert asyncio.run(stream(nats.url)).messages == 0
    assert http.get(f"{service.url}/health/ready").json()["views"] == "ok"
    metrics = http.get(f"{service.url}/metrics", headers={"Authorization": f"Bearer {'t' * 16}"}).text
    lines = ('docs_store_up{store="view_log"} 1', "docs_view_log_messages 0", "docs_view_log_refused 0")
    assert [line for line in lines if line not in metrics] == []
    found = scenarios.complete("doctor", **site.environment).stdout
    assert "✓ View log: 0 messages wait for the database, the oldest for 0 seconds; replicas: 1" in found


@pytest.mark.matrix
def test_while_the_log_is_away_views_are_refused_and_it_is_said_once(site, http, nats):
    service = site.start()
    assert site.send(http, "one").status_code == 200
    assert site.count(http) == 1
    nats.kill()
    for _ in range(2):
        answer = site.send(http, "two")
        assert_error(answer, 503)
        assert answer.headers["Retry-After"] == "5"
        assert site.open(http, "three").status_code == 503
    assert site.count(http) == 1, "a report has what is stored"
    assert http.get(f"{service.url}/health/ready").json()["views"] == "the view log does not work"
    refused = scenarios.complete("erase", site.project["domain"], "--everything", "--yes", **site.environment)
    assert "The view log (VIEW_LOG_URL) may hold views" in refused.stderr, refused
    assert "✗ View log: it does not work" in scenarios.complete("doctor", **site.environment).stdout
    nats.start()
    wait_for(lambda: site.send(http, "two").status_code == 200, "the log")
    site.check_all_stored_once()
    wait_for(lambda: site.send(http, "two") and "view log works again" in service.log.read_text(), "a line")
    log = service.log.read_text()
    assert (log.count("The view log does not work"), log.count("Traceback")) == (1, 0), log


@pytest.mark.matrix
@pytest.mark.parametrize("hangs", [True, False])
def test_views_are_acknowledged_while_the_database_is_away(site, http, nats, cut, mend, hangs):
    """Meanwhile both the log and the process of the service are killed."""
    first = site.start(redelivers_soon)
    assert site.send(http, "before").status_code == site.open(http, "before it").status_code - 4 == 200
    assert site.count(http) == 2
    cut(hangs)
    time.sleep(CACHE_SECONDS)
    answers = [site.send(http, f"{number}", f"{number} too") for number in range(20)]
    assert {answer.status_code for answer in answers} == {200}
    assert site.open(http, "opened").status_code == 204
    assert first.log.read_text().count("The database does not work") == 1
    nats.kill()
    nats.start()
    first.process.kill()
    first.process.wait(PATIENCE)
    mend()
    site.start(redelivers_soon)
    site.check_all_stored_once()
    assert site.count(http) == len(site.sent)


def only_acknowledges(*arguments: str) -> None:
    """A service that stores nothing."""
    redelivers_soon(*arguments, "--no-background")


def dies_before_storing(*arguments: str) -> None:
    """A service that dies when it has taken messages of the log."""
    from docsite.extras.view_log import messages

    messages.decode = lambda body: os.kill(os.getpid(), signal.SIGKILL)
    redelivers_soon(*arguments)


def dies_after_storing(*arguments: str) -> None:
    """A service that dies when the views are committed, and still in the log."""
    from docsite.extras.view_log import connection

    connection.settle = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    redelivers_soon(*arguments)


@pytest.mark.matrix
@pytest.mark.parametrize("dies", [dies_after_storing, dies_before_storing])
def test_a_message_whose_process_dies_is_stored_once_by_another(site, http, start, dies):
    site.start(only_acknowledges)
    dying = start.fresh(dies, **site.environment)
    assert site.send(http, "one", "two").status_code == 200
    assert dying.process.wait(PATIENCE) == -signal.SIGKILL
    assert len(site.stored()) == (2 if dies is dies_after_storing else 0)
    start.fresh(redelivers_soon, **site.environment)
    assert site.send(http, "one", "three").status_code == 200
    site.check_all_stored_once()


async def publish(url: str, *bodies: bytes, version: int = 1) -> None:
    """Put messages into the log, as another release would."""
    client = await connect(url)
    for body in bodies:
        await client.jetstream().publish(f"docs.views.{version}", body)
    await client.close()


@pytest.mark.matrix
def test_messages_that_cannot_be_stored_are_put_aside_and_stop_nothing(site, http, nats):
    service = site.start()
    assert site.send(http, "one").status_code == 200
    view = View(1, 2, "/", True, 3, Facts(*[""] * 6, 1, "", "", False))
    too_large = next(messages.encode(site.project["project_id"], [view._replace(key=2**63)])).body
    of_no_project = next(messages.encode("none", [view])).body
    asyncio.run(publish(nats.url, *[b"{}"] * 1_000, too_large, of_no_project))
    assert site.send(http, "two").status_code == 200
    wait_for(lambda: asyncio.run(stream(nats.url)).messages == 0, "the log to become empty")
    site.check_all_stored_once()
    assert asyncio.run(stream(nats.url, "docs_views_refused")).messages == 1_001
    assert service.log.read_text().count("cannot be stored. It goes to docs_views_refused.") == 1_001
    assert site.count(http) == 2
    assert "A report was computed while views" not in service.log.read_text()
    erased = scenarios.complete("erase", site.project["domain"], "--everything", "--yes", **site.environment)
    assert erased.returncode == 0, erased
    found = scenarios.complete("doctor", **site.environment).stdout
    assert (
        "✗ View log: 0 messages wait for the database, the oldest for 0 seconds; replicas: 1; refused: 1,001" in found
    )
    metrics = http.get(f"{service.url}/metrics", headers={"Authorization": f"Bearer {'t' * 16}"}).text
    assert "docs_view_log_refused 1001" in metrics


@pytest.mark.matrix
def test_a_message_of_another_version_is_left_to_the_processes_that_know_it(site, http, nats):
    service = site.start()
    assert site.send(http, "one").status_code == 200
    asyncio.run(publish(nats.url, b"unknown", version=2))
    assert site.send(http, "two").status_code == 200
    site.check_all_stored_once()
    wait_for(lambda: asyncio.run(stream(nats.url)).messages == 1, "the other messages to go")
    assert "cannot be stored" not in service.log.read_text()


@pytest.mark.matrix
def test_a_log_that_has_become_slow_is_used_again(site, http, nats):
    way = SlowNetwork("127.0.0.1", nats.port)
    site.environment["VIEW_LOG_URL"] = f"nats://127.0.0.1:{way.port}"
    site.start()
    assert site.send(http, "one").status_code == 200
    with way.dropped():
        assert_error(site.send(http, "two"), 503)
    way.delay = connection.AWAY_SECONDS / 2 + 0.05  # in each direction
    numbers = itertools.count()
    wait_for(lambda: site.send(http, f"{next(numbers)}").status_code == 200, "the log")
    wait_for(lambda: "view log works again" in site.services[-1].log.read_text(), "a line")
    assert {site.send(http, f"later {number}").status_code for number in range(3)} == {200}
    way.delay = 0.0
    way.close()


@pytest.mark.matrix
def test_a_server_that_says_nothing_is_left_for_another(site, http, nats):
    ways = [SlowNetwork("127.0.0.1", nats.port) for _ in range(2)]
    site.environment["VIEW_LOG_URL"] = f"nats://{','.join(f'127.0.0.1:{way.port}' for way in ways)}"
    site.start()
    assert site.send(http, "one").status_code == 200
    (used,) = (way for way in ways if way.count_open())
    with used.dropped():
        wait_until(lambda: site.send(http, "two").status_code == 200, "the other way")
    site.check_all_stored_once()
    for way in ways:
        way.close()


@pytest.mark.matrix
def test_a_full_log_refuses_views_and_loses_none(site, http, nats):
    site.start()
    assert site.send(http, "one").status_code == 200
    site.check_all_stored_once()
    asyncio.run(stream(nats.url, max_bytes=100))
    assert_error(site.send(http, "two"), 503)
    asyncio.run(stream(nats.url, max_bytes=1 << 20))
    wait_for(lambda: site.send(http, "two").status_code == 200, "room")
    site.check_all_stored_once()


@pytest.mark.matrix
def test_a_cluster_that_loses_a_node_goes_on(site, http):
    ports = [free_port() for _ in range(3)]
    routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in ports)
    nodes = [
        Server(f'server_name: n{port}\ncluster {{name: c, listen: "127.0.0.1:{port}", routes: [{routes}]}}')
        for port in ports
    ]
    try:
        site.environment["VIEW_LOG_URL"] = f"nats://{','.join(node.host for node in nodes)}"
        site.start()
        wait_for(lambda: site.send(http, "one").status_code == 200, "the cluster")
        found = scenarios.complete("doctor", **site.environment).stdout
        assert "replicas: 3" in found, found
        nodes[0].kill()
        wait_for(lambda: site.send(http, "two").status_code == 200, "the other nodes")
        site.check_all_stored_once()
        assert site.count(http) == 2
    finally:
        for node in nodes:
            node.end()


@pytest.mark.matrix
def test_a_password_may_have_any_sign_and_stays_secret(site, http):
    server = Server('authorization {user: "docs", password: "p@#/?%:s"}')
    try:
        site.environment["VIEW_LOG_URL"] = f"nats://docs:p%40%23%2F%3F%25%3As@{server.host}"
        service = site.start()
        assert site.send(http, "one").status_code == 200
        site.check_all_stored_once()
        site.environment["VIEW_LOG_URL"] = f"nats://docs:wrong%40@{server.host}"
        found = scenarios.complete("doctor", **site.environment).stdout
        assert "✗ View log: it does not work" in found
        assert [sign for sign in ("wrong", "p%40", "p@#") if sign in found + service.log.read_text()] == []
    finally:
        server.end()


@pytest.mark.matrix
def test_a_stream_that_may_lose_views_is_refused(site, http, nats):
    async def make() -> None:
        client = await connect(nats.url)
        await client.jetstream().add_stream(name="docs_views", subjects=["docs.views.*"])
        await client.close()

    asyncio.run(make())
    service = site.start()
    assert_error(site.send(http, "one"), 503)
    sentence = "the stream docs_views may lose views: discard must be new, and is old, retention must be workqueue"
    assert sentence in service.log.read_text()

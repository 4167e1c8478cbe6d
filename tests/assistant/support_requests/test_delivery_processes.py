"""Deliveries of several processes: kill -9 loses none, two processes send none twice, a mail server may be away."""

import re
from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from docsite.core.delivery.models import Delivery, DeliveryAttempt
from docsite.env import Env
from tests import processes, scenarios
from tests.assistant.support_requests import support_processes
from tests.conftest import PATIENCE, wait_for
from tests.ports import free_port
from tests.receivers import serve_mail

pytestmark = pytest.mark.slow


@pytest.fixture
def database(copy_database: Any, tmp_path: Any) -> dict[str, str]:
    """A database with a project that takes support requests."""
    folder = tmp_path / "data"
    folder.mkdir()
    database = copy_database(folder)
    scenarios.run(support_processes.switch_on, database)
    return database


def mail_settings(url: str) -> dict[str, str]:
    return {"EMAIL_URL": url, "EMAIL_FROM": "docs@service.example"}


def list_states(database: dict[str, str]) -> str:
    """The state of each delivery with its number of attempts."""
    attempts = f"SELECT count(*) FROM {DeliveryAttempt._meta.db_table} WHERE delivery_id = delivery.id"
    sql = f"SELECT state, attempt_count, ({attempts}) FROM {Delivery._meta.db_table} delivery"
    return "\n".join(" ".join(map(str, row)) for row in scenarios.query(database, sql))


def numbers(mail: Any) -> Counter[str]:
    return Counter(re.search(r"Number \d+", letter["Subject"])[0] for letter in mail.mail)  # type: ignore[index]


@pytest.mark.matrix
def test_what_a_killed_process_has_stored_is_sent_by_the_next(start: Any, database: Any, tmp_path: Any) -> None:
    """The first process is killed after it has claimed one of the deliveries, before it is sent."""
    scenarios.run(support_processes.store_requests, database, 0, 3)
    with serve_mail() as mail:
        environment = {**scenarios.environment(database), **mail_settings(mail.url)}
        arguments = (support_processes.__name__, support_processes.die_while_sending.__name__)
        killed = processes.Process(processes.call, arguments, environment, tmp_path / "out", tmp_path / "err")
        assert killed.wait(PATIENCE) == -9, (tmp_path / "err").read_text()
        assert "waiting 1 0" in list_states(database)
        service = start.fresh(**database, **mail_settings(mail.url))
        wait_for(lambda: len(mail.mail) == 2, "the deliveries that were not claimed")
        scenarios.run(support_processes.end_lease, database)
        wait_for(lambda: len(mail.mail) == 3, "the delivery of the killed process")
        service.process.kill()
        service.process.wait(PATIENCE)
        assert set(numbers(mail).values()) == {1}


@pytest.mark.matrix
def test_two_processes_send_each_delivery_once(start: Any, database: Any) -> None:
    with serve_mail() as mail:
        for _ in range(2):
            start.fresh(**database, **mail_settings(mail.url))
        scenarios.run(support_processes.store_requests, database, 0, 40)
        wait_for(lambda: "waiting" not in list_states(database), "the deliveries")
        assert numbers(mail) == Counter({f"Number {n}": 1 for n in range(40)})
        assert len({letter["Message-ID"] for letter in mail.mail}) == 40


@pytest.mark.matrix
def test_a_mail_server_that_comes_back_gets_what_waited(start: Any, database: Any) -> None:
    port = free_port()
    scenarios.run(support_processes.store_requests, database, 0, 1)
    start.fresh(**database, **mail_settings(f"smtp://127.0.0.1:{port}"))

    def shows(states: str) -> bool:
        return re.search(states, list_states(database)) is not None

    wait_for(lambda: shows(r"waiting ([1-9]) \1"), "a failed attempt")  # a busy machine sees a later one
    with serve_mail(port) as mail:
        wait_for(lambda: len(mail.mail) == 1, "the next attempt")
        wait_for(lambda: shows(r"delivered ([2-9]) \1"), "its result")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp+tls://me%40acme:p%3Aw%2F@mail.acme.example", "mail.acme.example 587 me@acme p:w/ True False"),
        ("smtp+ssl://me:pw@mail.acme.example", "mail.acme.example 465 me pw False True"),
        ("smtp://127.0.0.1:2525", "127.0.0.1 2525   False False"),
    ],
)
def test_the_mail_server_is_named_in_one_address(tmp_path: Any, url: str, expected: str) -> None:
    environment = {"DATA_DIR": str(tmp_path), **mail_settings(url)}
    printed = scenarios.run(support_processes.print_mail_settings, environment)
    assert printed == f"{expected} docs@service.example\n"


@pytest.mark.parametrize(
    "values",
    [
        {"email_url": "mail.acme.example", "email_from": "docs@acme.example"},
        {"email_url": "http://mail.acme.example", "email_from": "docs@acme.example"},
        {"email_url": "smtp://mail.acme.example:x", "email_from": "docs@acme.example"},
        {"email_url": "smtp://mail.acme.example", "email_from": "docs"},
        {"email_url": "smtp://mail.acme.example"},
    ],
)
def test_a_wrong_mail_server_stops_the_start(values: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Env(**values)

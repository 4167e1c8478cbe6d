"""Limits: exact, shared between processes, announced in headers."""

import concurrent.futures
import json
import re
import secrets
import time

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from docsite.core import availability, context
from docsite.core.availability import Dependency
from docsite.core.http import counters, ratelimit
from docsite.core.http.counters import CounterCache
from docsite.core.http.ratelimit import Limit, Usage
from tests.conftest import assert_error, question
from tests.processes import constants

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def strict(start, django_db_setup):
    """Two processes with small limits over one store."""
    small = {
        "LIMIT_ANALYTICS_ORG": "3/d",
        "LIMIT_SEARCH_ORG": "20/d",
        "LIMIT_ASSISTANT_ORG": "2/d",
        "LIMIT_ASSISTANT_IP": "100/d",
        "LIMIT_COLLECT_IP": "1000/d",
        "TRUSTED_PROXIES": "127.0.0.1",
    }
    return start(**small), start.fresh(**small)


@pytest.mark.stores
def test_number_n_passes_and_the_next_is_429(http, strict, project):
    url = f"{strict[0].url}/v1/analytics/{project.project_id}/visitors"
    answers = [http.get(url, headers=project.admin) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert_error(answers[3], 429)
    assert 1 <= int(answers[3].headers["retry-after"]) <= 86400
    assert answers[0].headers["ratelimit-policy"] == '"analytics";q=3;w=86400'
    assert re.fullmatch(r'"analytics";r=2;t=\d+', answers[0].headers["ratelimit"])
    assert re.fullmatch(r'"analytics";r=0;t=\d+', answers[3].headers["ratelimit"])


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("analytics_org", "100/h"),
        ("assistant_org", "10000/h"),
        ("assistant_ip", "10000/d"),
        ("search_org", "10000/h"),
        ("collect_ip", "600/m"),
    ],
)
def test_limits_without_settings(name, rate):
    assert type(settings.ENV).model_fields[f"limit_{name}"].default == rate


@pytest.mark.matrix
@pytest.mark.stores
def test_two_processes_count_together_and_exactly(http, strict, project):
    def search(number: int) -> int:
        url = f"{strict[number % 2].url}/discovery/v1/search/{project.domain}"
        return http.post(url, json={"query": "install"}, headers=project.assistant).status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(search, range(40)))
    assert statuses.count(200) == 20
    assert statuses.count(429) == 20


def test_a_refused_key_does_not_count_but_a_bad_body_does(http, strict, project):
    url = f"{strict[0].url}/discovery/v1/assistant/{project.domain}/message"
    http.post(url, json=question("x"), headers={"Authorization": "Bearer svc_dsc_wrong"})
    http.post(f"{strict[0].url}/discovery/v1/assistant/other/message", json=question("x"), headers=project.assistant)
    assert_error(http.post(url, json={}, headers=project.assistant), 400)
    answer = http.post(url, json=question("How do I install acme?"), headers=project.assistant)
    assert answer.status_code == 200
    assert '"assistant-org";r=0;' in answer.headers["ratelimit"]
    assert answer.headers["ratelimit-policy"] == '"assistant-ip";q=100;w=86400, "assistant-org";q=2;w=86400'
    assert_error(http.post(url, json=question("x"), headers=project.assistant), 429)


@pytest.mark.matrix
def test_the_address_is_limited_before_the_organization(http, start, project, make_project):
    service = start(LIMIT_ASSISTANT_IP="1/d", TRUSTED_PROXIES="127.0.0.1")
    other = make_project()

    def ask(tenant, address):
        return http.post(
            f"{service.url}/discovery/v1/assistant/{tenant.domain}/message",
            json=question("x"),
            headers={**tenant.assistant, "X-Forwarded-For": address},
        )

    assert ask(project, "2001:db8:7:7::1").status_code == 200
    refused = ask(other, "2001:db8:7:7:ffff::2")  # the same /64, another organization
    assert_error(refused, 429)
    assert "assistant-org" not in refused.headers["ratelimit"]
    assert ask(other, "2001:db8:7:8::1").status_code == 200


@pytest.mark.matrix
def test_one_address_cannot_use_up_the_searches_of_an_organization(http, start, project):
    service = start(LIMIT_SEARCH_IP="2/d", LIMIT_SEARCH_ORG="4/d", TRUSTED_PROXIES="127.0.0.1")

    def call(address: str, resource: str = "search", /, **body: str):
        url = f"{service.url}/discovery/v1/{resource}/{project.domain}"
        return http.post(url, json=body, headers={**project.assistant, "X-Forwarded-For": address})

    first = call("2001:db8:9:9::1", query="install")
    assert first.status_code == 200
    assert first.headers["ratelimit-policy"] == '"search-ip";q=2;w=86400, "search-org";q=4;w=86400'
    assert call("2001:db8:9:9::1", "page", path="/install").status_code == 200
    refused = call("2001:db8:9:9:ffff::2", query="install")  # the same /64
    assert_error(refused, 429)
    assert "search-org" not in refused.headers["ratelimit"]
    assert call("2001:db8:9:8::1", query="install").headers["ratelimit"].count('"search-org";r=1;') == 1


@pytest.mark.matrix
def test_an_address_pays_for_the_cpu_time_of_its_requests(http, start, project):
    service = start.fresh(LIMIT_CPU_IP="1/d", TRUSTED_PROXIES="127.0.0.1")
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    attack = json.dumps(question("Explain this", context=[{"type": "code", "value": "a." * 16_000}] * 50))
    hello = json.dumps(question("hello"))

    def ask(address: str, body: str) -> httpx.Response:
        headers = {**project.assistant, "Content-Type": "application/json", "X-Forwarded-For": address}
        return http.post(url, content=body, headers=headers)

    for _ in range(500):
        refused = ask("2001:db8:c:c::1", attack)
        if refused.status_code != 200:
            break
    assert_error(refused, 429)
    assert '"cpu-ip";r=0;' in refused.headers["ratelimit"]
    assert_error(ask("2001:db8:c:c:ffff::2", hello), 429)  # the same /64
    assert ask("2001:db8:c:d::1", hello).status_code == 200


@pytest.mark.matrix
def test_an_address_gets_slower_before_it_is_refused(http, start, project):
    small = {"LIMIT_SEARCH_IP": "10/d", "LIMIT_ASSISTANT_IP": "1/d"}
    service = start(
        **small, TRUSTED_PROXIES="127.0.0.1", **constants({"docsite.core.http.ratelimit.SLOW_DOWN_SECONDS": 1.5})
    )
    headers = {**project.assistant, "X-Forwarded-For": "203.0.113.55"}

    def call(path: str, body: dict) -> tuple[int, float]:
        began = time.monotonic()
        answer = http.post(f"{service.url}/discovery/v1/{path}", json=body, headers=headers)
        return answer.status_code, time.monotonic() - began

    calls = [call(f"search/{project.domain}", {"query": "install"}) for _ in range(11)]
    assert [status for status, _ in calls] == [200] * 10 + [429]
    assert calls[8][1] >= 0.75, "half of the last fifth is used"
    assert calls[9][1] >= 1.5
    assert call(f"assistant/{project.domain}/message", question("How do I install acme?"))[1] >= 1.5


@pytest.mark.parametrize(
    ("slows_down", "remaining", "seconds"),
    [(True, 100, 0), (True, 20, 0), (True, 15, 0.5), (True, 0, 2), (False, 0, 0)],
)
def test_the_wait_grows_over_the_last_fifth(settings, monkeypatch, slows_down, remaining, seconds):
    settings.ENV = settings.ENV.model_copy(update={"limit_search_ip": "100/h"})
    monkeypatch.setattr(ratelimit, "SLOW_DOWN_SECONDS", 2)
    monkeypatch.setattr(ratelimit, "all_limits", {})
    limit = Limit("any", "limit_search_ip", slows_down=slows_down)
    assert ratelimit.compute_delay([Usage(limit, remaining, 60)]) == pytest.approx(seconds)
    assert ratelimit.compute_delay([]) == 0


@pytest.mark.matrix
def test_feedback_has_a_limit_of_its_own(http, start, project):
    service = start(LIMIT_FEEDBACK_IP="1/d", LIMIT_COLLECT_IP="1/d", TRUSTED_PROXIES="127.0.0.1")
    headers = {"Origin": service.url, "X-Forwarded-For": "203.0.113.99"}

    def call(resource: str, /, **body: object) -> int:
        return http.post(f"{service.url}/discovery/v1/{resource}", json=body, headers=headers).status_code

    thumb = {"source": "thumbs_only", "path": "/install", "helpful": True}
    click = {"query": "install", "path": "/install", "position": 1}
    assert [call(f"feedback/{project.domain}", **thumb) for _ in range(2)] == [204, 429]
    assert [call(f"search/{project.domain}/click", **click) for _ in range(2)] == [204, 429]


@pytest.mark.matrix
def test_behind_a_trusted_tls_proxy_pages_are_https(http, strict, start):
    forwarded = {"X-Forwarded-Proto": "https", "Host": "localhost"}
    login = http.get(f"{strict[0].url}/admin/login/", headers=forwarded)
    assert "; secure" in login.headers["set-cookie"].lower()
    token = login.cookies["docs_csrf"]
    page = {"Origin": "https://localhost", "Referer": "https://localhost/", "Cookie": f"docs_csrf={token}"}
    answer = http.post(
        f"{strict[0].url}/admin/login/",
        data={"username": "x", "password": "y", "csrfmiddlewaretoken": token},
        headers={**forwarded, **page},
    )
    assert answer.status_code == 200, "the form comes back; CSRF let it pass"
    assert "secure" not in http.get(f"{start().url}/admin/login/", headers=forwarded).headers["set-cookie"].lower()


def test_a_forwarded_address_counts_only_from_a_trusted_proxy(http, start, project):
    service = start(LIMIT_ASSISTANT_IP="1/d")
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    statuses = [
        http.post(
            url, json=question("x"), headers={**project.assistant, "X-Forwarded-For": f"203.0.113.{number}"}
        ).status_code
        for number in range(2)
    ]
    assert statuses[1] == 429


def count_queries(use):
    with CaptureQueriesContext(connection) as asked:
        result = use()
    return result, len(asked)


@pytest.mark.parametrize(
    ("rate", "window"),
    [("7/s", (7, 1)), ("600/m", (600, 60)), ("5/10m", (5, 600)), ("100/h", (100, 3600)), ("3/2d", (3, 172_800))],
)
def test_a_rate_is_a_number_of_requests_and_a_number_of_seconds(settings, rate, window):
    limit = Limit("of a rate", "limit_search_org")
    settings.ENV = settings.ENV.model_copy(update={limit.rate: rate})
    key = secrets.token_hex(6)
    del ratelimit.all_limits[limit.name]
    assert limit.window() == window
    (usage,) = ratelimit.spend((limit, key))
    assert usage.remaining == window[0] - 1
    assert usage.reset <= window[1]


@pytest.mark.parametrize("can_do_without", [False, True])
def test_only_views_for_a_log_are_counted_in_the_process_after_a_failure(
    django_db_setup, monkeypatch, settings, can_do_without
):
    settings.ENV = settings.ENV.model_copy(update={"limit_search_org": "5/h", "redis_url": ""})  # the database counts
    monkeypatch.setattr(availability, "database", Dependency("The database"))
    availability.database.report_failure("a statement has failed")
    asked = []
    monkeypatch.setattr(ratelimit, "_usage", lambda *_, **__: asked.append(1))
    token = context.allows_stale.set(can_do_without)
    ratelimit.spend((Limit("of a test", "limit_search_org", fail_open=True), f"{can_do_without}"))
    context.allows_stale.reset(token)
    del ratelimit.all_limits["of a test"]
    assert bool(asked) is not can_do_without


@pytest.fixture
def store(django_db_setup) -> CounterCache:
    """Counters in the database, whatever counts the limits of this run."""
    return CounterCache("projects_counter", {})


@pytest.mark.stores
def test_a_running_counter_takes_one_statement(store):
    key = f"counter-{time.monotonic_ns()}"
    assert store.add(key, 1, 60)
    assert count_queries(lambda: store.add(key, 1, 60)) == (False, 0)
    assert count_queries(lambda: store.incr(key)) == (2, 1)


@pytest.mark.stores
def test_a_counter_of_another_process_is_found_and_then_known(store, monkeypatch):
    key = f"counter-{time.monotonic_ns()}"
    assert store.add(key, 5, 60)
    monkeypatch.setattr(counters, "_running", {})
    assert count_queries(lambda: store.add(key, 1, 60)) == (False, 1)
    assert count_queries(lambda: store.add(key, 1, 60)) == (False, 0)
    assert store.incr(key) == 6


@pytest.mark.stores
def test_a_counter_begins_again_after_its_window(store):
    key = f"counter-{time.monotonic_ns()}"
    assert store.add(key, 5, -1)
    with pytest.raises(ValueError, match="no counter"):
        store.incr(key)
    assert store.add(key, 1, 60)
    assert store.incr(key) == 2


@pytest.mark.stores
def test_a_counter_that_a_restore_has_deleted_begins_again(store):
    key = f"counter-{time.monotonic_ns()}"
    assert store.add(key, 5, 60)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM projects_counter WHERE key = %s", [store.make_key(key)])
    assert not store.add(key, 1, 60)
    assert store.incr(key) == 1
    assert store.incr(key) == 2


def test_the_memory_of_counters_is_bounded(store, monkeypatch):
    monkeypatch.setattr(counters, "MAX_REMEMBERED", 3)
    monkeypatch.setattr(counters, "_running", {})
    for number in range(10):
        store.add(f"bounded-{time.monotonic_ns()}-{number}", 1, 60)
    assert len(counters._running) <= 3

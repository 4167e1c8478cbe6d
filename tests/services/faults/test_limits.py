"""Limits over two processes, counted by Redis and by PostgreSQL, are exact."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import httpx
import psycopg
import pytest

from analytics.counting import audiences, pages
from tests.conftest import PATIENCE, Service, question
from tests.services.faults.load import LIMITS, READER, Site, make_site

pytestmark = [pytest.mark.services, pytest.mark.faults]

THREADS = 12
_numbers = count(1)


class Fleet:
    """Two processes on one database. Their limits have windows that end after the test."""

    def __init__(self, processes: list[Service], database: str, site: Site, store: str) -> None:
        self.processes, self.database, self.site, self.store = processes, database, site, store

    def send(self, calls: list[Callable[[httpx.Client, str], int]]) -> Counter[int]:
        """Send requests to both in turn, many at once. Returns how many had each status."""
        with httpx.Client(timeout=PATIENCE, trust_env=False, verify=False) as http, ThreadPoolExecutor(THREADS) as pool:
            addresses = [process.url for process in self.processes]
            jobs = [pool.submit(call, http, addresses[number % 2]) for number, call in enumerate(calls)]
            return Counter(job.result() for job in jobs)


@pytest.fixture(params=["Redis", "PostgreSQL"])
def fleet(request, new_database, redis: str, start) -> Iterator[Fleet]:
    database = new_database(f"limited_{next(_numbers)}")
    site = make_site(database)
    limits = {"LIMIT_SEARCH_IP": "150/7919s", "LIMIT_ASSISTANT_IP": "60/7919s"}
    store = {"REDIS_URL": redis} if request.param == "Redis" else {}
    processes = [start.fresh(**database, **{**LIMITS, **limits}, **store) for _ in range(2)]
    yield Fleet(processes, database["DATABASE_URL"], site, request.param)
    for process in processes:  # the database server waits for those who are connected
        process.process.terminate()
        process.process.wait(PATIENCE)


def test_two_processes_allow_exactly_as_many_requests_as_the_limits_say(fleet: Fleet, report) -> None:
    domain, headers = fleet.site.domain, {"Authorization": f"Bearer {fleet.site.key}"}

    def search(http: httpx.Client, address: str) -> int:
        return http.post(f"{address}/v1/search/{domain}", json={"query": "install"}, headers=headers).status_code

    def ask(http: httpx.Client, address: str) -> int:
        url = f"{address}/v1/assistant/{domain}/message"
        return http.post(url, json=question("How do I install it?"), headers=headers).status_code

    searches, asks = fleet.send([search] * 240), fleet.send([ask] * 100)
    report(
        f"Limits by {fleet.store}, two processes: {searches[200]} of {searches.total()} searches and {asks[200]} of "
        f"{asks.total()} questions were answered, the limits are 150 and 60."
    )
    assert searches == {200: 150, 429: 90}
    assert asks == {200: 60, 429: 40}


def test_a_reader_adds_exactly_as_many_paths_and_audiences_as_the_limits_say(fleet: Fleet, report) -> None:
    def view(number: int) -> Callable[[httpx.Client, str], int]:
        # Each path and each source comes twice, mostly once in each process.
        body = {"id": f"view-{number}", "path": f"/new-{number // 2}", "referrer": f"https://s{number // 2}.example/"}
        url = f"/discovery/v1/view/{fleet.site.domain}"
        return lambda http, address: http.post(f"{address}{url}", json=body, headers=READER).status_code

    statuses = fleet.send([view(number) for number in range(600)])
    with psycopg.connect(fleet.database) as database:

        def fetch(query: str) -> int:
            row = database.execute(query).fetchone()
            assert row
            return int(row[0])

        paths = fetch("SELECT count(*) FROM analytics_page WHERE path LIKE '/new-%'")
        sources = fetch("SELECT count(*) FROM analytics_audience WHERE source LIKE 's%.example'")
        views = fetch("SELECT count(*) FROM analytics_pageview")
    report(
        f"New paths by {fleet.store}, two processes: {views} views of 300 paths from 300 sites in one network, "
        f"{paths} paths and {sources} audiences are new."
    )
    assert statuses == {204: 600}
    assert (views, paths, sources) == (600, pages.MAX_NEW_OF_A_READER, audiences.MAX_NEW_OF_A_READER)

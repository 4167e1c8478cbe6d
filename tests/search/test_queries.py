"""The query log: one row for each search, its click, who may see it, how long it stays."""

import concurrent.futures
import json
import time
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from search.models import SearchQuery
from search.query_log import recording, search_as_you_type
from search.query_log.search_as_you_type import AnsweredSearch
from tests import scenarios
from tests.conftest import PATIENCE, assert_error, visitor_secret, wait_for
from tests.search import serving
from tests.variants import first_of

pytestmark = pytest.mark.slow

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
PAGE = {"Origin": "https://docs.acme.example", "Content-Type": "text/plain"}


@pytest.fixture(scope="module")
def processes(start, django_db_setup):
    """Two processes over one database."""
    return start(), start.fresh()


def search(http, service, tenant, query, agent=CHROME, **more):
    headers = {**tenant.assistant, "User-Agent": agent}
    url = f"{service.url}/discovery/v1/search/{tenant.domain}"
    response = http.post(url, json={"query": query, **more}, headers=headers)
    assert response.status_code == 200
    return response.json()


def click(http, service, tenant, query="install", path="/install", position=1, agent=CHROME, headers=PAGE, **more):
    body = json.dumps({"query": query, "path": path, "position": position, **more})
    url = f"{service.url}/discovery/v1/search/{tenant.domain}/click"
    return http.post(url, content=body, headers={"User-Agent": agent, **headers})


def texts(tenant) -> list[str]:
    return list(tenant.project.searches.order_by("at", "pk").values_list("text", flat=True))


def settled(tenant, *expected: str) -> list[SearchQuery]:
    """The rows of a project, when they are these."""
    wait_for(lambda: texts(tenant) == list(expected), f"{expected}, not {texts(tenant)}")
    return list(tenant.project.searches.order_by("at", "pk"))


# What is one search


def test_only_the_query_that_settled_counts(http, service, project):
    for typed in ("i", "ins", "inst", "Install", "install  acme"):
        found = search(http, service, project, typed)
    (row,) = settled(project, "install acme")
    assert row.result_count == len(found) > 0
    assert (row.clicked_path, row.position, row.clicked_at) == ("", None, None)


@pytest.mark.matrix
def test_letters_may_reach_any_process(http, processes, project):
    for place, end in enumerate(range(1, 13)):
        search(http, processes[place % 2], project, "install acme"[:end])
        time.sleep(0.05)
    settled(project, "install acme")


@pytest.mark.stores
def test_letters_of_one_moment_make_one_row(http, processes, project):
    typed = ["install acme"[:end] for end in range(1, 13)] * 3
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: search(http, processes[at % 2], project, typed[at]), range(len(typed))))
    wait_for(lambda: texts(project), "a row")
    time.sleep(1)
    assert len(texts(project)) == 1


def test_another_text_another_reader_and_another_project_are_rows_of_their_own(http, service, project, make_project):
    other = make_project()
    search(http, service, project, "install")
    search(http, service, project, "install", agent=FIREFOX)
    search(http, service, project, "labels")
    search(http, service, other, "install")
    settled(project, "install", "install", "labels")
    settled(other, "install")


def test_an_empty_search_is_none(http, service, project):
    for nothing in ("", "   ", "\t\n"):
        search(http, service, project, nothing)
    search(http, service, project, "xylophone")
    assert settled(project, "xylophone")[0].result_count == 0


def test_a_long_query_is_cut_and_holds_no_control_characters(http, service, project):
    search(http, service, project, "in\x07stall\x1b[31m " + "x" * 1000)
    wait_for(lambda: texts(project), "a row")
    (text,) = texts(project)
    assert text.startswith("in stall [31m xxx")
    assert len(text) == 400


def put(tenant, *steps: tuple[str, float]) -> None:
    """Store searches of one caller, at these seconds, each batch for itself."""
    start = timezone.now().replace(microsecond=0) - timedelta(minutes=1)
    for text, second in steps:
        at = start + timedelta(seconds=second)
        search_as_you_type.store([AnsweredSearch(tenant.project.pk, tenant.project.pk, text, len(text), at)])


@pytest.mark.parametrize(
    ("steps", "kept"),
    first_of(
        [
            ([("ins", 0), ("install", 1)], ["install"]),
            ([("install acme", 0), ("install", 1)], ["install"]),
            ([("acme install", 0), ("install acme", 1)], ["install acme"]),
            ([("INSTALL", 0), ("install", 4)], ["install"]),
            ([("i", 0), ("configure", 1)], ["configure"]),
            ([("ins", 0), ("configure", 1)], ["ins", "configure"]),
            ([("ins", 0), ("install", 6)], ["ins", "install"]),
            ([("a", 0), ("ab", 4), ("abc", 8), ("abcd", 12)], ["abcd"]),
            ([("install", 2), ("inst", 1), ("ins", 0)], ["install"]),
            ([("configure", 1), ("i", 0)], ["configure"]),
            ([("install", 0), ("labels", 1), ("install", 2)], ["labels", "install"]),
        ],
        5,
    ),
)
def test_what_continues_a_search(make_project, steps, kept):
    tenant = make_project()
    put(tenant, *steps)
    assert texts(tenant) == kept
    last = tenant.project.searches.order_by("at").last()
    assert last.result_count == len(last.text)


def test_a_search_continues_the_latest_ones_of_a_busy_caller(make_project, monkeypatch):
    """An office or a server is one caller. What it searches for is not compared with all that it has searched for."""
    monkeypatch.setattr(search_as_you_type, "MAX_OPEN_ROWS", 3)
    one, two = make_project(), make_project()
    put(one, ("configure", 0))
    put(two, ("inst", 0), *((f"xyz{number}", 0) for number in "abcd"), ("install", 1))
    put(one, ("configure it", 1))
    assert texts(one) == ["configure it"]
    assert texts(two) == ["inst", "xyza", "xyzb", "xyzc", "xyzd", "install"]
    put(two, ("xyzd more", 2))
    assert texts(two) == ["inst", "xyza", "xyzb", "xyzc", "install", "xyzd more"]


@pytest.mark.stores
def test_a_busy_caller_costs_others_nothing_in_one_batch(make_project, monkeypatch):
    monkeypatch.setattr(search_as_you_type, "MAX_OPEN_ROWS", 3)
    tenant = make_project()
    now, pk = timezone.now(), tenant.project.pk

    def store(*searches: tuple[int, str, float]) -> None:
        batch = [AnsweredSearch(pk, caller, text, 1, now + timedelta(seconds=at)) for caller, text, at in searches]
        search_as_you_type.store(batch)

    store((1, "configure", 0), *((2, text, 0.1 + place / 10) for place, text in enumerate(["inst", "aa", "bb"])))
    # A row that was continued is one of the latest ones again; the caller's others do not push it out.
    store((2, "instal", 1), (2, "zebra", 1.1), (2, "yak", 1.2), (2, "install", 1.3), (1, "configured", 1.4))
    assert texts(tenant) == ["aa", "bb", "zebra", "yak", "install", "configured"]
    store(*((2, text, 2 + place / 10) for place, text in enumerate(["cc", "dd", "ee", "ff"])), (2, "installed", 2.9))
    assert texts(tenant)[-2:] == ["ff", "installed"], "a batch is not compared with its first rows either"
    assert "install" in texts(tenant)


def test_a_batch_settles_as_its_steps_would(make_project):
    tenant, now = make_project(), timezone.now()
    pk = tenant.project.pk
    typed = ["c", "co", "con", "configure", "xyz"]
    search_as_you_type.store(
        [AnsweredSearch(pk, pk, text, 1, now + timedelta(seconds=n / 10)) for n, text in enumerate(typed)][::-1]
    )
    assert texts(tenant) == ["configure", "xyz"]


def test_a_batch_that_waited_long_is_more_than_one_search(make_project):
    tenant, now = make_project(), timezone.now()
    search_as_you_type.store(
        [AnsweredSearch(tenant.project.pk, 1, "install"[: 3 + n], 1, now + timedelta(seconds=6 * n)) for n in (0, 1)]
    )
    assert texts(tenant) == ["ins", "inst"]


def test_one_bad_search_costs_no_other(make_project):
    tenant, now = make_project(), timezone.now()
    batch = [AnsweredSearch(pk, 1, "x", 1, now) for pk in (-1, tenant.project.pk)]
    for search in batch:
        recording._searches.submit(search)
    recording.flush()
    assert texts(tenant) == ["x"]


@pytest.mark.matrix
def test_the_search_page_counts_and_the_page_for_what_is_missing_does_not(http, start, project):
    service = start(SITE_DOMAIN=project.domain)
    reader = {"User-Agent": CHROME}
    assert http.get(f"{service.url}/install-acme", headers=reader).status_code == 404
    http.get(f"{service.url}/search?q=", headers=reader)
    http.get(f"{service.url}/search?q=labels", headers={"User-Agent": "Googlebot/2.1"})
    http.get(f"{service.url}/search?q=labels", headers={**reader, "Sec-Purpose": "prefetch"})
    http.head(f"{service.url}/search?q=labels", headers=reader)
    http.get(f"{service.url}/search?q=ins", headers=reader)
    search(http, service, project, "install")
    assert settled(project, "install")[0].result_count > 0


def test_the_assistants_own_look_up_does_not_count(http, service, project):
    body = {"fp": "x", "messages": [{"role": "user", "content": "How do I install acme?"}]}
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    assert http.post(url, json=body, headers=project.assistant).status_code == 200
    search(http, service, project, "labels")
    settled(project, "labels")


@pytest.mark.matrix
def test_nothing_is_lost_when_the_service_stops(http, start, project):
    service = start.fresh()
    for number in range(20):
        search(http, service, project, f"zebra{number:02} walrus")
    service.process.terminate()
    assert service.process.wait(PATIENCE) == 0
    assert len(texts(project)) == 20


@pytest.mark.matrix
def test_other_servers_store_what_waits_when_they_announce_the_end(own_database):
    scenarios.run(serving.end_announced, own_database)


def test_a_search_is_answered_when_it_cannot_be_stored(make_project, monkeypatch):
    tenant = make_project()

    def away(batch):
        raise OperationalError("database is locked")

    recording.flush()
    monkeypatch.setattr(recording._searches, "capacity", 3)
    monkeypatch.setattr(recording, "store", away)
    for number in range(5):
        recording.record(tenant.project, 1, f"{number} words", 1)
    assert recording._searches.flush() is False
    monkeypatch.undo()
    recording.flush()
    assert texts(tenant) == ["0 words", "1 words", "2 words"]


# The click


def test_a_click_settles_the_search_at_once(http, service, project):
    found = search(http, service, project, "install")
    assert click(http, service, project, "install", "/install", 2).status_code == 204
    (row,) = project.project.searches.all()
    assert (row.text, row.result_count) == ("install", len(found))
    assert (row.clicked_path, row.position) == ("/install", 2)
    search(http, service, project, "install ac")
    settled(project, "install", "install ac")


def test_a_click_survives_kill_9(http, start, project):
    service = start.fresh()
    search(http, service, project, "install")
    assert click(http, service, project).status_code == 204
    service.process.kill()
    service.process.wait(PATIENCE)
    (row,) = project.project.searches.all()
    assert (row.text, row.clicked_path, row.position) == ("install", "/install", 1)
    assert row.result_count


@pytest.mark.matrix
@pytest.mark.stores
def test_a_click_may_reach_another_process_than_its_search(http, processes, project):
    one, other = processes
    search(http, one, project, "inst")
    time.sleep(0.6)
    found = search(http, one, project, "install")
    assert click(http, other, project).status_code == 204
    (row,) = project.project.searches.all()
    assert (row.text, row.clicked_path) == ("install", "/install")
    time.sleep(0.8)
    (row,) = settled(project, "install")
    assert (row.result_count, row.clicked_path) == (len(found), "/install")


def test_a_letter_that_arrives_after_the_click_adds_nothing(project):
    caller = project.project.pk
    before = timezone.now()
    recording.record_click(project.project, caller, "install", "/install", 1)
    late = [
        AnsweredSearch(project.project.pk, caller, "inst", 4, before),
        AnsweredSearch(project.project.pk, caller, "i", 1, before),
    ]
    search_as_you_type.store(late)
    row = project.project.searches.get()
    assert (row.text, row.result_count, row.clicked_path) == ("install", None, "/install")


def test_the_same_click_counts_once_and_the_latest_one_stays(http, service, project):
    search(http, service, project, "acme")
    for _ in range(3):
        assert click(http, service, project, "Acme ", "/install", 1).status_code == 204
    assert project.project.searches.get().clicked_path == "/install"
    assert click(http, service, project, "acme", "/configure", 3).status_code == 204
    row = project.project.searches.get()
    assert (row.text, row.clicked_path, row.position) == ("acme", "/configure", 3)


def test_a_click_without_its_search_makes_a_row(http, service, project):
    assert click(http, service, project, agent=FIREFOX).status_code == 204
    row = project.project.searches.get()
    assert (row.text, row.result_count, row.clicked_path) == ("install", None, "/install")


@pytest.mark.parametrize("path", ["/install", "install.md", "/install/", "https://docs.acme.example/install?x=1#pip"])
def test_a_clicked_path_meets_its_page_in_any_spelling(http, service, project, path):
    assert click(http, service, project, path=path).status_code == 204
    assert project.project.searches.get().clicked_path == "/install"


def test_an_unknown_page_is_ignored(http, service, project, make_project):
    assert click(http, service, project, path="/no/such/page").status_code == 204
    assert click(http, service, make_project(), path="/install").status_code == 204, "a page of another project"
    assert texts(project) == []


@pytest.mark.parametrize(
    ("body", "field"),
    first_of(
        [
            ({"query": None}, "query: "),
            ({"query": 7}, "query: "),
            ({"query": "  "}, "query: must not be blank"),
            ({"query": "x" * 2001}, "query: "),
            ({"path": ""}, "path: "),
            ({"path": None}, "path: "),
            ({"path": "x" * 2001}, "path: "),
            ({"position": 0}, "position: "),
            ({"position": 51}, "position: "),
            ({"position": 1.5}, "position: must be a whole number"),
            ({"position": "1"}, "position: must be a number"),
            ({"position": True}, "position: "),
            ({"position": None}, "position: "),
            ({"query": "a\ud800"}, "query: "),
            ({"query": "a\x00"}, "query: "),
        ],
        6,
    ),
)
def test_a_bad_click_names_its_field(http, service, shared_project, body, field):
    assert_error(click(http, service, shared_project, **body), 400, field)
    assert texts(shared_project) == []


def test_every_wrong_field_is_named_at_once(http, service, project):
    url = f"{service.url}/discovery/v1/search/{project.domain}/click"
    assert_error(http.post(url, content="{}", headers=PAGE), 400, "query: ", "path: ", "position: ")
    assert_error(http.post(url, content="[]", headers=PAGE), 400, "body: ")
    assert_error(http.post(url, content="{", headers=PAGE), 400, "body: ")


def test_a_click_comes_from_an_allowed_page(http, service, project):
    assert_error(click(http, service, project, headers={"Content-Type": "text/plain"}), 403)
    assert_error(click(http, service, project, headers={**PAGE, "Origin": "https://evil.example"}), 403)
    assert_error(click(http, service, project, headers={**PAGE, "Content-Type": "text/html"}), 415)
    answer = click(http, service, project, headers={**PAGE, "Content-Type": "application/json"})
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == PAGE["Origin"]
    assert '"collect-ip"' in answer.headers["ratelimit-policy"]
    assert_error(http.get(f"{service.url}/discovery/v1/search/{project.domain}/click"), 405)
    assert_error(http.post(f"{service.url}/discovery/v1/search/nosuch/click", headers=PAGE), 403)


@pytest.mark.matrix
def test_clicks_share_the_limit_of_their_address(http, start, project):
    service = start(LIMIT_COLLECT_IP="2/d", TRUSTED_PROXIES="127.0.0.1")
    headers = {**PAGE, "X-Forwarded-For": "203.0.113.77"}
    assert [click(http, service, project, headers=headers).status_code for _ in range(3)] == [204, 204, 429]


# Who sees it, and how long


def test_the_caller_is_hashed_with_the_projects_own_key_and_soon_forgotten(http, service, project, make_project):
    from analytics.identity.visitor_hash import hash_visitor
    from docsite.core.http.client_address import parse_address

    search(http, service, project, "install")
    settled(project, "install")
    row = project.project.searches.get()
    address = parse_address("127.0.0.1")
    assert row.caller == recording.hash_caller(project.project, address, CHROME)
    assert row.caller != recording.hash_caller(make_project().project, address, CHROME)
    assert row.caller != hash_visitor(visitor_secret(project.project), address, CHROME)
    project.project.searches.update(at=timezone.now() - timedelta(minutes=61))
    recording.sweep()
    assert project.project.searches.get().caller is None


@pytest.mark.stores
def test_searches_are_deleted_after_the_retention_time(make_project, settings):
    tenant = make_project()
    settings.ENV = settings.ENV.model_copy(update={"search_retention_days": 30})
    for days in (29, 31):
        SearchQuery.objects.create(project=tenant.project, text=f"{days}", at=timezone.now() - timedelta(days=days))
    recording.sweep()
    assert texts(tenant) == ["29"]


@pytest.mark.stores
def test_a_search_is_stored_with_its_filter_its_caller_and_its_best_score(http, service, project):
    found = search(http, service, project, "install", filter={"version": "v9", "language": "en"})
    (row,) = settled(project, "install")
    assert (row.caller_kind, row.filter_version, row.filter_language) == ("api", "v9", "en")
    assert row.first_score == pytest.approx(found[0]["metadata"]["score"], abs=1e-3)
    recording.record(project.project, 1, "labels", 0, SearchQuery.CallerKind.WEB)
    recording.flush()
    assert list(project.project.searches.filter(text="labels").values_list("caller_kind", "first_score")) == [
        ("web", None)
    ]

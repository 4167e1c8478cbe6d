"""What readers searched for and asked, out over HTTP: searches, conversations, threads, callers."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assistant.conversations import report as assistant_report
from assistant.models import Message, Thread
from docsite.core import ids
from search.models import SearchQuery
from search.query_log import totals
from search.query_log.folding import fold, fold_for_storage
from tests.assistant.asking.test_message_v1 import INSTALL, ask, parts, text
from tests.assistant.asking.test_message_v2 import ask as ask_v2
from tests.conftest import assert_error, wait_for

pytestmark = pytest.mark.slow

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
MARCH = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
DATES = {"dateFrom": "2026-03-01", "dateTo": "2026-04-01"}
PAGE = {"Origin": "https://docs.acme.example"}
LISTS = {"searches": "searches", "assistant": "conversations"}
STATS = "assistant/caller-stats"


@pytest.fixture
def read(http, service):
    """An export of a tenant in March 2026."""

    def get(tenant, export, *, headers=None, of=service, **params):
        params = {name: value for name, value in {**DATES, **params}.items() if value is not None}
        url = f"{of.url}/v1/analytics/{tenant.project_id}/{export}"
        return http.get(url, params=params, headers=headers or tenant.admin)

    return get


@pytest.fixture
def whole(read):
    """All rows of a list, page by page."""

    def rows(tenant, export, limit, *, between=lambda: None, **params):
        found, cursor = [], None
        while True:
            answer = read(tenant, export, limit=limit, cursor=cursor, **params).json()
            assert answer[LISTS[export]]
            found += answer[LISTS[export]]
            cursor = answer["nextCursor"]
            if cursor is None:
                return found
            assert len(answer[LISTS[export]]) == limit
            between()

    return rows


@pytest.fixture(params=LISTS)
def export(request):
    """The name of either list."""
    return request.param


def searched(tenant, *texts, at=NOON, opened="", results=3):
    """Searches that were settled, a second after each other."""
    SearchQuery.objects.bulk_create(
        SearchQuery(
            project=tenant.project,
            text=text,
            folded=fold_for_storage(text),
            at=at + timedelta(seconds=number),
            result_count=results,
            clicked_path=opened,
        )
        for number, text in enumerate(texts)
    )


def asked(tenant, query=INSTALL, answer="With pip.", at=NOON, thread=None, sources=1, state="done", outcome="", **more):
    """A question with its answer; `answer` None: it never got one."""
    thread = thread or Thread.objects.create(project=tenant.project, fp="reader-4711")
    more = {"project": tenant.project, **more}
    turns = [Message(thread=thread, role="user", content=query, **more)]
    if answer is not None:
        cited = [{"title": "Installing acme", "url": "https://docs.acme.example/install#with-pip"}][:sources]
        facts = {"sources": cited, "state": state, "outcome": outcome or ("answered" if cited else "refused")}
        turns.append(Message(thread=thread, role="assistant", content=answer, **facts, **more))
    for turn in Message.objects.bulk_create(turns):
        Message.objects.filter(pk=turn.pk).update(created_at=at)
    return turns[0]


def fill(tenant, export, number):
    """Rows of a list."""
    for count in range(number):
        if export == "searches":
            searched(tenant, f"query {count}")
        else:
            asked(tenant, f"query {count}", at=NOON + timedelta(minutes=count))


# Searches


def test_a_search_and_its_click_are_in_the_export_at_once(http, service, project, read):
    agents = [{**PAGE, **project.assistant, "User-Agent": f"browser {number}"} for number in range(4)]
    url = f"{service.url}/discovery/v1/search/{project.domain}"

    def search(number, query):
        assert http.post(url, json={"query": query}, headers=agents[number]).status_code == 200

    search(0, "xylophone")
    search(1, "install")
    http.post(f"{url}/click", json={"query": "install", "path": "/install", "position": 1}, headers=agents[1])
    search(2, "Install")
    search(3, "INSTALL")
    answer = read(project, "searches", dateFrom=None, dateTo=None)
    assert answer.headers["content-type"] == "application/json"
    assert re.match(r'"analytics";r=\d+', answer.headers["ratelimit"])
    body = answer.json()
    first, second = body["searches"]
    assert first.pop("lastSearchedAt") > second.pop("lastSearchedAt")
    assert first == {"searchQuery": "INSTALL", "hits": 3, "ctr": pytest.approx(1 / 3), "topClickedPage": "/install"}
    assert second == {"searchQuery": "xylophone", "hits": 1, "ctr": 0, "topClickedPage": None}
    assert (body["totalSearches"], body["nextCursor"]) == (4, None)


@pytest.mark.stores
def test_queries_that_differ_in_case_are_one(make_project, read):
    tenant = make_project()
    searched(tenant, "Straße", "STRASSE", "strasse", "ΣΊΣΥΦΟΣ", "Σίσυφος", "УСТАНОВКА", "установка", "E\u0301t", "éT")
    searched(tenant, "etat", "Installation", "installatıon")
    rows = read(tenant, "searches").json()["searches"]
    assert [(row["hits"], fold(row["searchQuery"])) for row in rows] == [
        *((3, "strasse"), (2, "ét"), (2, "σίσυφοσ"), (2, "установка")),
        *((1, "etat"), (1, "installation"), (1, "installatıon")),
    ]


@pytest.mark.stores
def test_a_query_is_shown_as_it_is_spelt_most_often_and_then_latest(make_project, read):
    tenant = make_project()
    searched(tenant, "SAML", "saml", "SAML", "Saml", "oauth", "OAuth")
    searched(tenant, "token", at=NOON + timedelta(hours=1))
    searched(tenant, "Token")
    rows = read(tenant, "searches").json()["searches"]
    assert [row["searchQuery"] for row in rows] == ["SAML", "OAuth", "token"]


def test_a_row_tells_of_clicks_and_of_the_latest_search(make_project, read):
    tenant = make_project()
    searched(tenant, "Pip", "pip", opened="/install")
    searched(tenant, "pip", opened="/configure", results=None)
    searched(tenant, "PIP", at=NOON + timedelta(seconds=30, microseconds=250_000))
    searched(tenant, "tie", opened="/early")
    searched(tenant, "tie", opened="/late", at=NOON + timedelta(seconds=1))
    first, second = read(tenant, "searches").json()["searches"]
    assert first == {
        "searchQuery": "pip",
        "hits": 4,
        "ctr": 0.75,
        "topClickedPage": "/install",
        "lastSearchedAt": "2026-03-10T12:00:30.250000Z",
    }
    assert (second["ctr"], second["topClickedPage"], second["lastSearchedAt"]) == (1, "/late", "2026-03-10T12:00:01Z")


@pytest.mark.matrix
@pytest.mark.stores
def test_pages_of_searches_repeat_and_miss_nothing_while_readers_search_on(make_project, whole, read):
    tenant = make_project()
    for number in range(10):
        searched(tenant, *[f"query {number}"] * (1 + number // 4), *[f"QUERY {number}"] * (number // 8))
    at_once = read(tenant, "searches", limit=100).json()
    hits = [row["hits"] for row in at_once["searches"]]
    assert hits == [4, 4, 2, 2, 2, 2, 1, 1, 1, 1]
    assert [row["searchQuery"] for row in at_once["searches"]][2:] == [f"query {n}" for n in (4, 5, 6, 7, 0, 1, 2, 3)]
    for limit in (1, 3, 5, 9, 10, 11):
        assert whole(tenant, "searches", limit) == at_once["searches"]

    def on():
        searched(tenant, *["query 3"] * 5, "new", *["Query 9"] * 3)

    assert whole(tenant, "searches", 3, between=on) == at_once["searches"]
    newer = read(tenant, "searches", limit=1).json()
    assert (newer["searches"][0]["searchQuery"], newer["searches"][0]["hits"]) == ("query 3", 16)
    on()
    assert read(tenant, "searches", cursor=newer["nextCursor"]).json()["totalSearches"] == newer["totalSearches"]


def test_a_search_that_is_repeated_meanwhile_is_not_missed(http, service, project, whole):
    """Within five seconds it is the same row, with another time."""

    def search():
        for number in range(3):
            headers = {**project.assistant, "User-Agent": f"browser {number}"}
            url = f"{service.url}/discovery/v1/search/{project.domain}"
            http.post(url, json={"query": f"labels {number}"}, headers=headers)

    search()
    wait_for(lambda: project.project.searches.count() == 3, "the searches")
    rows = whole(project, "searches", 1, between=search, dateFrom=None, dateTo=None)
    assert [row["searchQuery"] for row in rows] == ["labels 0", "labels 1", "labels 2"]


def test_the_number_of_queries_does_not_grow_with_the_searches(make_project):
    tenant = make_project()
    fill(tenant, "searches", 9)
    with CaptureQueriesContext(connection) as made:
        totals.fetch_page(tenant.project, *MARCH, 5)
    assert len([query for query in made if "searchquery" in query["sql"]]) == 4


# Conversations


def test_a_question_is_exported_with_its_answer(http, service, project, read):
    headers = {**project.assistant, **PAGE}
    first = ask(http, service, project, currentPath="/guides/labels?x=1", headers=headers, fp="reader-4711")
    thread_id = first.headers["x-thread-id"]
    ask(http, service, project, "Who won the cup in 1954?", threadId=thread_id, fp="reader-4711")
    answer = read(project, "assistant", dateFrom=None, dateTo=None)
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert (body["nextCursor"], body["hasMore"]) == (None, False)
    refused, expected = body["conversations"]
    question, reply = Message.objects.filter(thread__thread_id=thread_id).order_by("pk")[:2]
    assert expected == {
        "id": question.message_id,
        "threadId": thread_id,
        "timestamp": question.created_at.isoformat().replace("+00:00", "Z"),
        "query": INSTALL,
        "response": text(parts(first)),
        "responseType": "answer",
        "sources": reply.sources,
        "resolutionStatus": "answered",
        "outcome": "answered",
        "conversationId": thread_id,
        "queryCategory": None,
        "pageUrl": "https://docs.acme.example/guides/labels",
        "costMicros": reply.cost,
    }
    assert expected["sources"][0].keys() == {"title", "url"}
    assert (refused["query"], refused["threadId"]) == ("Who won the cup in 1954?", thread_id)
    assert refused["response"].startswith("I couldn't find this")
    assert (refused["sources"], refused["resolutionStatus"], refused["pageUrl"]) == ([], "unanswered", None)

    thread = read(project, f"assistant/threads/{thread_id}").json()
    assert thread["threadId"] == thread_id
    assert thread["createdAt"].endswith("Z")
    assert [(turn["role"], turn["content"]) for turn in thread["messages"]] == [
        *(("user", INSTALL), ("assistant", expected["response"])),
        *(("user", refused["query"]), ("assistant", refused["response"])),
    ]
    assert thread["messages"][0] == {
        "id": expected["id"],
        "role": "user",
        "content": INSTALL,
        "createdAt": expected["timestamp"],
    }
    stats = read(project, STATS, dateFrom=None, dateTo=None).json()
    assert stats == {"web": 1, "api": 1, "other": 0, "total": 2}
    for whatever in (answer.text, json.dumps(thread), json.dumps(stats)):
        assert "4711" not in whatever


@pytest.mark.parametrize(
    ("outcome", "sources", "status"),
    [
        ("answered", 1, "answered"),
        ("greeting", 0, "answered"),
        ("unsupported", 0, "unanswered"),
        ("refused", 0, "unanswered"),
        ("closest_passages", 1, "unanswered"),
        ("cut", 1, "unanswered"),
        ("failed", 1, "unanswered"),
        ("running", 1, "unanswered"),
    ],
)
def test_answered_is_what_cites_a_page_and_is_complete(make_project, read, outcome, sources, status):
    tenant = make_project()
    asked(tenant, answer="So far", outcome=outcome, sources=sources)
    (row,) = read(tenant, "assistant").json()["conversations"]
    assert (row["response"], len(row["sources"]), row["resolutionStatus"]) == ("So far", sources, status)


@pytest.mark.stores
def test_a_question_has_the_answer_that_follows_in_its_thread(make_project, read):
    tenant = make_project()
    thread = asked(tenant, "one", answer=None).thread
    asked(tenant, "two", thread=thread, at=NOON + timedelta(minutes=1))
    late = asked(tenant, "three", answer=None, at=NOON + timedelta(minutes=2)).thread
    asked(tenant, "four", at=NOON + timedelta(minutes=3))
    Message.objects.create(thread=late, role="assistant", content="Later.")
    asked(tenant, "five", answer=None, at=NOON + timedelta(minutes=4))
    rows = read(tenant, "assistant").json()["conversations"]
    assert [(row["query"], row["response"], row["resolutionStatus"]) for row in rows] == [
        ("five", "", "unanswered"),
        ("four", "With pip.", "answered"),
        ("three", "Later.", "unanswered"),
        ("two", "With pip.", "answered"),
        ("one", "", "unanswered"),
    ]


def test_a_question_that_is_asked_again_has_its_latest_answer(http, service, project, read):
    thread_id = ask_v2(http, service, project, "Who won the cup in 1954?").headers["x-thread-id"]
    before = read(project, "assistant", dateFrom=None, dateTo=None).json()["conversations"]
    ask_v2(http, service, project, INSTALL, threadId=thread_id, trigger="regenerate-message")
    after = read(project, "assistant", dateFrom=None, dateTo=None).json()["conversations"]
    assert [(row["id"], row["timestamp"]) for row in before] == [(row["id"], row["timestamp"]) for row in after]
    assert [row["resolutionStatus"] for row in before + after] == ["unanswered", "answered"]
    assert after[0]["query"] == INSTALL
    question, answer = Message.objects.filter(thread__thread_id=thread_id).order_by("pk")
    assert answer.created_at > question.updated_at, "retention and health go by the time of the answer"
    assert read(project, STATS, dateFrom=None, dateTo=None).json()["total"] == 1


def test_a_page_has_its_address_below_the_docs_url(make_project, read):
    tenant = make_project("https://acme.example/docs/")
    asked(tenant, page_path="/guides/größe & co")
    (row,) = read(tenant, "assistant").json()["conversations"]
    assert row["pageUrl"] == "https://acme.example/docs/guides/gr%C3%B6%C3%9Fe%20&%20co"


@pytest.mark.stores
def test_pages_of_conversations_repeat_and_miss_nothing_while_readers_ask_on(make_project, whole, read):
    tenant = make_project()
    thread = asked(tenant, "0").thread
    for number in range(1, 10):  # some at one moment
        asked(tenant, str(number), at=NOON + timedelta(minutes=number // 4), thread=thread if number % 2 else None)
    at_once = read(tenant, "assistant", limit=10).json()
    assert [row["query"] for row in at_once["conversations"]] == list("9876543210")
    assert (at_once["nextCursor"], at_once["hasMore"]) == (None, False)
    assert read(tenant, "assistant", limit=9).json()["hasMore"] is True
    for limit in (1, 2, 3, 9, 11):
        assert whole(tenant, "assistant", limit) == at_once["conversations"]

    def on():
        asked(tenant, "new", at=NOON + timedelta(hours=1))

    assert whole(tenant, "assistant", 3, between=on) == at_once["conversations"]


def test_a_page_of_conversations_takes_two_queries_and_a_thread_too(make_project):
    tenant = make_project()
    fill(tenant, "assistant", 9)
    with CaptureQueriesContext(connection) as made:
        rows = assistant_report.list_exchanges(tenant.project, *MARCH, 9)
        assert [row.question.thread.thread_id for row in rows if row.answer.content and row.is_answered]
    assert len([query for query in made if query["sql"].startswith("SELECT")]) == 2
    with CaptureQueriesContext(connection) as made:
        assistant_report.load_conversation(tenant.project, rows[0].question.thread.thread_id)
    assert len([query for query in made if query["sql"].startswith("SELECT")]) == 2


@pytest.mark.stores
def test_callers_are_counted_by_question(make_project, read):
    tenant = make_project()
    for caller, number in (("web", 3), ("api", 2), ("other", 1)):
        for _ in range(number):
            asked(tenant, caller=caller)
    asked(tenant, caller="api", at=MARCH[1])
    asked(tenant, caller="web", at=MARCH[0] - timedelta(microseconds=1))
    asked(tenant, caller="web", at=MARCH[0])
    assert read(tenant, STATS).json() == {"web": 4, "api": 2, "other": 1, "total": 7}


# What the lists share


def test_a_range_begins_with_its_start_and_ends_before_its_end(make_project, read, export):
    tenant = make_project()
    moments = [MARCH[0] - timedelta(microseconds=1), MARCH[0], MARCH[1] - timedelta(microseconds=1), MARCH[1]]
    for number, at in enumerate(moments):
        searched(tenant, str(number), at=at)
        asked(tenant, str(number), at=at)
    name = {"searches": "searchQuery", "assistant": "query"}[export]
    rows = read(tenant, export).json()[LISTS[export]]
    assert sorted(row[name] for row in rows) == ["1", "2"]
    rows = read(tenant, export, dateFrom="2026-04-01T02:00:00+02:00", dateTo=None).json()[LISTS[export]]
    assert [row[name] for row in rows] == ["3"]


def test_the_default_is_the_last_thirty_days(make_project, read, export):
    tenant, now = make_project(), datetime.now(UTC)
    for at in (now, now - timedelta(days=28), now - timedelta(days=31)):
        searched(tenant, str(at), at=at)
        asked(tenant, str(at), at=at)
    assert len(read(tenant, export, dateFrom=None, dateTo=None).json()[LISTS[export]]) == 2
    assert read(tenant, STATS, dateFrom=None, dateTo=None).json()["total"] == 2


def test_a_project_without_readers_is_empty(make_project, read):
    tenant = make_project()
    assert read(tenant, "searches").json() == {"searches": [], "totalSearches": 0, "nextCursor": None}
    assert read(tenant, "assistant").json() == {"conversations": [], "nextCursor": None, "hasMore": False}
    assert read(tenant, STATS).json() == {"web": 0, "api": 0, "other": 0, "total": 0}


def test_a_cursor_goes_on_with_its_own_dates_only(make_project, read, export):
    tenant = make_project()
    fill(tenant, export, 3)
    first = read(tenant, export, limit=1).json()
    cursor = first["nextCursor"]
    assert re.fullmatch(r"[A-Za-z0-9._-]{20,400}", cursor)
    rest = read(tenant, export, limit=2, cursor=cursor).json()
    assert len(rest[LISTS[export]]) == 2
    for same in (
        {"dateFrom": None, "dateTo": None},
        {"dateFrom": None},
        {"dateTo": None},
        {"dateFrom": "2026-03-01T01:00:00+01:00"},
    ):
        assert read(tenant, export, limit=2, cursor=cursor, **same).json() == rest
    for other in ({"dateFrom": "2026-03-02"}, {"dateTo": "2026-04-02"}):
        assert_error(read(tenant, export, cursor=cursor, **other), 400, "cursor: belongs to ")


def test_a_cursor_belongs_to_its_list_and_project(make_project, read):
    tenant, other = make_project(), make_project()
    cursors = {}
    for export in LISTS:
        fill(tenant, export, 2)
        fill(other, export, 2)
        cursors[export] = read(tenant, export, limit=1).json()["nextCursor"]
        assert_error(read(other, export, cursor=cursors[export]), 400, "cursor: belongs to ")
    assert_error(read(tenant, "assistant", cursor=cursors["searches"]), 400, "cursor: belongs to ")
    assert_error(read(tenant, "searches", cursor=cursors["assistant"]), 400, "cursor: belongs to ")


def test_a_cursor_that_was_not_given_out_is_refused(make_project, read, export):
    tenant = make_project()
    fill(tenant, export, 2)
    cursor = read(tenant, export, limit=1).json()["nextCursor"]
    middle = len(cursor) // 2
    changed = cursor[:middle] + ("A" if cursor[middle] != "A" else "B") + cursor[middle + 1 :]
    for bad in ("", "x", "1", "null", ".", "é", "a" * 3000, cursor[:-1], cursor[1:], cursor + "A", changed):
        assert_error(read(tenant, export, cursor=bad), 400, "cursor: was not issued ")
    assert_error(read(tenant, export, cursor=[cursor, cursor]), 400, "cursor: is given more than once")


def test_a_cursor_after_the_longest_query_fits_an_address(make_project, whole):
    tenant = make_project()
    for letters in ("🙂" * 400, "ΐ" * 400, "".join(chr(0x4E00 + number * 7) for number in range(400))):
        searched(tenant, letters, letters)
    searched(tenant, "z")
    assert [len(row["searchQuery"]) for row in whole(tenant, "searches", 1)] == [400, 400, 400, 1]


BAD = [
    *(({"limit": value}, "limit: ") for value in ("0", "-1", "1.0", "x", "", " 5", "1_0", "٣", "+5", "9" * 20)),
    *(
        ({name: value}, f"{name}: ")
        for name in ("dateFrom", "dateTo")
        for value in ("", "x", "2026-02-30", "20260301", "2026-03-01 00:00:00", "2026-03-01T00:00:00Z\x00")
    ),
    ({"dateFrom": "2026-04-01"}, "dateFrom: must be before dateTo"),
    ({"dateFrom": ["2026-03-01"] * 2}, "dateFrom: is given more than once"),
    ({"dateTo": ["2026-04-01"] * 2}, "dateTo: is given more than once"),
    ({"limit": ["5", "5"]}, "limit: is given more than once"),
]


@pytest.mark.parametrize("export", [*LISTS, STATS])
def test_a_bad_parameter_is_named(make_project, read, export):
    tenant = make_project()
    for params, field in BAD:
        if export != STATS or "limit" not in params:
            assert_error(read(tenant, export, **params), 400, field)
    if export == STATS:
        assert read(tenant, export, limit="x", cursor="x").status_code == 200
    else:
        bad = {"limit": "0", "cursor": "x", "dateFrom": "x", "dateTo": "y"}
        assert_error(read(tenant, export, **bad), 400, *(f"{name}: " for name in bad))
    assert read(tenant, export, page="2", offset="x", foo=["1", "2"]).status_code == 200


@pytest.mark.matrix
def test_limits_are_those_of_each_list(make_project, read):
    tenant = make_project()
    fill(tenant, "searches", 51)
    fill(tenant, "assistant", 101)
    for export, most, default in (("searches", 100, 50), ("assistant", 1000, 100)):
        assert read(tenant, export, limit=most).status_code == 200
        assert_error(read(tenant, export, limit=most + 1), 400, "limit: ")
        assert len(read(tenant, export).json()[LISTS[export]]) == default


# Who may


def test_a_conversation_is_found_by_the_id_of_a_row_too(make_project, read):
    tenant, other = make_project(), make_project()
    asked(tenant, "one")
    [row] = read(tenant, "assistant").json()["conversations"]
    assert row["conversationId"] == row["threadId"]
    by_thread = read(tenant, f"assistant/threads/{row['threadId']}").json()
    assert by_thread["messages"][0]["content"] == "one"
    for turn in by_thread["messages"]:
        assert read(tenant, f"assistant/threads/{turn['id']}").json() == by_thread
    assert_error(read(other, f"assistant/threads/{row['id']}"), 404)


def test_a_thread_id_of_another_form_is_400(make_project, read):
    tenant = make_project()
    thread_id = ids.thread_id()
    wrong = ("x", "thr_", thread_id[:-1], thread_id + "a", thread_id.upper(), "thr_" + "1" * 26, thread_id + "%0A", "1")
    for bad in wrong:
        assert_error(read(tenant, f"assistant/threads/{bad}"), 400, "threadId: ")


def test_nothing_of_another_project_is_shown(make_project, read):
    mine, other = make_project(), make_project()
    searched(other, "secret", opened="/secret")
    theirs = asked(other, "secret", caller="web").thread
    assert read(mine, "searches").json()["totalSearches"] == 0
    assert read(mine, "assistant").json()["conversations"] == []
    assert read(mine, STATS).json()["total"] == 0
    unknown = read(mine, f"assistant/threads/{ids.thread_id()}")
    foreign = read(mine, f"assistant/threads/{theirs.thread_id}")
    assert_error(unknown, 404)
    assert unknown.text == foreign.text
    assert unknown.status_code == foreign.status_code
    assert read(other, f"assistant/threads/{theirs.thread_id}").json()["messages"][0]["content"] == "secret"


@pytest.mark.parametrize("export", [*LISTS, STATS, f"assistant/threads/thr_{'a' * 26}"])
def test_an_admin_key_of_the_organization_is_needed(http, service, make_project, read, export):
    mine, other = make_project(), make_project()
    bodies = set()
    for project_id in (other.project_id, "prj_aaaaaaaaaaaaaaaaaaaa", mine.domain):
        answer = http.get(f"{service.url}/v1/analytics/{project_id}/{export}?limit=x", headers=mine.admin)
        assert_error(answer, 404)
        assert "ratelimit" not in answer.headers
        bodies.add(answer.text)
    assert len(bodies) == 1
    url = f"{service.url}/v1/analytics/{mine.project_id}/{export}"
    assert_error(http.get(url), 401)
    assert_error(http.get(url, headers=mine.assistant), 403)
    assert_error(http.post(url, headers=mine.admin), 405)
    assert "access-control-allow-origin" not in read(mine, export, headers={**mine.admin, **PAGE}).headers


@pytest.mark.matrix
def test_all_exports_share_one_limit(make_project, read, start):
    service, tenant = start(LIMIT_ANALYTICS_ORG="4/d"), make_project()
    exports = (*LISTS, STATS, "visitors", "searches")
    assert [read(tenant, export, of=service).status_code for export in exports] == [200, 200, 200, 200, 429]

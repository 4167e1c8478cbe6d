"""What readers think: in from their browsers, out to the owner, and who may see it."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.feedback import api
from analytics.feedback.schemas import FeedbackQuery
from analytics.models import Feedback
from assistant.models import Message, Thread
from tests.conftest import assert_error, logged_in
from tests.variants import first_of

pytestmark = pytest.mark.slow

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DATES = {"dateFrom": "2026-03-01", "dateTo": "2026-04-01"}
DOCS = "https://docs.acme.example"
THUMB = {"source": "thumbs_only", "path": "/install", "helpful": True}
WORDS = {"source": "contextual", "path": "/install", "helpful": False, "reason": "Out of date", "comment": "No pip."}
CODE = {"source": "code_snippet", "path": "/install", "code": "pip install acme"}


@pytest.fixture
def tell(http, service):
    """Send feedback as a page does."""

    def send(tenant, body, *, origin=DOCS, to=service, kind="text/plain"):
        headers = {"Content-Type": kind, **({"Origin": origin} if origin else {})}
        content = json.dumps(body, ensure_ascii=False)  # as browsers write it
        return http.post(f"{to.url}/discovery/v1/feedback/{tenant.domain}", content=content, headers=headers)

    return send


@pytest.fixture
def read(http, service):
    """An export of a tenant; without dates the last thirty days."""

    def get(tenant, export="feedback", *, headers=None, **params):
        url = f"{service.url}/v1/analytics/{tenant.project_id}/{export}"
        return http.get(url, params=params, headers=headers or tenant.admin)

    return get


def answer_of(tenant, fp="reader-1") -> Message:
    thread = Thread.objects.create(project=tenant.project, fp=fp)
    Message.objects.create(thread=thread, role="user", content="How?")
    return Message.objects.create(thread=thread, role="assistant", content="So.")


def said(tenant, path="/a", at=NOON, source="contextual", **more):
    return Feedback.objects.create(project=tenant.project, path=path, created_at=at, source=source, **more)


# In


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "text/plain;charset=UTF-8"])
def test_what_a_reader_says_is_kept_and_exported(tell, read, make_project, kind):
    tenant = make_project()
    body = {**WORDS, "path": "/guides/labels/index.html?x=1#y", "comment": "  No pip. ", "contact": "me@acme.example"}
    sent = tell(tenant, body, kind=kind)
    assert (sent.status_code, sent.text) == (204, "")
    assert sent.headers["access-control-allow-origin"] == DOCS
    answer = read(tenant)
    assert answer.headers["content-type"] == "application/json"
    assert re.match(r'"analytics";r=\d+', answer.headers["ratelimit"])
    (row,) = answer.json()["feedback"]
    assert re.fullmatch(r"fbk_[a-z2-7]{20}", row.pop("id"))
    assert datetime.fromisoformat(row.pop("createdAt")) > datetime.now(UTC) - timedelta(minutes=1)
    assert row == {
        "source": "contextual",
        "path": "/guides/labels",
        "helpful": False,
        "reason": "Out of date",
        "comment": "No pip.",
        "contact": "me@acme.example",
        "status": "pending",
    }


def test_each_source_has_its_fields(tell, read, make_project):
    tenant = make_project()
    for body in (THUMB, {**CODE, "comment": "Fails.", "lang": "sh", "helpful": False}, {**CODE, "filename": "a.sh"}):
        assert tell(tenant, body).status_code == 204
    second, first, thumb = read(tenant).json()["feedback"]
    shared = {"id", "path", "comment", "createdAt", "source", "status"}
    assert set(thumb) == shared | {"helpful", "reason", "contact"}
    assert (thumb["helpful"], thumb["comment"], thumb["contact"], thumb["reason"]) == (True, None, None, None)
    assert set(first) == set(second) == shared | {"code", "filename", "lang"}
    assert (first["code"], first["filename"], first["lang"], first["comment"]) == (CODE["code"], None, "sh", "Fails.")
    assert (second["filename"], second["lang"], second["comment"]) == ("a.sh", None, None)


@pytest.mark.parametrize(
    ("change", "field"),
    first_of(
        [
            ({"source": None}, "source: "),
            ({"source": "agent"}, "source: "),
            ({"source": 5}, "source: "),
            ({"path": None}, "path: "),
            ({"path": ""}, "path: "),
            ({"path": "/" + "a" * 2000}, "path: "),
            ({"path": ["/a"]}, "path: "),
            ({"helpful": "yes"}, "helpful: "),
            ({"helpful": 1}, "helpful: "),
            ({"helpful": None}, "helpful: or a reason or a comment is required"),
            ({"helpful": None, "comment": " \n "}, "helpful: or a reason or a comment is required"),
            ({"reason": "x" * 201}, "reason: "),
            ({"comment": "x" * 4001}, "comment: "),
            ({"comment": 5}, "comment: "),
            ({"comment": "a\x00b"}, "comment: contains a NUL"),
            ({"contact": "x" * 301}, "contact: "),
            ({"code": "x" * 32_001}, "code: "),
            ({"filename": "x" * 301}, "filename: "),
            ({"lang": "x" * 51}, "lang: "),
            ({"source": "code_snippet"}, "code: is required"),
            ({"source": "code_snippet", "code": " "}, "code: is required"),
            ({"messageId": ""}, "messageId: "),
            ({"messageId": "x" * 129}, "messageId: "),
            ({"messageId": "msg_unknown"}, "messageId: no such answer"),
            ({"id": ""}, "id: "),
            ({"id": "x" * 15}, "id: "),
            ({"id": "x" * 65}, "id: "),
            ({"id": 5}, "id: "),
            ({"id": "x" * 16, "messageId": "msg_unknown"}, "id: is not for feedback of an answer"),
        ],
        10,
    ),
)
def test_a_bad_field_is_400_and_named(tell, make_project, change, field):
    tenant = make_project()
    body = {name: value for name, value in {**THUMB, **change}.items() if value is not None}
    assert_error(tell(tenant, body), 400, field)
    assert not tenant.project.feedback.exists()


def test_all_that_is_wrong_is_told_at_once(tell, make_project):
    assert_error(tell(make_project(), {"source": "x", "helpful": 1}), 400, "source: ", "path: ", "helpful: ")


def test_the_longest_of_everything_is_taken(tell, read, make_project):
    tenant = make_project()
    longest = {"reason": 200, "comment": 4000, "contact": 300, "code": 32_000, "filename": 300, "lang": 50}
    body = {**CODE, "path": "/ü" * 600, **{name: "🙂" * length for name, length in longest.items() if name != "code"}}
    assert tell(tenant, {**body, "code": "ä" * 32_000}).status_code == 204
    (row,) = Feedback.objects.filter(project=tenant.project)
    assert {name: len(getattr(row, name)) for name in longest} == longest
    assert len(row.path) <= 400


def test_it_is_for_pages_of_allowed_origins(tell, make_project, http, service):
    tenant = make_project(origins=["https://app.acme.example"])
    assert tell(tenant, THUMB, origin="https://app.acme.example").status_code == 204
    assert tell(tenant, THUMB, origin=service.url).status_code == 204
    for origin in ("https://evil.example", "null", None):
        refused = tell(tenant, THUMB, origin=origin)
        assert_error(refused, 403)
        assert "access-control-allow-origin" not in refused.headers
    assert tenant.project.feedback.count() == 2
    url = f"{service.url}/discovery/v1/feedback/no-such-domain"
    assert_error(http.post(url, json=THUMB, headers={"Origin": service.url}), 404)
    asked = http.options(f"{service.url}/discovery/v1/feedback/{tenant.domain}", headers={"Origin": DOCS})
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, DOCS)


def test_an_address_can_say_too_much(tell, start, make_project):
    limited, tenant = start(LIMIT_FEEDBACK_IP="3/d"), make_project()
    assert [tell(tenant, THUMB, to=limited).status_code for _ in range(4)] == [204, 204, 204, 429]
    assert_error(tell(make_project(), {**WORDS, "comment": "x" * 140_000}), 413)


# About an answer


def test_of_an_answer_the_last_word_counts(tell, read, make_project):
    tenant = make_project()
    about = {"messageId": answer_of(tenant).message_id}
    assert tell(tenant, {**WORDS, **about}).status_code == 204
    Feedback.objects.filter(project=tenant.project).update(status="resolved", created_at=NOON)
    assert tell(tenant, {**THUMB, **about}).status_code == 204
    (row,) = read(tenant).json()["feedback"]
    assert (row["messageId"], row["source"], row["helpful"]) == (about["messageId"], "thumbs_only", True)
    assert (row["comment"], row["reason"], row["status"]) == (None, None, "resolved"), "the status is the owner's"
    assert tell(tenant, {**THUMB, "helpful": None, **about}).status_code == 204
    assert read(tenant).json()["feedback"] == []
    assert tell(tenant, {**THUMB, "helpful": None, **about}).status_code == 204, "there is nothing left to take back"


def test_pages_are_rated_as_often_as_readers_like(tell, make_project):
    tenant = make_project()
    for _ in range(3):
        assert tell(tenant, THUMB).status_code == 204
    assert tenant.project.feedback.count() == 3


@pytest.mark.stores
def test_of_an_id_the_last_word_counts(tell, read, make_project):
    tenant, other = make_project(), make_project()
    for body in (THUMB, WORDS, {**WORDS, "comment": "No pip, no uv."}):
        assert tell(tenant, {**body, "id": "a" * 64}).status_code == 204
    assert tell(tenant, {**CODE, "helpful": True, "id": "b" * 16}).status_code == 204
    assert tell(other, {**THUMB, "id": "b" * 16}).status_code == 204
    code, words = read(tenant).json()["feedback"]
    assert (code["code"], words["comment"]) == ("pip install acme", "No pip, no uv.")
    assert "a" * 64 not in read(tenant).text
    for nothing in ({"source": "code_snippet"}, {"source": "contextual", "helpful": None, "comment": " "}):
        more = {"path": "/install", "id": "b" * 16, **nothing}
        assert_error(tell(tenant, {**more, "contact": "me@acme.example"}), 400)
        assert tell(tenant, more).status_code == 204
    assert [row["id"] for row in read(tenant).json()["feedback"]] == [words["id"]]
    assert other.project.feedback.count() == 1, "an id belongs to its project"


def test_an_answer_is_one_of_the_project(tell, make_project):
    tenant, other = make_project(), make_project()
    theirs = answer_of(other)
    question = theirs.thread.messages.get(role="user")
    for wrong in (theirs.message_id, "msg_x"):
        assert_error(tell(tenant, {**THUMB, "messageId": wrong}), 400, "messageId: no such answer")
    assert_error(tell(other, {**THUMB, "messageId": question.message_id}), 400, "messageId: no such answer")
    assert not Feedback.objects.filter(project__in=[tenant.project, other.project]).exists()


def test_what_is_said_of_an_answer_goes_with_it(http, service, tell, make_project):
    tenant = make_project()
    answer = answer_of(tenant)
    assert tell(tenant, {**WORDS, "messageId": answer.message_id}).status_code == 204
    assert tell(tenant, THUMB).status_code == 204
    url = f"{service.url}/discovery/v1/assistant/{tenant.domain}/forget"
    body = {"fp": "reader-1", "threadId": answer.thread.thread_id}
    assert http.post(url, json=body, headers=tenant.assistant).status_code == 204
    assert [row.source for row in tenant.project.feedback.all()] == ["thumbs_only"]


# Out


@pytest.mark.matrix
@pytest.mark.stores
def test_pages_of_feedback_repeat_and_miss_nothing_while_readers_go_on(make_project, read):
    tenant = make_project()
    for number in range(10):  # some at one moment
        said(tenant, f"/{number}", at=NOON + timedelta(minutes=number // 4), comment="x")
    at_once = read(tenant, **DATES).json()
    assert [row["path"] for row in at_once["feedback"]] == [f"/{number}" for number in range(9, -1, -1)]
    assert (at_once["nextCursor"], at_once["hasMore"]) == (None, False)
    for limit in (1, 3, 9, 10):
        rows, cursor = [], None
        while True:
            page = read(tenant, **(DATES if cursor is None else {"cursor": cursor}), limit=limit).json()
            rows += page["feedback"]
            cursor = page["nextCursor"]
            assert page["hasMore"] is (cursor is not None)
            if cursor is None:
                break
            assert len(page["feedback"]) == limit
            said(tenant, "/new", at=NOON + timedelta(hours=1))
        assert [row for row in rows if row["path"] != "/new"] == at_once["feedback"]
        tenant.project.feedback.filter(path="/new").delete()


def test_a_cursor_belongs_to_its_list_dates_and_project(make_project, read):
    tenant, other = make_project(), make_project()
    for one, path in ((tenant, "/1"), (tenant, "/2"), (other, "/1"), (other, "/2")):
        said(one, path)
    cursor = read(tenant, **DATES, limit=1).json()["nextCursor"]
    assert [row["path"] for row in read(tenant, **DATES, cursor=cursor).json()["feedback"]] == ["/1"]
    assert_error(read(other, cursor=cursor), 400, "cursor: belongs to ")
    assert_error(read(tenant, cursor=cursor, dateFrom="2026-03-02"), 400, "cursor: belongs to ")
    assert_error(read(tenant, "assistant", cursor=cursor), 400, "cursor: belongs to ")


def test_source_and_status_choose(make_project, read):
    tenant = make_project()
    for source in Feedback.Source.values:
        for status in Feedback.Status.values:
            said(tenant, f"/{source}/{status}", source=source, status=status)

    def paths(**params):
        return {row["path"] for row in read(tenant, **DATES, **params).json()["feedback"]}

    assert len(paths()) == 16
    assert paths(source="agent") == {f"/agent/{status}" for status in Feedback.Status.values}
    assert paths(source="code_snippet", status="resolved") == {"/code_snippet/resolved"}
    assert len(paths(status="pending,dismissed")) == 8
    counted = read(tenant, "feedback/by-page", **DATES, source="agent", status="in_progress").json()
    assert [row["path"] for row in counted["feedback"]] == ["/agent/in_progress"]


@pytest.mark.stores
def test_feedback_is_counted_by_page(make_project, read):
    tenant = make_project()
    for helpful in (True, True, False):
        said(tenant, "/often", helpful=helpful, source="thumbs_only")
    said(tenant, "/often", comment="Hm.")
    said(tenant, "/code", source="code_snippet", code="x", helpful=False)
    said(tenant, "/also", helpful=False, source="agent")
    said(tenant, "/late", at=NOON + timedelta(days=40))
    assert read(tenant, "feedback/by-page", **DATES).json() == {
        "feedback": [
            {"path": "/often", "thumbsUp": 2, "thumbsDown": 1, "code": 0, "total": 4},
            {"path": "/also", "thumbsUp": 0, "thumbsDown": 1, "code": 0, "total": 1},
            {"path": "/code", "thumbsUp": 0, "thumbsDown": 0, "code": 1, "total": 1},
        ],
        "hasMore": False,
    }
    first = read(tenant, "feedback/by-page", **DATES, limit=1).json()
    assert ([row["path"] for row in first["feedback"]], first["hasMore"]) == (["/often"], True)


def test_limits_are_those_of_each_list(make_project, read):
    tenant = make_project()
    Feedback.objects.bulk_create(
        Feedback(project=tenant.project, path=f"/{number}", created_at=NOON, source="contextual")
        for number in range(51)
    )
    for export, default in (("feedback", 50), ("feedback/by-page", 10)):
        assert len(read(tenant, export, **DATES).json()["feedback"]) == default
        assert len(read(tenant, export, **DATES, limit=100).json()["feedback"]) == 51
        assert read(tenant, export, **DATES).json()["hasMore"] is True
        for bad in ("0", "101", "x", "1.0"):
            assert_error(read(tenant, export, **DATES, limit=bad), 400, "limit: ")


@pytest.mark.parametrize("export", ["feedback", "feedback/by-page"])
@pytest.mark.parametrize(
    ("params", "field"),
    first_of(
        [
            ({"source": "page"}, "source: "),
            ({"source": ""}, "source: "),
            ({"source": ["agent", "agent"]}, "source: is given more than once"),
            ({"status": "open"}, "status: must be some of"),
            ({"status": "pending, resolved"}, "status: must be some of"),
            ({"status": ""}, "status: must be some of"),
            ({"status": ["pending", "resolved"]}, "status: is given more than once"),
            ({"dateFrom": "x"}, "dateFrom: "),
            ({"dateFrom": "2026-04-01", "dateTo": "2026-03-01"}, "dateFrom: must be before dateTo"),
        ],
        5,
    ),
)
def test_a_bad_parameter_is_named(make_project, read, export, params, field):
    assert_error(read(make_project(), export, **params), 400, field)


@pytest.mark.parametrize("export", ["feedback", "feedback/by-page"])
def test_only_admin_keys_of_the_organization_read_it(make_project, read, http, service, export):
    mine, other = make_project(), make_project()
    said(other, "/secret")
    assert read(mine, export, **DATES).json()["feedback"] == []
    assert_error(read(other, export, headers=mine.admin), 404)
    assert_error(read(other, export, headers=other.assistant), 403)
    assert_error(http.get(f"{service.url}/v1/analytics/{mine.project_id}/{export}"), 401)


def test_a_page_takes_one_query(make_project):
    tenant = make_project()
    for _ in range(5):
        said(tenant, message=answer_of(tenant))
    with CaptureQueriesContext(connection) as made:
        body = json.loads(api._feedback(tenant.project, FeedbackQuery(**DATES, limit=5)).content)
    assert [bool(row["messageId"]) for row in body["feedback"]] == [True] * 5
    assert len(made) == 1


# In the admin


@pytest.fixture
def owner(make_project):
    tenant = make_project()
    client = logged_in(f"owner-{tenant.project.pk}", tenant.project.organization)
    client.tenant = tenant
    return client


def test_an_owner_deletes_feedback_and_a_stranger_does_not(owner, make_project):
    row = said(owner.tenant, "/secret-page", comment="Mine.")
    page = f"/admin/project/{owner.tenant.domain}/feedback/{row.feedback_id}"
    stranger = logged_in(f"stranger-{row.pk}", make_project().project.organization)
    assert stranger.post(page, {"delete": "yes"}).status_code == 404
    assert Feedback.objects.filter(pk=row.pk).exists()
    assert owner.post(page, {"delete": "yes"}, follow=True).status_code == 200
    assert not Feedback.objects.filter(pk=row.pk).exists()

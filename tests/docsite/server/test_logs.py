"""What the log tells: the id of each request, and nothing that a reader or a client sent."""

import json
import logging
import re
import subprocess
import sys

import httpx
import pytest
from django.db.utils import IntegrityError, OperationalError
from websockets.sync.client import connect

from docsite.core import context
from docsite.core.http.errors import BadRequest
from docsite.core.logs import JsonFormatter, LineFormatter, UnavailableFilter
from tests.conftest import PATIENCE, ROOT, assert_error, fake, question
from tests.processes import manage

pytestmark = pytest.mark.slow

QUESTION = "Where did Xanthippe hide the zucchini"
FP = "fingerprint-of-xanthippe"
ADDRESS = "198.51.100.77"
LINE = re.compile(r"[\d-]{10} [\d:,]{12} [A-Z]+ [\w.]+ \[([0-9a-f]{16}|-)\](:   |: |   )")


def broken(*arguments: str) -> None:
    """A service in which searches, pages and answers fail, with the reader's text in the exception."""
    import django

    django.setup()
    from assistant.answering.passage_search import PassageSearch
    from docsite.core.access import authentication
    from search.retrieval import page_search

    def fail(*values: object, **named: object) -> None:
        raise ValueError(f"cannot find {values!r} {named!r} for {FP} at {ADDRESS}\nas {QUESTION}")

    page_search.find = fail
    PassageSearch.search = fail
    authentication.project_by_id = fail
    manage(*arguments)


def write(message: object, *values: object, failure: BaseException | None = None, name: str = "search") -> str:
    exc_info = (type(failure), failure, failure.__traceback__) if failure else None
    record = logging.LogRecord(name, logging.ERROR, __file__, 1, message, values, exc_info)
    return LineFormatter().format(record)


def raised(failure: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise failure from cause
    except BaseException as caught:
        return caught


def test_a_full_run_leaves_nothing_of_readers_in_the_log(start, project, upstream):
    service = start.fresh(
        broken, TRUSTED_PROXIES="127.0.0.1", OPENAI_BASE_URL=f"{upstream.url}/v1", OPENAI_API_KEY="sk-model-secret"
    )
    headers = {**project.assistant, "X-Forwarded-For": ADDRESS, "User-Agent": f"Browser of {FP}"}
    answers = []
    with httpx.Client(timeout=PATIENCE, trust_env=False, verify=False, headers=headers) as http:
        discovery = f"{service.url}/discovery"
        body = question(QUESTION, fp=FP)
        answers += [
            http.post(f"{discovery}/v1/search/{project.domain}", json={"query": QUESTION}),
            http.post(f"{discovery}/v1/assistant/{project.domain}/message", json=body),
            http.post(f"{discovery}/v2/assistant/{project.domain}/message", json={**body, "context": fake("500")}),
            http.post(f"{discovery}/v1/assistant/{project.domain}/forget", json={"fp": FP, "threadId": "thr_x"}),
            http.post(f"{discovery}/v1/assistant/{project.domain}/message", content=json.dumps(body)[:-5]),
            http.get(f"{service.url}/v1/analytics/{project.project_id}/visitors", headers=project.admin),
            http.get(f"{service.url}/v1/analytics/{project.project_id}/visitors?key={project.admin_key}"),
            http.get(f"{service.url}/ask", params={"q": QUESTION}),
            http.get(f"{service.url}/search", params={"q": QUESTION}),
            http.get(f"{service.url}/nothing", params={"q": QUESTION}),
        ]
        url = f"{service.ws}/discovery/v1/assistant/{project.domain}/socket"
        with connect(
            url, origin=project.project.docs_url, proxy=None, additional_headers={"X-Forwarded-For": ADDRESS}
        ) as socket:
            socket.send(json.dumps({"type": "ask", "key": project.assistant_key, **body}))
            while json.loads(socket.recv(PATIENCE))["type"] not in ("finish", "error"):
                pass
    assert 500 in {answer.status_code for answer in answers}
    log = service.log.read_text()
    assert "ValueError" in log, "what went wrong"
    assert "in find" not in log
    assert "search/api.py:" in log, "and where"
    words = [QUESTION, "Xanthippe", FP, ADDRESS, project.assistant_key, project.admin_key, "sk-model-secret"]
    assert [word for word in words if word in log] == []
    lines = [line for line in log.splitlines() if not line.startswith(("Ready: ", "Answers: ", "No account yet: "))]
    assert [line for line in lines if not LINE.match(line)] == []
    assert {"-"} != {LINE.match(line)[1] for line in lines}


def test_every_answer_has_an_id_of_its_own_which_leads_to_the_log(start, http, project):
    service = start.fresh(broken)
    found = http.post(
        f"{service.url}/discovery/v1/search/{project.domain}", json={"query": "x"}, headers=project.assistant
    )
    reference = found.headers["X-Request-Id"]
    assert assert_error(found, 500) == {"error": f"Internal error, reference {reference}."}
    assert re.search(rf"\[{reference}\].*Internal error", service.log.read_text())
    pages = [http.get(service.url + path) for path in ("/", "/health", "/nothing", "/v1/nothing", "/widget.js")]
    identifiers = {answer.headers["X-Request-Id"] for answer in pages}
    assert len(identifiers) == len(pages)
    assert all(re.fullmatch("[0-9a-f]{16}", identifier) for identifier in identifiers)


def test_browsers_on_other_origins_may_read_the_id(http, service, project):
    origin = {"Origin": "https://docs.acme.example"}
    answer = http.post(f"{service.url}/discovery/v1/search/{project.domain}", json={}, headers=origin)
    assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("one\r\ntwo", r"one\r\ntwo"),
        ("\x1b[31mred\x00", r"\x1b[31mred\x00"),
        ("line\u2028end\x85", r"line\u2028end\x85"),
        ("Füße 😀 — ok", "Füße 😀 — ok"),
        ("svc_dsc_AbCdEfGhIjKl and svc_AbCdEfGh", "svc_dsc_… and svc_…"),
        ("Bearer abc.def sk-proj-1234", "Bearer … sk-…"),
        (
            "<WebRequest method=GET uri=/ask?q=zucchini clientproto=HTTP/1.1>",
            "<WebRequest method=GET uri=/ask?… clientproto=HTTP/1.1>",
        ),
        ("future: <Task exception=ValueError('zucchini')>", "future: <Task exception=…"),
        (
            "Service Unavailable: /discovery/v2/assistant/acme/message/c-42\n/stream",
            "Service Unavailable: /discovery/v2/assistant/acme/message/…",
        ),
        (
            "<WebRequest method=GET uri=/v2/assistant/acme/message/c-42/stream clientproto=HTTP/1.1>",
            "<WebRequest method=GET uri=/v2/assistant/acme/message/…",
        ),
        (
            "Internal Server Error: /v1/analytics/p1/assistant/threads/thr_42",
            "Internal Server Error: /v1/analytics/p1/assistant/threads/…",
        ),
        (
            "Internal Server Error: /admin/project/acme/conversations/thr_42/export.md",
            "Internal Server Error: /admin/project/acme/conversations/…",
        ),
        ("Internal Server Error: /shared/zucchini", "Internal Server Error: /shared/…"),
    ],
)
def test_a_message_is_one_line_without_keys(text, logged):
    assert write("%s", text).partition("]: ")[2] == logged
    assert write(text.replace("%", "%%")).partition("]: ")[2] == logged


def test_an_exception_is_told_without_what_it_repeats():
    inner = raised(IntegrityError("Key (fp)=(xanthippe) exists"))
    lines = write("Failed: %s, %r", inner, inner, failure=raised(RuntimeError("zucchini"), inner)).splitlines()
    assert lines[0].endswith("]: Failed: IntegrityError, IntegrityError")
    assert lines[1].endswith("Traceback:")
    named = [line.rpartition(" ")[2] for line in lines[1:] if line.endswith("Error")]
    assert named == ["IntegrityError", "RuntimeError"]
    assert sum(f"{__file__}:" in line and line.endswith("in raised") for line in lines) == 2
    assert "xanthippe" not in str(lines)
    assert "zucchini" not in str(lines)


@pytest.mark.parametrize("failure", [OperationalError("disk is full"), ConnectionRefusedError(111, "refused")])
def test_what_the_system_refused_is_told(failure):
    assert write("%s", failure).endswith(f"{type(failure).__name__}: {failure}")


def test_errors_for_callers_are_told_without_details():
    assert "zucchini" not in write("%s", BadRequest("query: zucchini"))


def test_a_traceback_as_a_message_is_described():
    try:
        raise ValueError("zucchini")
    except ValueError:
        import traceback

        line = write(traceback.format_exc())
    assert "ValueError" in line
    assert "zucchini" not in line
    assert sys.exc_info()[1] is None


def test_json_has_one_object_for_each_record_without_what_exceptions_repeat():
    failure = raised(IntegrityError(f"DETAIL: {QUESTION}"))
    exc_info = (type(failure), failure, failure.__traceback__)
    record = logging.LogRecord("search", logging.ERROR, __file__, 1, "%s\nwith sk-secret12", ("Acme",), exc_info)
    token = context.request_id.set("0123456789abcdef")
    try:
        text = JsonFormatter().format(record)
    finally:
        context.request_id.reset(token)
    assert "\n" not in text
    assert not any(word in text for word in (QUESTION, "secret12"))
    fields = json.loads(text)
    assert (fields["level"], fields["logger"], fields["request"]) == ("error", "search", "0123456789abcdef")
    assert fields["message"] == "Acme\\nwith sk-…"
    assert fields["traceback"][-1] == "IntegrityError"


def test_the_id_is_that_of_the_running_request():
    before = context.request_id.get()
    try:
        identifier = context.new_request_id()
        assert f" search [{identifier}]: x" in write("x")
        context.request_id.set("")
        assert " search [-]: x" in write("x")
    finally:
        context.request_id.set(before)


def test_a_503_is_a_warning_once_a_minute():
    def write_unavailable(status: int) -> tuple[bool, int]:
        record = logging.LogRecord("django.request", logging.ERROR, __file__, 1, "Service Unavailable: /", (), None)
        record.status_code = status
        return unavailable.filter(record), record.levelno

    unavailable = UnavailableFilter()
    assert write_unavailable(503) == (True, logging.WARNING)
    assert write_unavailable(503)[0] is False
    assert write_unavailable(500) == (True, logging.ERROR)
    unavailable._next -= 60
    assert write_unavailable(503) == (True, logging.WARNING)


@pytest.mark.matrix
def test_a_page_with_too_many_parameters_logs_nothing(start):
    service = start.fresh()
    for path in ("/search", "/en/"):
        assert httpx.get(f"{service.url}{path}?{'&'.join(['q=1'] * 1001)}", trust_env=False).status_code in (400, 404)
    assert "TooManyFieldsSent" not in service.log.read_text()


FORGETFUL = """
import asyncio, aiohttp, django
django.setup()
async def build():
    return aiohttp.ClientSession()
loop = asyncio.new_event_loop()
loop.cycle = [loop, loop.run_until_complete(build())]
"""


@pytest.mark.matrix
def test_a_line_can_be_written_while_python_ends():
    ended = subprocess.run([sys.executable, "-c", FORGETFUL], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Unclosed client session" in ended.stderr
    assert "Logging error" not in ended.stderr

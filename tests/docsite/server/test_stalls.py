"""No request makes other readers wait: each attack runs while the service is probed every 100 ms."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets.sync.client

from tests.conftest import PATIENCE, Tenant, assert_error, question
from tests.variants import first_of

pytestmark = pytest.mark.slow

MIB = 1024 * 1024
BLANKS = 31_900
PARTS = ['{"type": "text", "text": "x"}', '{"type":"t"}']


def cpu_seconds(service):
    """The CPU time of the process until now."""
    fields = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(service):
    """The memory of the process."""
    return int(Path(f"/proc/{service.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


def ask(service, tenant: Tenant, body: bytes | dict, protocol="v1") -> httpx.Response:
    url = f"{service.url}/discovery/{protocol}/assistant/{tenant.domain}/message"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {**tenant.assistant, "Content-Type": "application/json"}
    with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
        return client.post(url, content=content, headers=headers)


def with_parts(part: str, size: int = 2 * MIB - 400) -> bytes:
    """The body of a question whose first message has as many of these parts as fit."""
    parts = ",".join([part] * (size // (len(part) + 1)))
    messages = f'{{"role": "user", "parts": [{parts}]}}, {{"role": "user", "content": "How do I install acme?"}}'
    return f'{{"fp": "anonymous", "messages": [{messages}]}}'.encode()


@pytest.fixture(scope="module")
def service(start):
    """A service with its work beside the requests, which reads the same texts."""
    return start.fresh()


def test_blanks_behind_a_bracket(model_service, project, nobody_waits):
    text = f"How do I install acme with pip? <{' ' * BLANKS}x"
    repeated = f"fake:obey\nSAY: <{' ' * BLANKS}x"
    with nobody_waits(model_service):
        response = ask(model_service, project, question(text, context=[{"type": "textSelection", "value": repeated}]))
    assert response.status_code == 200


SLOW_TO_NORMALIZE = {
    "unsorted marks": "a" + "\u0316\u0301" * 16_000,
    "one that becomes eighteen": "\ufdfa" * 32_000,
    "a host of marks": "http://a" + "\u0316\u0301" * 16_000,
}


@pytest.mark.matrix
@pytest.mark.parametrize("text", first_of(SLOW_TO_NORMALIZE.values(), 1, ids=SLOW_TO_NORMALIZE))
def test_text_that_is_slow_to_normalize(service, project, nobody_waits, text):
    """It comes on every way that a stranger's text takes."""
    selections = [{"type": "textSelection", "value": text[:6_000], "path": text[:600]}] * 50
    tools = {
        "ask_docs": {"question": text[:2_000]},
        "search_docs": {"query": text[:2_000]},
        "read_page": {"path": text},
    }
    page = {"Origin": "https://docs.acme.example"}
    discovery, mcp = f"{service.url}/discovery/v1", f"{service.url}/mcp/{project.domain}"
    log_in = {"username": text, "password": text, "next": text}
    requests: list[tuple[str, dict[str, Any]]] = [
        (f"{discovery}/search/{project.domain}", {
            "json": {"query": text[:2_000], "filter": {"groups": [text]}}, "headers": project.assistant}),
        (f"{discovery}/page/{project.domain}", {"json": {"path": text[:2_000]}, "headers": project.assistant}),
        (f"{discovery}/search/{project.domain}/click", {
            "json": {"query": text[:2_000], "path": text[:2_000], "position": 1}, "headers": page}),
        (f"{discovery}/view/{project.domain}", {
            "json": {"id": "view", "path": text[:2_000], "referrer": text[:2_000]}, "headers": page}),
        (f"{service.url}/admin/login/", {"data": log_in}),
        *((mcp, {"json": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name, "arguments": arguments}}}) for name, arguments in tools.items()),
        (mcp, {"json": {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": text}}}),
    ]  # fmt: skip
    before = cpu_seconds(service)
    with nobody_waits(service), httpx.Client(timeout=PATIENCE, trust_env=False) as client:
        assert ask(service, project, question(text[:32_000])).status_code == 200
        assert ask(service, project, question("Explain this", context=selections)).status_code == 200
        for url, request in requests:
            assert client.post(url, **request).status_code < 500, url
    assert cpu_seconds(service) - before < 3


@pytest.mark.matrix
def test_a_context_of_one_long_word(service, project, nobody_waits):
    body = question("Explain this", context=[{"type": "code", "value": "a." * 16_000}] * 3)
    before = cpu_seconds(service)
    with nobody_waits(service):
        assert ask(service, project, body).status_code == 200
        used = cpu_seconds(service) - before
        with ThreadPoolExecutor(16) as attackers:
            assert all(
                response.status_code == 200
                for response in attackers.map(lambda _: ask(service, project, body), range(16))
            )
    assert used < 5


@pytest.mark.parametrize("part", first_of(["{}", '{"type":1}', "1", "[]"], 1))
def test_invalid_parts(service, project, nobody_waits, part):
    before = resident_mib(service)
    with nobody_waits(service):
        for _ in range(3):
            response = ask(service, project, with_parts(part))
            assert len(assert_error(response, 400)["details"]) <= 20
            assert len(response.content) < 10_000
    assert resident_mib(service) - before < 200


@pytest.mark.parametrize("protocol", first_of(["v2", "v1"], 1))
@pytest.mark.parametrize("part", PARTS)
def test_valid_parts(service, project, nobody_waits, part, protocol):
    with nobody_waits(service):
        for _ in range(3):
            assert ask(service, project, with_parts(part), protocol).status_code == 200


@pytest.mark.matrix
@pytest.mark.parametrize("part", first_of(["{}", *PARTS], 1))
def test_parts_on_a_socket(service, project, nobody_waits, part):
    body = json.loads(with_parts(part)) | {"type": "ask", "key": project.assistant_key}
    address = f"{service.ws}/discovery/v1/assistant/{project.domain}/socket"
    with nobody_waits(service), websockets.sync.client.connect(address, proxy=None) as socket:
        socket.send(json.dumps(body, separators=(",", ":")))
        event = json.loads(socket.recv(PATIENCE))
    assert event["type"] == ("error" if part == "{}" else "start")


@pytest.mark.matrix
@pytest.mark.parametrize("is_socket", [True, False])
def test_32_large_bodies_at_once(service, project, nobody_waits, is_socket):
    """They are parsed and validated one at a time, beside the event loop and the threads of the database."""
    body = with_parts(PARTS[0])
    message = json.dumps(json.loads(body) | {"type": "ask", "key": project.assistant_key}, separators=(",", ":"))
    address = f"{service.ws}/discovery/v1/assistant/{project.domain}/socket"

    def send(_number: int) -> bool:
        if not is_socket:
            return ask(service, project, body, "v2").status_code == 200
        with websockets.sync.client.connect(address, proxy=None) as socket:
            socket.send(message)
            return json.loads(socket.recv(PATIENCE))["type"] == "start"

    with nobody_waits(service), ThreadPoolExecutor(32) as attackers:
        assert all(attackers.map(send, range(32)))


@pytest.mark.parametrize("brackets", first_of(["[" * (2 * MIB - 100), "[]," * (2 * MIB // 3 - 100) + "[]"], 1))
def test_brackets_on_a_socket(service, project, nobody_waits, brackets):
    address = f"{service.ws}/discovery/v1/assistant/{project.domain}/socket"
    with nobody_waits(service), websockets.sync.client.connect(address, proxy=None) as socket:
        for _ in range(3):
            socket.send(f'{{"type": "ask", "x": [{brackets}]}}')
            assert json.loads(socket.recv(PATIENCE))["type"] == "error"


def test_a_page_of_hexadecimal_digits(model_service, make_project, tmp_path, nobody_waits):
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    tenant = make_project()
    (tmp_path / "page.md").write_text(
        f"# Checksums\n\nThe checksum of the parcel archive:\n\n{'0123456789abcdef' * 3072}\n"
    )
    ingest(tenant.project, read_folder(tmp_path))
    with nobody_waits(model_service):
        assert ask(model_service, tenant, question("What is the checksum of the parcel archive?")).status_code == 200


def test_too_many_query_parameters(http, service, project):
    for url in (
        f"{service.url}/v1/analytics/{project.project_id}/{kind}" for kind in ("visitors", "views", "feedback")
    ):
        response = http.get(f"{url}?{'&'.join(['a=1'] * 1001)}", headers=project.admin)
        assert_error(response, 400, "query: more than 1000 parameters")
    assert http.get(f"{service.url}/en/?{'&'.join(['a=1'] * 1001)}").status_code < 500


@pytest.mark.matrix
@pytest.mark.parametrize(
    "page",
    first_of(
        ["```\n" + "install = 1\n" * 90_000 + "```\n", "| a | b |\n|-|-|\n| install | " + "x " * 500_000 + "|\n"], 1
    ),
)
def test_a_page_of_a_megabyte_in_one_block(model_service, service, make_project, tmp_path, nobody_waits, page):
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    tenant = make_project()
    (tmp_path / "page.md").write_text(f"# Install\n\nHow to install the parcel archive:\n\n{page}")
    ingest(tenant.project, read_folder(tmp_path))
    for server in (model_service, service):
        with nobody_waits(server):
            assert ask(server, tenant, question("How do I install the parcel archive?")).status_code == 200


@pytest.mark.matrix
def test_the_memory_of_large_bodies_is_given_back(start, project):
    service = start.fresh()
    body = question("How do I install acme?", context=[{"type": "code", "value": "x", "path": "/install"}])
    for _ in range(10):
        ask(service, project, body)
    before = resident_mib(service)
    for number in range(60):
        large = {"type": "code", "value": "x", "path": f"/{number}/" + "a" * 1_900_000}
        assert ask(service, project, {**body, "context": [large]}).status_code == 200
    for _ in range(300):  # of which the garbage collection is one
        ask(service, project, body)
    assert resident_mib(service) < before * 1.5

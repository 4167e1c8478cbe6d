"""Pushes that break off: processes killed, connections cut, bodies refused. Readers see the old pages all the time."""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryFile

import httpx
import pytest
from django.test import AsyncRequestFactory
from django.utils import timezone

from docsite.core.access import uploads
from docsite.core.http.errors import TooLarge, Unavailable
from search.models import Document, Generation, Source
from search.pushes import stream
from search.pushes.run import Push, run
from search.stored_sources import queue
from tests.conftest import PATIENCE, wait_for
from tests.processes import constants
from tests.search.pushes.archives import PAGES, paths, push, put, tar

pytestmark = pytest.mark.slow

MANY = {f"docs/{number}.md": f"# Page {number}\n\n{'herd ' * 50}\n".encode() for number in range(800)}
FEW = dict(list(MANY.items())[:60])


@pytest.fixture
def tenant(make_project):
    return make_project()


@contextlib.contextmanager
def pushing(service, tenant, until: str):
    """A long push whose reports were read until one has this text."""
    address = f"{service.url}/v1/sources/{tenant.project_id}/docs"
    with (
        httpx.Client(timeout=PATIENCE, trust_env=False) as client,
        client.stream("PUT", address, content=tar(MANY), headers=tenant.admin) as response,
    ):
        lines = response.iter_lines()
        for line in lines:
            assert '"end"' not in line
            if until in line:
                break
        yield lines


def children(pid: int) -> list[int]:
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


def workers(service) -> list[int]:
    """The processes of the pushes of a service."""
    return [
        child
        for child in children(service.process.pid)
        if b"search.pushes.worker" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def assert_old_pages(tenant, generation: int) -> None:
    assert paths(tenant) == {"/", "/install"}
    assert Generation.objects.get(project=tenant.project).number == generation


def source_of(tenant) -> Source:
    return Source.objects.get(project=tenant.project)


@pytest.mark.matrix
@pytest.mark.parametrize("until", ["50 pages", "preparing the new index"])
def test_a_killed_process_changes_nothing_and_the_push_says_so(service, tenant, until):
    push(tenant, PAGES)
    generation = Generation.objects.get(project=tenant.project).number
    with pushing(service, tenant, until) as lines:
        (worker,) = workers(service)
        assert Path(f"/proc/{worker}/oom_score_adj").read_text() == "1000\n"  # it is killed before the service
        assert Path(f"/proc/{service.process.pid}/oom_score_adj").read_text() != "1000\n"
        os.kill(worker, signal.SIGKILL)
        last = json.loads(list(lines)[-1])
    assert last == {
        "event": "error",
        "error": "The process that read the push was killed, perhaps because memory ran out. Nothing has changed.",
    }
    assert_old_pages(tenant, generation)
    assert source_of(tenant).state == "failed"
    assert push(tenant, FEW)["added"] == 60
    assert not Document.every.filter(project=tenant.project).exclude(build="").exists()


@pytest.mark.matrix  # `make test` kills only the process of a push
def test_a_killed_service_changes_nothing(start, tenant):
    killed = start.fresh()
    push(tenant, PAGES)
    generation = Generation.objects.get(project=tenant.project).number
    with contextlib.suppress(httpx.HTTPError), pushing(killed, tenant, "50 pages") as lines:
        (worker,) = workers(killed)
        killed.process.kill()
        list(lines)
    wait_for(lambda: not Path(f"/proc/{worker}").exists(), "the reader to end with the service")
    assert_old_pages(tenant, generation)
    assert source_of(tenant).state == "failed"
    assert source_of(tenant).error == "It was stopped."
    assert push(tenant, FEW)["added"] == 60


@pytest.mark.matrix
def test_a_client_that_leaves_ends_its_push(service, tenant):
    push(tenant, PAGES)
    generation = Generation.objects.get(project=tenant.project).number
    with pushing(service, tenant, "50 pages"):
        (worker,) = workers(service)
    wait_for(lambda: not Path(f"/proc/{worker}").exists(), "the reader to end")
    assert_old_pages(tenant, generation)
    wait_for(lambda: source_of(tenant).state == "failed", "the source to be free")


@pytest.mark.matrix
def test_a_killed_preview_gives_the_source_back(service, tenant):
    push(tenant, PAGES)
    address = f"{service.url}/v1/sources/{tenant.project_id}/docs?preview=1"
    with (
        httpx.Client(timeout=PATIENCE, trust_env=False) as client,
        client.stream("PUT", address, content=tar(MANY), headers=tenant.admin) as response,
    ):
        lines = response.iter_lines()
        next(line for line in lines if "50 pages" in line)
        os.kill(workers(service)[0], signal.SIGKILL)
        assert "was killed" in list(lines)[-1]
    assert (source_of(tenant).state, source_of(tenant).error) == ("done", "")


@pytest.mark.matrix
def test_two_pushes_at_once_wait_for_each_other(service, tenant):
    address = f"{service.url}/v1/sources/{tenant.project_id}/docs"
    reports: list[dict] = []

    def push_beside() -> None:
        with (
            httpx.Client(timeout=PATIENCE, trust_env=False) as client,
            client.stream("PUT", address, content=tar(PAGES), headers=tenant.admin) as response,
        ):
            for line in response.iter_lines():
                reports.append(json.loads(line))

    waiting = {"event": "progress", "message": "waiting: a source of this project is being read"}
    with pushing(service, tenant, "50 pages") as lines:
        (worker,) = workers(service)
        os.kill(worker, signal.SIGSTOP)
        second = threading.Thread(target=push_beside)
        second.start()
        wait_for(lambda: len(workers(service)) == 2, "the second push to begin")
        wait_for(lambda: waiting in reports, "the second push to wait")
        os.kill(worker, signal.SIGCONT)
        assert json.loads(list(lines)[-1])["event"] == "end"
        second.join()
    assert waiting in reports
    assert (reports[-1]["added"], reports[-1]["removed"]) == (2, 800)


def test_a_push_does_not_wait_without_end_nor_for_the_dead(tenant, tmp_path, monkeypatch):
    other = Source.objects.create(project=tenant.project, name="other", location="/nowhere")
    assert queue.claim(other)
    (tmp_path / "body").write_bytes(tar(PAGES))
    monkeypatch.setattr("search.pushes.run.MAX_WAIT_SECONDS", 0)
    reports: list[dict] = []
    with (tmp_path / "body").open("rb") as file, pytest.raises(ValueError, match="try again later"):
        run(Push(tenant.project.pk, "docs"), file, reports.append)
    assert paths(tenant) == set()
    Source.objects.filter(pk=other.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    with (tmp_path / "body").open("rb") as file:
        run(Push(tenant.project.pk, "docs"), file, reports.append)
    assert reports[-1]["added"] == 2


def test_a_push_whose_source_is_deleted_while_it_waits_ends_at_once(tenant, tmp_path):
    other = Source.objects.create(project=tenant.project, name="other", location="/nowhere")
    assert queue.claim(other)
    (tmp_path / "body").write_bytes(tar(PAGES))

    def delete_when_waiting(report: dict) -> None:
        if report.get("message", "").startswith("waiting: "):
            Source.objects.filter(project=tenant.project, name="docs").delete()

    with (tmp_path / "body").open("rb") as file, pytest.raises(ValueError, match="docs was deleted meanwhile"):
        run(Push(tenant.project.pk, "docs"), file, delete_when_waiting)


# Bodies


def begin(service, tenant, key: str, *headers: str, body: bytes = b"") -> socket.socket:
    """Send the head of a push, and the beginning of its body."""
    host, port = service.url.removeprefix("http://").split(":")
    raw = socket.create_connection((host, int(port)), timeout=PATIENCE)
    lines = [f"PUT /v1/sources/{tenant.project_id}/docs HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key}"]
    raw.sendall("\r\n".join([*lines, *headers, "", ""]).encode() + body)
    return raw


def response_of(raw: socket.socket) -> tuple[int, bytes]:
    received = b""
    while b"}" not in received and (chunk := raw.recv(65536)):
        received += chunk
    return int(received.split(b" ")[1]), received


def answer_of(raw: socket.socket) -> bytes:
    """The whole response of a push: its last chunk is empty."""
    received = b""
    while not received.endswith(b"0\r\n\r\n") and (chunk := raw.recv(65536)):
        received += chunk
    return received


@pytest.mark.parametrize("length", ["Content-Length: 50000000", "Transfer-Encoding: chunked"])
def test_a_body_is_refused_before_it_arrives_unless_its_key_may_write(service, tenant, make_project, length):
    stranger = make_project()
    for key, status in (("svc_wrong", 401), (tenant.assistant_key, 403), (stranger.admin_key, 404)):
        with begin(service, tenant, key, length) as raw:  # of whose body nothing is sent
            assert response_of(raw)[0] == status


@pytest.mark.matrix
def test_four_pushes_run_at_once_and_strangers_take_no_place(start, make_project):
    service = start.fresh(**constants({"docsite.server.connection.REQUEST_PAUSE_SECONDS": 600}))
    body = tar(PAGES)
    length = f"Content-Length: {len(body)}"
    tenants = [make_project() for _ in range(uploads.MAX_UPLOADS + 1)]
    with contextlib.ExitStack() as stack:
        strangers = [stack.enter_context(begin(service, tenants[0], "svc_wrong", length)) for _ in range(8)]
        pushes = {stack.enter_context(begin(service, pusher, pusher.admin_key, length)): pusher for pusher in tenants}
        (refused,), _, _ = select.select(pushes, [], [], PATIENCE)
        status, received = response_of(refused)
        assert status == 503
        assert b"\r\nRetry-After: 30\r\n" in received
        assert {response_of(stranger)[0] for stranger in strangers} == {401}
        late = pushes.pop(refused)
        first = next(iter(pushes))
        first.sendall(body)
        assert b'"end"' in answer_of(first)
        last = begin(service, late, late.admin_key, length, body=body)  # in the only place that is free
        assert b'"end"' in answer_of(stack.enter_context(last))


def test_a_push_counts_until_its_answer_or_the_end_of_its_process(tmp_path, monkeypatch):
    has_result, may_end = tmp_path / "has_result", tmp_path / "may_end"
    worker = tmp_path / "worker"
    worker.write_text(
        f"""#!/bin/sh
trap '' TERM
echo '{{"event": "progress"}}'
[ -e {has_result} ] && echo '{{"event": "end"}}'
until [ -e {may_end} ]; do sleep 0.02; done
"""
    )
    worker.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(worker))

    async def push_often() -> None:
        with TemporaryFile() as file:
            has_result.touch()
            for _ in range(uploads.MAX_UPLOADS + 1):
                reports = await stream.start(Push(1, "docs"), file)
                assert [json.loads(line)["event"] async for line in reports] == ["progress", "end"]
            has_result.unlink()
            for _ in range(uploads.MAX_UPLOADS):
                async with contextlib.aclosing(await stream.start(Push(1, "docs"), file)) as reports:
                    await anext(reports)  # then its client leaves
            with pytest.raises(Unavailable):
                await stream.start(Push(1, "docs"), file)
            may_end.touch()
            while stream._tasks:
                await asyncio.sleep(0.01)
            assert not stream._running

    asyncio.run(push_often())


@pytest.mark.parametrize("length", ["Content-Length: 200000000", "Transfer-Encoding: chunked"])
def test_a_body_that_is_too_large_is_refused(service, tenant, length):
    body = b"c800000\r\n" if "chunked" in length else b""  # a chunk of 200 MiB
    with begin(service, tenant, tenant.admin_key, length, body=body) as raw:
        assert response_of(raw)[0] == 413


@pytest.mark.matrix
def test_a_body_that_breaks_off_changes_nothing(service, tenant):
    push(tenant, PAGES)
    generation = Generation.objects.get(project=tenant.project).number
    packed = tar({"docs/a.md": os.urandom(3_000_000)})
    for head, body in (
        (f"Content-Length: {len(packed)}", packed[:2_000_000]),
        ("Transfer-Encoding: chunked", b"%x\r\n%s" % (len(packed), packed[:2_000_000])),
    ):
        with begin(service, tenant, tenant.admin_key, head, body=body):
            time.sleep(0.2)
    assert_old_pages(tenant, generation)
    assert put(service, tenant, tar(PAGES)).status_code == 200


def test_a_body_that_another_server_has_stored_is_the_same(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_BYTES", 5_000_000)
    for size in (0, 10, 4_000_000):
        body = os.urandom(size)
        request = AsyncRequestFactory().put("/v1/sources/x/docs", body)
        assert asyncio.run(uploads.receive(request)).seek(0, os.SEEK_END) == size
    with pytest.raises(TooLarge):
        asyncio.run(uploads.receive(AsyncRequestFactory().put("/v1/sources/x/docs", bytes(5_000_001))))


@pytest.mark.matrix
def test_a_large_body_takes_no_memory(start, tenant):
    service = start.fresh()
    put(service, tenant, tar(PAGES))
    files = {f"docs/{number}.bin": os.urandom(1_000_000) for number in range(60)} | PAGES
    before = peak(service)
    assert put(service, tenant, tar(files, "")).status_code == 200
    assert peak(service) - before < 30 * 1024, "KiB, for a body of 60 MB"


def peak(service) -> int:
    """The largest memory of the process of a service, in KiB."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])

"""The service makes vectors behind the index of words."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from search.indexing.ingest import ingest
from search.models import SectionVector, VectorIndex
from search.vectors import background, embedding, registry
from search.vectors.background import find_due
from tests.conftest import wait_for
from tests.search.vectors.conftest import FakeEmbedder


@pytest.fixture
def thread(settings: Any, monkeypatch: pytest.MonkeyPatch, make_project: Any) -> Iterator[Any]:
    """The thread of a process that serves, with one project. Others in the database would take time."""
    settings.ENV = settings.ENV.model_copy(update={"embeddings": "auto"})
    tenant = make_project()
    monkeypatch.setattr(
        background, "find_due", lambda model: [due for due in find_due(model) if due.project == tenant.project]
    )
    running = background._Embedding()
    running.seconds = 0.01
    running.project = tenant.project  # type: ignore[attr-defined]
    yield running
    running.stop()


def count(project: Any) -> int:
    return SectionVector.objects.filter(project=project).count()


@pytest.mark.slow
def test_vectors_follow_an_ingest(
    thread: Any, pages: Any, embedder: FakeEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, background.__name__)
    ingest(thread.project, pages(one="One.", two="Two."))
    thread.start()
    wait_for(lambda: embedding.is_complete(thread.project, embedder), "the vectors")
    assert count(thread.project) == 2
    ingest(thread.project, pages(one="One.", two="Two.", three="Three.", four="Four."))
    wait_for(lambda: embedding.is_complete(thread.project, embedder), "the vectors of the new pages")
    assert count(thread.project) == 4
    thread.stop()
    assert thread._thread is None
    domain = thread.project.domain
    lines = [record.getMessage() for record in caplog.records if domain in record.getMessage()]
    assert lines == [
        f"{domain}: 0 of 2 vectors exist.",
        f"{domain}: 2 vectors made.",
        f"{domain}: 2 of 4 vectors exist.",
        f"{domain}: 2 vectors made.",
    ]


def test_the_end_of_the_process_keeps_what_was_made(
    thread: Any, pages: Any, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "REST", 1e9)
    ingest(thread.project, pages(**{f"p{number}": f"Text {number}." for number in range(9)}))
    thread.start()
    wait_for(lambda: embedder.texts, "the first batch")
    thread.stop()
    assert count(thread.project) == embedder.batch_size
    assert VectorIndex.objects.get(project=thread.project).holder == ""


def test_the_thread_survives_a_failing_model(
    thread: Any, pages: Any, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    thread.retry_seconds = 0.01
    ingest(thread.project, pages(one="One."))
    embedder.fails = True
    thread.start()
    wait_for(lambda: "Vectors could not be made: the model is away." in caplog.text, "the warning")
    embedder.fails = False
    wait_for(lambda: count(thread.project) == 1, "the vectors")


def test_without_a_model_the_thread_ends(thread: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "get_embedder", lambda: None)
    thread.start()
    thread._thread.join(10)
    assert not thread._thread.is_alive()
    thread.stop()
    settings.ENV = settings.ENV.model_copy(update={"embeddings": "none"})
    thread.start()
    assert thread._thread is None


@pytest.mark.parametrize("has_model", [True, False])
def test_ingest_says_whether_vectors_follow(
    make_project: Any, tmp_path: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch, has_model: bool
) -> None:
    if not has_model:
        monkeypatch.setattr(registry, "get_embedder", lambda: None)
    tenant, out = make_project(), io.StringIO()
    (tmp_path / "index.md").write_text("# Acme\n\nParcels.\n")
    call_command("ingest", tenant.domain, str(tmp_path), stdout=out)
    sentences = {True: f"at once: manage.py embed {tenant.domain}\n", False: "Search uses words only"}
    assert sentences[has_model] in out.getvalue()
    assert sentences[not has_model] not in out.getvalue()
    embedding.embed(tenant.project, embedder)
    out.truncate(0)
    call_command("ingest", tenant.domain, str(tmp_path), stdout=out)
    assert "manage.py embed" not in out.getvalue()

"""Vectors are made once for each text, and compared exactly."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from search.indexing.ingest import ingest, reindex
from search.models import Document, Section, SectionVector, VectorIndex
from search.signals import index_staged
from search.vectors import embedding, nearest, registry
from search.vectors.embedders import EmbeddingError
from search.vectors.texts import compute_digest
from tests.search.vectors.conftest import FakeEmbedder

PAGES = {"trash": "Remove a file for ever.", "drive": "Auto on the road.", "cook": "Boil water and salt."}


def embed(project: Any, embedder: FakeEmbedder, **options: Any) -> int | None:
    return embedding.embed(project, embedder, **options)


def paths(project: Any, text: str, count: int = 3) -> list[str]:
    query = nearest.query_vector(project, text)
    assert query is not None
    found = [pk for pk, _ in nearest.nearest(project, query, count)]
    names = dict(Section.objects.filter(pk__in=found).values_list("pk", "document__path"))
    return [names[pk] for pk in found]


def test_a_question_in_other_words_finds_the_section(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    project = make_project().project
    ingest(project, pages(**PAGES))
    assert embed(project, embedder) == 3
    assert paths(project, "delete a file", 1) == ["/trash"]
    assert paths(project, "the car", 1) == ["/drive"]
    query = nearest.query_vector(project, "the  car ")
    assert query is not None
    everything = dict(nearest.nearest(project, query, 99))
    assert len(everything) == 3
    sections = list(Section.objects.filter(document__project=project))
    assert all(
        section.digest == compute_digest(section.document.title, section.trail, section.text) for section in sections
    )
    texts = {section.pk: f"{section.document.title}\n{section.text}" for section in sections}
    exact = {pk: float(embedder.embed_sections([text])[0] @ query) for pk, text in texts.items()}
    assert everything == pytest.approx(exact, abs=0.01)  # one byte for each dimension
    some = [sections[0].pk, sections[2].pk]
    assert nearest.similarities(project, query, [*some, 0, 10**12]) == pytest.approx(
        {pk: exact[pk] for pk in some}, abs=0.01
    )
    assert nearest.similarities(project, query, []) == {}
    assert nearest.distribution(project, query) == pytest.approx(
        (np.mean(list(exact.values())), np.std(list(exact.values()))), abs=0.01
    )
    assert nearest.similarities(project, query[:5], some) == {}
    assert embedder.queries == ["delete a file", "the car"], "the vector of a question is cached"


@pytest.mark.matrix
def test_large_projects_are_compared_block_by_block(
    make_project: Any, pages: Any, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project().project
    ingest(project, pages(**{f"p{number}": f"word{number} other" for number in range(10)}))
    embed(project, embedder)
    monkeypatch.setattr(nearest, "_BLOCK", 3)
    assert paths(project, "p7 word7 other", 1) == ["/p7"]
    monkeypatch.setattr(nearest, "MAX_SECTIONS", 9)
    monkeypatch.setattr(nearest, "_matrices", type(nearest._matrices)())
    assert nearest.query_vector(project, "p7 word7 other") is None


def test_a_project_sees_only_its_own_visible_sections(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    one, other = make_project().project, make_project().project
    for project in (one, other):
        ingest(project, pages(**PAGES))
        embed(project, embedder)
    assert len(paths(one, "car", 99)) == 3
    hidden = Document.objects.get(project=one, path="/drive")
    Document.every.filter(pk=hidden.pk).update(build="-retired")
    one.generation.number += 1
    one.generation.save()
    assert set(paths(one, "car", 99)) == {"/trash", "/cook"}


def test_an_unchanged_section_is_never_embedded_again(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    project = make_project().project
    ingest(project, pages(**PAGES))
    embed(project, embedder)
    before = set(Section.objects.filter(document__project=project).values_list("pk", flat=True))
    reindex(project)
    assert not before & set(Section.objects.filter(document__project=project).values_list("pk", flat=True))
    assert paths(project, "car", 1) == ["/drive"], "the new sections have their vectors at once"
    assert embed(project, embedder) == 0
    embedder.texts.clear()
    ingest(project, pages(**{**PAGES, "drive": "A bicycle."}))
    assert embed(project, embedder) == 1
    assert embedder.texts == ["drive\nA bicycle."]
    assert SectionVector.objects.filter(project=project).count() == 3, "the vector of the old text is deleted"


@pytest.mark.matrix
def test_sections_with_the_same_text_share_a_vector(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    project = make_project().project
    twins = pages(one="Same.", two="Same.")
    ingest(project, [type(twins[0])(page.origin, page.path, "# Twin\n\nSame.\n") for page in twins])
    assert embed(project, embedder) == 1
    assert paths(project, "same") == ["/one", "/two"]


def test_vectors_count_once_nearly_all_sections_have_one(
    make_project: Any, pages: Any, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "RELOAD_SECONDS", 0.0)
    monkeypatch.setattr(nearest, "RELOAD_FACTOR", 0)
    project = make_project().project
    ingest(project, pages(**{f"p{number}": f"word{number} other" for number in range(10)}))
    embed(project, embedder)
    made = SectionVector.objects.filter(project=project)
    made.filter(pk__in=made.values_list("pk", flat=True)[:1]).delete()
    VectorIndex.objects.filter(project=project).update(revision=7)
    assert nearest.query_vector(project, "other") is not None
    made.filter(pk__in=made.values_list("pk", flat=True)[:1]).delete()
    VectorIndex.objects.filter(project=project).update(revision=8)
    assert nearest.query_vector(project, "other") is None


@pytest.mark.matrix
def test_another_model_makes_new_vectors(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    project = make_project().project
    ingest(project, pages(**PAGES))
    embed(project, embedder)
    assert embedding.is_complete(project, embedder)
    embedder.model = "fake 2"
    assert not embedding.is_complete(project, embedder)
    assert nearest.query_vector(project, "car") is None
    assert embed(project, embedder) == 3
    assert paths(project, "car", 1) == ["/drive"]
    assert set(SectionVector.objects.filter(project=project).values_list("model", flat=True)) == {"fake 2"}


def test_a_failing_model_leaves_search_with_words(
    make_project: Any, pages: Any, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "_retry_at", 0.0)
    project = make_project().project
    ingest(project, pages(**PAGES))
    embed(project, embedder)
    embedder.fails = True
    assert nearest.query_vector(project, "boil") is None
    embedder.fails = False
    assert nearest.query_vector(project, "boil") is None, "for a while the model is not asked"
    monkeypatch.setattr(nearest, "_retry_at", 0.0)
    assert nearest.query_vector(project, "boil") is not None


def test_without_a_model_there_are_no_vectors(make_project: Any, pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "get_embedder", lambda: None)
    project = make_project().project
    ingest(project, pages(**PAGES))
    query = np.ones(64, np.float32)
    assert nearest.query_vector(project, "car") is None
    assert nearest.nearest(project, query, 3) == []
    assert nearest.similarities(project, query, [1]) == {}
    assert nearest.distribution(project, query) is None


def test_a_staged_index_uses_the_vectors_of_unchanged_sections(
    make_project: Any, pages: Any, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "MIN_SHARE", 0)
    project = make_project().project
    ingest(project, pages(**PAGES))
    embed(project, embedder)
    previews = []

    def check(preview: Callable[[], Any], **_: Any) -> list[Any]:
        with preview():
            previews.append(set(paths(project, "car", 99)))
        return []

    index_staged.connect(check)
    try:
        ingest(project, pages(**{**PAGES, "drive": "A bicycle."}))
    finally:
        index_staged.disconnect(check)
    assert previews == [{"/trash", "/cook"}], "the new text has no vector yet"


def test_new_vectors_are_used_soon(
    make_project: Any, pages: Any, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "MIN_SHARE", 0)
    project = make_project().project
    ingest(project, pages(**PAGES))
    assert embed(project, embedder, should_stop=lambda: True) == 3
    ingest(project, pages(**PAGES, more="More.", most="Most.", few="Few.", less="Less."))
    assert embed(project, embedder, should_stop=lambda: True) == 3
    assert len(paths(project, "car", 99)) == 6
    assert not embedding.is_complete(project, embedder)
    monkeypatch.setattr(nearest.time, "monotonic", lambda: 0.0)  # before the time to load again
    assert embed(project, embedder) == 1
    assert embedding.is_complete(project, embedder)
    assert len(paths(project, "car", 99)) == 6
    monkeypatch.undo()
    monkeypatch.setattr(registry, "get_embedder", lambda: embedder)
    monkeypatch.setattr(nearest.time, "monotonic", lambda: 1e12)
    assert len(paths(project, "car", 99)) == 7


def test_two_runs_never_work_at_once(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    project = make_project().project
    ingest(project, pages(**PAGES, more="More."))

    def interrupt() -> bool:
        if not VectorIndex.objects.get(project=project).generation:
            assert embed(project, embedder) is None
            assert embed(project, embedder, take_over=True) == 4
        return False

    with pytest.raises(embedding.RunSuperseded):
        embed(project, embedder, should_stop=interrupt)
    assert VectorIndex.objects.get(project=project).holder == ""
    VectorIndex.objects.filter(project=project).update(holder="dead", leased_until=timezone.now())
    assert embed(project, embedder) == 0


def test_a_failure_keeps_what_was_made(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    project = make_project().project
    ingest(project, pages(**PAGES, more="More."))

    def fail() -> bool:
        embedder.fails = True
        return False

    with pytest.raises(EmbeddingError, match="away"):
        embed(project, embedder, should_stop=fail)
    assert SectionVector.objects.filter(project=project).count() == 3
    embedder.fails = False
    assert embed(project, embedder) == 1


def test_the_command_makes_vectors_at_once(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    tenant = make_project()
    out = io.StringIO()
    call_command("embed", tenant.domain, stdout=out)
    assert f"{tenant.domain}: nothing was ingested yet" in out.getvalue()
    ingest(tenant.project, pages(**PAGES))
    call_command("embed", tenant.domain, stdout=out)
    assert f"{tenant.domain}: 3 vectors made with fake 1 (" in out.getvalue()
    assert f"Try it: manage.py search {tenant.domain}" in out.getvalue()
    embedder.fails, embedder.model = True, "fake 2"
    with pytest.raises(CommandError, match="the model is away"):
        call_command("embed", tenant.domain, stdout=out)


def test_the_command_needs_a_model(make_project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "get_embedder", lambda: None)
    with pytest.raises(CommandError, match="EMBEDDINGS"):
        call_command("embed", make_project().domain)


def test_texts_of_one_batch_are_of_about_the_same_length(make_project: Any, pages: Any, embedder: FakeEmbedder) -> None:
    project = make_project().project
    ingest(project, pages(a="word " * 90, b="One.", c="word " * 80, d="Two words.", e="word " * 70, f="Three."))
    embedding.embed(project, embedder)
    assert [text.split()[0] for text in embedder.texts] == ["b", "d", "f", "a", "c", "e"]

"""Candidates of every kind are those that the reader may see: words, vectors, links, promoted and pinned pages."""

from typing import Any

import numpy as np
import pytest

from assistant.answering.question import Asker, Question
from assistant.conversations.threads import open_conversation
from assistant.improving.golden_questions.checks import answer, check, find_missing_pages
from assistant.improving.golden_questions.checks import run as run_golden
from assistant.improving.question_groups.pins import find_passage
from assistant.models import GoldenQuestion, Message, Thread
from docsite.core.access.readers import read_as
from search.indexing.ingest import ingest
from search.models import SearchSettings, SectionVector, VectorIndex
from search.retrieval import index_state, page_reading
from search.retrieval.page_search import find
from search.retrieval.passages import find_passages
from search.signals import index_staged
from search.sources import Page
from search.vectors import nearest, registry

STAFF = frozenset(["staff"])
EVERY_READER = [frozenset(), frozenset(["others"]), STAFF, None]


def page(path: str, text: str, groups: tuple[str, ...] | None = None, **more: Any) -> Page:
    return Page(path, path, f"# About {path.strip('/')}\n\n{text}", groups=groups, **more)


PAGES = [
    page("/", "The relay starts with acme. Read [the vault](/vault) first.", language="en", version="1.0"),
    page("/relay", "The relay of acme takes requests when it starts.", version="1.0"),
    page("/vault", "The relay takes the zebra key when it starts.", ("staff",), version="2.0", language="de"),
    page("/cellar", "The relay takes the zebra key in the cellar.", ("partners",), version="1.0"),
]


@pytest.fixture
def tenant(make_project: Any) -> Any:
    project = make_project().project
    ingest(project, PAGES)
    return project


def paths(hits: Any) -> set[str]:
    return {hit.path for hit in hits}


def may_see(groups: Any) -> set[str]:
    more: dict[Any, set[str]] = {STAFF: {"/vault"}, None: {"/vault", "/cellar"}}
    return {"/", "/relay"} | more.get(groups, set())


@pytest.mark.parametrize("groups", EVERY_READER)
def test_searches_and_passages_are_of_pages_that_the_reader_sees(tenant: Any, groups: Any) -> None:
    with read_as(groups):
        assert paths(find(tenant, "relay zebra key")) <= may_see(groups)
        assert paths(find(tenant, "relay")) == may_see(groups)
        found = find_passages(tenant, "How does the relay take the zebra key?", max_characters=10_000)
        assert paths([*found.hits, *found.neighbours]) <= may_see(groups)
        assert found.page_count == len(may_see(groups))
        assert groups != STAFF or "/vault" in paths(found.hits)


@pytest.mark.parametrize("groups", EVERY_READER)
@pytest.mark.stores
def test_a_page_is_read_only_by_its_readers(tenant: Any, groups: Any) -> None:
    with read_as(groups):
        for path in ("/relay", "/vault", "/cellar"):
            assert bool(page_reading.read_page(tenant, path)) == (path in may_see(groups))
            assert bool(find_passage(tenant, path)) == (path in may_see(groups))


def test_links_to_protected_pages_become_their_labels(tenant: Any) -> None:
    (hit,) = page_reading.read_page(tenant, "/").sections
    assert "the vault" in hit.body
    assert "vault)" not in hit.body
    with read_as(STAFF):
        (hit,) = page_reading.read_page(tenant, "/").sections
        assert "[the vault](https://docs.acme.example/vault)" in hit.body


def test_a_protected_page_is_promoted_to_its_readers_only(tenant: Any) -> None:
    SearchSettings.objects.create(project=tenant, promotions="relay => /vault")
    tenant.refresh_from_db()
    assert "/vault" not in paths(find(tenant, "relay"))
    with read_as(STAFF):
        assert find(tenant, "relay")[0].path == "/vault"


@pytest.mark.stores
def test_facts_about_the_index_are_those_of_pages_that_the_reader_sees(tenant: Any) -> None:
    state = index_state.get_state(tenant)
    assert (state.latest_version, state.languages, state.page_count) == ("1.0", ("en",), 2)
    with read_as(STAFF):
        state = index_state.get_state(tenant)
        assert (state.latest_version, state.languages, state.page_count) == ("2.0", ("de", "en"), 3)
        assert state is index_state.get_state(tenant), "cached"
    assert index_state.get_state(tenant).page_count == 2, "and not for others"


def test_vectors_of_protected_pages_are_near_for_their_readers_only(tenant: Any, monkeypatch: Any) -> None:
    from search.models import Section

    class Embedder:
        model = "toy"

    monkeypatch.setattr(registry, "get_embedder", lambda: Embedder())
    sections = Section.objects.filter(document__project=tenant, document__build="").select_related("document")
    for section in sections:
        vector = [127, 0] if section.document.groups else [0, 127]
        SectionVector.objects.create(
            project=tenant, model="toy", digest=section.digest, vector=np.array(vector, np.int8).tobytes()
        )
    VectorIndex.objects.create(project=tenant, revision=1, model="toy")
    by_id = {section.pk: section.document.path for section in sections}
    query = np.array([1.0, 0.0], np.float32)
    for groups in EVERY_READER:
        with read_as(groups):
            found = {by_id[pk] for pk, _ in nearest.nearest(tenant, query, 10)}
            assert found == may_see(groups)
            mean, _ = nearest.distribution(tenant, query)
            assert mean == pytest.approx(sum(path in ("/vault", "/cellar") for path in found) / len(found))


def test_a_conversation_goes_on_only_with_its_groups(tenant: Any) -> None:
    def ask(thread_id: str | None, groups: Any) -> Any:
        with read_as(frozenset(groups)):
            question = Question("What is the zebra key?", Asker(fp="fp"), Message.Caller.WEB, thread_id=thread_id)
            conversation = open_conversation(tenant, question)
        Message.objects.filter(message_id=conversation.message_id).update(content="It is secret.", state="done")
        return conversation

    public = ask(None, [])
    assert ask(public.thread_id, []).history, "a public thread goes on"
    thread = ask(public.thread_id, ["staff", "unknown to the pages"]).thread_id
    assert thread == public.thread_id
    assert Thread.objects.get(thread_id=thread).groups == "\nstaff\n"
    for groups in ([], ["partners"]):
        other = ask(thread, groups)
        assert (other.thread_id == thread, other.history) == (False, [])
    again = ask(thread, ["staff", "partners"])
    assert (again.thread_id, len(again.history)) == (thread, 6)
    assert ask(thread, ["staff"]).thread_id != thread, "the last answer was for partners, too"


def test_golden_questions_are_asked_by_the_readers_of_their_pages(tenant: Any) -> None:
    text = "How does the relay take the zebra key?"
    mine = GoldenQuestion.objects.create(project=tenant, text=text, paths=["/vault"])
    everybody = GoldenQuestion.objects.create(
        project=tenant, text="When does the relay take requests?", paths=["/relay"]
    )
    run_golden(tenant, [mine, everybody])
    assert (mine.passed, everybody.passed) == (True, True)
    assert "/cellar" not in mine.cited
    assert "/vault" not in everybody.cited
    assert find_missing_pages(tenant, ["/vault", "/nosuch"]) == ["/nosuch"]
    assert not any("vault" in source.url for source in answer(tenant, Question(text)).sources)


def test_golden_questions_find_protected_pages_of_a_staged_index(tenant: Any) -> None:
    text = "How does the relay take the zebra key?"
    GoldenQuestion.objects.create(project=tenant, text=text, paths=["/vault"])
    found: list[Any] = []

    def receive(project: Any, preview: Any, **kwargs: Any) -> list[Any]:
        found.extend(check(project, preview))
        return []

    index_staged.connect(receive)
    try:
        ingest(tenant, [*PAGES[:2], page("/vault", "The relay takes the zebra key now.", ("staff",))])
    finally:
        index_staged.disconnect(receive)
    assert found == []

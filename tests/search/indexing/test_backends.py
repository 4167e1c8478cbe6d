"""Search engines: a project leaves nothing behind, odd terms are stored, a local index answers as the database."""

import fcntl
import random

from django.conf import settings

from search.backends import local
from search.hits import Filters
from search.indexing.ingest import ingest
from search.retrieval import index_state, page_search
from search.sources import Page
from tests.conftest import ROOT, wait_for

WORDS = [a + b + c for a in ("ba", "ke", "lo", "mi", "nu", "ra") for b in ("ba", "ke", "lo", "mi") for c in ("dor", "fet", "gan", "lus")]  # fmt: skip  # noqa: E501


def many_pages() -> list[Page]:
    """The service's own documentation, and pages of words of which some are much commoner than others."""
    chance = random.Random(7)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, weights, k=count))

    pages = [
        Page(origin=file.name, path=f"/{file.stem}", markdown=file.read_text())
        for file in sorted((ROOT / "docsite" / "site" / "content").glob("*.md"))
    ]
    for number in range(300):
        parts = "\n\n".join(f"## {words(3)}\n\n{words(chance.randint(10, 200))}" for _ in range(3))
        pages.append(Page(origin=str(number), path=f"/p{number}", markdown=f"# {words(3)}\n\n{parts}", version=f"{number % 3}"))  # fmt: skip  # noqa: E501
    return pages


def many_queries() -> list[tuple[str, Filters]]:
    """Queries of one to five words, some for one version; and headings of the documentation."""
    chance = random.Random(11)
    queries = [" ".join(chance.choices(WORDS, k=1 + number % 5)) + " " for number in range(100)]
    queries += ["install the service", "api key", "rate limit", "stream an answer", "OPENAI_BASE_URL", "search filter"]
    return [(query, Filters(version="1") if number % 4 == 0 else Filters()) for number, query in enumerate(queries)]


def found(project) -> list[list[str]]:
    """The first ten pages of each query."""
    return [[hit.path for hit in page_search.find(project, text, filters=filters)] for text, filters in many_queries()]


def overlap(ones: list[list[str]], others: list[list[str]]) -> float:
    """How much two engines agree on the first ten pages, from 0 to 1."""
    shares = [len({*a} & {*b}) / max(len(a), len(b)) for a, b in zip(ones, others, strict=True) if a or b]
    return sum(shares) / len(shares)


def test_a_local_index_answers_as_the_database_does_until_the_next_generation(make_project, monkeypatch):
    project = make_project().project
    ingest(project, many_pages())
    by_database = found(project)
    monkeypatch.setattr(settings.ENV, "tantivy_sections", 500)
    index_state._states.clear()
    local_index = index_state.get_state(project).local_index
    assert local_index
    local_index.folder.parent.mkdir(exist_ok=True)
    with (local_index.folder.parent / f"{project.pk}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as another process that builds it
        assert found(project) == by_database
        assert not local_index.is_ready()
    monkeypatch.setattr(local, "_RETRY_SECONDS", 0)
    wait_for(local_index.is_ready, "the local index")
    asked = []
    monkeypatch.setattr(local.LocalIndex, "candidates", lambda self, *a, to=local.LocalIndex.candidates: asked.append(a) or to(self, *a))  # fmt: skip  # noqa: E501
    assert overlap(by_database, found(project)) >= 0.95
    assert asked

    ingest(project, [*many_pages(), Page(origin="new", path="/new", markdown="# New\n\nplatypus")])
    assert [hit.path for hit in page_search.find(project, "platypus")] == ["/new"]
    newer = index_state.get_state(project).local_index
    assert newer
    wait_for(newer.is_ready, "the local index of the new generation")
    assert [hit.path for hit in page_search.find(project, "platypus")] == ["/new"]
    assert not local_index.folder.exists()
    project.delete()
    assert not newer.folder.exists()


def test_a_page_of_any_size_and_sign_is_indexed(make_project):
    project = make_project().project
    names = "\n".join(f"name{number:x}\\'\"quoted" for number in range(60_000))
    ingest(project, [Page(origin="a", path="/a", markdown=f"# Big\n\n```\n{names}\n{'x' * 300_000}\n```\n\n## Last\n\naardvark")])  # fmt: skip  # noqa: E501
    for query in ("big", "aardvark", "name1\\'\"quoted"):
        assert [hit.path for hit in page_search.find(project, query)] == ["/a"], query


def test_nothing_of_a_project_stays_when_it_goes(make_project):
    project = make_project().project
    ingest(project, many_pages()[:20])
    pk, ids = (
        project.pk,
        list(page_search.Section.objects.filter(document__project=project).values_list("pk", flat=True)),
    )
    project.delete()
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT count(*) FROM search_entries WHERE section_id = ANY(%s)", [ids])
        else:
            cursor.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE %s", [f"search_terms_{pk}%"])
        assert cursor.fetchone()[0] == 0

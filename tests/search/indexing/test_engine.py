"""The engine: a project leaves nothing behind, and odd terms are found."""

import random

import pytest

from search.hits import Filters
from search.indexing.ingest import ingest
from search.models import SegmentPart
from search.retrieval import page_search
from search.sources import Page
from tests.conftest import ROOT

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


@pytest.mark.matrix
def test_a_page_of_any_size_and_sign_is_indexed(make_project):
    project = make_project().project
    names = "\n".join(f"name{number:x}\\'\"quoted" for number in range(15_000))
    ingest(project, [Page(origin="a", path="/a", markdown=f"# Big\n\n```\n{names}\n{'x' * 300_000}\n```\n\n## Last\n\naardvark")])  # fmt: skip  # noqa: E501
    for query in ("big", "aardvark", "name1\\'\"quoted"):
        assert [hit.path for hit in page_search.find(project, query)] == ["/a"], query


@pytest.mark.slow
@pytest.mark.stores
def test_nothing_of_a_project_stays_when_it_goes(make_project):
    project = make_project().project
    ingest(project, many_pages()[:20])
    pk = project.pk
    assert SegmentPart.objects.filter(project=pk).exists()
    project.delete()
    assert not SegmentPart.objects.filter(project=pk).exists()

"""Words that an owner adds to a page find it, and stay when the page is ingested again."""

from pathlib import Path

from tests.conftest import PAGES, Tenant


def test_words_of_the_owner_find_a_page(project: Tenant, acme_docs: Path) -> None:
    """Until they are removed. Only this page is indexed again."""
    from search.indexing.ingest import ingest, reindex, set_words
    from search.models import Document
    from search.retrieval.page_search import find
    from search.sources.markdown.folder import read_folder

    def first() -> str:
        hits = find(project.project, "adhesive ribbons")
        return hits[0].path if hits else ""

    def ids() -> dict[str, int]:
        return dict(Document.objects.filter(project=project.project).values_list("path", "pk"))

    before = ids()
    assert first() == ""
    assert set_words(project.project, "/guides/labels", "adhesive ribbons")
    assert first() == "/guides/labels"
    assert {path for path, pk in ids().items() if before[path] != pk} == {"/guides/labels"}
    folder = acme_docs
    (folder / "guides" / "labels.md").write_text(PAGES["guides/labels"] + "\nNew.\n")
    ingest(project.project, read_folder(folder))
    assert first() == "/guides/labels"
    reindex(project.project)
    assert first() == "/guides/labels"
    assert set_words(project.project, "/guides/labels", "")
    assert first() == ""
    assert not project.project.page_words.exists()


def test_words_wait_for_a_running_ingest(project: Tenant, acme_docs: Path) -> None:
    """It would have to end. The next ingest indexes the page, although its source has not changed."""
    from search.indexing.ingest import ingest, set_words
    from search.models import Document
    from search.sources.markdown.folder import read_folder

    Document.every.create(project=project.project, path="/new", title="New", build="another")
    assert not set_words(project.project, "/install", "set up")
    assert project.project.page_words.get().words == "set up"
    assert ingest(project.project, read_folder(acme_docs)).changed == 1
    assert Document.objects.get(project=project.project, path="/install").words == "set up"

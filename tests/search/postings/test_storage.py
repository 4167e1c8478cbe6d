"""Segments in the database and in files: small changes write little, files are shared."""

import pytest

from docsite.core.sized_cache import SizedCache
from search.indexing.ingest import ingest
from search.models import SegmentPart
from search.postings import storage
from search.retrieval import index_state, page_search
from search.sources import Page

pytestmark = pytest.mark.slow


def page(number: int, text: str = "herd", sections: int = 4) -> Page:
    body = "\n\n".join(f"## Part {part}\n\n{text} p{number}x{part}" for part in range(sections))
    return Page(f"{number}", f"/p{number}", f"# Page {number}\n\n{text}\n\n{body}")


@pytest.fixture
def small(monkeypatch):
    """Limits that a few pages reach."""
    monkeypatch.setattr(storage, "SMALL", 10)
    monkeypatch.setattr(storage, "PART", 3_000)


@pytest.fixture
def mapped(monkeypatch, settings, tmp_path):
    """The folder of the mapped files; every segment is mapped."""
    monkeypatch.setattr(storage, "MAPPED", 1)
    settings.DATA_DIR = tmp_path
    return tmp_path / "segments"


def find(project, text: str) -> list[str]:
    return [hit.path for hit in page_search.find(project, text, limit=50)]


@pytest.mark.matrix
def test_a_small_change_leaves_large_segments_as_they_are(make_project, small):
    project = make_project().project
    pages = [page(number) for number in range(60)]
    ingest(project, pages)
    ((large, sections),) = storage.read_list(project).segments.items()
    assert sections == 300
    assert SegmentPart.objects.filter(project=project).count() > 3
    words = [a + b for a in ("bako", "kelu", "lomi", "nura", "tosi") for b in ("dor", "fet", "gan", "lus")]
    for number, word in enumerate(words):
        pages[number % 8] = page(number % 8, f"herd {word}")
        ingest(project, pages)
        listed = storage.read_list(project)
        assert large in listed.segments
        assert len(listed.segments) <= 4
        assert find(project, f"{word} ") == [f"/p{number % 8}"]
    stored = set(SegmentPart.objects.filter(project=project).values_list("segment", flat=True))
    assert stored == set(listed.segments)
    fresh = make_project().project
    ingest(fresh, pages)
    for text in ("herd", "part", words[-1], words[-7], "p3x1"):
        assert find(project, text) == find(fresh, text)
    ingest(project, pages[:20])
    listed = storage.read_list(project)
    assert (len(listed.segments), sum(listed.segments.values()), listed.gone) == (1, 100, [])
    assert len(find(project, "herd")) == 20


@pytest.mark.stores
def test_a_process_reads_only_new_segments(make_project, small, monkeypatch):
    project = make_project().project
    pages = [page(number) for number in range(60)]
    ingest(project, pages)
    assert len(find(project, "herd")) == 50
    (large,) = storage.read_list(project).segments
    ingest(project, [*pages[:-1], page(59, "omega")])
    read: list[str] = []
    load = storage._load
    monkeypatch.setattr(storage, "_load", lambda project, name: read.append(name) or load(project, name))
    assert find(project, "omega") == ["/p59"]
    assert set(read) == set(storage.read_list(project).segments) - {large}


@pytest.mark.stores
def test_large_segments_are_files_that_processes_share(make_project, mapped):
    project, other = make_project().project, make_project().project
    ingest(project, [page(1)])
    ingest(other, [page(1, "other")])
    assert find(project, "herd") == find(other, "other") == ["/p1"]
    (file,) = mapped.glob(f"{project.pk}-*")
    index_state._indexes.clear()
    SegmentPart.objects.filter(project=project).update(data=b"nobody reads this")
    assert find(project, "herd") == ["/p1"]
    ingest(project, [page(2)])
    assert find(project, "herd") == ["/p2"]
    assert not file.exists()
    assert len([*mapped.glob(f"{project.pk}-*")]) == 1
    for file in mapped.iterdir():
        file.unlink()
    index_state._indexes.clear()
    assert find(project, "herd") == ["/p2"]
    project.delete()
    assert not [*mapped.glob(f"{project.pk}-*")]
    assert find(other, "other") == ["/p1"]


def test_without_a_writable_folder_segments_stay_in_memory(make_project, mapped):
    mapped.write_text("in the way")
    project = make_project().project
    ingest(project, [page(1)])
    assert find(project, "herd") == ["/p1"]


@pytest.mark.matrix
def test_indexes_leave_memory_when_there_are_too_many(make_project, monkeypatch):
    projects = [make_project().project for _ in range(4)]
    for project in projects:
        ingest(project, [page(1)])
    monkeypatch.setattr(index_state, "_indexes", SizedCache())
    assert find(projects[0], "herd") == ["/p1"]
    monkeypatch.setattr(index_state, "MAX_BYTES", int(2.5 * index_state._indexes.nbytes))
    for project in [*projects[:2], projects[0], *projects[2:]]:
        assert find(project, "herd") == ["/p1"]
    assert [*index_state._indexes._values] == [projects[2].pk, projects[3].pk]
    monkeypatch.setattr(index_state, "MAX_BYTES", 1)
    assert find(projects[0], "herd") == ["/p1"]
    assert [*index_state._indexes._values] == [projects[0].pk]


@pytest.mark.matrix
def test_many_projects_are_looked_up_without_reading_them_again(make_project, monkeypatch):
    projects = [make_project().project for _ in range(70)]
    states = [index_state.get_state(project) for project in projects]
    monkeypatch.setattr(index_state, "_load_states", lambda _: pytest.fail("read again"))
    assert [index_state.get_state(project) for project in projects] == states

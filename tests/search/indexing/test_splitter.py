"""Pages of a large source are cut into sections by two processes, in their order, whatever happens to the second."""

import os

import pytest

from search.indexing import splitter
from search.indexing.ingest import ingest
from search.indexing.splitter import Splitter
from search.retrieval import page_search
from search.sources import Page
from search.text import sections

PAGES = [
    (
        f"/{number}",
        "".join(f"## Part {part}\n\nThe zebra of *part* {part}.\n\n" for part in range(number % 7)),
        f"P{number}",
    )
    for number in range(60)
]


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(splitter, "MIN_CHARACTERS", 100)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})


def cut(work: Splitter[str], pages, after=lambda key: None):
    found = []
    for key, markdown, title in pages:
        work.add(key, markdown, title)
        found += work.take()
        after(key)
    return [*found, *work.take(all=True)]


def test_two_processes_give_what_one_gives(large):
    with Splitter[str]() as work:
        found = cut(work, PAGES)
        second = work._process
        assert second
        assert second.poll() is None
    assert found == [(key, sections.split(markdown, title)) for key, markdown, title in PAGES]
    assert second.returncode == 0, "it ended by itself"


def test_a_system_that_does_not_tell_which_cores_are_free_is_taken_by_its_number_of_cores(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")  # as on macOS
    assert splitter.count_cores() == os.cpu_count()


def test_a_second_process_that_is_killed_costs_no_page(large):
    def kill(key: str) -> None:
        if key == "/30" and work._process:
            work._process.kill()

    with Splitter[str]() as work:
        assert [key for key, _ in cut(work, PAGES, kill)] == [key for key, _, _ in PAGES]


def test_a_page_that_cannot_be_cut_has_a_reason_in_either_process(large):
    nested = "> " * 5_000 + "deep"
    with Splitter[str]() as work:
        found = dict(cut(work, [*PAGES[:5], ("/a", nested, ""), ("/b", nested, ""), *PAGES[5:12]]))
    expected = splitter.split(nested, "")
    assert (found["/a"], found["/b"]) == (expected, expected)


def test_a_small_source_needs_no_second_process():
    with Splitter[str]() as work:
        cut(work, PAGES[:3])
        assert work._process is None


def test_the_second_page_of_a_path_waits_for_the_first(large, make_project):
    project = make_project().project
    pages = [Page("1.md", "/a", "zebra " * 50), Page("2.md", "/a", "gnu " * 50), Page("3.md", "/b", "gnu")]
    summary = ingest(project, pages)
    assert [(page.path, page.reason) for page in summary.skipped] == [("", "path /a is already taken by 1.md")]
    assert [hit.path for hit in page_search.find(project, "gnu")] == ["/b"]

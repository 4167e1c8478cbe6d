"""What a new index does to golden questions and recorded answers, before it is swapped in or discarded."""

import pytest

from assistant.models import GoldenQuestion, Message, Thread
from search.indexing.ingest import ingest
from search.indexing.outcome import IngestRefused
from search.models import Document, Generation, Redirect, Source
from search.retrieval import page_search
from search.sources import Page
from search.sources.markdown.folder import read_folder

INSTALL, LABELS = "How do I install acme?", "How do I print a label?"


@pytest.fixture
def docs(project, acme_docs):
    return acme_docs


def effects_of(summary):
    return {effect.name: effect.facts for effect in summary.effects}


def state(project):
    generation = Generation.objects.get(project=project).number
    pages = list(Document.every.filter(project=project).values_list("path", "build", "digest"))
    return generation, pages, list(Redirect.objects.filter(project=project).values_list("path"))


def answer(project, *urls):
    thread = Thread.objects.create(project=project, fp="reader")
    Message.objects.create(
        project=project,
        thread=thread,
        role=Message.Role.ASSISTANT,
        outcome=Message.Outcome.ANSWERED,
        sources=[{"title": "A page", "url": url} for url in urls],
    )


def test_a_preview_says_which_questions_lose_and_gain_their_answer_and_changes_nothing(project, docs):
    GoldenQuestion.objects.create(project=project.project, text=INSTALL, paths=["/install"])
    GoldenQuestion.objects.create(project=project.project, text=LABELS, paths=["/stickers"])
    (docs / "install.md").unlink()
    (docs / "guides" / "labels.md").rename(docs / "stickers.md")
    before = state(project.project)
    summary = ingest(project.project, read_folder(docs), compares=True, is_preview=True)
    assert state(project.project) == before
    assert summary.paths == {"added": ["/stickers"], "changed": [], "removed": ["/guides/labels", "/install"]}
    assert effects_of(summary)["goldenQuestions"] == {
        "total": 2,
        "asked": 2,
        "passedBefore": 1,
        "passedAfter": 1,
        "lost": [
            {
                "question": INSTALL,
                "expected": ["/install"],
                "citedBefore": ["/install"],
                "citedAfter": ["/", "/configure", "/stickers"],
            }
        ],
        "gained": [
            {
                "question": LABELS,
                "expected": ["/stickers"],
                "citedBefore": ["/guides/labels"],
                "citedAfter": ["/stickers"],
            }
        ],
    }
    assert not GoldenQuestion.objects.filter(project=project.project).exclude(passed=None).exists()
    assert [hit.path for hit in page_search.find(project.project, "installing")] == ["/install"]
    again = ingest(project.project, read_folder(docs), compares=True)
    assert effects_of(again) == effects_of(summary)
    assert state(project.project)[0] == before[0] + 1


def test_it_counts_the_recorded_answers_that_cite_a_page_that_goes(project, docs, make_project):
    for urls in (["https://docs.acme.example/install#with-pip"], ["https://docs.acme.example/install"]):
        answer(project.project, *urls)
    answer(project.project, "https://docs.acme.example/configure")
    answer(make_project().project, "https://docs.acme.example/install")
    (docs / "install.md").unlink()
    summary = ingest(project.project, read_folder(docs), compares=True, is_preview=True)
    assert effects_of(summary)["citedPages"]["pages"] == [{"path": "/install", "answers": 2}]


def test_an_ingest_that_is_not_asked_to_compare_does_not(project, docs):
    (docs / "install.md").unlink()
    assert ingest(project.project, read_folder(docs)).effects == []


def test_a_preview_of_a_source_that_is_not_stored_adds_its_pages_to_the_others(project):
    new = Source(project=project.project, name="more")
    before = state(project.project)
    pages = [Page("n", "/new", "# New\n\nA ferret.\n"), Page("i", "/install", "# Taken\n\nBy another source.\n")]
    summary = ingest(project.project, pages, source=new, is_preview=True)
    assert (summary.added, summary.changed, summary.removed) == (1, 0, 0)
    assert [bad.reason for bad in summary.skipped] == [
        "path /install is already taken by what was read without a source"
    ]
    assert state(project.project) == before
    assert new.pk is None


def test_a_preview_without_a_page_is_refused_as_the_ingest_would_be(project):
    with pytest.raises(IngestRefused):
        ingest(project.project, [], is_preview=True)

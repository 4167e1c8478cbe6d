"""Questions that depend on what was said before, or on the reader's page: what is found for them."""

import pytest

from assistant.answering import follow_ups, passage_search
from assistant.answering.question import AnswerSettings, Context, Question, Turn
from search.indexing.ingest import ingest
from search.sources import Page

SITE = {
    "/publish": (
        "Publish a site",
        "Run `acme publish` to publish the site. It uploads all pages to the server.\n\n"
        "## Errors\n\n`UploadError` means that the server has no space left. Delete old uploads, then publish again.",
    ),
    "/parcel-cli": (
        "Parcel tool",
        "The parcel tool prints labels.\n\n## Set up\n\nInstall the tool with `acme add parcel`. It needs no key.",
    ),
    **{
        f"/install-{name}": (f"Install {name}", f"How to install {name}: install it with the `acme install {name}`.")
        for name in ("zebra", "walrus", "lion", "gnu", "okapi", "tapir")
    },
    "/errors": ("List of errors", "Each error has a number. A TimeoutError means that a gateway waited for too long."),
}
ASKED = "How do I publish a site?"
SAID = "Run `acme publish` [1](https://docs.acme.example/publish#:~:text=Run)."
ERROR = 'File "acme/net.py", line 7, in upload\n    raise Timeout\nTimeoutError: gateway waited too long'


@pytest.fixture(scope="module")
def site(make_project):
    project = make_project().project
    pages = [
        Page(origin=path, path=path, markdown=f"# {title}\n\n{body}", title=title)
        for path, (title, body) in SITE.items()
    ]
    ingest(project, pages)
    return project


def find(site, text, *, history=(Turn("user", ASKED), Turn("assistant", SAID)), tokens=2_500, **fields):
    """The rung without a model, and the pages found, best first."""
    searched, _ = follow_ups.add_previous_questions(Question(text, **fields), history)
    retrieved = passage_search.find(site, searched, tokens)
    pages = list(dict.fromkeys(hit.path for hit in (*retrieved.hits, *retrieved.neighbours)))
    return retrieved.quotable(AnswerSettings())[0], pages


@pytest.mark.parametrize(
    "text",
    [
        "could you write that out in code?",
        "that fails the same way",
        "and for a subfolder?",
        "Und wie geht das unter Windows?",
        "can you show that with another example?",
        "but is it quick?",
    ],
)
def test_a_question_that_continues_another_has_its_subject(site, text):
    rung, pages = find(site, text)
    assert rung != "nearest_pages"
    assert pages[0] == "/publish"


@pytest.mark.parametrize(
    "text", ["what about Kubernetes?", "and what is the weather in Paris?", "How do I bake bread?", "pizza"]
)
def test_a_question_about_something_else_does_not(site, text):
    assert find(site, text)[0] == "nearest_pages"


def test_a_pasted_error_keeps_the_subject_of_its_thread(site):
    assert "/publish" not in find(site, ERROR, history=())[1][:1]
    rung, pages = find(site, ERROR)
    assert rung != "nearest_pages"
    assert "/publish" in pages[:2]
    searched, _ = follow_ups.add_previous_questions(Question(ERROR), [Turn("user", ASKED)])
    assert searched.previous_questions == ASKED


@pytest.mark.parametrize("filler", ["why?", "ok great, thank you so much", "and how?"])
def test_a_previous_question_without_content_is_skipped(filler):
    history = [Turn("user", ASKED), Turn("assistant", SAID), Turn("user", filler), Turn("assistant", "So.")]
    assert follow_ups.join_previous_questions(Question("and on Windows?"), history) == ASKED


def test_the_page_that_the_last_answer_cites_is_always_found(site):
    sentence = "Print them [1](https://docs.acme.example/parcel-cli#set-up) and [2](https://docs.acme.example/errors)."
    history = [Turn("user", "How do I install a zebra?"), Turn("assistant", sentence)]
    assert follow_ups.find_cited_addresses(history) == (
        "https://docs.acme.example/parcel-cli",
        "https://docs.acme.example/errors",
    )
    assert "/parcel-cli" in find(site, "and a walrus?", history=history)[1]
    without = [history[0], Turn("assistant", "Print them.")]
    assert "/parcel-cli" not in find(site, "and a walrus?", history=without)[1]


def test_it_on_a_page_is_the_subject_of_the_page(site):
    assert find(site, "How do I install it?", history=())[1][0] != "/parcel-cli"
    assert find(site, "How do I install it?", history=(), current_path="/parcel-cli")[1][0] == "/parcel-cli"
    named = find(site, "How do I install a zebra?", history=(), current_path="/parcel-cli")[1]
    assert named[0] == "/install-zebra"


@pytest.mark.parametrize("text", ["How do I install a walrus and a gnu?", "how to install okapi"])
def test_an_unrelated_page_adds_no_passages(site, text):
    assert "/errors" not in find(site, text, history=(), current_path="/errors")[1]


def test_a_selection_needs_no_previous_question(site):
    question = Question("explain this", context=[Context("x")])
    searched, _ = follow_ups.add_previous_questions(question, [Turn("user", ASKED)])
    assert (searched.previous_questions, searched.cited_addresses) == ("", ())

"""Which words of a text a query marks: those that a reader sees as a match, and no others."""

import pytest

from search.retrieval.excerpts import MAX_HIGHLIGHTS, Highlighters
from search.retrieval.parsing import parse
from search.text import analysis
from search.text.vocabulary import Vocabulary

TEXT = (
    "Single sign-on is only for one organization. Sign on once, and log in on one single page. "
    "Sessions of logged-in users are in the index. Set up how-to pages, then use the chat of the token or useChat. "
    "La sesión de inicio de la documentación es de uno."
)
KNOWN = Vocabulary()
KNOWN.add([analysis.index_texts([TEXT])[1:]])
KNOWN.add([(set(analysis.terms("login setup")), {"login", "setup"})])


def mark(query: str, text: str = TEXT) -> list[str]:
    """The marked words of a text."""
    found = Highlighters(parse(query, KNOWN, ("en", "es")).marks)["en"].find(text)[1]
    assert found == sorted(set(found))
    return [text[start:end] for start, end, _ in found]


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("single sign-on", ["Single", "sign-on", "Sign", "on", "single"]),
        ("sign on", ["sign-on", "Sign", "on"]),
        ("log in", ["log", "in", "logged", "in"]),
        ("log in users", ["log", "in", "logged", "in", "users"]),
        ("set up", ["Set", "up"]),
        ("use chat", ["chat", "useChat"]),
        ("how to", ["how-to"]),
        ("sesión de inicio", ["sesión", "de", "inicio"]),
        ("tok", ["token"]),
        ("pages in", ["page", "pages"]),
        ("on", ["on", "only", "one", "on", "once", "on", "one"]),
        ("of the", ["of", "the", "the", "of", "the"]),
    ],
)
def test_a_query_marks_what_a_reader_sees_as_a_match(query, marked):
    assert mark(query) == marked


def test_a_small_word_is_marked_only_beside_its_own_neighbour():
    assert mark("sign-on", "On a sign, on, sign it on. A page on signs. Sign\u2010on") == [
        "sign",
        "sign",
        "signs",
        "Sign",
        "on",
    ]


def test_words_that_are_dropped_leave_room_for_others():
    assert len(mark("sign-on", "on " * 200 + "sign on " * 200)) == MAX_HIGHLIGHTS

"""Packed passages are the same passages, and take a small part of the memory."""

from dataclasses import replace

import pytest

from assistant.citations.link_checker import CitationChecker
from assistant.citations.passages import Passages
from assistant.wire.events import Source, Text
from search.hits import Hit, NextSection, SectionMatch
from search.retrieval.passages import find_passages

TEXT = "Instalación → first line\nsecond “line”\n" * 50
HIT = Hit(
    "/a", "https://docs.example/a#b", "A", "B", ("A", "B"), "**body**", "excerpt", 0.5, "b", "d1g", "/a#b",
    version=None, language="es", tags=("x", "y"), highlights=((0, 4),),
    others=(SectionMatch("C", "https://docs.example/a#c", 0.1),), text="body", following=(NextSection("D", "/a#d"),),
)  # fmt: skip
HITS = [
    *(replace(HIT, above=(TEXT,) * size) for size in (3, 0, 9)),
    replace(HIT, body=TEXT, text=TEXT),
    replace(HIT, path="/b", above=("on", "to"), version="2"),
]


@pytest.mark.parametrize("packed_after", range(len(HITS) + 1))
def test_packed_passages_are_the_same_in_the_same_order(packed_after):
    passages = Passages(HITS[:packed_after])
    passages.pack()
    passages.extend(HITS[packed_after:])
    passages.pack()
    passages.pack()
    assert [*passages] == HITS
    assert (len(passages), passages[1], passages[-1], passages[2:4]) == (len(HITS), HITS[1], HITS[-1], HITS[2:4])


def test_a_copy_stays_as_it_is_when_passages_are_added_and_packed():
    passages = Passages(HITS[:2])
    passages.pack()
    passages.extend(HITS[2:3])
    copy = passages.copy()
    passages.extend(HITS[3:])
    passages.pack()
    assert [*copy] == HITS[:3]
    assert [*passages] == HITS


def test_packed_passages_hold_texts_that_other_answers_share(project):
    first, second = (Passages(find_passages(project.project, "How do I print a label?").hits) for _ in range(2))
    for passages in (first, second):
        passages.pack()
        assert passages._hits == []
    for one, other in zip(first, second, strict=True):
        assert one.body is other.body
        assert one.text is other.text
        assert all(text is its_copy for text, its_copy in zip(one.above, other.above, strict=True))
    assert sum(len(hit.text) for hit in first) > 20
    assert sum(len(compressed) for _, _, compressed in first._packs) < 2_000


def test_packed_passages_of_one_page_hold_what_stands_above_them_once():
    passages = Passages(replace(HIT, above=tuple("abcdefgh"[:size])) for size in (3, 8, 0, 5))
    passages.pack()
    ((_, lists, _),) = passages._packs
    assert lists == [tuple("abcdefgh")]
    assert ["".join(hit.above) for hit in passages] == ["abc", "abcdefgh", "", "abcde"]


def test_an_answer_cites_packed_passages():
    passages = Passages([replace(HIT, body="It takes a minute.", text="It takes a minute.", language="en")])
    checker = CitationChecker(passages, "How long?")
    passages.pack()
    found = [*checker.feed("It takes a minute [1]. See https://docs.example/a."), *checker.end()]
    assert Source(1, "https://docs.example/a", "A") in found
    written = "".join(event.delta for event in found if isinstance(event, Text))
    assert written.startswith("It takes a minute [1](https://docs.example/a#b:~:text=It%20takes%20a%20minute")

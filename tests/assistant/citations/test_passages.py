"""Packed passages are the same passages, and take a small part of the memory."""

from dataclasses import replace

import pytest

from assistant.citations.citation_links import CitationChecker
from assistant.citations.passages import Passages
from assistant.events import Source, Text
from search.hits import Hit, NextSection, SectionMatch

TEXT = "Instalación → first line\nsecond “line”\n" * 50
HIT = Hit(
    "/a", "https://docs.example/a#b", "A", "B", ("A", "B"), "**body**", "excerpt", 0.5, "b", "d1g", "/a#b",
    version=None, language="es", tags=("x", "y"), highlights=((0, 4),),
    others=(SectionMatch("C", "https://docs.example/a#c", 0.1),), text="body", following=(NextSection("D", "/a#d"),),
)  # fmt: skip
HITS = [
    *(replace(HIT, above=TEXT[:size]) for size in (40, 0, 900, 333)),
    replace(HIT, above="another text above the same page"),
    replace(HIT, path="/b", above="on", version="2"),
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


def test_packed_passages_hold_no_texts():
    passages = Passages(HITS)
    passages.pack()
    assert passages._hits == []
    assert sum(map(len, passages._packs)) < len(TEXT) / 2


def test_an_answer_cites_packed_passages():
    passages = Passages([replace(HIT, body="It takes a minute.", text="It takes a minute.", language="en")])
    checker = CitationChecker(passages, "How long?")
    passages.pack()
    found = [*checker.feed("It takes a minute [1]. See https://docs.example/a."), *checker.end()]
    assert Source(1, "https://docs.example/a", "A") in found
    written = "".join(event.delta for event in found if isinstance(event, Text))
    assert written.startswith("It takes a minute [1](https://docs.example/a#b:~:text=It%20takes%20a%20minute")

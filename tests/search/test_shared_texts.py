"""Hits of one page share the text above them, and it stays the same text."""

from dataclasses import replace

from search.hits import Hit, share_texts

HIT = Hit("/a", "https://docs.example/a#b", "A", "B", ("A", "B"), "body", "excerpt", 0.5)
PAGE = "Instalación → first line\nsecond “line”\n" * 50


def test_hits_of_a_page_hold_the_text_above_them_once():
    hits = [replace(HIT, above=PAGE[:size]) for size in (40, 0, 900, 333)]
    shared = share_texts(hits)
    assert [str(hit.above) for hit in shared] == [hit.above for hit in hits]
    assert len({id(hit.above.whole) for hit in shared}) == 1
    assert [replace(hit, above="") for hit in shared] == [replace(hit, above="") for hit in hits]
    assert [str(hit.above) for hit in share_texts(shared)] == [hit.above for hit in hits], "twice is no harm"


def test_texts_that_differ_stay_apart():
    hits = [replace(HIT, above="one"), replace(HIT, above="other"), replace(HIT, path="/b", above="on")]
    assert [str(hit.above) for hit in share_texts(hits)] == ["one", "other", "on"]

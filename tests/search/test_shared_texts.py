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


def test_hits_of_a_section_are_in_memory_once_whoever_holds_them():
    first, second = (
        share_texts([replace(HIT, above=PAGE[:size], text="Läuft.", score=size / 100)]) for size in (90, 40)
    )
    assert first == [replace(HIT, above=first[0].above, text="Läuft.", score=0.9)]
    assert first[0].above.whole is second[0].above.whole, "the text above them, too"
    again = share_texts([replace(HIT, above=PAGE[:40], text="Läuft.", score=0.1)])
    assert vars(again[0])["_section"] is vars(second[0])["_section"]
    assert (again[0].score, second[0].score, again[0].body) == (0.1, 0.4, "body")


def test_a_section_that_has_changed_is_another_one():
    old, new = (share_texts([replace(HIT, body=body)])[0] for body in ("old", "new"))
    assert (old.body, new.body) == ("old", "new")

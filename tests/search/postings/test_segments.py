"""Segments: they rank as FTS5 does, and pieces of an index, changed and merged, are the index as a whole."""

import random
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from search.postings import search_index
from search.postings.search_index import SearchIndex
from search.postings.segments import MAX_COUNT, Segment, hash_term, merge
from search.text.terms import EngineQuery, Entry, facet

WORDS = [f"w{number}" for number in range(60)]
GROUPS = [facet("v", version) for version in ("", "1", "2")]
NONE = np.empty(0, np.int64)


def entries(count: int, seed: int = 1) -> list[Entry]:
    """Sections of words of which some are much commoner than others; some hold nothing."""
    chance = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]

    def words(most: int) -> str:
        return " ".join(chance.choices(WORDS, weights, k=chance.randint(0, most)))

    return [
        Entry(
            10 + 3 * number, number // 4, number % 4, words(3), words(3), words(4), words(8), words(120),
            facets=" ".join([chance.choice(GROUPS), facet("n", words(1))]), path=f"/p{number // 4}", language="de",
            boost=1 + number % 2,
        )
        for number in range(count)
    ]  # fmt: skip


def queries() -> list[tuple[EngineQuery, list[list[str]]]]:
    """Queries of some words, a part of which only rank; some for versions."""
    chance = random.Random(2)
    made = []
    for number in range(120):
        words = chance.sample(WORDS, 1 + number % 6)
        needed = words[: 1 + number % 3] if number % 2 else words
        facets = [[GROUPS[1], GROUPS[0]]] if number % 4 == 0 else []
        made.append((EngineQuery(frozenset(needed), dict.fromkeys(words, 1.0)), facets))
    return made


def rank(index: SearchIndex, limit: int = 25) -> list[list[int]]:
    """The ids that each query finds."""
    return [index.ids[index.rank(query, facets, limit)].tolist() for query, facets in queries()]


def test_the_likeliest_sections_are_those_of_fts5():
    rows = entries(700)
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(title, heading, trail, about, body, facets)")
        database.executemany(
            "INSERT INTO t (rowid, title, heading, trail, about, body, facets) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(row.section_id, row.title, row.heading, row.trail, row.about, row.body, row.facets) for row in rows],
        )

        def match(words) -> str:
            return f"({{title heading trail about body}} : ({' OR '.join(sorted(words))}))"

        expected = []
        for query, facets in queries():
            text = match(query.needed)
            if query.needed != query.scored.keys():
                text += f" AND {match(query.scored)}"
            for alternatives in facets:
                text += f" AND (facets : ({' OR '.join(alternatives)}))"
            found = database.execute(
                "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t, 10, 5, 3, 3, 1, 0), rowid LIMIT 25", [text]
            )
            expected.append([pk for (pk,) in found])
    assert rank(SearchIndex.build(rows)) == expected
    assert sum(map(len, expected)) > 1500


def test_a_segment_is_its_bytes():
    segment = Segment.build(entries(50))
    stored = segment.encode()
    decoded = Segment.decode(stored)
    assert decoded.encode() == stored
    assert all(np.array_equal(getattr(segment, name), value) for name, value in vars(decoded).items())
    assert Segment.decode(np.frombuffer(stored, np.uint8)).encode() == stored


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_merged_segments_are_those_of_all_their_sections(is_shuffled):
    rows = entries(300)
    stay = [row for row in rows if row.section_id % 7]
    gone = np.array([row.section_id for row in rows if row.section_id % 7 == 0])
    parts = [rows[:120], rows[120:120], rows[120:130], rows[130:]]
    if is_shuffled:  # the ids of two segments overlap
        parts = [rows[::2], rows[1::2]]
    merged = merge([Segment.build(part) for part in parts], gone)
    assert merged.encode() == Segment.build(stay).encode()
    assert merge([merged], merged.ids).encode() == Segment.build([]).encode() == merge([], NONE).encode()


def test_an_index_of_several_segments_is_that_of_one():
    rows = entries(300)
    stay = [row for row in rows if row.section_id % 5]
    gone = [row.section_id for row in rows if row.section_id % 5 == 0]
    index = SearchIndex({"a": Segment.build(rows[:200]), "b": Segment.build([]), "c": Segment.build(rows[200:])}, gone)
    whole = SearchIndex.build(stay)
    assert rank(index) == rank(whole)
    assert index.sections == len(stay)
    found = index.load_sections([gone[0], stay[-1].section_id, 10_000, stay[0].section_id])
    assert [(one.section_id, one.path, one.language, one.boost) for one in found] == [
        (one.section_id, one.path, "de", one.boost) for one in (stay[-1], stay[0])
    ]
    assert [one.above for one in found] == [f" {one.title}  {one.heading}  {one.about} " for one in (stay[-1], stay[0])]
    assert index.filter(found, [[GROUPS[1]], [GROUPS[0], GROUPS[1]]]) == [
        one for one, row in zip(found, (stay[-1], stay[0]), strict=True) if GROUPS[1] in row.facets
    ]


def test_an_index_of_some_sections_counts_these_alone():
    rows = entries(400)
    long = [replace(row, body=f"{row.body} {'filler ' * 300}") if GROUPS[0] in row.facets else row for row in rows]
    gone = [row.section_id for row in long if row.section_id % 5 == 0]
    stay = [row for row in long if row.section_id % 5 and GROUPS[1] in row.facets]
    whole = SearchIndex({"a": Segment.build(long[:250]), "c": Segment.build(long[250:])}, gone)
    rank(whole)  # what it keeps is its own
    part, alone = whole.restrict([GROUPS[1]]), SearchIndex.build(stay)
    assert rank(part) == rank(alone)
    assert (part.sections, part.load_sections(gone)) == (alone.sections, [])
    for word in WORDS:
        (of_part,), (of_alone,) = part._find([hash_term(word)]), alone._find([hash_term(word)])
        assert of_part.impacts.tolist() == of_alone.impacts.tolist()
    assert sum(whole.restrict([group]).sections for group in GROUPS) == whole.sections


def test_an_index_without_sections_finds_nothing():
    for index in (SearchIndex({}), SearchIndex.build([])):
        assert rank(index) == [[]] * 120
        assert index.load_sections([1]) == []


def test_no_word_is_a_facet_and_none_is_counted_for_ever():
    word = facet("v", "1")
    row = replace(entries(1)[0], title=" ".join(["often"] * 40), body="often " * 70_000, facets=word)
    index = SearchIndex.build([row])
    assert not len(index.rank(EngineQuery(frozenset([word]), {word: 1.0}), (), 5))
    bodies, fields = index.count(["often", "never"], np.array([0]))
    assert bodies.tolist() == [[65_535], [0]]
    assert fields[0, 0] & 15 == MAX_COUNT


def test_what_an_index_keeps_of_the_last_searches_changes_no_result(monkeypatch):
    rows = entries(300)
    index = SearchIndex.build(rows)
    first, sections = rank(index), index.load(np.arange(300))
    words, places = [*WORDS[:20], "never"], np.array([299, 3, 40])
    counts, nbytes = [counted.tolist() for counted in index.count(words, places)], index.nbytes
    assert (rank(index), index.load(np.arange(300))) == (first, sections), "from what it keeps"
    monkeypatch.setattr(search_index, "MAX_POSTING_BYTES", 0)
    monkeypatch.setattr(search_index, "MAX_CANDIDATES", 10)
    forgetful = SearchIndex.build(rows)
    assert forgetful.nbytes < nbytes
    assert rank(forgetful) == first
    for start in range(0, 300, 7):
        found = np.arange(start, min(start + 7, 300))
        assert forgetful.load(found) == sections[start : start + 7]
        assert len(forgetful._candidates) <= 10
    assert [counted.tolist() for counted in forgetful.count(words, places)] == counts
    assert [forgetful.holds(299, [word]) for word in words] == [
        bool(body[0] or fields[0]) for body, fields in zip(*counts, strict=True)
    ]

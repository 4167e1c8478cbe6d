"""How many projects' indexes a process has at hand: it depends on their size, not on their number."""

from collections import Counter

import pytest

from docsite.core.tenants.models import Project
from search.postings.storage import SegmentList
from search.retrieval import index_state
from search.retrieval.index_state import ReaderStates
from search.text.vocabulary import IndexVocabulary, Vocabulary

FIRST = 10**9  # of the keys of projects that the database does not have
WORDS = Counter({f"word{number}": 1 for number in range(10)})


@pytest.fixture
def loaded(monkeypatch):
    """The keys of the projects whose state was loaded, in their order. Each has an index of ten words."""
    keys = []

    def load(project):
        keys.append(project.pk)
        return ReaderStates(0, None, IndexVocabulary({"": Vocabulary(1, WORDS)}), SegmentList(), {})

    monkeypatch.setattr(index_state, "_load_states", load)
    monkeypatch.setattr(index_state, "_states", type(index_state._states)())
    return keys


@pytest.mark.matrix
def test_many_small_projects_stay_at_hand(loaded):
    for _ in range(2):
        for number in range(300):
            index_state.get_state(Project(pk=FIRST + number))
    assert loaded == list(range(FIRST, FIRST + 300))


def test_the_state_that_was_used_longest_ago_goes_first(loaded, monkeypatch):
    size = Vocabulary(1, WORDS).nbytes + index_state._STATE_BYTES
    monkeypatch.setattr(index_state, "MAX_STATE_BYTES", 2 * size)
    for number in (1, 2, 1, 3, 1, 2):
        index_state.get_state(Project(pk=FIRST + number))
    assert [key - FIRST for key in loaded] == [1, 2, 3, 2]


def test_an_index_that_is_larger_than_the_limit_is_still_cached(loaded, monkeypatch):
    monkeypatch.setattr(index_state, "MAX_STATE_BYTES", 5)
    for _ in range(2):
        index_state.get_state(Project(pk=FIRST))
    assert loaded == [FIRST]


def test_indexes_share_their_words():
    stored = Vocabulary(1, WORDS, WORDS).encode()
    (one, *_), (same, *_) = (list(Vocabulary.decode(stored).forms) for _ in range(2))
    assert one is same

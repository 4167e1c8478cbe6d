"""What a search counts comes from the pages that its reader sees, whatever other pages there are."""

import random
import time
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from assistant.widget import starters
from docsite.core.access.readers import PUBLIC, Groups, read_as
from search.admin.health import list_index
from search.indexing.ingest import ingest
from search.retrieval import index_state, page_search
from search.retrieval.passages import find_passages
from search.signals import index_staged
from search.sources import Page
from search.text.vocabulary import IndexVocabulary
from tests.variants import first_of

pytestmark = pytest.mark.slow

WORDS = ["relay", "harbour", "parcels", "parcel", "zebras", "labels", "printing", "printer", "thermal", "walruses"]
QUERIES = [*WORDS, "print", "relya", "parcelharbour", "parcels of the thermal printer", "zebr", "walrus labels"]
READERS = [PUBLIC, frozenset(["staff"]), frozenset(["partners"]), frozenset(["staff", "partners", "others"])]


def make_page(chance: random.Random, number: int) -> Page:
    body = "\n\n".join(f"## {chance.choice(WORDS)}\n\n{' '.join(chance.choices(WORDS, k=9))}" for _ in range(3))
    groups = chance.choice([None, None, ("staff",), ("partners",), ("partners", "staff")])
    title = chance.choice(WORDS)
    return Page("", f"/{number:02}", f"# {title}\n\n{body}", version=f"{number % 2}", groups=groups)


def search(project: Any) -> list[Any]:
    """All that a reader can see of the counts of an index."""
    hits = [page_search.find(project, text, limit=50) for text in QUERIES]
    passages = [find_passages(project, text, max_characters=5_000) for text in QUERIES[-4:]]
    state = index_state.get_state(project)
    return [
        *([(hit.path, hit.score, hit.excerpt) for hit in found] for found in hits),
        *(([(hit.path, hit.score) for hit in found.hits], found.chance, found.page_count) for found in passages),
        (state.vocabulary, state.languages, state.latest_version, state.page_count),
    ]


@pytest.mark.matrix
@pytest.mark.parametrize("seed", first_of(range(2), 1))
def test_a_reader_searches_as_if_other_pages_did_not_exist(make_project: Any, seed: int) -> None:
    """Also after edits, which give pages other groups."""
    chance = random.Random(seed)
    edited = make_project().project
    pages = {number: make_page(chance, number) for number in range(20)}
    ingest(edited, pages.values())
    for _ in range(3):
        pages |= {number: make_page(chance, number) for number in chance.sample(range(24), 6)}
        ingest(edited, pages.values())
        for groups in READERS:
            alone = make_project(docs_url=edited.docs_url).project
            visible = [page for page in pages.values() if not page.groups or groups.intersection(page.groups)]
            ingest(alone, [replace(page, groups=None) for page in visible])
            with read_as(groups):
                assert search(edited) == search(alone)


def test_a_page_is_counted_from_the_generation_in_which_it_becomes_public(make_project: Any) -> None:
    project = make_project().project
    text = "# The relay\n\nThe relay takes the zebra key."
    counted = []
    for groups in ((), ("staff",), ("partners",), ()):
        ingest(project, [Page("", "/", "# Home\n\nThe relay starts."), Page("", "/relay", text, groups=groups)])
        counted.append([])
        for reader in (PUBLIC, frozenset(["staff"])):
            with read_as(reader):
                counted[-1].append(index_state.get_state(project).vocabulary.forms["zebra"])
    assert counted == [[1, 1], [0, 1], [0, 0], [1, 1]]


def test_one_state_serves_all_readers_where_nothing_is_protected(make_project: Any) -> None:
    project = make_project().project
    ingest(project, [Page("", "/", "# Home\n\nThe relay starts.")])
    with read_as(None):
        whole = index_state.get_state(project)
    assert whole.index is None
    for groups in READERS:
        with read_as(groups):
            assert index_state.get_state(project) is whole


def test_starter_questions_are_about_pages_that_the_reader_sees(make_project: Any) -> None:
    project = make_project().project
    titles = {"/a": "Printing parcel labels", "/b": "Configuring the harbour relay"}
    text = "You print parcel labels, and configure the harbour relay, with acme."
    groups = {"/b": ("staff",)}
    pages = [Page("", path, f"# {title}\n\n{text}", title, groups=groups.get(path)) for path, title in titles.items()]
    ingest(project, pages)
    for reader, others in ((frozenset(["staff"]), ["How do I configure the harbour relay?"]), (PUBLIC, [])):
        with read_as(reader):
            assert starters.propose(project) == [*others, "How do I print parcel labels?"]


@pytest.fixture
def crowded(make_project: Any) -> tuple[Any, list[Groups]]:
    """A project with pages of five groups, and ten sets of groups of its readers."""
    project = make_project().project
    names = ["a", "b", "c", "d", "e"]
    pages = [Page("", f"/{name}", f"# Relay\n\nThe relay of {name}{name}{name}.", groups=(name,)) for name in names]
    ingest(project, [*pages, Page("", "/", "# Home\n\nThe relay starts.")])
    return project, [frozenset(pair) for pair in combinations(names, 2)]


def find_paths(project: Any, groups: Groups) -> set[str]:
    with read_as(groups):
        return {hit.path for hit in page_search.find(project, "relay")}


def test_a_set_of_groups_too_many_is_searched_without_a_place_and_the_owner_reads_it(
    crowded: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, sets = crowded
    for groups in [*sets, PUBLIC, *sets]:
        assert find_paths(project, groups) == {"/", *(f"/{name}" for name in groups)}
    assert index_state.count_group_sets(project) == (8, 4)
    lines = [record.getMessage() for record in caplog.records if project.domain in record.getMessage()]
    assert len(lines) == 1
    assert lines[0].startswith(f"More than 8 sets of readers' groups search {project.domain}")
    (fact,) = [fact for fact in list_index(project) if fact.label == "Sets of readers' groups"]
    assert (fact.value, fact.note, fact.state) == ("8 of 8", "4 searches by readers of other sets took longer", "bad")

    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + index_state.SET_IDLE_SECONDS / 2)
    assert find_paths(project, sets[0]), "still in use"
    monkeypatch.setattr(time, "monotonic", lambda: now + index_state.SET_IDLE_SECONDS + 1)
    assert len(find_paths(project, sets[8])) == 3
    assert index_state.count_group_sets(project) == (8, 4), "it has the place of a set that was not used"
    states = index_state._states.get(project.pk)
    assert sets[0] in states.by_groups
    assert sets[1] not in states.by_groups


def test_states_of_readers_count_for_the_memory_of_all_states(crowded: Any) -> None:
    project, sets = crowded
    find_paths(project, PUBLIC)
    before = index_state._states.nbytes
    for groups in sets[:3]:
        find_paths(project, groups)
    states = index_state._states.get(project.pk)
    assert index_state._states.nbytes - before == sum(states.by_groups[groups].nbytes for groups in sets[:3]) > 3_000


KEY_PAGES = [Page("", "/", "# Home\n\nThe relay."), Page("", "/key", "# Key\n\nThe zebra.", groups=("staff",))]


def test_words_of_protected_pages_are_stored_apart() -> None:
    words = IndexVocabulary()
    for groups, found in (("", ({"relay"}, {"relays"})), ("\na\n", ({"relay", "key"}, {"relay", "keys"}))):
        words.add(groups, [found])
    stored = IndexVocabulary.decode(words.encode())
    assert stored.select(["\na\n"]).forms == {"relay": 1, "keys": 1}
    stored.add("\na\n", [({"relay", "key"}, {"relay", "keys"})], -1)
    assert stored.encode() == IndexVocabulary({"": words.select([""])}).encode()


def test_checks_of_a_staged_index_count_what_their_reader_sees(make_project: Any) -> None:
    project = make_project().project
    ingest(project, [Page("", "/", "# Home\n\nThe relay.")])
    found = {}

    def receive(project: Any, preview: Any, **kwargs: Any) -> list[Any]:
        with preview():
            for groups in (PUBLIC, frozenset(["staff"]), None):
                with read_as(groups):
                    found[groups] = index_state.get_state(project).vocabulary.forms["zebra"]
        return []

    index_staged.connect(receive)
    try:
        ingest(project, KEY_PAGES)
    finally:
        index_staged.disconnect(receive)
    assert found == {PUBLIC: 0, frozenset(["staff"]): 1, None: 1}

"""Index generations: in every process readers see the whole old index, then the whole new one."""

import io
import itertools
import random
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from search.indexing.build import ANALYSER_VERSION
from search.indexing.ingest import ingest, needs_reindex
from search.indexing.outcome import IngestSuperseded
from search.models import Document, Index, Section, SegmentPart
from search.postings import storage
from search.retrieval import page_search, selection
from search.signals import IndexWarning, index_staged
from search.sources import Page
from search.text.vocabulary import IndexVocabulary
from tests import scenarios
from tests.conftest import PATIENCE, wait_for
from tests.variants import first_of

MANY = 230  # pages of ten sections: more than a small segment has


def page(number: int, word: str, sections: int = 9) -> Page:
    body = "\n\n".join(f"## Part {part}\n\nherd {word} p{number}x{part}" for part in range(sections))
    return Page(f"{number}", f"/p{number}", f"# Page {number}\n\nherd {word}\n\n{body}")


def ferrets(word: str, numbers=range(5)) -> list[Page]:
    return [Page(f"f{number}", f"/f{number}", f"# Ferret {number}\n\nferret {word}\n") for number in numbers]


def store(tenant):
    tenant.project.refresh_from_db()
    return tenant.project


def leftovers(project) -> tuple[int, int]:
    """Pages and segments that no reader sees, and sections in the postings that are not those of visible pages."""
    hidden = Document.every.filter(project=project).exclude(build="").count()
    live = set(Section.objects.filter(document__project=project, document__build="").values_list("pk", flat=True))
    listed = storage.read_list(project)
    stored = set(SegmentPart.objects.filter(project=project).values_list("segment", flat=True))
    index = storage.load_index(project, listed, {})
    return hidden + len(stored ^ set(listed.segments)), len(live ^ (set(index.ids.tolist()) - set(listed.gone)))


@contextmanager
def watched(look) -> Iterator[set]:
    """Two threads look all the time; what they saw, and what went wrong."""
    seen: set = set()
    stop = threading.Event()

    def run() -> None:
        try:
            while not stop.is_set():
                seen.add(look())
        except Exception as failure:
            seen.add(repr(failure))
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def markers(texts) -> tuple[int, frozenset[str]]:
    """How many results, and the words that tell which index they are of."""
    found = list(texts)
    return len(found), frozenset(word for text in found for word in ("alpha", "omega") if word in text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        pytest.param("every page", marks=pytest.mark.stores),
        *(
            pytest.param(change, marks=pytest.mark.matrix)
            for change in ("few pages", "nothing, anew", "most pages gone")
        ),
    ],
)
def test_searches_see_the_old_index_or_the_new_one(make_project, service, http, change):
    tenant = make_project()
    project = tenant.project
    herd = [page(number, "alpha") for number in range(MANY)]
    ingest(project, [*herd, *ferrets("alpha")])
    word = "herd" if change == "every page" else "ferret"
    limit = 50

    def look() -> tuple[int, frozenset[str]]:
        return markers(hit.excerpt for hit in page_search.find(project, word, limit=limit))

    def look_elsewhere(query: str = word) -> tuple[int, frozenset[str]]:
        answer = http.post(
            f"{service.url}/discovery/v1/search/{tenant.domain}",
            json={"query": query, "pageSize": limit},
            headers=tenant.assistant,
        )
        assert answer.status_code == 200, answer.text
        return markers(hit["content"] for hit in answer.json())

    before = look()
    assert look_elsewhere() == before
    with watched(look) as here, watched(look_elsewhere) as there:
        if change == "few pages":
            ingest(project, [*herd, *ferrets("omega")])
        elif change == "every page":
            ingest(project, [*(page(number, "omega") for number in range(MANY)), *ferrets("omega")])
        elif change == "nothing, anew":
            call_command("reindex", tenant.domain, stdout=io.StringIO())
        else:
            ingest(project, [*herd[:5], *ferrets("omega", range(2))])
        after = look()
        wait_for(lambda: look_elsewhere() == after, "the other process to see the new index")
    if "omega" in after[1]:
        assert look_elsewhere("omega") == after, "it knows the new words, too"
    assert here <= {before, after}
    assert there <= {before, after}
    assert before == (50 if change == "every page" else 5, frozenset({"alpha"}))
    assert (
        after
        == {
            "few pages": (5, frozenset({"omega"})),
            "every page": (50, frozenset({"omega"})),
            "nothing, anew": before,
            "most pages gone": (2, frozenset({"omega"})),
        }[change]
    )
    assert leftovers(project) == (0, 0)


@pytest.mark.stores
def test_a_search_reads_one_state_from_beginning_to_end(make_project, monkeypatch):
    project = make_project().project
    ingest(project, ferrets("alpha"))
    rank = selection.rank

    def change_and_rank(*arguments):
        with ThreadPoolExecutor() as pool:
            pool.submit(index_and_close, project, ferrets("omega", range(2))).result()
        return rank(*arguments)

    monkeypatch.setattr(selection, "rank", change_and_rank)
    assert markers(hit.excerpt for hit in page_search.find(project, "ferret")) == (5, frozenset({"alpha"}))
    monkeypatch.undo()
    assert markers(hit.excerpt for hit in page_search.find(project, "ferret")) == (2, frozenset({"omega"}))


def index_and_close(project, pages) -> None:
    try:
        ingest(project, pages)
    finally:
        connection.close()


@contextmanager
def checked(check) -> Iterator[None]:
    """Every ingest meanwhile has its staged index checked."""
    index_staged.connect(check)
    try:
        yield
    finally:
        index_staged.disconnect(check)


@pytest.mark.matrix
@pytest.mark.parametrize("change", first_of(["one page", "every page", "most pages gone", "nothing, anew"], 1))
def test_a_check_finds_in_the_staged_index_what_readers_find_later(make_project, change):
    project = make_project().project
    herd = [page(number, "alpha") for number in range(MANY)]
    ingest(project, [*herd, *ferrets("alpha")])
    texts = ("herd", "ferret", "alpha", "omega", "p3x1", "ferrte")
    previews = []

    def find_all() -> list[list[tuple[str, str, float]]]:
        return [
            [(hit.path, hit.excerpt, hit.score) for hit in page_search.find(project, text, limit=50)] for text in texts
        ]

    def check(project, preview, **kwargs) -> list[IndexWarning]:
        assert not connection.in_atomic_block
        assert find_all() == before
        with preview():
            previews.append((find_all(), project.documents.count()))
        assert find_all() == before
        return []

    before = find_all()
    with checked(check):
        if change == "one page":
            ingest(project, [*herd, *ferrets("omega", range(1)), *ferrets("alpha", range(1, 5))])
        elif change == "every page":
            ingest(project, [*(page(number, "omega") for number in range(MANY)), *ferrets("omega")])
        elif change == "most pages gone":
            ingest(project, [*herd[:5], *ferrets("omega", range(2))])
        else:
            call_command("reindex", project.domain, stdout=io.StringIO())
    assert previews == [(find_all(), project.documents.count())]
    assert change == "nothing, anew" or before != find_all()
    assert leftovers(project) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("strict", first_of([True, False], 1))
@pytest.mark.stores
def test_an_ingest_that_begins_during_a_check_supersedes_the_older_one(make_project, strict):
    project = make_project().project
    ingest(project, ferrets("alpha"))

    def check(project, preview, **kwargs) -> list[IndexWarning]:
        index_staged.disconnect(check)
        with preview():
            assert [hit.path for hit in page_search.find(project, "older")] == ["/f0"]
        with ThreadPoolExecutor() as pool:
            pool.submit(index_and_close, project, ferrets("newer", range(2))).result()
        return [IndexWarning("It fails.")]

    with checked(check), pytest.raises(IngestSuperseded):
        ingest(project, ferrets("older", range(1)), strict=strict)
    assert page_search.find(project, "older") == []
    assert len(page_search.find(project, "newer")) == 2
    assert leftovers(project) == (0, 0)


def test_an_unchanged_source_touches_nothing(make_project):
    project = make_project().project
    ingest(project, ferrets("alpha"))
    project.refresh_from_db()
    before = project.generation.number, project.generation.indexed_at
    sections = set(Section.objects.filter(document__project=project).values_list("pk", flat=True))
    assert ingest(project, ferrets("alpha")).unchanged == 5
    project.refresh_from_db()
    assert (project.generation.number, project.generation.indexed_at) == before
    assert set(Section.objects.filter(document__project=project).values_list("pk", flat=True)) == sections


def test_a_source_that_fails_leaves_nothing_behind(make_project):
    project = make_project().project
    ingest(project, ferrets("alpha"))

    def failing():
        yield from (page(number, "omega") for number in range(60))
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        ingest(project, failing())
    assert leftovers(project) == (0, 0)
    assert len(page_search.find(project, "ferret")) == 5
    assert page_search.find(project, "herd") == []


@pytest.mark.matrix
@pytest.mark.parametrize("when", [pytest.param("preparing", marks=pytest.mark.stores), "pages, "])
def test_a_killed_ingest_leaves_the_old_index_and_the_next_one_cleans_up(make_project, tmp_path, when):
    tenant = make_project()
    for ferret in ferrets("alpha"):
        (tmp_path / f"{ferret.path}.md".lstrip("/")).write_text(ferret.markdown)
    call_command("ingest", tenant.domain, str(tmp_path), stdout=io.StringIO())
    for number in range(MANY):
        (tmp_path / f"p{number}.md").write_text(page(number, "omega").markdown)
    (tmp_path / "f0.md").unlink()
    with scenarios.running("ingest", tenant.domain, tmp_path) as (process, printed):
        for line in printed:
            if when in line:
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    project = store(tenant)
    assert leftovers(project) > (0, 0)
    assert (len(page_search.find(project, "ferret")), len(page_search.find(project, "herd"))) == (5, 0)
    call_command("ingest", tenant.domain, str(tmp_path), stdout=io.StringIO())
    assert leftovers(project) == (0, 0)
    assert (len(page_search.find(project, "ferret")), len(page_search.find(project, "herd", limit=50))) == (4, 50)


@pytest.mark.matrix
@pytest.mark.parametrize("others", [pytest.param(5, marks=pytest.mark.stores), MANY])
def test_of_two_ingests_the_older_gives_way(make_project, others):
    project = make_project().project
    ingest(project, [page(number, "alpha") for number in range(MANY)])
    newer = [page(number, "alpha") for number in range(MANY - others)] + ferrets("omega")

    def older():
        yield from (page(number, "older") for number in range(60))
        ingest(project, newer)  # begins and ends while the older one reads
        yield from (page(number, "older") for number in range(60, MANY))

    with pytest.raises(IngestSuperseded, match="another ingest of this project began meanwhile"):
        ingest(project, older())
    assert leftovers(project) == (0, 0)
    assert set(project.documents.values_list("path", flat=True)) == {one.path for one in newer}
    assert [hit.path for hit in page_search.find(project, "older")] == []
    assert len(page_search.find(project, "ferret")) == 5


@pytest.mark.matrix
@pytest.mark.stores
def test_an_ingest_that_begins_while_another_swaps_is_not_mixed_with_it(make_project):
    project = make_project().project
    ingest(project, [page(number, "alpha") for number in range(MANY)])
    begun = False

    def newer(line: str) -> None:
        nonlocal begun
        if line.startswith("preparing") and not begun:
            begun = True
            reading = ingest_in_thread(project)
            next(reading)
            stop.append(reading)

    stop: list[Iterator[None]] = []
    kept = [page(number, "alpha") for number in range(20)]  # copied beside the new ones before the swap
    with pytest.raises(IngestSuperseded):
        ingest(project, kept + [page(number, "older") for number in range(20, MANY)], newer)
    for _ in stop[0]:
        pass
    assert leftovers(project) == (0, 0)
    assert page_search.find(project, "older") == []
    assert project.documents.count() == 55
    assert len(page_search.find(project, "newer", limit=50)) == 50
    assert len(page_search.find(project, "ferret")) == 5


def ingest_in_thread(project) -> Iterator[None]:
    """A newer ingest that has staged its first pages when this first yields, and is done when it ends."""
    staged, go_on = threading.Event(), threading.Event()

    def source():
        yield from (page(number, "newer", 1) for number in range(50))
        yield from ferrets("omega")

    def progress(line: str) -> None:
        staged.set()
        go_on.wait(PATIENCE)

    def run() -> None:
        try:
            ingest(project, source(), progress)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert staged.wait(PATIENCE)
    yield
    go_on.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.mark.stores
@pytest.mark.matrix  # the time of a real load
def test_writers_elsewhere_are_not_held_up(make_project):
    project = make_project().project
    waits: list[float] = []
    stop = threading.Event()

    def write() -> None:
        try:
            while not stop.is_set():
                began = time.monotonic()
                with transaction.atomic():
                    type(project).objects.filter(pk=project.pk).update(name=f"Acme at {began}")
                waits.append(time.monotonic() - began)
                time.sleep(0.005)
        except Exception:
            waits.append(float("inf"))
            raise
        finally:
            connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    pages = [page(number, "alpha", 19) for number in range(MANY)]
    steps = [
        lambda: ingest(project, pages),
        lambda: call_command("reindex", project.domain, stdout=io.StringIO()),
        lambda: ingest(project, pages[:20]),
    ]
    written = [0]
    started = time.monotonic()
    try:
        for step in steps:
            step()
            written.append(len(waits))
    finally:
        stop.set()
        writer.join()
    assert all(after - before >= 3 for before, after in itertools.pairwise(written)), written
    longest, all_steps = max(waits), time.monotonic() - started
    assert longest < all_steps / 2, f"a writer waited {longest:.2f} s of {all_steps:.2f} s"


def test_a_long_ingest_reports_its_progress(make_project):
    progress: list[str] = []
    ingest(make_project().project, (page(number, "alpha", 1) for number in range(120)), progress.append)
    assert [line.split(" pages")[0] for line in progress[:3]] == ["50", "100", "120"]
    assert progress[3].startswith("preparing")


@pytest.mark.matrix
def test_migrate_indexes_anew_what_another_release_indexed(make_project):
    project = make_project().project
    ingest(project, ferrets("alpha"))
    sections = set(Section.objects.filter(document__project=project).values_list("pk", flat=True))
    Index.objects.filter(project=project).update(analyser="1.1", vocabulary=b"")
    assert needs_reindex(project)
    call_command("migrate", verbosity=0)
    assert not needs_reindex(project)
    assert Index.objects.get(project=project).analyser == ANALYSER_VERSION
    assert sections.isdisjoint(Section.objects.filter(document__project=project).values_list("pk", flat=True))
    assert len(page_search.find(project, "ferret")) == 5


def test_an_ingest_after_another_release_indexes_every_page(make_project):
    project = make_project().project
    ingest(project, ferrets("alpha"))
    Index.objects.filter(project=project).update(analyser="1.1")
    summary = ingest(project, ferrets("alpha"))
    assert (summary.changed, summary.unchanged) == (5, 0)


def test_reindex_prints_what_it_did(make_project):
    tenant = make_project()
    out = io.StringIO()
    call_command("reindex", tenant.domain, stdout=out)
    assert "nothing was ingested yet" in out.getvalue()
    ingest(tenant.project, ferrets("alpha"))
    call_command("reindex", tenant.domain, stdout=out)
    assert "5 pages, 5 sections indexed again" in out.getvalue()
    with pytest.raises(CommandError, match="There is no project nobody"):
        call_command("reindex", "nobody")


WORDS = ["zebra", "walrus", "use-chat", "useChat", "Konfiguration", "django.db.models", "--no-cache", "C++", "the"]
WORDS += ["running", "runs", "安装", "naïve", "42"]


@pytest.mark.matrix
@pytest.mark.parametrize("seed", first_of(range(3), 1))
def test_counts_after_many_edits_are_those_of_a_fresh_index(make_project, seed):
    rng = random.Random(seed)
    edited, fresh = make_project().project, make_project().project

    def text() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randrange(1, 8)))

    def made(number: int) -> Page:
        parts = "".join(f"\n\n## {text()}\n\n{text()}" for _ in range(rng.randrange(4)))
        more = {"language": rng.choice(["", "de", "en"]), "tags": (text(),), "keywords": (text(),)}
        return Page(f"{number}", f"/p{number}/{WORDS[number % 5]}", f"# {text()}\n\n{text()}{parts}", **more)

    pages = {number: made(number) for number in range(12)}
    ingest(edited, pages.values())
    for _ in range(6):
        for number in rng.sample(range(20), 5):
            if number in pages and rng.random() < 0.5:
                del pages[number]
            else:
                pages[number] = made(number)
        ingest(edited, pages.values())
    ingest(fresh, pages.values())

    def counts(project) -> IndexVocabulary:
        return IndexVocabulary.decode(bytes(Index.objects.get(project=project).vocabulary))

    assert counts(edited) == counts(fresh)
    for word in WORDS:
        found = [[(hit.path, hit.score) for hit in page_search.find(site, word, limit=50)] for site in (edited, fresh)]
        assert found[0] == found[1], word

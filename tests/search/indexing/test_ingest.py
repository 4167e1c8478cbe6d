"""Ingest: unchanged pages are skipped, vanished ones removed, bad files named, and no index is ever half built."""

import io
import json
import signal
import threading
import time
from dataclasses import replace
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command

from docsite.core.paths import normalize
from search.indexing import changes, time_limit
from search.indexing.ingest import ingest
from search.models import Document, Source
from search.retrieval import page_search
from search.sources import Draft, ExcludedPage, Page, UnreadablePage
from search.sources.markdown.folder import read_folder, read_manifest
from search.stored_sources import queue, runs
from tests.conftest import PATIENCE
from tests.variants import first_of


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.md").write_text("---\ntitle: Alpha\n---\n# Alpha\n\nThe zebra page.\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.md").write_text("# Beta\n\nThe walrus page.\n")
    return tmp_path


def run(domain, folder, *options) -> dict:
    out = io.StringIO()
    call_command("ingest", domain, str(folder), *options, "--json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


def counts(summary: dict) -> tuple[int, ...]:
    return tuple(summary[name] for name in ("added", "changed", "unchanged", "removed"))


@pytest.mark.slow
def test_a_second_ingest_reads_only_what_changed(make_project, folder):
    tenant = make_project()
    assert counts(run(tenant.domain, folder)) == (2, 0, 0, 0)
    assert counts(run(tenant.domain, folder)) == (0, 0, 2, 0)
    (folder / "a.md").write_text("# Alpha\n\nThe giraffe page.\n")
    assert counts(run(tenant.domain, folder)) == (0, 1, 1, 0)
    assert page_search.find(tenant.project, "zebra") == []
    assert [hit.path for hit in page_search.find(tenant.project, "giraffe")] == ["/a"]
    (folder / "b" / "index.md").unlink()
    assert counts(run(tenant.domain, folder)) == (0, 0, 1, 1)
    assert page_search.find(tenant.project, "walrus") == []


def test_paths_titles_and_facets_come_from_the_file(make_project, folder):
    tenant = make_project()
    (folder / "c.md").write_text(
        "---\ntitle: Gamma\nversion: 1.0\nlanguage: de\ntags: [x, y]\ndescription: Über Gamma\n---\nText.\n"
    )
    run(tenant.domain, folder)
    found = {document.path: document for document in tenant.project.documents.all()}
    assert set(found) == {"/a", "/b", "/c"}
    assert [found[path].title for path in ("/a", "/b", "/c")] == ["Alpha", "Beta", "Gamma"]
    gamma = found["/c"]
    assert (gamma.version, gamma.language, gamma.tags, gamma.description) == ("1.0", "de", ["x", "y"], "Über Gamma")


@pytest.mark.matrix
def test_bad_files_are_named_and_skipped(make_project, folder):
    tenant = make_project()
    run(tenant.domain, folder)
    (folder / "a.md").write_bytes(b"\xff\xfe not text")
    (folder / "yaml.md").write_text("---\ntitle: [\n---\nx\n")
    (folder / "list.md").write_text("---\n- a\n---\nx\n")
    (folder / "b.md").write_text("# Beta twice\n")
    (folder / "half.md").write_text('---\ntitle: "\\ud800 x"\n---\nx\n')
    (folder / "deep.md").write_text("---\nx: " + "[" * 3000 + "\n---\nx\n")
    (folder / "outside.md").symlink_to("/etc/hostname")
    (folder / ".hidden.md").write_text("# Hidden\n")
    summary = run(tenant.domain, folder)
    reasons = {item["file"]: item["reason"] for item in summary["skipped"]}
    assert reasons == {
        "a.md": "is not UTF-8",
        "b.md": "path /b is already taken by b/index.md",
        "outside.md": "lies outside the source folder",
        "half.md": "contains a NUL character or half of a surrogate pair",
    }
    assert tenant.project.documents.filter(path__in=("/yaml", "/list", "/deep")).count() == 3
    assert [hit.path for hit in page_search.find(tenant.project, "zebra")] == ["/a"], "the last good state stays"


ODD = ("\0", "\ud800", "\udce4")


@pytest.mark.parametrize("odd", first_of(ODD, 1))
@pytest.mark.parametrize(
    "field",
    first_of(
        ["origin", "path", "markdown", "title", "description", "version", "language", "tags", "keywords", "address"], 1
    ),
)
def test_one_odd_text_costs_its_own_page_only(make_project, field, odd):
    project = make_project().project
    good = Page("good.md", "/good", "# Good\n")
    found = (odd,) if field in ("tags", "keywords") else f"/a{odd}"
    summary = ingest(project, [replace(good, **{"origin": "odd.md", "path": "/odd", field: found}), good])
    assert set(project.documents.values_list("path", flat=True)) == {"/good"}
    origin = "/a\ufffd" if field == "origin" else "odd.md"
    assert [(bad.origin, bad.reason) for bad in summary.skipped] == [
        (origin, "contains a NUL character or half of a surrogate pair")
    ]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.stores
def test_notes_about_odd_files_can_be_stored(make_project, odd):
    notes = [UnreadablePage(f"a{odd}", f"is {odd}"), ExcludedPage(f"b{odd}", f"is {odd}")]
    project = make_project().project
    source = Source.objects.create(project=project, name="docs", location="/x")
    assert queue.claim(source)
    with patch.object(runs, "read", lambda reading: iter([*notes, Page("good.md", "/good", "# Good\n")])):
        runs.run(source)
    source.refresh_from_db()
    assert source.outcome["skipped"] == [{"file": "a\ufffd", "reason": "is \ufffd"}]
    assert source.outcome["leftOut"] == [{"file": "b\ufffd", "reason": "is \ufffd"}]


def test_pages_with_paths_that_are_too_long_are_named(make_project):
    project = make_project().project
    ends = ["x" * 500, "x" * 398, "x" * 398 + "/y", "x" * 397]
    items = [Page(f"{number}.md", normalize(end), "# X\n") for number, end in enumerate(ends)]
    summary = ingest(project, items)
    reason = "has a path of more than 398 characters"
    assert summary.skipped == [UnreadablePage(f"{number}.md", reason) for number in range(3)]
    assert summary.added == 1


def test_front_matter_is_text_whatever_it_looks_like(make_project, folder):
    tenant = make_project()
    (folder / "c.md").write_text("---\ntitle: 2026-01-01\nversion: 1.10\nflag: !!bool foo\nx: !!int ''\n---\nx\n")
    run(tenant.domain, folder)
    page = tenant.project.documents.get(path="/c")
    assert (page.title, page.version) == ("2026-01-01", "1.10")


def bomb(levels: int, field: str) -> str:
    lines = ["a0: &a0 [xxxxxxxx,xxxxxxxx]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels + 1)]
    return "\n".join([*lines, field])


@pytest.mark.parametrize(
    ("front", "detail"),
    [
        (bomb(8, "title: *a8"), "`title` is not text"),
        (bomb(1, "title: *a1"), "`title` is not text"),
        (bomb(8, "tags: *a8"), "`tags` are not a list of words"),
        (bomb(8, "keywords: [x, *a8]"), "`keywords` are not a list of words"),
        ("tag: &a [*a]", "line 2 is not YAML: tag: &a [*a]"),
        ("description: {a: b}", "`description` is not text"),
        ("version: [1, 2]", "`version` is not text"),
        ("language: []", "`language` is not text"),
    ],
)
def test_what_is_nested_is_no_text(tmp_path, front, detail):
    (tmp_path / "a.md").write_text(f"---\n{front}\n---\nx\n")
    (draft,) = read_folder(tmp_path)
    assert [problem.detail for problem in draft.build().problems] == [detail]


def test_front_matter_has_a_limit(tmp_path):
    (tmp_path / "a.md").write_text(f"---\nx: {'y' * 65536}\n---\nx\n")
    assert list(read_folder(tmp_path)) == [UnreadablePage("a.md", "its front matter is larger than 64 KiB", "/a")]


def test_what_is_nested_elsewhere_does_no_harm(tmp_path):
    (tmp_path / "a.md").write_text(f"---\n{bomb(8, 'boost: *a8')}\napi: *a8\nsearch: *a8\ntitle: T\n---\nx\n")
    (draft,) = read_folder(tmp_path)
    page = draft.build()
    assert isinstance(page, Page)
    assert (page.title, page.boost) == ("T", 1.0)


def test_tags_and_keywords_have_an_end(tmp_path):
    tags = ", ".join(f"t{n}" for n in range(300))
    (tmp_path / "a.md").write_text(f"---\ntags: {tags}\ntag: [more]\nkeywords: [{'k' * 300}]\n---\nx\n")
    (draft,) = read_folder(tmp_path)
    page = draft.build()
    assert isinstance(page, Page)
    assert page.tags == tuple(f"t{n}" for n in range(100))
    assert page.keywords == ("k" * 100,)


def test_a_manifest_gives_text_too(tmp_path):
    (tmp_path / "a.md").write_text("x")
    given = [{"title": ["x"]}, {"version": {"x": 1}}, {"tags": [["x"]]}, {"tags": [None]}, {"version": 2, "tags": [3]}]
    manifest = tmp_path / "pages.jsonl"
    manifest.write_text("\n".join(json.dumps({"path": "a", "file": "a.md", **values}) for values in given))
    *bad, draft = read_manifest(tmp_path, manifest)
    assert [problem.detail for one in bad for problem in one.build().problems] == [
        *("`title` is not text", "`version` is not text"),
        *["`tags` are not a list of words"] * 2,
    ]
    page = draft.build()
    assert isinstance(page, Page)
    assert (page.version, page.tags) == ("2", ("3",))


def test_a_link_leads_to_its_page_whatever_its_name(make_project, folder):
    tenant = make_project()
    for name in ("with space", "c#", "50%", "paren(x)", "ünder"):
        (folder / f"{name}.md").write_text(f"# {name}\n\n## The aardvark (1)\n\naardvark\n")
    run(tenant.domain, folder)
    hits = page_search.find(tenant.project, "aardvark", limit=10)
    assert {hit.path for hit in hits} == {"/with space", "/c#", "/50%", "/paren(x)", "/ünder"}
    assert {hit.url.removeprefix("https://docs.acme.example").partition("#")[0] for hit in hits} == {
        *("/with%20space", "/c%23", "/50%25", "/paren%28x%29", "/%C3%BCnder"),
    }
    for hit in hits:
        assert normalize(hit.url) == hit.path


@pytest.mark.stores
def test_two_ingests_at_once_do_not_mix(make_project, folder):
    tenant = make_project()

    def pages():
        yield from read_folder(folder)
        run(tenant.domain, folder)  # another one finishes while this one still reads

    with pytest.raises(ValueError, match="another ingest"):
        ingest(tenant.project, pages())
    assert tenant.project.documents.count() == 2


def test_a_manifest_lists_pages_and_wins_over_front_matter(make_project, folder):
    tenant = make_project()
    lines = [
        {"path": "guide/first", "file": "a.md", "format": "md", "title": "First", "version": "3", "tags": ["t"]},
        {"path": "/guide/second/", "file": "b/index.md", "language": "en"},
        {"path": "x", "file": "missing.md"},
        {"path": "y", "file": "../../etc/passwd"},
        {"path": "z", "file": "a.md", "format": "docx"},
        {"file": "a.md"},
        {"path": "nul", "file": "a\0b"},
        {"path": "half", "file": "a.md", "title": "\ud800"},
    ]
    manifest = folder / "pages.jsonl"
    manifest.write_text("\n".join(json.dumps(line) for line in lines) + "\nnot json\n")
    summary = run(tenant.domain, folder, "--manifest", str(manifest))
    assert counts(summary) == (2, 0, 0, 0)
    assert len(summary["skipped"]) == 7
    first = tenant.project.documents.get(path="/guide/first")
    assert (first.title, first.version, first.tags) == ("First", "3", ["t"])
    assert tenant.project.documents.filter(path="/guide/second").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nobody", "."), "There is no project nobody"),
        (("DOMAIN", "/no/such/folder"), "is neither a folder nor a file"),
        (("DOMAIN", "http://0177.0.0.1/"), "is no address"),
        (("DOMAIN", "manage.py"), "is no archive"),
        (("DOMAIN", "manage.py", "--manifest", "manage.py"), "--manifest needs a folder"),
        (("DOMAIN", ".", "--manifest", "/no/file"), "is not a file"),
    ],
)
def test_errors_are_sentences(make_project, arguments, says):
    domain = make_project().domain
    with pytest.raises(CommandError, match=says):
        call_command("ingest", *[domain if argument == "DOMAIN" else argument for argument in arguments])


def test_an_empty_source_changes_nothing(make_project, folder, tmp_path_factory):
    tenant = make_project()
    run(tenant.domain, folder)
    with pytest.raises(CommandError, match="nothing was changed"):
        run(tenant.domain, tmp_path_factory.mktemp("empty"))
    assert tenant.project.documents.count() == 2


@pytest.mark.stores
def test_readers_never_see_half_an_index(make_project, tmp_path):
    tenant = make_project()
    for number in range(60):
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\nherd one\n")
    ingest(tenant.project, read_folder(tmp_path))
    seen: set[tuple[int, int]] = set()
    stop = threading.Event()

    def look() -> None:
        from django.db import connection

        while not stop.is_set():
            ones = len(page_search.find(tenant.project, "herd", limit=100))
            with_two = Document.objects.filter(project=tenant.project, content__contains="two").count()
            seen.add((ones, with_two))
        connection.close()

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for number in range(60):
            (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\nherd two\n")
        ingest(tenant.project, read_folder(tmp_path))
    finally:
        stop.set()
        reader.join()
    assert {ones for ones, _ in seen} == {60}
    assert {twos for _, twos in seen} <= {0, 60}


@pytest.mark.parametrize("step", first_of(["draft", "sections"], 1))
def test_a_page_that_takes_too_long_costs_itself_only(make_project, monkeypatch, step):
    def read_for_ever(*_) -> Page:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                sum(range(1_000))
            except Exception:  # as a parser that goes on after any mistake
                raised.append(step)
                if len(raised) > 1:
                    raise
        raise AssertionError("nothing ended it")

    def split(markdown, title):
        return read_for_ever() if "endless" in markdown else real_split(markdown, title)

    raised: list[str] = []
    real_split = changes.sections.split
    monkeypatch.setattr(time_limit, "MAX_PAGE_SECONDS", 0.2)
    if step == "sections":
        monkeypatch.setattr(changes.sections, "split", split)
    slow = Draft("slow.md", "/slow", "1", read_for_ever) if step == "draft" else Page("slow.md", "/slow", "endless")
    tenant = make_project()
    summary = ingest(tenant.project, [slow, Page("a.md", "/a", "The zebra page.")])
    assert [(page.path, page.reason) for page in summary.skipped] == [("/slow", "takes too long to read")]
    assert [hit.path for hit in page_search.find(tenant.project, "zebra")] == ["/a"]
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)


@pytest.mark.parametrize("name", first_of(["page.html", "page.md", "page.rst"], 1))
def test_a_page_of_combining_marks_is_read(make_project, tmp_path, name):
    run_of_marks = "a" + "\u0316\u0301" * 128_000
    address = f"http://a{'&#x316;&#x301;' * 64_000}"
    pages = {
        "page.md": f"# Zebra {run_of_marks}\n\nThe zebra page [leads]({address}).\n",
        "page.html": f"<main><h1>Zebra {run_of_marks}</h1><p>The zebra page <a href='{address}'>leads</a></p></main>",
        "page.rst": f"Zebra\n=====\n\nThe zebra page.\n\n.. _{run_of_marks}:\n\n{run_of_marks}\n{'-' * 300_000}\n",
    }
    (tmp_path / name).write_text(pages[name])
    if name == "page.rst":
        (tmp_path / "conf.py").write_text(f"project = 'Zoo'\n{run_of_marks} = 1\n")
    tenant, out = make_project(), io.StringIO()
    began = time.process_time()
    call_command("ingest", tenant.domain, str(tmp_path), stdout=out, stderr=io.StringIO())
    assert time.process_time() - began < 5
    assert "1 added, 0 changed, 0 unchanged, 0 removed, 0 skipped" in out.getvalue()
    assert [hit.title[:5] for hit in page_search.find(tenant.project, "zebra")] == ["Zebra"]


def test_other_threads_have_no_time_limit(make_project):
    tenant = make_project()
    thread = threading.Thread(target=ingest, args=(tenant.project, [Page("a.md", "/a", "The zebra page.")]))
    with patch("search.indexing.time_limit.signal.setitimer") as timer:
        thread.start()
        thread.join()
    assert not timer.called

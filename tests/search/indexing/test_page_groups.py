"""Which readers a page is for: what pages, folders and sources say, and how a change reaches the index."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from docsite.core.access.readers import decode_groups, encode_groups, narrow, parse_groups, read_as, reader_groups
from search.indexing.ingest import apply_groups, ingest, reindex
from search.indexing.outcome import IngestRefused
from search.indexing.page_groups import GroupRules, find_hidden, parse_folders
from search.models import Document, Generation, SearchSettings, SectionVector, Source
from search.sources import Page, UnreadablePage
from search.sources.markdown.folder import read_folder, read_manifest
from search.sources.rst import convert
from search.sources.sphinx import folder as sphinx


def page(path: str, groups: tuple[str, ...] | None = None, words: str = "the valve is open") -> Page:
    return Page(path, path, f"# Page {path}\n\nOn {path}, {words}.", groups=groups)


def groups_of(project: Any) -> dict[str, tuple[str, ...]]:
    return {document.path: document.group_names for document in Document.indexed.filter(project=project)}


def seen(project: Any, *groups: str) -> set[str]:
    with read_as(frozenset(groups)):
        return set(Document.objects.filter(project=project).values_list("path", flat=True))


def set_folders(project: Any, lines: str) -> None:
    SearchSettings.objects.update_or_create(project=project, defaults={"folder_groups": lines})


@pytest.fixture
def tenant(make_project: Any) -> Any:
    return make_project().project


def test_code_that_sets_no_reader_sees_public_pages_only(tenant: Any) -> None:
    ingest(tenant, [page("/a"), page("/b", ("staff",)), page("/c", ("staff", "partners"))])
    assert reader_groups() == frozenset()
    assert set(Document.objects.filter(project=tenant).values_list("path", flat=True)) == {"/a"}
    assert {document.path for document in tenant.documents.all()} == {"/a"}
    assert seen(tenant, "partners") == {"/a", "/c"}
    assert seen(tenant, "staff") == {"/a", "/b", "/c"}
    assert seen(tenant, "sta", "s%", "_taff") == {"/a"}
    with read_as(None):
        assert Document.objects.filter(project=tenant).count() == 3


def test_the_page_decides_before_its_folder_and_the_folder_before_its_source(tenant: Any) -> None:
    set_folders(tenant, "# comments\n/Inner: partners\n/inner/open: public\n")
    source = Source.objects.create(project=tenant, name="docs", location="x", groups="Staff")
    pages = [page("/a"), page("/inner"), page("/inner/b"), page("/inner/open/c"), page("/innermost"), page("/INNER/d")]
    ingest(tenant, [*pages, page("/inner/e", ("a", "b")), page("/inner/f", ())], source=source)
    assert groups_of(tenant) == {
        "/a": ("staff",),
        "/inner": ("partners",),
        "/inner/b": ("partners",),
        "/inner/open/c": (),
        "/innermost": ("staff",),
        "/INNER/d": ("partners",),
        "/inner/e": ("a", "b"),
        "/inner/f": (),
    }


def test_what_a_command_reads_has_the_groups_of_its_row(tenant: Any) -> None:
    Source.objects.create(project=tenant, name="", by_command=True, groups="staff")
    ingest(tenant, [page("/a")])
    assert groups_of(tenant) == {"/a": ("staff",)}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("internal: staff", "Line 1: write a path"),
        ("/internal staff", "Line 1: write a path"),
        ("/internal: ,", "Line 1: write a path"),
        (f"/internal: {'x' * 65}", "Line 1 has a group that is not"),
        (f"/internal: {', '.join(map(str, range(51)))}", "Line 1 has more than 50 groups"),
        ("\n".join(f"/{n}: a" for n in range(201)), "There are more than 200 folders"),
    ],
)
def test_wrong_rules_of_folders_are_named(line: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        parse_folders(line)


def test_a_change_of_groups_takes_effect_with_the_next_ingest_and_keeps_vectors(tenant: Any) -> None:
    pages = [page("/a"), page("/in/b")]
    ingest(tenant, pages)
    digests = set(Document.indexed.filter(project=tenant).values_list("sections__digest", flat=True))
    SectionVector.objects.create(project=tenant, model="m", digest=min(digests), vector=b"\1")
    set_folders(tenant, "/in: staff")
    summary = ingest(tenant, pages)
    assert (summary.changed, summary.unchanged) == (1, 1)
    assert seen(tenant) == {"/a"}
    assert set(Document.indexed.filter(project=tenant).values_list("sections__digest", flat=True)) == digests
    set_folders(tenant, "")
    ingest(tenant, pages)
    assert seen(tenant) == {"/a", "/in/b"}
    assert SectionVector.objects.filter(project=tenant).count() == 1


def test_new_rules_are_applied_to_stored_pages_without_their_source(tenant: Any) -> None:
    ingest(tenant, [page("/a"), page("/in/b"), page("/in/c", ())])
    set_folders(tenant, "/in: staff")
    assert seen(tenant) == {"/a", "/in/b", "/in/c"}
    before = Document.indexed.get(project=tenant, path="/a").pk
    assert apply_groups(tenant)
    assert seen(tenant) == {"/a", "/in/c"}
    assert Document.indexed.get(project=tenant, path="/a").pk == before, "only pages whose groups change are replaced"
    number = Generation.objects.get(project=tenant).number
    assert apply_groups(tenant)
    assert Generation.objects.get(project=tenant).number == number, "nothing changed"
    reindex(tenant)
    assert groups_of(tenant) == {"/a": (), "/in/b": ("staff",), "/in/c": ()}


@pytest.mark.stores
def test_rules_wait_for_an_ingest_that_runs(tenant: Any) -> None:
    ingest(tenant, [page("/a")])
    Document.every.create(project=tenant, path="/b", title="b", content="b", digest="b", build="running")
    assert not apply_groups(tenant)
    Document.every.filter(project=tenant, build="running").update(ingested_at=timezone.now() - timedelta(hours=1))
    assert apply_groups(tenant), "one that died holds up nothing"


@pytest.mark.parametrize("end", ["preview", "refused"])
def test_rules_that_change_while_a_source_is_read_hold_at_its_end(tenant: Any, end: str) -> None:
    """Also when the run changes nothing else."""
    ingest(tenant, [page("/a"), page("/in/b")])

    def items() -> Any:
        set_folders(tenant, "/in: staff")
        yield from [page("/a"), page("/in/b")] if end == "preview" else []

    if end == "preview":
        ingest(tenant, items(), is_preview=True)
    else:
        with pytest.raises(IngestRefused):
            ingest(tenant, items())
    assert seen(tenant) == {"/a"}


def test_front_matter_and_manifests_name_groups(tenant: Any, tmp_path: Path) -> None:
    texts = {
        "list": "groups: [Staff, partners]",
        "text": "groups: staff, partners",
        "block": "groups:\n  - staff",
        "none": "title: x",
        "empty": "groups: []",
        "blank": "groups:",
        "wrong": "groups: {a: b}",
        "long": f"groups: {'x' * 65}",
    }
    for name, front in texts.items():
        (tmp_path / f"{name}.md").write_text(f"---\n{front}\n---\n\n# {name}\n\nThe valve is open.\n")
    items = {item.path: item.build() if hasattr(item, "build") else item for item in read_folder(tmp_path)}
    assert {path: item.groups for path, item in items.items() if isinstance(item, Page)} == {
        "/list": ("staff", "partners"),
        "/text": ("staff", "partners"),
        "/block": ("staff",),
        "/none": None,
        "/empty": (),
        "/blank": None,
    }
    assert {path for path, item in items.items() if isinstance(item, UnreadablePage)} == {"/wrong", "/long"}
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_text('{"path": "/m", "file": "none.md", "groups": ["a"]}\n{"path": "/n", "file": "list.md"}\n')
    built = {item.path: item.build() for item in read_manifest(tmp_path, manifest) if hasattr(item, "build")}
    assert {path: one.groups for path, one in built.items()} == {"/m": ("a",), "/n": ("staff", "partners")}


def test_a_page_that_becomes_protected_is_another_page(tenant: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A\n\nThe valve is open.\n")
    ingest(tenant, read_folder(tmp_path))
    file.write_text("---\ngroups: [staff]\n---\n\n# A\n\nThe valve is open.\n")
    assert ingest(tenant, read_folder(tmp_path)).changed == 1
    assert (seen(tenant), seen(tenant, "staff")) == (set(), {"/a"})


def test_pages_of_sphinx_name_groups(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text("extensions = ['myst_parser']\n")
    (tmp_path / "index.rst").write_text(":groups: staff, partners\n\nHome\n====\n\nThe valve is open.\n")
    (tmp_path / "myst.md").write_text("---\ngroups: [staff]\n---\n\n# MyST\n\nThe valve is open.\n")
    (tmp_path / "open.md").write_text("---\ngroups: []\n---\n\n# Open\n\nThe valve is open.\n")
    (tmp_path / "none.md").write_text("# None\n\nThe valve is open.\n")
    from search.sources.request import SourceRequest

    items = list(sphinx.read(SourceRequest(str(tmp_path), "https://docs.acme.example")))
    built = {item.path: item.build() for item in items if hasattr(item, "build")}
    assert {path: one.groups for path, one in built.items() if isinstance(one, Page)} == {
        "/": ("staff", "partners"),
        "/myst": ("staff",),
        "/open": ("public",),
        "/none": None,
    }


def test_a_page_that_cannot_be_parsed_keeps_its_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    from search.sources import rst

    sources = (":groups: staff\n\nA\n", ":Groups: staff\n\nA\n", ".. meta::\n   :Groups: staff\n\nA\n")
    assert [convert(source).meta["groups"] for source in sources] == ["staff"] * 3
    monkeypatch.setattr(rst, "_parse", lambda *arguments: 1 / 0)
    assert [convert(source).meta for source in sources] == [{"groups": "staff"}] * 3
    assert convert("Home\n====\n").meta == {}


def test_hidden_paths_include_those_of_no_page_in_a_protected_folder(tenant: Any) -> None:
    set_folders(tenant, "/in: staff")
    ingest(tenant, [page("/a"), page("/in/b"), page("/c", ("partners",))])
    paths = ["/a", "/in/b", "/in/gone", "/c", "/elsewhere"]
    assert find_hidden(tenant, paths) == {"/in/b", "/in/gone", "/c"}
    with read_as(frozenset(["staff"])):
        assert find_hidden(tenant, paths) == {"/c"}
    with read_as(None):
        assert find_hidden(tenant, paths) == set()


def test_a_filter_narrows_and_never_grants() -> None:
    with read_as(frozenset(["a", "b"])):
        assert narrow(None) == {"a", "b"}
        assert narrow(["A", "c"]) == {"a"}
        assert narrow([]) == frozenset()
    assert narrow(["a"]) == frozenset()
    with read_as(None):
        assert narrow(["a"]) == {"a"}


@pytest.mark.stores
def test_groups_survive_their_column() -> None:
    assert decode_groups(encode_groups(parse_groups("Docs Team, Équipe,, a.b/c:d "))) == (
        "docs team",
        "équipe",
        "a.b/c:d",
    )
    assert encode_groups(["staff", "public"]) == "", "a page for everybody is public"
    assert GroupRules({}, {}).find("/a", None, None) == ""

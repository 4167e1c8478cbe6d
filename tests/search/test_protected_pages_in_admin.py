"""Protected pages in the admin: rules of folders, groups of sources, pages by group, the test of a query, `ingest`."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from docsite.core.access.readers import read_as
from search.indexing.ingest import ingest
from search.models import Document, SearchSettings, Source
from search.sources import Page


@pytest.fixture
def address(project: Any) -> str:
    pages = [
        Page("a", "/a", "# A\n\nThe valve is open."),
        Page("b", "/in/b", "# B\n\nThe valve in the vault is open."),
        Page("c", "/c", "# C\n\nThe valve of partners.", groups=("partners",)),
    ]
    ingest(project.project, pages)
    return f"/admin/project/{project.domain}"


def public(project: Any) -> set[str]:
    return set(Document.objects.filter(project=project.project).values_list("path", flat=True))


def revision(client: Any, page: str) -> str:
    return re.search(r'name="revision" value="(\w+)"', client.get(page).content.decode())[1]


def test_an_owner_protects_a_folder_at_once(people: Any, project: Any, address: str) -> None:
    page = f"{address}/protected"
    assert public(project) == {"/a", "/in/b"}
    lines = {"lines": "/in: Staff, partners\r\n", "revision": revision(people.owner, page)}
    response = people.owner.post(page, lines, follow=True)
    html = response.content.decode()
    assert "The pages of the index have the new groups." in html
    assert public(project) == {"/a"}
    assert SearchSettings.objects.get(project=project.project).folder_groups == "/in: Staff, partners"
    rows = dict(re.findall(r'>(\w+)</a></th><td class="number">(\d+)<', html))
    assert rows == {"staff": "1", "partners": "2"}
    assert "2 protected pages, 1 public page." in html
    link = re.search(r'<a href="([^"]+)">staff</a>', html)[1].replace("&amp;", "&")
    listed = people.teammate.get(link).content.decode()
    assert "/in/b" in listed
    assert ">/c<" not in listed
    assert "staff, partners" in listed
    people.owner.post(page, {"lines": "", "revision": revision(people.owner, page)})
    assert public(project) == {"/a", "/in/b"}


def test_wrong_rules_and_older_pages_change_nothing(people: Any, project: Any, address: str) -> None:
    page = f"{address}/protected"
    old = revision(people.owner, page)
    wrong = people.owner.post(page, {"lines": "in staff", "revision": old})
    assert wrong.status_code == 400
    assert "Line 1: write a path and groups" in wrong.content.decode()
    SearchSettings.objects.update_or_create(project=project.project, defaults={"folder_groups": "/x: y"})
    late = people.owner.post(page, {"lines": "/in: staff", "revision": old})
    assert "Somebody else has changed these lines" in late.content.decode()
    assert SearchSettings.objects.get(project=project.project).folder_groups == "/x: y"


def test_a_stranger_finds_nothing(people: Any, project: Any, address: str) -> None:
    page = f"{address}/protected"
    assert people.stranger.get(page).status_code == 404
    assert people.stranger.post(page, {"lines": "/in: staff"}).status_code == 404
    assert public(project) == {"/a", "/in/b"}


@pytest.mark.slow
def test_groups_of_a_source_apply_when_they_are_saved(people: Any, project: Any, address: str) -> None:
    source = Source.objects.create(project=project.project, name="docs", location="https://docs.acme.example/")
    ingest(project.project, [Page("d", "/d", "# D\n\nThe valve.")], source=source)
    form = {"location": source.location, "schedule": "", "generator": "", "under": "", "version": "", "language": ""}
    edit = f"/admin/search/source/{source.pk}/change/"
    wrong = people.owner.post(edit, {**form, "groups": "x" * 65})
    assert "This has a group that is not 1 to 64 printable characters" in wrong.content.decode()
    assert people.owner.post(edit, {**form, "groups": "staff"}).status_code == 302
    assert "/d" not in public(project)


def test_a_query_is_tested_as_a_reader(people: Any, project: Any, address: str) -> None:
    def found(groups: str) -> set[str]:
        html = people.owner.get(f"{address}/searches/test", {"query": "valve", "groups": groups}).content.decode()
        return set(re.findall(r"https://docs\.acme\.example(/[\w/]+)", html))

    assert found("") == {"/a", "/in/b", "/c"}
    assert found("public") == {"/a", "/in/b"}
    assert found("Partners") == {"/a", "/in/b", "/c"}
    wrong = people.owner.get(f"{address}/searches/test", {"query": "valve", "groups": "x" * 65}).content.decode()
    assert "The reader has a group that is not" in wrong


@pytest.mark.matrix
def test_ingest_takes_groups_and_keeps_them_until_it_is_told_others(project: Any, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nThe valve.")

    def run(*options: str) -> set[str]:
        call_command("ingest", project.domain, str(folder), "--json", *options)
        return public(project)

    assert run("--groups", "staff") == set()
    assert run() == set(), "a command without groups makes no page public"
    assert run("--groups", "public") == {"/a"}
    with pytest.raises(CommandError, match="groups: This has a group"):
        run("--groups", "x" * 65)
    with pytest.raises(CommandError, match="groups: This has a group"):
        run("--groups", "x" * 65, "--name", "other")


@pytest.mark.matrix
def test_rules_that_change_during_an_ingest_hold_at_its_end(project: Any, address: str) -> None:
    def pages() -> Any:
        yield Page("a", "/a", "# A\n\nThe valve is closed.")
        SearchSettings.objects.update_or_create(project=project.project, defaults={"folder_groups": "/a: staff"})

    ingest(project.project, pages())
    assert public(project) == set()
    with read_as(None):
        assert Document.objects.filter(project=project.project).count() == 1

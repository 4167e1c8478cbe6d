"""A pushed source in the admin, and for the commands that read sources."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from search.models import PushedFile, Source
from search.pushes.run import Push, run
from tests.search.pushes.archives import PAGES, paths, tar


@pytest.fixture
def pushed(make_project, project, tmp_path):
    """The source `handbook` of the project, pushed to it."""
    file = tmp_path / "body"
    file.write_bytes(tar({f"docs/new/{name[5:]}": content for name, content in PAGES.items()}))
    with file.open("rb") as stream:
        run(Push(project.project.pk, "handbook"), stream, lambda report: None)
    return Source.objects.get(project=project.project, name="handbook")


def page(name, *arguments):
    return reverse(f"admin:search_source_{name}", args=arguments)


@pytest.mark.matrix
def test_it_is_listed_as_pushed_with_its_last_push_and_cannot_be_read(people, pushed):
    for person in (people.owner, people.teammate):
        listed = person.get(page("changelist")).content.decode()
        assert "handbook" in listed
        assert "Pushed" in listed
        shown = person.get(page("change", pushed.pk)).content.decode()
        assert "Last push" in shown
        assert "2 added" in shown
        assert "with the next push" in shown
        assert "Read again now" not in shown
        assert 'name="location"' not in shown
        assert person.post(page("read", pushed.pk)).status_code == 405
        person.post(page("changelist"), {"action": "read_chosen", "_selected_action": [pushed.pk]})
    pushed.refresh_from_db()
    assert (pushed.state, pushed.due_at) == ("done", None)


def test_strangers_see_nothing_of_it(people, pushed):
    assert "handbook" not in people.stranger.get(page("changelist")).content.decode()
    assert people.stranger.get(page("state", pushed.pk)).status_code == 404
    assert people.stranger.post(page("delete", pushed.pk), {"post": "yes"}).status_code == 302
    assert Source.objects.filter(pk=pushed.pk).exists()


def test_an_owner_deletes_it_with_its_pages_and_files(people, project, pushed):
    assert {"/", "/new", "/new/install", "/install"} & paths(project) == {"/", "/new", "/new/install", "/install"}
    people.owner.post(page("delete", pushed.pk), {"post": "yes"})
    assert not Source.objects.filter(pk=pushed.pk).exists()
    assert not PushedFile.objects.filter(source=pushed.pk).exists()
    assert {"/new", "/new/install"} & paths(project) == set()
    assert "/install" in paths(project)


def test_commands_leave_it_alone(project, pushed, acme_docs):
    with pytest.raises(CommandError, match="handbook is a pushed source"):
        call_command("ingest", project.domain, str(acme_docs), "--name", "handbook", stdout=io.StringIO())
    with pytest.raises(CommandError, match="handbook is a pushed source"):
        call_command("ingest", project.domain, "--name", "handbook", stdout=io.StringIO())
    with pytest.raises(CommandError, match="has no stored sources"):
        call_command("ingest", project.domain, stdout=io.StringIO())
    assert "/new/install" in paths(project)

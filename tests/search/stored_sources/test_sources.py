"""Stored sources: several in one index, their admin pages, and each organization sees only its own."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from search.indexing.ingest import ingest
from search.models import Document, Redirect, Source
from search.retrieval import index_state, links, page_search
from search.sources import Page, PageRedirect
from search.stored_sources import queue, runs
from tests.conftest import logged_in
from tests.search.stored_sources.stored_source import (
    NOW,
    State,
    now,
    paths,
    stored,
)
from tests.variants import first_of

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def guide(tmp_path):
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "zebra.md").write_text("# Zebra\n\nStripes.\n")
    (tmp_path / "guide" / "both.md").write_text("# Both\n\nOf the guide.\n")
    return tmp_path / "guide"


@pytest.fixture
def api(tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "walrus.md").write_text("# Walrus\n\nTusks.\n")
    return tmp_path / "api"


def run(domain, *arguments):
    out = io.StringIO()
    call_command("ingest", domain, *map(str, arguments), "--json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


def run_ingest(domain, *arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command("ingest", domain, *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


# Beside each other


def test_two_sources_stand_beside_each_other(tenant, guide, api):
    run(tenant.domain, guide, "--name", "guide")
    found = run(tenant.domain, api, "--name", "api", "--under", "/api", "--version", "2")
    assert (found["source"], found["added"], found["removed"], found["skipped"], found["leftOut"]) == (
        "api",
        1,
        0,
        [],
        [],
    )
    assert paths(tenant) == {"/zebra", "/both", "/api/walrus"}
    assert [hit.path for hit in page_search.find(tenant.project, "zebra")] == ["/zebra"]
    assert [hit.path for hit in page_search.find(tenant.project, "walrsu")] == ["/api/walrus"], (
        "corrected by both's words"
    )
    assert index_state.get_state(tenant.project).vocabulary.sections == 3
    (api / "walrus.md").unlink()
    (api / "seal.md").write_text("# Seal\n\nWhiskers.\n")
    found = run(tenant.domain, "--name", "api")
    assert (found["added"], found["removed"]) == (1, 1)
    assert paths(tenant) == {"/zebra", "/both", "/api/seal"}
    assert not {"walrus", "tusk"} & {*+index_state.get_state(tenant.project).vocabulary.terms}


def test_a_path_belongs_to_the_source_that_had_it_first(tenant, guide, api):
    run(tenant.domain, guide, "--name", "guide")
    (api / "both.md").write_text("# Both\n\nOf the API.\n")
    found = run(tenant.domain, api, "--name", "api")
    assert found["skipped"] == [{"file": "both.md", "reason": "path /both is already taken by the source guide"}]
    assert "Of the guide" in tenant.project.documents.get(path="/both").content


def test_what_was_read_without_a_name_stays_beside_what_has_one(tenant, guide, api):
    run(tenant.domain, guide)
    run(tenant.domain, api, "--name", "api")
    (guide / "both.md").unlink()
    assert run(tenant.domain, guide)["removed"] == 1
    assert paths(tenant) == {"/zebra", "/walrus"}


def test_without_a_source_all_that_are_stored_are_read_again(tenant, guide, api):
    run(tenant.domain, guide, "--name", "guide")
    run(tenant.domain, api, "--name", "api")
    (guide / "new.md").write_text("# New\n")
    assert [(summary["source"], summary["added"], summary["unchanged"]) for summary in run(tenant.domain)] == [
        ("api", 0, 1),
        ("guide", 1, 2),
    ]
    out, _ = run_ingest(tenant.domain)
    assert f"{tenant.domain}, guide: 0 added, 0 changed, 3 unchanged, 0 removed, 0 skipped (" in out
    assert out.endswith(f"See it: open /playground#domain={tenant.domain} on the service\n")


def test_one_that_fails_does_not_keep_the_others_from_being_read(tenant, guide, api):
    run(tenant.domain, guide, "--name", "guide")
    stored(tenant, api / "gone", name="api")
    with pytest.raises(CommandError, match=r"1 of 2 failed: api\."):
        run_ingest(tenant.domain)
    assert now(tenant.project.sources.get(name="guide")).outcome["unchanged"] == 2
    failed = tenant.project.sources.get(name="api")
    assert (failed.state, failed.due_at) == (State.FAILED, None)
    assert "is neither a folder nor a file" in failed.error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "has no stored sources"),
        (("--name", "nobody"), "has no source nobody. There are: none."),
        (("/no/such/folder", "--name", "docs"), "/no/such/folder is neither a folder nor a file"),
        ((".", "--name", "a b"), "name: Enter a valid"),
        ((".", "--name", "docs", "--manifest", "pyproject.toml"), "--manifest needs a folder as SOURCE, and no --name"),
        (("--under", "/api"), "--under needs a SOURCE or a --name"),
        (
            (".", "--under", "/a/../b"),
            r"Write a path such as /api, without \.\., .* 200 characters\.$",
        ),
        ((".", "--under", "/a%3Fb", "--name", "docs"), "under: Write a path such as /api"),
    ],
)
def test_a_source_that_cannot_be_stored_fails_with_a_sentence(tenant, arguments, says):
    with pytest.raises(CommandError, match=says):
        run_ingest(tenant.domain, *arguments)
    assert not tenant.project.sources.exists()


@pytest.mark.matrix
def test_long_lists_of_skipped_pages_are_cut(tenant, guide):
    for number in range(23):
        (guide / f"bad{number}.md").write_bytes(b"\xff")
    _, err = run_ingest(tenant.domain, guide, "--name", "guide")
    assert err.count("is not UTF-8") == 20
    assert "  and 3 more\n" in err
    assert len(run(tenant.domain)[0]["skipped"]) == 23


def test_options_stay_until_others_are_given(tenant, guide):
    run(tenant.domain, guide, "--name", "docs", "--under", "/a", "--language", "de")
    run(tenant.domain, "--name", "docs", "--language", "fr")
    source = tenant.project.sources.get()
    assert (source.location, source.under, source.language) == (str(guide), "/a", "fr")
    assert set(tenant.project.documents.values_list("path", "language")) == {("/a/zebra", "fr"), ("/a/both", "fr")}


@pytest.mark.stores
def test_a_source_goes_with_its_pages_and_redirects(tenant, guide, api):
    run(tenant.domain, guide, "--name", "guide")
    source = stored(tenant, name="moved")
    ingest(tenant.project, [Page("new", "/new", "# New\n\nTusks.\n"), PageRedirect("/old", "/new")], source=source)
    runs.remove(source)
    assert paths(tenant) == {"/zebra", "/both"}
    assert page_search.find(tenant.project, "tusks") == []
    assert not Redirect.objects.filter(project=tenant.project).exists()
    assert not Document.every.filter(project=tenant.project).exclude(build="").exists()


@pytest.mark.stores
def test_redirects_that_cannot_be_stored_are_not_counted(tenant):
    first, second = stored(tenant, name="first"), stored(tenant, name="second")
    ingest(tenant.project, [Page("a", "/a", "# A\n"), PageRedirect("/old", "/a")], source=first)
    moved = [
        PageRedirect("/old", "/b"),
        PageRedirect("/older", "/b"),
        PageRedirect("/nul\0", "/b"),
        PageRedirect("/" + "x" * 500, "/b"),
    ]
    for _ in range(2):
        summary = ingest(tenant.project, [Page("b", "/b", "# B\n"), *moved], source=second)
        rows = set(tenant.project.redirects.values_list("pk", "path", "target", "source__name"))
        assert summary.redirects == 1
        assert {row[1:] for row in rows} == {("/old", "/a", "first"), ("/older", "/b", "second")}
    ingest(tenant.project, [Page("b", "/b", "# B\n"), *moved], source=second)
    assert set(tenant.project.redirects.values_list("pk", "path", "target", "source__name")) == rows, "as they were"


@pytest.mark.matrix
def test_a_project_goes_with_its_sources(tenant, guide):
    run(tenant.domain, guide, "--name", "guide")
    tenant.project.delete()
    assert not Source.objects.filter(name="guide", location=str(guide)).exists()


def test_what_has_moved_is_found_where_it_was(tenant, http, service):
    items = [
        Page("new", "/new", "# New\n\nTusks.\n"),
        Page("a", "/a", "# A\n\nSee [it](/old).\n"),
        PageRedirect("/old", "/new"),
    ]
    summary = ingest(tenant.project, items, source=stored(tenant))
    assert summary.redirects == 1
    ask = {"headers": tenant.assistant, "timeout": 20}
    page = http.post(f"{service.url}/v1/page/{tenant.domain}", json={"path": "/old"}, **ask).json()
    assert page["path"] == "/new"
    assert "Tusks" in page["content"]
    (hit,) = links.make_absolute(tenant.project, page_search.find(tenant.project, "see it"))
    assert hit.body == "See [it](https://docs.acme.example/new)."


# In the admin


@pytest.fixture
def owner(tenant):
    return logged_in(f"owner-{tenant.domain}", tenant.project.organization)


@pytest.fixture
def stranger(make_project):
    other = make_project()
    return logged_in(f"stranger-{other.domain}", other.project.organization)


def form(tenant, **fields):
    return {"project": tenant.project.pk, "name": "docs", "location": "https://docs.acme.example/", **fields}


def page(name, *arguments):
    return reverse(f"admin:search_source_{name}", args=arguments)


def test_a_new_source_is_read_at_once(tenant, owner):
    answer = owner.post(page("add"), form(tenant, under="api/", schedule="day"))
    source = tenant.project.sources.get()
    assert answer.headers["Location"] == page("change", source.pk)
    assert (source.under, source.schedule, source.state) == ("/api", "day", State.QUEUED)
    assert queue.claim_next() == source


@pytest.mark.parametrize(
    "fields",
    first_of(
        [
            *({"location": location} for location in ("/etc", "ftp://x.example/", "https:///x", "docs")),
            {"location": "https://user:secret@x.example/"},
            *({"under": under} for under in ("/a/../b", "/a?b", "/a#b", "/%2e%2e", "https://x.example/a", "a" * 201)),
        ],
        4,
    ),
)
def test_staff_name_addresses_and_paths_only(tenant, owner, fields):
    answer = owner.post(page("add"), form(tenant, **fields))
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert not tenant.project.sources.exists()


@pytest.mark.parametrize(
    "location",
    first_of(
        ["http://docs.internal/", "https://www.Docs.Internal./", "http://docs.internal:8080/", "http://10.0.0.5/x"], 1
    ),
)
def test_superusers_alone_name_hosts_that_are_not_public(tenant, owner, settings, location):
    settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": ("docs.internal", "10.0.0.0/8")})
    answer = owner.post(page("add"), form(tenant, location=location))
    assert "This host is not public. Only superusers may add it." in answer.content.decode()
    superuser = logged_in(f"superuser-of-{tenant.domain}", is_superuser=True)
    assert superuser.post(page("add"), form(tenant, location=location)).status_code == 302
    source = tenant.project.sources.get()
    found = form(tenant, location=location, schedule="day")
    assert owner.post(page("change", source.pk), found).status_code == 302, "it was named by somebody who may"


def test_superusers_name_what_is_on_the_server(tenant, guide):
    superuser = logged_in("superuser-of-sources", is_superuser=True)
    assert superuser.post(page("add"), form(tenant, location="/no/such/folder")).status_code == 200
    assert superuser.post(page("add"), form(tenant, location=str(guide))).status_code == 302
    assert tenant.project.sources.get().location == str(guide)


def test_a_changed_schedule_does_not_read_and_another_place_does(tenant, owner):
    source = stored(tenant, "/srv/docs", state=State.DONE, finished_at=NOW)
    found = {"location": "/srv/docs", "schedule": "hour"}
    assert owner.post(page("change", source.pk), found).status_code == 302
    assert (now(source).state, source.due_at) == (State.DONE, NOW + timedelta(hours=1))
    assert owner.post(page("change", source.pk), {**found, "location": "https://x.example/"}).status_code == 302
    assert now(source).state == State.QUEUED


def test_strangers_see_nothing_of_a_source(tenant, owner, stranger):
    source = stored(tenant, name="our-secret-docs", state=State.FAILED, error="No answer from docs.acme.example.")
    assert b"our-secret-docs" in owner.get(page("changelist")).content
    assert b"No answer from docs.acme.example." in owner.get(page("change", source.pk)).content
    assert b"our-secret-docs" not in stranger.get(page("changelist")).content
    assert stranger.get(page("state", source.pk)).status_code == 404
    assert stranger.post(page("read", source.pk)).status_code == 404
    assert stranger.post(page("delete", source.pk), {"post": "yes"}).status_code == 302
    assert stranger.post(page("add"), form(tenant)).status_code == 200, "no project of theirs"
    assert now(source).state == State.FAILED
    assert tenant.project.sources.count() == 1


@pytest.mark.slow
def test_the_page_of_a_source_shows_its_progress(tenant, owner, guide):
    source = stored(tenant, guide)
    assert owner.get(page("read", source.pk)).status_code == 405
    owner.post(page("read", source.pk))
    answer = owner.get(page("state", source.pk)).json()
    assert (answer["isActive"], answer["state"]) == (True, "Waiting")
    assert b"data-active" in owner.get(page("change", source.pk)).content
    (guide / "bad.md").write_bytes(b"\xff")
    runs.run(queue.claim_next())
    answer = owner.get(page("state", source.pk)).json()
    assert (answer["isActive"], answer["state"]) == (False, "Read")
    assert "2 added" in answer["html"]
    assert "is not UTF-8" in answer["html"]
    assert "data-active" not in owner.get(page("change", source.pk)).content.decode()
    listed = owner.get(page("changelist")).content.decode()
    assert 'class="badge done"' in listed
    assert "just now" in listed


def test_chosen_sources_are_read_again(tenant, owner):
    source = stored(tenant)
    owner.post(page("changelist"), {"action": "read_chosen", "_selected_action": [source.pk]})
    assert now(source).state == State.QUEUED


def test_deleting_a_source_shows_how_many_pages_go(tenant, owner, guide):
    run(tenant.domain, guide, "--name", "guide")
    source = tenant.project.sources.get()
    assert "guide of " in (asked := owner.get(page("delete", source.pk)).content.decode())
    assert "2 pages leave the index" in asked
    owner.post(page("delete", source.pk), {"post": "yes"})
    assert not tenant.project.sources.exists()
    assert page_search.find(tenant.project, "zebra") == []

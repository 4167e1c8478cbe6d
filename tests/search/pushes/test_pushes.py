"""Pushes, in this process where only their result counts, and over HTTP."""

import json
import re

import pytest

from assistant.models import GoldenQuestion
from docsite.privacy.models import AuditEntry
from search.models import Generation, PushedFile, Source
from search.retrieval import page_search
from tests.conftest import assert_error
from tests.search.pushes.archives import PAGES, delta, manifest, paths, push, put, tar, zipped

pytestmark = pytest.mark.slow

INSTALL = "How do I install acme?"


@pytest.fixture
def tenant(make_project):
    return make_project()


@pytest.mark.matrix
def test_a_folder_is_pushed_as_another_archive_than_a_tar(service, tenant):
    response = put(service, tenant, zipped(PAGES))
    assert response.headers["content-type"] == "application/x-ndjson"
    *progress, end = [json.loads(line) for line in response.text.splitlines()]
    assert progress[0] == {"event": "progress", "message": "received 2 files"}
    assert (end["event"], end["result"], end["preview"], end["source"]) == ("end", "changed", False, "docs")
    assert (end["added"], end["changed"], end["removed"], end["sections"]) == (2, 0, 0, 2)
    assert end["pages"] == {"added": ["/", "/install"], "changed": [], "removed": []}
    assert paths(tenant) == {"/", "/install"}
    assert page_search.find(tenant.project, "pip")[0].path == "/install"


def test_a_push_says_what_changed_and_the_same_push_changes_nothing(tenant):
    push(tenant, PAGES)
    generation = Generation.objects.get(project=tenant.project).number
    end = push(tenant, PAGES)
    assert (end["result"], end["unchanged"], end["added"]) == ("unchanged", 2, 0)
    assert Generation.objects.get(project=tenant.project).number == generation
    changed = {"docs/index.md": b"# Acme\n\nAn aardvark.\n", "docs/new.md": b"# New\n"}
    end = push(tenant, changed)
    assert end["pages"] == {"added": ["/new"], "changed": ["/"], "removed": ["/install"]}
    assert paths(tenant) == {"/", "/new"}


@pytest.mark.matrix
def test_a_stream_of_unknown_length_is_a_body(service, tenant):
    packed = tar(PAGES)
    response = put(service, tenant, (packed[at : at + 100] for at in range(0, len(packed), 100)))
    assert '"event": "end"' in response.text
    assert paths(tenant) == {"/", "/install"}


def test_the_root_and_the_options_of_a_source_hold_for_the_push(tenant):
    files = {"docs/a.md": b"# A\n", "code/b.md": b"# B\n"}
    end = push(tenant, files, root="docs", options={"under": "/api", "version": "2"})
    assert end["pages"]["added"] == ["/api/a"]
    source = Source.objects.get(project=tenant.project)
    assert (source.under, source.version, source.is_pushed, source.state) == ("/api", "2", True, "done")
    assert push(tenant, files, root="docs")["result"] == "unchanged"
    assert push(tenant, files, root=".")["pages"]["added"] == ["/api/code/b", "/api/docs/a"]


def test_a_preview_changes_nothing_and_says_which_questions_lose_their_answer(tenant):
    push(tenant, PAGES)
    GoldenQuestion.objects.create(project=tenant.project, text=INSTALL, paths=["/install"])
    before = list(Source.objects.filter(project=tenant.project).values()), paths(tenant)
    generation = Generation.objects.get(project=tenant.project).number
    fewer = {name: content for name, content in PAGES.items() if "install" not in name}
    end = push(tenant, fewer, is_preview=True, options={"version": "9"})
    assert (end["preview"], end["result"], end["pages"]["removed"]) == (True, "changed", ["/install"])
    golden = end["goldenQuestions"]
    assert (golden["passedBefore"], golden["passedAfter"]) == (1, 0)
    assert [lost["question"] for lost in golden["lost"]] == [INSTALL]
    assert end["citedPages"] == {"days": 30, "pages": []}
    after = list(Source.objects.filter(project=tenant.project).values()), paths(tenant)
    facts = {"started_at", "leased_until"}
    assert [{k: v for k, v in row.items() if k not in facts} for row in after[0]] == [
        {k: v for k, v in row.items() if k not in facts} for row in before[0]
    ]
    assert after[1] == before[1]
    assert Generation.objects.get(project=tenant.project).number == generation
    assert PushedFile.objects.filter(source__project=tenant.project).count() == 2


def test_a_preview_of_a_new_source_stores_none(tenant):
    end = push(tenant, PAGES, is_preview=True)
    assert end["pages"]["added"] == ["/", "/install"]
    assert not Source.objects.filter(project=tenant.project).exists()
    assert paths(tenant) == set()


def test_the_second_push_sends_only_what_changed(service, tenant, http):
    address = f"{service.url}/v1/sources/{tenant.project_id}/docs/manifest"
    files = {name.removeprefix("docs/"): content for name, content in PAGES.items()}
    files["copy.md"] = files["install.md"]
    missing = http.post(address, json=manifest(files), headers=tenant.admin).json()["missing"]
    assert len(missing) == 2
    assert push(tenant, delta(files, missing), is_delta=True, root=".")["added"] == 3
    assert http.post(address, json=manifest(files), headers=tenant.admin).json() == {"missing": []}
    files |= {"install.md": b"# Installing acme\n\nAn aardvark does it.\n"}
    missing = http.post(address, json=manifest(files), headers=tenant.admin).json()["missing"]
    assert missing == ["install.md"]
    end = push(tenant, delta(files, missing), is_delta=True, root=".")
    assert end["pages"] == {"added": [], "changed": ["/install"], "removed": []}
    del files["index.md"]
    end = push(tenant, delta(files, []), is_delta=True, root=".")
    assert end["pages"] == {"added": [], "changed": [], "removed": ["/"]}
    assert PushedFile.objects.filter(source__project=tenant.project).count() == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({".push-manifest.json": b"{"}, "is no JSON object"),
        ({".push-manifest.json": b'{"files": {"../a.md": "%s"}}' % (b"0" * 64)}, "leads out of it"),
        ({".push-manifest.json": b'{"files": {"a.md": "x"}}'}, "has no SHA-256"),
        ({".push-manifest.json": b'{"files": {"gone.md": "%s"}}' % (b"0" * 64)}, "1 files are neither sent nor stored"),
        ({"b.md": b"# B\n"}, "does not list 'b.md'"),
        ({"a.md": b"# Other\n"}, "another digest"),
    ],
)
def test_a_delta_that_does_not_fit_is_refused(service, tenant, changes, says):
    files = {"a.md": b"# A\n"}
    body = {**delta(files, ["a.md"]), **changes}
    if says.startswith("1 files"):
        del body["a.md"]
    with pytest.raises(ValueError, match=re.escape(says)):
        push(tenant, body, is_delta=True)
    assert not Source.objects.filter(project=tenant.project).exists()


@pytest.mark.matrix
def test_a_refusal_of_the_process_is_a_400(service, tenant):
    response = put(service, tenant, tar({".push-manifest.json": b"{"}), delta="1")
    assert "is no JSON object" in assert_error(response, 400, "body: ")["error"]


def test_a_cut_archive_changes_nothing(tenant):
    push(tenant, PAGES)
    before = paths(tenant)
    plain = tar({f"docs/{number}.md": b"# Page\n" for number in range(50)}, "")
    packed = tar({"docs/a.md": b"# A\n" * 100_000})
    for body in (packed[: len(packed) // 2], packed[:-10], plain[: 1024 * 21], zipped(PAGES)[:-30], b"", b"no archive"):
        with pytest.raises(ValueError, match="the archive cannot be unpacked"):
            push(tenant, body)
    assert paths(tenant) == before
    assert Source.objects.get(project=tenant.project).state == "done"


@pytest.mark.matrix
def test_errors_before_the_stream_have_the_one_shape(service, tenant, make_project, http):
    other = make_project()
    address = f"{service.url}/v1/sources/{tenant.project_id}"
    assert_error(http.put(f"{address}/docs", content=tar(PAGES)), 401)
    assert_error(http.put(f"{address}/docs", content=tar(PAGES), headers=tenant.assistant), 403)
    assert_error(http.put(f"{address}/docs", content=tar(PAGES), headers=other.admin), 404)
    assert_error(put(service, tenant, tar(PAGES), "no.name"), 400, "name: ")
    assert_error(put(service, tenant, tar(PAGES), preview="2"), 400, "preview: ")
    assert_error(put(service, tenant, tar(PAGES), root="../x"), 400, "root: must be a folder of the archive")
    assert_error(put(service, tenant, tar(PAGES), root="nosuch"), 400, "body: root: the archive has no folder nosuch.")
    assert_error(put(service, tenant, tar(PAGES), generator="nosuch"), 400, "generator: ")
    assert_error(put(service, tenant, tar(PAGES), wrong="1"), 400, "wrong: ")
    Source.objects.create(project=tenant.project, name="site", location="https://acme.example/")
    assert_error(put(service, tenant, tar(PAGES), "site"), 400, "name: ")
    assert_error(http.delete(f"{address}/site", headers=tenant.admin), 404)
    assert Source.objects.filter(project=tenant.project).count() == 1
    assert paths(tenant) == set()


@pytest.mark.matrix
def test_an_archive_without_a_page_is_an_error_in_the_stream(service, tenant):
    push(tenant, PAGES)
    response = put(service, tenant, tar({"docs/data.csv": b"1,2"}))
    assert response.status_code == 200
    last = json.loads(response.text.splitlines()[-1])
    assert last == {"event": "error", "error": "No readable page in the source; nothing was changed."}
    assert paths(tenant) == {"/", "/install"}
    assert Source.objects.get(project=tenant.project).state == "failed"


def test_pushed_sources_are_listed_and_deleted(service, tenant, make_project, http):
    other = make_project()
    push(other, PAGES)
    assert put(service, tenant, tar(PAGES)).status_code == 200
    address = f"{service.url}/v1/sources/{tenant.project_id}"
    (row,) = http.get(address, headers=tenant.admin).json()["sources"]
    assert (row["name"], row["state"], row["pages"], row["error"]) == ("docs", "done", 2, "")
    assert row["pushedAt"].endswith("Z")
    assert_error(http.get(address, headers=other.admin), 404)
    assert_error(http.delete(f"{address}/docs", headers=other.admin), 404)
    assert http.delete(f"{address}/docs", headers=tenant.admin).status_code == 204
    assert_error(http.delete(f"{address}/docs", headers=tenant.admin), 404)
    assert http.get(address, headers=tenant.admin).json() == {"sources": []}
    assert paths(tenant) == set()
    assert paths(other) == {"/", "/install"}
    entries = AuditEntry.objects.filter(project=tenant.domain, action__startswith="source ").order_by("pk")
    assert [(entry.action, entry.actor.partition(" ")[0]) for entry in entries] == [
        ("source created", "key"),
        ("source deleted", "key"),
    ]

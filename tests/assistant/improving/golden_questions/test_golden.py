"""Golden questions: which pass, what changed, and what an ingest warns of. Only the pages are made up."""

import io
import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command, load_command_class
from django.core.management.base import BaseCommand
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assistant.improving.golden_questions import checks
from assistant.models import AssistantSettings, GoldenQuestion, Message
from assistant.upstream import Model
from assistant.upstream.relay import ModelChain
from docsite.core.tenants.models import Project
from docsite.site import navigation
from search.indexing.ingest import ingest, stored_pages
from search.indexing.outcome import IngestRefused
from search.models import Document
from search.retrieval import page_search, selection
from search.signals import IndexWarning, index_staged
from search.sources import Page
from search.sources.markdown.folder import read_folder
from tests.conftest import PAGES, PATIENCE, wait_for

INSTALL, LABELS, NOWHERE = "How do I install acme?", "How do I print a label?", "Which colour has the planet Mars?"


@pytest.fixture
def docs(project, acme_docs):
    """The folder that the project's pages came from."""
    return acme_docs


@pytest.fixture
def asked(project) -> list[GoldenQuestion]:
    """A question that is answered, and one that is refused."""
    return [
        GoldenQuestion.objects.create(project=project.project, text=INSTALL, paths=["/install"]),
        GoldenQuestion.objects.create(project=project.project, text=NOWHERE, paths=[]),
    ]


def run(domain: str, *arguments: str) -> tuple[str, str, str]:
    """What the command printed, what it warned of, and how it failed."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("golden", domain, *arguments, stdout=out, stderr=err)
    except CommandError as failure:  # whose exit status is 1
        return out.getvalue(), err.getvalue(), str(failure)
    return out.getvalue(), err.getvalue(), ""


def rename(docs, name: str, to: str) -> None:
    """The page goes to another path."""
    (docs / f"{to}.md").write_text((docs / f"{name}.md").read_text())
    (docs / f"{name}.md").unlink()


def test_an_answer_passes_with_every_page_and_a_refusal_without_any(project):
    def passes(text: str, *paths: str) -> bool:
        question, _ = GoldenQuestion.objects.update_or_create(
            project=project.project, text=text, defaults={"paths": list(paths)}
        )
        checks.run(project.project, [question])
        return bool(question.passed)

    assert passes(INSTALL, "/install")
    assert not passes(INSTALL, "/install", "/guides/labels")
    assert not passes(INSTALL)
    assert passes(NOWHERE)
    assert not passes(NOWHERE, "/install")
    GoldenQuestion.objects.filter(project=project.project).update(fact="a fact needs an answer from any page")
    assert passes(INSTALL)
    assert not passes(NOWHERE)


def test_a_run_stores_the_results_and_no_conversation(project, asked):
    before = Message.objects.count()
    checks.run(project.project, asked)
    row = GoldenQuestion.objects.get(text=INSTALL, project=project.project)
    assert (row.passed, row.changed, row.cited) == (True, False, ["/install"])
    assert row.ran_at
    assert Message.objects.count() == before


def test_pages_of_a_site_in_a_folder_are_named_without_it(make_project):
    project = make_project("https://acme.example/docs").project
    ingest(project, [Page("i", "/install", "# Installing acme\n\nRun `pip install acme` to install acme.")])
    made = f"{INSTALL}", "https://acme.example/docs/install.html?x=1#y"
    assert run(project.domain, "--add", *made)[1:] == ("", "")
    assert run(project.domain) == (f"✓ {INSTALL}\n{project.domain}: all 1 golden questions pass\n", "", "")


def test_the_owners_threshold_counts(project, asked):
    AssistantSettings.objects.create(project=project.project, threshold=1.0)
    assert not checks.run(project.project, asked[:1])[0].passed


def test_an_answer_that_fails_is_no_result(project, asked, monkeypatch):
    monkeypatch.setattr("search.retrieval.selection.rank", lambda *a, **k: 1 / 0)
    said, _, failure = run(project.domain)
    assert failure == f"“{INSTALL}” could not be answered (internal error); the log says why."
    assert not said
    assert not GoldenQuestion.objects.filter(project=project.project).exclude(passed=None).exists()


def test_the_command_shows_what_changed(project, docs, asked):
    domain = project.domain
    assert run(domain) == (f"✓ {INSTALL}\n✓ {NOWHERE}\n{domain}: all 2 golden questions pass\n", "", "")
    rename(docs, "install", "setup")
    call_command("ingest", domain, str(docs), stdout=io.StringIO(), stderr=io.StringIO())
    wrong = f"✗ {INSTALL} ({{}})\n    expected /install, cited /setup\n✓ {NOWHERE}\n"
    why = f"Why: manage.py search {domain} '{INSTALL}' --explain\n"
    failure = f"{domain}: 1 of 2 golden questions fail."
    assert run(domain) == (wrong.format("newly failing") + why, "", failure)
    assert run(domain) == (wrong.format("fails") + why, "", failure)
    rename(docs, "setup", "install")
    call_command("ingest", domain, str(docs), stdout=io.StringIO())
    assert run(domain)[0].startswith(f"✓ {INSTALL} (passes again)\n")
    assert run(domain)[0].startswith(f"✓ {INSTALL}\n")


@pytest.mark.matrix
def test_only_what_passed_before_passes_again(project, docs):
    late = GoldenQuestion.objects.create(project=project.project, text=INSTALL, paths=["/setup"])
    run(project.domain)
    rename(docs, "install", "setup")
    for name, verdict in (("install", "passes"), ("setup", "newly failing"), ("install", "passes again")):
        call_command("ingest", project.domain, str(docs), stdout=io.StringIO(), stderr=io.StringIO())
        assert f"{INSTALL} ({verdict})\n" in run(project.domain)[0]
        rename(docs, *(("setup", "install") if name == "install" else ("install", "setup")))
    late.refresh_from_db()
    checks.reset(late)
    assert not late.passed_before


def test_the_command_says_what_to_do_first(project, make_project):
    assert f"manage.py golden {project.domain} --add" in run(project.domain)[0]
    empty = make_project().domain
    run(empty, "--add", INSTALL, "/install")
    assert f"manage.py ingest {empty} FOLDER" in run(empty)[2]
    assert "There is no project nobody" in run("nobody")[2]


def test_questions_are_added_changed_and_removed(project):
    domain = project.domain
    said, warned, _ = run(domain, "--add", f" {INSTALL}", "install.md", "/nosuch", "/install")
    assert said == f"1 added\nRun them: manage.py golden {domain}\n"
    assert warned == "  /nosuch is not in the index\n"
    run(domain)
    assert "1 as before\n" in run(domain, "--add", INSTALL, "/install", "/nosuch")[0]
    row = GoldenQuestion.objects.get(project=project.project)
    assert (row.text, row.paths, row.passed) == (INSTALL, ["/install", "/nosuch"], False)
    assert "1 changed\n" in run(domain, "--add", INSTALL, "/install")[0]
    row.refresh_from_db()
    assert (row.paths, row.passed, row.cited, row.ran_at) == (["/install"], None, [], None)
    assert "1 changed\n" in run(domain, "--add", INSTALL, "/install", "--fact", " pip install acme ")[0]
    row.refresh_from_db()
    assert (row.paths, row.fact) == (["/install"], "pip install acme")
    assert run(domain, "--remove", INSTALL)[0] == f"Removed. See the others: manage.py golden {domain} --list\n"
    assert run(domain, "--remove", INSTALL)[2].endswith(f"has no such question. See: manage.py golden {domain} --list")
    assert "at most 500" in run(domain, "--add", "x" * 501)[2]


def test_the_listed_questions_can_be_loaded_again(project, make_project, asked, tmp_path):
    GoldenQuestion.objects.create(project=project.project, text=LABELS, fact="thermal printer")
    listed = run(project.domain, "--list")[0]
    assert [json.loads(line) for line in listed.splitlines()] == [
        {"question": INSTALL, "pages": ["/install"]},
        {"question": NOWHERE, "pages": []},
        {"question": LABELS, "pages": [], "fact": "thermal printer"},
    ]
    (tmp_path / "set.jsonl").write_text(listed + "\n")
    other = make_project().domain
    assert "3 added\n" in run(other, "--load", str(tmp_path / "set.jsonl"))[0]
    assert "3 as before\n" in run(other, "--load", str(tmp_path / "set.jsonl"))[0]
    assert run(other, "--list")[0] == listed


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON ("),
        ("[]", "must be a JSON object"),
        ('{"pages": []}', "question: must be text"),
        ('{"question": " ", "pages": []}', "question: must be text"),
        ('{"question": "a\\u0000b", "pages": []}', "question: contains a NUL character"),
        ('{"question": "%s", "pages": []}' % ("x" * 501), "question: Ensure this value has at most 500"),
        ('{"question": "Why?"}', "pages: is missing"),
        ('{"question": "Why?", "page": "/a"}', "page: is neither question nor pages nor fact"),
        ('{"question": "Why?", "fact": 1}', "fact: must be text"),
        ('{"question": "Why?", "fact": "%s"}' % ("x" * 1001), "fact: Ensure this value has at most 1000"),
        ('{"question": "Why?", "pages": "/a"}', "pages: must be a list"),
        ('{"question": "Why?", "pages": [""]}', "pages: must be a list"),
        ('{"question": "Is it  first?", "pages": []}', "question: is in the file already"),
    ],
)
def test_an_error_names_its_line_and_nothing_is_loaded(project, tmp_path, line, says):
    (tmp_path / "set.jsonl").write_text(f'{{"question": "Is it first?", "pages": []}}\n\n{line}\n')
    failure = run(project.domain, "--load", str(tmp_path / "set.jsonl"))[2]
    assert failure.startswith(f"{tmp_path}/set.jsonl line 3: {says}")
    assert not GoldenQuestion.objects.filter(project=project.project).exists()
    assert "No such file" in run(project.domain, "--load", str(tmp_path / "nosuch"))[2]


def test_the_page_about_commands_documents_every_option() -> None:
    body = navigation.pages()["commands"].body
    section = body[body.index("### golden\n") :].split("\n### ")[0]
    known = set(BaseCommand().create_parser("manage.py", "golden")._option_string_actions)
    options = load_command_class("assistant", "golden").create_parser("manage.py", "golden")._option_string_actions
    assert [option for option in options if option not in known and option not in section] == []


# Before a swap


def ingested(domain: str, docs, *arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("ingest", domain, str(docs), *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def ingested_in_thread(domain: str, docs, *arguments: str) -> tuple[str, str]:
    try:
        return ingested(domain, docs, *arguments)
    finally:
        connection.close()


FAILING = f"Golden question failing: {INSTALL}: expected /install, cited /setup"


def test_an_ingest_warns_of_what_fails_with_the_new_pages(project, docs, asked):
    ingested(project.domain, docs)
    rename(docs, "install", "setup")
    said, warned = ingested(project.domain, docs)
    assert warned == f"  {FAILING}\n"
    assert "1 added, 0 changed, 3 unchanged, 1 removed" in said
    assert not GoldenQuestion.objects.filter(project=project.project).exclude(passed=None).exists()
    assert [hit.path for hit in page_search.find(project.project, "installing")] == ["/setup"]
    (docs / "index.md").write_text("# Acme\n\nAnother beginning.\n")
    report = json.loads(ingested(project.domain, docs, "--json")[0])
    assert report["warnings"] == [FAILING]
    err = io.StringIO()
    call_command("reindex", project.domain, stdout=io.StringIO(), stderr=err)
    assert err.getvalue() == f"  {FAILING}\n"


@pytest.mark.matrix
def test_old_failures_are_listed_last_and_do_not_stop_an_ingest(project, docs, asked):
    GoldenQuestion.objects.create(project=project.project, text=LABELS, paths=["/guides/labels"])
    rename(docs, "install", "setup")
    ingested(project.domain, docs)
    run(project.domain)
    (docs / "index.md").write_text("# Acme\n\nAnother beginning.\n")
    assert ingested(project.domain, docs, "--strict")[1] == f"  {FAILING.replace('failing', 'failing as before')}\n"
    (docs / "guides" / "labels.md").rename(docs / "stickers.md")
    summary = ingest_folder(project.project, docs)
    assert [(LABELS in warned.sentence, warned.stops) for warned in summary.warnings] == [(True, True), (False, False)]


def ingest_folder(project, docs, **options: Any):
    return ingest(project, read_folder(docs), **options)


def test_a_strict_ingest_keeps_the_old_index(project, docs, asked):
    domain = project.domain
    before = Project.objects.select_related("generation").get(pk=project.project.pk)
    assert page_search.find(before, "install acme")[0].path == "/install"
    rename(docs, "install", "setup")
    err = io.StringIO()
    with pytest.raises(CommandError, match="the new index was refused; the old one stays") as failure:
        call_command("ingest", domain, str(docs), "--strict", stdout=io.StringIO(), stderr=err)
    assert failure.value.returncode == 1
    assert FAILING in err.getvalue()
    after = Project.objects.get(pk=project.project.pk)
    assert (after.generation.number, after.generation.indexed_at) == (
        before.generation.number,
        before.generation.indexed_at,
    )
    assert not Document.every.filter(project=after).exclude(build="").exists()
    assert page_search.find(after, "install acme")[0].path == "/install"
    with pytest.raises(IngestRefused):
        ingest_folder(project.project, docs, strict=True)
    # The generation that never came comes now, with other pages and other words.
    rename(docs, "setup", "install")
    (docs / "index.md").write_text("# Acme\n\nAn aardvark keeps the parcels.\n")
    assert ingested(domain, docs, "--strict")[1] == ""
    assert Project.objects.get(pk=after.pk).generation.number == before.generation.number + 1
    assert [hit.path for hit in page_search.find(after, "aardvark")] == ["/"]
    assert page_search.find(after, "install acme")[0].path == "/install"


@pytest.mark.matrix
@pytest.mark.parametrize("strict", [True, False])
def test_a_swap_of_every_page_is_checked_too(make_project, strict):
    # So many that SQLite's engine makes the index beside the old one, and puts it in its place.
    def herd(word: str) -> list[Page]:
        parts = "".join(f"\n\n## Part {part}\n\nherd {word} {part}" for part in range(9))
        return [Page(f"{number}", f"/{word}{number}", f"# Page {number}{parts}") for number in range(230)]

    project = make_project().project
    ingest(project, [*herd("alpha"), Page("i", "/install", PAGES["install"].split("---\n")[2])])
    GoldenQuestion.objects.create(project=project, text=INSTALL, paths=["/install"])
    if strict:
        with pytest.raises(IngestRefused):
            ingest(project, herd("omega"), strict=True)
    else:
        warnings = [warning.sentence for warning in ingest(project, herd("omega")).warnings]
        assert len([sentence for sentence in warnings if sentence.startswith("Golden question")]) == 1
    kept, gone = ("alpha", "omega") if strict else ("omega", "alpha")
    assert len(page_search.find(project, kept, limit=50)) == 50
    assert page_search.find(project, gone) == []
    if strict:
        assert ingest(project, [*stored_pages(project), *herd("omega")], strict=True).warnings == []
        assert len(page_search.find(project, "omega", limit=50)) == 50


def test_a_check_that_breaks_breaks_no_ingest(project, docs, caplog):
    ingested(project.domain, docs)

    def broken(project: Project, **kwargs: Any) -> list[IndexWarning]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nothing FROM nowhere")
        return []

    index_staged.connect(broken)
    try:
        (docs / "index.md").write_text("# Acme\n\nAn aardvark.\n")
        with caplog.at_level(logging.ERROR):
            said, warned = ingested(project.domain, docs)
    finally:
        index_staged.disconnect(broken)
    assert warned == "  The new index could not be checked; the log says why.\n"
    assert "nowhere" in caplog.text
    assert "1 changed" in said
    assert [hit.path for hit in page_search.find(project.project, "aardvark")] == ["/"]


def test_others_write_while_a_golden_question_is_answered(project, docs, upstream, monkeypatch):
    # Without a model an answer is too quick to tell, so a model server gives it here that waits for the write.
    model = Model(f"{upstream.url}/v1", "fake-1")
    monkeypatch.setattr(checks, "answer", partial(checks.answer, models=ModelChain([model])))
    held = "fake:held@fake-1"  # only this test asks with it; others ask INSTALL, too
    GoldenQuestion.objects.create(project=project.project, text=f"{INSTALL} {held}", paths=["/install"])
    (docs / "index.md").write_text("# Acme\n\nAnother beginning.\n")
    with ThreadPoolExecutor() as pool:
        ingest_ends = pool.submit(ingested_in_thread, project.domain, docs, "--strict")
        wait_for(lambda: upstream.asked(held), "the question to be asked")
        Project.objects.filter(pk=project.project.pk).update(name="Written meanwhile")
        assert upstream.last(held)["ended"] == "", "the answer came before the write was done"
        upstream.release(held)
        assert ingest_ends.result(PATIENCE)[1] == ""


def test_a_check_ends_in_time(project, docs, asked, monkeypatch):
    monkeypatch.setattr(checks, "MAX_SECONDS", 0.05)
    rank = selection.rank
    monkeypatch.setattr(selection, "rank", lambda *a, **k: time.sleep(0.1) or rank(*a, **k))
    (docs / "index.md").write_text("# Acme\n\nAnother beginning.\n")
    said = ingested(project.domain, docs, "--strict")
    assert said[1] == "  Only 1 of 2 golden questions were asked, in 0.05 seconds.\n"


def test_without_golden_questions_a_check_is_one_query(project):
    with CaptureQueriesContext(connection) as queries:
        assert checks.check(project.project, nullcontext) == []
    assert len(queries) == 1


# In the admin

LIST = "/admin/assistant/goldenquestion/"


def staff(*tenants) -> Client:
    user, _ = User.objects.get_or_create(username=f"g{tenants[0].project.pk}", defaults={"is_staff": True})
    for tenant in tenants:
        tenant.project.organization.memberships.get_or_create(user=user)
    client = Client()
    client.force_login(user)
    return client


def page_text(answer) -> str:
    """The page with its messages, as text."""
    return answer.content.decode().replace("&#x27;", "'")


@pytest.mark.matrix
def test_the_admin_lists_runs_and_shows_what_changed(project, docs, asked):
    owner = staff(project)
    page = page_text(owner.get(LIST))
    assert page.count("not run") == 2
    assert f'formaction="{LIST}run/{project.domain}" value="Run all 2 of {project.domain}">' in page
    page = page_text(owner.post(f"{LIST}run/{project.domain}", follow=True))
    assert f"Asked 2 of {project.domain}: 2 pass, 0 fail, 0 changed." in page
    assert page.count("✓ passes") == 2
    rename(docs, "install", "setup")
    ingested(project.domain, docs)
    chosen = {"action": "run_chosen", "_selected_action": [asked[0].pk]}
    page = page_text(owner.post(LIST, chosen, follow=True))
    assert f"Newly failing: {INSTALL}: expected /install, cited /setup" in page
    assert f"Asked 1 of {project.domain}: 0 pass, 1 fail, 1 changed." in page
    assert "✗ fails" in page
    assert "newly failing" in page
    rename(docs, "setup", "install")
    ingested(project.domain, docs)
    assert f"Passes again: {INSTALL}" in page_text(owner.post(f"{LIST}run/{project.domain}", follow=True))
    assert owner.get(f"{LIST}run/{project.domain}").status_code == 405


def test_pages_are_edited_one_a_line(project, asked):
    owner = staff(project)
    page = f"{LIST}{asked[0].pk}/change/"
    checks.run(project.project, asked)
    form = {"project": project.project.pk, "text": INSTALL, "paths": "/install"}
    owner.post(page, form)
    asked[0].refresh_from_db()
    assert asked[0].passed, "nothing was edited"
    answer = owner.post(
        page, {**form, "paths": "install.html\r\n\r\n https://docs.acme.example/nosuch \r\n"}, follow=True
    )
    assert f"Not in the index of {project.domain}: /nosuch" in page_text(answer)
    asked[0].refresh_from_db()
    assert (asked[0].paths, asked[0].passed) == (["/install", "/nosuch"], None)
    assert ">\n/install\n/nosuch</textarea>" in page_text(owner.get(page))
    answer = owner.post(f"{LIST}add/", {**form, "text": "How do I  print a label?", "paths": ""}, follow=True)
    assert GoldenQuestion.objects.get(project=project.project, text=LABELS).paths == []
    answer = owner.post(f"{LIST}add/", {**form, "text": INSTALL})
    assert "already exists" in page_text(answer)


def test_a_stranger_sees_and_runs_nothing(project, asked, make_project):
    stranger = staff(make_project())
    page = page_text(stranger.get(LIST))
    assert INSTALL not in page
    assert project.domain not in page
    assert project.domain not in page_text(stranger.get(LIST, {"project__id__exact": project.project.pk}))
    assert stranger.post(f"{LIST}run/{project.domain}").status_code == 404
    stranger.post(LIST, {"action": "run_chosen", "_selected_action": [asked[0].pk]})
    stranger.post(LIST, {"action": "delete_selected", "_selected_action": [asked[0].pk], "post": "yes"})
    form = {"project": project.project.pk, "text": "Mine?", "paths": ""}
    assert stranger.get(f"{LIST}{asked[0].pk}/change/").status_code == 302
    stranger.post(f"{LIST}{asked[0].pk}/change/", form)
    assert project.domain not in page_text(stranger.get(f"{LIST}add/"))
    assert stranger.post(f"{LIST}add/", form).status_code == 200
    rows = GoldenQuestion.objects.filter(project=project.project).values_list("text", "passed")
    assert sorted(rows) == sorted([(INSTALL, None), (NOWHERE, None)])
    assert Client().post(f"{LIST}run/{project.domain}")["Location"].startswith("/admin/login/")


@pytest.mark.slow
def test_a_run_works_in_the_process_that_serves(project, asked, service):
    owner = staff(project)
    with httpx.Client(base_url=service.url, trust_env=False, timeout=PATIENCE) as http:
        http.cookies.set("docs_session", owner.cookies["docs_session"].value)
        token = http.get(LIST).text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        answer = http.post(
            f"{LIST}run/{project.domain}",
            data={"csrfmiddlewaretoken": token},
            headers={"Referer": f"{service.url}{LIST}"},
            follow_redirects=True,
        )
    assert f"Asked 2 of {project.domain}: 2 pass, 0 fail, 0 changed." in answer.text, answer.status_code

"""Replay: what a push does to readers' questions, before it is published and weeks later."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from analytics.models import Feedback
from assistant.answering.question import Question
from assistant.improving.gaps import report
from assistant.improving.gaps.actions import Actor
from assistant.improving.golden_questions import checks
from assistant.improving.question_groups import grouping
from assistant.models import GroupAction, QuestionGroup
from docsite.core.access.readers import encode_groups
from docsite.extras.replay import comment, comparison, held
from docsite.extras.replay.answers import Answer, Asker
from docsite.extras.replay.asked import Asked, find_asked
from search.models import Document, SearchQuery, Source
from search.pushes import run as pushes
from search.query_log.folding import fold_for_storage
from search.stored_sources import queue
from tests.assistant.improving.gaps.conftest import ask_fixed, skip_earlier, store_answer
from tests.conftest import PAGES, Tenant, logged_in
from tests.search.pushes.archives import push
from tests.variants import first_of

FIELDS = {"found", "groups", "answeredBefore", "answeredAfter", "lost", "won", "rows"}
ROTATE = "How do I rotate my API keys?"
KEYS = "# Rotating API keys\n\nTo rotate your API keys, run `acme keys rotate`. The old keys work for one more day.\n"


@pytest.fixture
def tenant(make_project: Callable[[], Tenant]) -> Tenant:
    """A project whose documentation is pushed."""
    skip_earlier()
    tenant = make_project()
    push(tenant, files())
    return tenant


def files(**changes: str | None) -> dict[Any, bytes]:
    """The pages about acme, with changes; None: without that page."""
    pages = {**PAGES, **changes}
    return {f"docs/{name}.md": text.encode() for name, text in pages.items() if text is not None}


def ask(tenant: Tenant, text: str, outcome: str = "refused", times: int = 1, **facts: Any) -> None:
    """Store questions of as many readers, in their groups."""
    for number in range(times):
        store_answer(tenant.project, text, outcome, **{"fp": f"reader {number}", **facts})
    grouping.catch_up()


def search(tenant: Tenant, text: str, clicked: str = "", times: int = 1) -> None:
    """Store searches that were made two hours ago."""
    at = timezone.now() - timedelta(hours=2)
    for _ in range(times):
        SearchQuery.objects.create(
            project=tenant.project,
            at=at,
            text=text,
            folded=fold_for_storage(text),
            result_count=3,
            clicked_path=clicked,
            position=1 if clicked else None,
        )


def days_from_now(days: int) -> tuple[datetime, datetime]:
    """A range that ends in so many days."""
    return timezone.now() - timedelta(days=7), timezone.now() + timedelta(days=days)


@pytest.mark.slow
def test_a_gap_is_previewed_closed_and_stays_closed(tenant: Tenant) -> None:
    """The whole story: forty readers ask, a page is written, and the digest says that it held."""
    project = tenant.project
    ask(tenant, ROTATE, times=40)
    ask(tenant, "How do I install acme?", "answered", times=10)
    (gap,) = report.count_gaps(project, *days_from_now(1), state="open")
    assert gap.total == 40

    end = push(tenant, files(keys=KEYS), is_preview=True)  # the pull request
    replay = end["replay"]
    assert set(replay) == FIELDS
    assert {name: replay[name] for name in FIELDS - {"rows"}} == {
        **{"found": 2, "groups": 2, "answeredBefore": 1, "answeredAfter": 2, "lost": 0, "won": 1}
    }
    won = next(row for row in replay["rows"] if row["change"] == "won")
    assert (won["question"], won["asked"], won["opened"]) == (ROTATE, 40, None)
    assert (won["before"]["state"], won["after"]["state"], won["after"]["page"]) == ("refused", "answered", "/keys")
    assert "acme keys rotate" in won["after"]["passage"]
    says = end["replayComment"]["markdown"]
    assert "answered 20 → 100 %" in says
    assert f"**1 wins an answer:**\n\n- `{ROTATE}`, asked 40 times\n  - before: refused\n  - after: answered," in says
    group = QuestionGroup.objects.get(pk=gap.group)
    assert group.state == "open"
    assert not Document.objects.filter(project=project, path="/keys").exists()

    end = push(tenant, files(keys=KEYS))  # merged
    assert "**Gaps that this closes:**" in end["replayComment"]["markdown"]
    assert end["replay"] is None
    group.refresh_from_db()
    assert (group.state, group.question, group.asked_outcome, group.asked_paths) == (
        *("fixed", ROTATE, "answered", ["/keys"]),
    )
    notes = GroupAction.objects.filter(group=group).exclude(note="").values_list("actor", "note")
    assert list(notes) == [("push of docs", "Replayed: refused before, answered after by /keys.")]
    assert report.count_gaps(project, *days_from_now(1), state="open") == []

    ask(tenant, ROTATE, "answered", times=9)  # the weeks after
    ask(tenant, ROTATE, "refused")
    answer = store_answer(project, ROTATE, "answered")
    Feedback.objects.create(
        project=project, message=answer, source="thumbs_only", path="/", helpful=True, created_at=timezone.now()
    )
    grouping.catch_up()
    ask_fixed(group)
    (closed,) = held.find_closed(project)
    today = timezone.now().date()
    line = f"held (10 of 11 answered since {today}, 0 of 40 before, 0 visitors of /keys, thumbs 1 up, 0 down)"
    assert closed.describe() == line
    section = held.list_closed(project, *days_from_now(7))
    assert section
    assert [(item.text, item.note, item.number) for item in section.items] == [(ROTATE, f"{line}.", "91%")]
    end = push(tenant, files(keys=KEYS, more="# More\n\nA heron.\n"), is_preview=True)  # the next pull request
    assert f"**Gaps closed before:**\n\n- `{ROTATE}`: {line}" in end["replayComment"]["markdown"]
    owner = logged_in(f"owner of {tenant.domain}", project.organization)
    page = owner.get(f"/admin/project/{tenant.domain}/gaps/{group.pk}").content.decode()
    assert f"H{line[1:]}." in page

    end = push(tenant, files(), is_preview=True)  # somebody takes the page away
    assert (end["replay"]["lost"], end["replay"]["won"]) == (1, 0)
    assert f"**1 loses its answer:**\n\n- `{ROTATE}`, asked 51 times" in end["replayComment"]["markdown"]
    push(tenant, files())
    ask_fixed(group)
    (closed,) = held.find_closed(project)
    assert closed.verdict == "did not hold: the present pages do not answer it"


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (Answer("answered", place=1), Answer("answered", place=9), "same"),
        (Answer("answered"), Answer("closest"), "lost"),
        (Answer("answered", place=1), Answer("answered"), "lost"),
        (Answer("closest"), Answer("refused"), "same"),
        (Answer("closest"), Answer("answered"), "won"),
        (Answer("answered"), Answer("answered", place=3), "won"),
        (Answer("refused", place=1), Answer("answered"), "lost"),
    ],
)
def test_what_is_lost_and_won(before: Answer, after: Answer, change: str) -> None:
    """An answer, or the page that readers opened among the first results."""
    asked = Asked("x", 1, timezone.now(), 1)
    assert comparison.Row(asked, before, after).change == change


def test_it_answers_as_golden_questions_are_answered(project: Tenant) -> None:
    """The same outcome and the same first page, without choosing quotes."""
    skip_earlier()
    kinds = {"answered": "answered", "closest_passages": "closest", "refused": "refused"}
    texts = [
        *("How do I install acme?", "thermal printer", "python version", "Which planet is red?", "Write me a poem!"),
        *(ROTATE, "How do I print parcels?", "What folder has the label settings?", "How do I order parcels by label?"),
    ]
    found = []
    asker = Asker(project.project)
    for text in texts:
        outcome = checks.answer(project.project, Question(text))
        path = project.project.path_of(outcome.sources[0].url) if outcome.sources else ""
        answer = asker.ask(Asked(text, 1, timezone.now(), 1))
        assert (answer.state, answer.page) == (kinds[outcome.kind], path), text
        found.append(answer.state)
    assert set(found) == {*kinds.values()}


def test_searches_are_replayed_by_the_page_that_their_readers_opened(tenant: Tenant) -> None:
    """A page that only moved is found by its title. Who opened nothing counts by the answer."""
    search(tenant, "thermal printer", "/guides/labels", times=3)
    search(tenant, "Printer, thermal", "/guides/labels")
    search(tenant, "make install", "/install", times=2)
    search(tenant, "make install", "/configure")
    (printer, install) = sorted(find_asked(tenant.project), key=lambda asked: -asked.times)
    assert (printer.times, printer.opened, printer.is_search) == (4, "/guides/labels", True)
    assert (install.times, install.opened) == (3, "/install")
    moved = files(**{"guides/labels": None, "labels": PAGES["guides/labels"], "install": None})
    replay = push(tenant, moved, is_preview=True)["replay"]
    rows = {row["opened"]: row for row in replay["rows"]}
    assert rows["/guides/labels"]["change"] == "same"
    assert (rows["/guides/labels"]["before"]["place"], rows["/guides/labels"]["after"]["page"]) == (1, "/labels")
    assert (rows["/install"]["change"], rows["/install"]["after"]["state"]) == ("lost", "refused")
    assert (replay["answeredBefore"], replay["answeredAfter"], replay["lost"]) == (2, 1, 1)


def test_searches_join_the_questions_with_the_same_words(tenant: Tenant) -> None:
    """One group has one row, with the wording of a question."""
    ask(tenant, "How do I print labels?", "answered", times=2)
    search(tenant, "print labels", "/guides/labels", times=5)
    (asked,) = find_asked(tenant.project)
    assert (asked.text, asked.times, asked.opened, asked.is_search) == (
        *("How do I print labels?", 7, "/guides/labels", False),
    )


def test_what_is_old_or_of_another_project_is_not_replayed(tenant: Tenant, make_project: Callable[[], Tenant]) -> None:
    """Nothing asked: the push says nothing of it."""
    ask(tenant, ROTATE, at=timezone.now() - timedelta(days=91))
    ask(make_project(), ROTATE)
    end = push(tenant, files(keys=KEYS), is_preview=True)
    assert (end["replay"], end["replayComment"]) == (None, None)
    assert Source.objects.get(project=tenant.project).outcome.get("effects") == {}


def test_readers_of_protected_pages_are_not_quoted(tenant: Tenant) -> None:
    """Neither what they asked, nor what they searched, nor the pages that only they see."""
    secret = "---\ngroups: [staff]\n---\n# Project Heron\n\nThe heron moves to Oslo in spring.\n"
    push(tenant, files(heron=secret))
    staff = store_answer(tenant.project, "When does the heron move to Oslo?", "answered")
    staff.thread.groups = encode_groups(["staff"])
    staff.thread.save()
    search(tenant, "heron oslo", "/heron")
    search(tenant, "layoffs in spring")
    search(tenant, "thermal printer", "/guides/labels")
    ask(tenant, "Where does the heron move in spring?")
    replay = push(tenant, files(heron=secret.replace("Oslo", "Bergen")), is_preview=True)["replay"]
    rows = {row["question"]: row for row in replay["rows"]}
    assert set(rows) == {"thermal printer", "Where does the heron move in spring?"}
    assert rows["Where does the heron move in spring?"]["after"]["state"] == "refused"
    assert "Bergen" not in json.dumps(replay)


def test_a_comment_has_no_personal_data_and_no_markup(tenant: Tenant) -> None:
    """Questions and pages are foreign texts."""
    ask(tenant, "Why does `ferret` [x](http://evil.example) not reach ada@example.org?", times=3)
    hostile = "# Ferrets\n\nThe `ferret` at evil.example does not reach @everyone <img src=x> **now**: a ferret.\n"
    end = push(tenant, files(ferret=hostile), is_preview=True)
    (row,) = end["replay"]["rows"]
    assert row["question"] == "Why does `ferret` [x](http://evil.example) not reach [e-mail]?"
    assert "ada@" not in json.dumps(end)
    assert comment.quote("a `b`\n\n@c") == "`a 'b' @c`"
    for line in end["replayComment"]["markdown"].splitlines():
        outside = line.split("`")[::2]
        assert not any(sign in part for part in outside for sign in ("<", "@", "[", "http")), line


@pytest.mark.matrix
def test_the_page_shows_the_last_preview_and_forgets_what_is_erased(tenant: Tenant) -> None:
    """It keeps ids of questions, so an erasure needs not to know of it. Others of the organization may read it."""
    ask(tenant, ROTATE, times=3)
    search(tenant, "clone the repository", "/install")
    address = f"/admin/project/{tenant.domain}/replay"
    owner = logged_in(f"owner of {tenant.domain}", tenant.project.organization)
    assert "No preview of a push yet." in owner.get(address).content.decode()
    push(tenant, files(keys=KEYS, install=None), is_preview=True)
    page = owner.get(address).content.decode()
    for text in (ROTATE, "clone the repository", "Would lose their answer: 1", "acme keys rotate", "25 → 75 %"):
        assert text in page, text
    push(tenant, files())
    assert ROTATE in owner.get(address).content.decode()
    SearchQuery.objects.filter(project=tenant.project).delete()
    tenant.project.threads.all().delete()
    page = owner.get(address).content.decode()
    assert ROTATE not in page
    assert "clone the repository" not in page
    assert "(deleted)" in page
    stranger = logged_in(f"stranger to {tenant.domain}")
    assert stranger.get(address).status_code == 404


def run(tenant: Tenant, folder: Path, capsys: Any, *options: str) -> tuple[int, str]:
    """Run the command. Returns its exit status and what it printed."""
    status = 0
    try:
        call_command("replay", tenant.domain, str(folder), *options)
    except SystemExit as end:
        status = int(end.code or 0)
    return status, capsys.readouterr().out


@pytest.mark.slow
def test_the_command_replays_a_folder(project: Tenant, acme_docs: Path, capsys: Any) -> None:
    """With the fields that it promises, and status 1 where a question is lost. Nothing is published."""
    skip_earlier()
    ask(project, "How do I install acme?", "answered", times=3)
    status, printed = run(project, acme_docs, capsys, "--json")
    same = json.loads(printed)
    assert (status, set(same), same["groups"], same["answeredAfter"], same["lost"]) == (0, FIELDS, 1, 1, 0)
    (acme_docs / "install.md").unlink()
    status, printed = run(project, acme_docs, capsys, "--json")
    assert status == 1
    assert json.loads(printed)["lost"] == 1
    status, printed = run(project, acme_docs, capsys)
    assert status == 1
    assert "answered 100 → 0 %" in printed
    assert "- `How do I install acme?`, asked 3 times" in printed
    assert Document.objects.filter(project=project.project, path="/install").exists()


def test_the_command_asks_for_the_source_where_there_are_several(tenant: Tenant, tmp_path: Path) -> None:
    """And says what is wrong."""
    Source.objects.create(project=tenant.project, name="api", location="https://api.acme.example")
    for options, says in (
        ((str(tmp_path),), "several sources. Name one with --name: api, docs"),
        ((str(tmp_path), "--name", "blog"), "has no source blog"),
        ((str(tmp_path / "gone"),), "is not a folder"),
        ((str(tmp_path), "--name", "docs"), "no readable page"),
    ):
        with pytest.raises(CommandError, match=says):
            call_command("replay", tenant.domain, *options)
    assert Source.objects.get(project=tenant.project, name="docs").state == "done"


def test_the_command_does_not_wait_without_end(
    make_project: Callable[[], Tenant], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For another source that is being read. A source that was due is due as before."""
    tenant = make_project()
    due = timezone.now()
    Source.objects.create(project=tenant.project, name="docs", location="/nowhere", due_at=due)
    assert queue.claim(Source.objects.create(project=tenant.project, name="api", location="/nowhere"))
    monkeypatch.setattr(pushes, "MAX_WAIT_SECONDS", 0)
    with pytest.raises(CommandError, match="another source of this project is still being read; try again later"):
        call_command("replay", tenant.domain, str(tmp_path), "--name", "docs")
    assert Source.objects.get(project=tenant.project, name="docs").due_at == due


@pytest.mark.parametrize(
    ("clock", "groups"),
    first_of(
        [([0, 99, 100], 0), ([0, 1, 99, 100, 101], 1), ([0, 1, 2, 100, 101, 199], 1), ([0, 1, 2, 100, 101, 102], 2)], 1
    ),
)
def test_a_replay_that_takes_too_long_says_so(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, clock: list[int], groups: int
) -> None:
    """Of each index the newest questions are asked, for a minute. The clock is read before each question."""
    ask(tenant, ROTATE)
    ask(tenant, "How do I install acme?", "answered")
    monkeypatch.setattr(comparison, "time", SimpleNamespace(monotonic=iter(clock).__next__))
    end = push(tenant, files(keys=KEYS), is_preview=True)
    assert (end["replay"]["groups"], end["replay"]["found"]) == (groups, 2)
    is_whole = groups == 2
    asked = "2 groups" if is_whole else f"{groups} of 2 groups, the newest: the time was up"
    assert f"{groups} questions and searches of the last 90 days, in {asked}." in end["replayComment"]["markdown"]
    owner = logged_in(f"owner of {tenant.domain}", tenant.project.organization)
    page = owner.get(f"/admin/project/{tenant.domain}/replay").content.decode()
    assert ("of 2 groups, the newest: the time was up" in page) == (not is_whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("readers", "is_closed"),
    first_of(
        [
            (["ada", "bob", "eve"], True),
            (["ada", "bob"], False),
            (["ada", "bob", "ada", "ada"], False),
            (["anonymous", "anonymous", "anonymous", "ada"], False),
        ],
        1,
    ),
)
def test_words_of_few_readers_are_neither_kept_nor_told(tenant: Tenant, readers: list[str], is_closed: bool) -> None:
    """Closing keeps a wording for good, and a pull request may be public: that takes three readers."""
    for reader in readers:
        ask(tenant, ROTATE, fp=reader)
    comments = [push(tenant, files(keys=KEYS), is_preview=True)["replayComment"]["markdown"]]
    push(tenant, files(keys=KEYS))
    assert QuestionGroup.objects.get(project=tenant.project).state == ("fixed" if is_closed else "open")
    comments.append(push(tenant, files(), is_preview=True)["replayComment"]["markdown"])
    for says, change in zip(comments, ("wins an answer", "loses its answer"), strict=True):
        assert (f"- `{ROTATE}`, asked {len(readers)} times" in says) == is_closed
        summary = f"**1 {change}:**\n\n- 1 asked by fewer than 3 known readers, in the admin\n"
        assert (summary in says) == (not is_closed)
        assert (ROTATE in says) == is_closed


def test_a_comment_quotes_and_counts(tenant: Tenant) -> None:
    """What few asked comes after what many asked. Nobody knows who searched."""
    ask(tenant, "How do I install acme?", "answered", times=3)
    ask(tenant, "How do I print labels?", "answered", times=2)
    search(tenant, "thermal printer", "/guides/labels", times=9)
    end = push(tenant, files(install=None, **{"guides/labels": None}), is_preview=True)
    says = end["replayComment"]["markdown"]
    assert "**3 lose their answer:**\n\n- `How do I install acme?`, asked 3 times\n" in says
    assert "\n- and 2 asked by fewer than 3 known readers, in the admin\n" in says
    assert "print" not in says


def test_closing_keeps_the_words_of_the_owner(tenant: Tenant) -> None:
    """A group that was closed before is asked again in the words that its owner chose."""
    ask(tenant, ROTATE, times=3)
    group = QuestionGroup.objects.get(project=tenant.project)
    Actor("owner", group).mark_fixed("How are API keys rotated?")
    Actor("owner", group).reopen()
    push(tenant, files(keys=KEYS))
    group.refresh_from_db()
    assert (group.state, group.question) == ("fixed", "How are API keys rotated?")

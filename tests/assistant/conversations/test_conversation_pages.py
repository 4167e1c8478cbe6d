"""The pages of conversations in the admin: filters, the reader, redacting, erasing and exports, for three people."""

import json
import re
from datetime import timedelta
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.models import Feedback
from assistant.admin.conversations import listing
from assistant.models import Message, Thread
from docsite.privacy.models import AuditEntry
from tests.variants import first_of

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)> [x](javascript:alert(4))"


def ask(project, question="How do I install acme?", answer="Run **pip**.", minutes=0, thread=None, **facts):
    """Store a question with its answer. Returns the answer."""
    fp = facts.pop("fp", "fp-of-a-reader")
    thread = thread or Thread.objects.create(project=project.project, fp=fp, title=question[:80])
    common = {"project": project.project, "thread": thread}
    asked = Message.objects.create(role="user", content=question, **common)
    values = {"outcome": "answered", "caller": "web", "rung": "model", "language": "en", "filter_version": "", **facts}
    reply = Message.objects.create(role="assistant", content=answer, **common, **values)
    at = timezone.now() - timedelta(minutes=minutes)
    Message.objects.filter(pk__in=[asked.pk, reply.pk]).update(created_at=at)
    return reply


def rate(answer, helpful, comment=""):
    return Feedback.objects.create(
        project=answer.project, message=answer, source="thumbs_only", path="/", helpful=helpful, comment=comment,
        created_at=timezone.now(),
    )  # fmt: skip


def address(project, answer=None, tail=""):
    base = f"/admin/project/{project.domain}/conversations"
    return f"{base}/{answer.thread.thread_id}{tail}" if answer else base + tail


def shown(client, project, query=""):
    """The ids of the conversations that the list links to, in its order."""
    html = client.get(address(project, tail=query)).content.decode()
    return re.findall(r'<th scope="row" class="path"><a href="[^"]*/(thr_\w+)', html)


class Tags(HTMLParser):
    """Collects what a browser would run: scripts, handlers, and addresses with other schemes."""

    def __init__(self, html):
        super().__init__()
        self.active = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "script" and not (values.get("src") or "").startswith("/static/"):
            self.active.append(tag)
        self.active += [name for name in values if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action"):
            if (values.get(name) or "").strip().lower().startswith(("javascript:", "data:", "vbscript:")):
                self.active.append(values[name])


@pytest.mark.matrix
def test_filters_choose_conversations_newest_first(people, project):
    old = ask(project, minutes=30, outcome="refused", page_path="/install", language="de")
    new = ask(project, "Why?", minutes=5, caller="api", rung="extractive", filter_version="v2")
    rate(old, helpful=False)
    rate(new, helpful=True)
    both = [new.thread.thread_id, old.thread.thread_id]
    assert shown(people.owner, project) == shown(people.teammate, project) == both
    only_old = "outcome=refused", "thumb=down", "path=inst", "caller=web", "rung=model", "language=de", "q=acme"
    for query in only_old:
        assert shown(people.owner, project, f"?{query}") == both[1:], query
    for query in ("outcome=answered", "thumb=up", "caller=api", "rung=extractive", "version=v2", "q=WHY"):
        assert shown(people.owner, project, f"?{query}") == both[:1], query
    assert shown(people.owner, project, "?outcome=refused&thumb=up") == []
    assert shown(people.owner, project, "?to=2026-01-01") == []


@pytest.mark.slow
def test_the_list_has_a_row_for_each_answer_and_exports_and_searches_one_for_each_conversation(people, project):
    first = ask(project, minutes=60, outcome="refused")
    second = ask(project, minutes=40)
    ask(project, "And then?", minutes=20, thread=first.thread)
    ids = [first.thread.thread_id, second.thread.thread_id, first.thread.thread_id]
    assert shown(people.owner, project) == ids
    assert shown(people.owner, project, "?outcome=refused") == ids[:1]
    assert shown(people.owner, project, "?outcome=without_answer") == ids[:1]
    assert shown(people.owner, project, "?outcome=answered") == ids[:2]
    assert shown(people.owner, project, "?q=acme") == ids[:2]
    html = people.owner.get(address(project)).content.decode()
    assert "And then?" in html
    assert "<p>3 answers.</p>" in html
    assert "<td>Widget or site</td>" in html


@pytest.mark.matrix
def test_pages_follow_each_other_without_gap_or_repetition(people, project, monkeypatch):
    monkeypatch.setattr(listing.Listing.load_page, "__defaults__", (2,))
    answers = [ask(project) for _ in range(5)]
    Message.objects.filter(project=project.project).update(created_at=timezone.now() - timedelta(minutes=1))
    found, query = [], ""
    while True:
        html = people.owner.get(address(project, tail=query)).content.decode()
        found += re.findall(r'<th scope="row" class="path"><a href="[^"]*/(thr_\w+)', html)
        link = re.search(r'<a href="([^"]+)" rel="next"', html)
        if not link:
            break
        query = link[1].replace("&amp;", "&")
    assert found == [answer.thread.thread_id for answer in reversed(answers)]  # all at the same time
    assert "was not issued" in people.owner.get(address(project, tail="?after=forged")).content.decode()


def test_a_search_for_text_goes_on_where_it_stopped(people, project, monkeypatch):
    monkeypatch.setattr(listing, "MAX_SEARCHED", 2)
    ask(project, "the needle", minutes=50)
    for n in range(4):
        ask(project, minutes=n)
    html = people.owner.get(address(project, tail="?q=needle")).content.decode()
    for _ in range(3):
        if "the needle" in html:
            break
        link = re.search(r'<a href="([^"]+)" rel="next">Search older', html)[1].replace("&amp;", "&")
        html = people.owner.get(address(project, tail=link)).content.decode()
    assert "the needle" in html


@pytest.mark.matrix
def test_newer_and_older_lead_through_the_filtered_list(people, project):
    newest, middle, oldest = (
        ask(project, minutes=n, outcome=o) for n, o in ((1, "refused"), (2, "answered"), (3, "refused"))
    )

    def neighbours(answer, query=""):
        html = people.owner.get(address(project, answer, query)).content.decode()
        links = dict(re.findall(r'<a href="[^"]*/(thr_\w+)[^"]*" rel="(prev|next)"', html))
        return {rel: thread for thread, rel in links.items()}

    assert neighbours(middle) == {"prev": newest.thread.thread_id, "next": oldest.thread.thread_id}
    assert neighbours(newest, "?outcome=refused") == {"next": oldest.thread.thread_id}
    assert neighbours(oldest, "?outcome=refused&q=acme") == {"prev": newest.thread.thread_id}


def test_the_reader_shows_what_lies_behind_an_answer(people, project):
    url = "https://docs.acme.example/install"
    answer = ask(
        project,
        answer=f"Run **pip** [1]({url}#with-pip).",
        sources=[{"title": "Installing acme", "url": url}],
        hits=[
            {"path": "/install", "anchor": "with-pip", "score": 0.91, "digest": "another"},
            {"path": "/install", "anchor": "from-source", "score": 0.5},
            {"path": "/gone", "anchor": "x", "score": 0.2},
        ],
        checks=[
            {"written": "[1]", "url": f"{url}#with-pip:~:text=Run", "sentence": "Run this command to install acme:"},
            {"written": "[2]", "dropped": "the passage does not have these words"},
        ],
        steps=[{"rung": "model"}, {"rung": "extractive", "reason": "the model server is down"}],
        model="fake-1", chance=0.83, cost=1234, first_token_ms=820, total_ms=2400, prompt_tokens=2000,
        completion_tokens=150, filter_version="v2", context=[{"type": "code", "path": "/a", "characters": 12}],
        page_path="/install", cut_by="reader",
    )  # fmt: skip
    rate(answer, helpful=False, comment="Too short")
    html = people.teammate.get(address(project, answer)).content.decode()
    for text in (
        "<strong>pip</strong>", "Installing acme › With pip", "0.910", "changed since", "not in the index any more",
        "Run this command to install acme:", "the passage does not have these words", "the model server is down",
        "fake-1", "0.83", "0.0012", "0.82 s", "2.40 s", "2,000 read, 150 written", "version v2",
        "code, 12 characters", "Reader pressed stop", "Thumb down", "Too short",
    ):  # fmt: skip
        assert text in html, text
    assert html.count(">cited<") == 1  # of the two sections of the cited page


def test_no_stored_text_becomes_active(people, project):
    answer = ask(
        project, ATTACK, ATTACK, page_path=ATTACK[:100], model=ATTACK[:100], filter_version=ATTACK[:90], language="</",
        rung="<b>", reason=ATTACK[:100], state="error", outcome="failed",
        sources=[{"title": ATTACK, "url": "javascript:alert(1)"}],
        hits=[{"path": ATTACK, "anchor": ATTACK, "score": 1}],
        checks=[{"written": ATTACK, "url": "javascript:alert(1)", "sentence": ATTACK}, {"dropped": ATTACK}],
        steps=[{"rung": "model", "reason": ATTACK}], context=[{"type": ATTACK, "characters": ATTACK}],
    )  # fmt: skip
    rate(answer, helpful=True, comment=ATTACK)
    pages = [address(project), address(project, answer), address(project, tail=f"?q={quote('<script>alert(1)')}")]
    for page in pages:
        html = people.owner.get(page).content.decode()
        assert "alert(1)" in html
        assert Tags(html).active == [], page


def test_redacting_replaces_personal_data_in_all_texts(people, project):
    mail = "jo@reader.example"
    answer = ask(project, f"I am {mail}", f"Hello {mail}", checks=[{"written": mail, "dropped": "no"}])
    rating = rate(answer, helpful=True, comment=f"write to {mail}")
    url = address(project, answer, "/redact?outcome=answered")
    assert people.stranger.post(url).status_code == 404
    assert people.owner.get(url).status_code == 405
    reply = people.teammate.post(url)
    assert reply["Location"] == address(project, answer, "?outcome=answered")
    thread = Thread.objects.get(pk=answer.thread_id)
    rating.refresh_from_db()
    stored = [thread.title, rating.comment, *(f"{turn.content} {turn.checks}" for turn in thread.messages.all())]
    assert mail not in "".join(stored)
    assert "".join(stored).count("[e-mail]") == 5
    assert LogEntry.objects.get(object_id=str(thread.pk), content_type__model="thread").user.username.startswith(
        "teammate"
    )
    assert "No personal data was found." in people.owner.post(url, follow=True).content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(("whose", "erased"), first_of([("conversation", 1), ("reader", 2)], 1))
def test_erasing_is_confirmed_and_leaves_a_receipt(people, project, whose, erased):
    answer, _, other = (ask(project, fp=fp) for fp in ("reader-1", "reader-1", "reader-2"))
    thread_id = answer.thread.thread_id
    response = people.owner.get(address(project, answer))
    link = response.context["erasures"][whose]
    assert "reader <code>reader-1</code>" in response.content.decode(), "owners name whom they erase"
    shown = people.owner.get(link)
    named = {"conversation": thread_id, "reader": "reader-1"}[whose]
    text = shown.content.decode().partition("This goes")[2].partition("<form")[0]
    assert f"<code>{named}</code>" in text
    assert "Page views and searches of this person stay" in text
    form = {"whose": whose, "identifier": thread_id}
    assert shown.context["form"].cleaned_data.items() >= form.items()
    assert shown.context["found"]["conversations"] == erased
    assert people.stranger.get(link).status_code == 404
    people.owner.post(link, form)
    assert Thread.objects.filter(project=project.project).count() == 3
    people.owner.post(link, {**form, "confirm": "on"})
    left = Thread.objects.filter(project=project.project)
    assert (left.count(), other.thread in left) == (3 - erased, True)
    assert AuditEntry.objects.filter(project=project.domain, action="erased").count() == 1
    assert people.owner.get(address(project, answer)).status_code == 404


def test_a_shared_fp_is_no_reader_to_erase(people, project):
    answer = ask(project, fp="anonymous")
    shown = people.owner.get(address(project, answer))
    assert list(shown.context["erasures"]) == ["conversation"]
    assert "Erase this reader" not in shown.content.decode()


def read_stream(response):
    content = b"".join(response) if response.streaming and not response.is_async else b""
    if response.is_async:
        from asgiref.sync import async_to_sync

        async def read():
            return b"".join([chunk async for chunk in response])

        content = async_to_sync(read)()
    return [json.loads(line) for line in content.decode().splitlines()]


def test_exports_hold_what_the_list_shows_and_no_fingerprint(people, project):
    refused = ask(project, minutes=9, outcome="refused")
    answered = ask(
        project, "# Why?\nReally", "Because.", sources=[{"title": "A", "url": "https://docs.acme.example/a"}]
    )
    rate(answered, helpful=True, comment="ok")
    lines = read_stream(people.owner.get(address(project, tail="/export.jsonl")))
    assert [line["threadId"] for line in lines] == shown(people.owner, project)
    assert lines[0]["messages"][1]["feedback"] == {"helpful": True, "comment": "ok"}
    assert lines[0]["messages"][1]["outcome"] == "answered"
    assert "fp-of-a-reader" not in json.dumps(lines)
    only = read_stream(people.owner.get(address(project, tail="/export.jsonl?outcome=refused")))
    assert [line["threadId"] for line in only] == [refused.thread.thread_id]
    assert json.loads(people.owner.get(address(project, answered, "/export.jsonl")).content) == lines[0]
    markdown = people.owner.get(address(project, answered, "/export.md"))
    assert markdown["Content-Disposition"].endswith('.md"')
    assert "> # Why?\n> Really" in markdown.content.decode()
    assert "- A <https://docs.acme.example/a>" in markdown.content.decode()


def test_a_stranger_finds_nothing(people, project, client):
    answer = ask(project)
    for tail in ("", "/export.jsonl", "/export.md"):
        assert people.stranger.get(address(project, answer, tail)).status_code == 404
    for tail in ("", "/export.jsonl"):
        assert people.stranger.get(address(project, tail=tail)).status_code == 404
    own = people.stranger.get("/admin/").content.decode()
    domain = re.search(r'href="/admin/project/([\w-]+)"', own)[1]
    assert people.stranger.get(f"/admin/project/{domain}/conversations/{answer.thread.thread_id}").status_code == 404
    assert client.get(address(project, answer)).status_code == 302


@pytest.mark.matrix
@pytest.mark.parametrize("conversations", [3, 30])
def test_the_number_of_queries_does_not_grow(people, project, conversations):
    for n in range(conversations):
        rate(ask(project, minutes=n), helpful=True)
    with CaptureQueriesContext(connection) as queries:
        people.owner.get(address(project, tail="?outcome=answered"))
    assert len(queries) <= 16

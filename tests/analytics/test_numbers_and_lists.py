"""A number opens a list of exactly that many rows, and pages, API and digest count the same.

On the demo's sample with one answer of each kind, and on generated data.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone

from analytics.counting import sealer
from analytics.dashboard import next_steps
from analytics.models import Feedback
from assistant.answering.question import Asker, Question
from assistant.conversations import answer_statistics, report, threads
from assistant.conversations.threads import open_conversation
from assistant.improving.gaps import report as gap_report
from assistant.improving.question_groups import grouping, thumbs
from assistant.models import Message, QuestionGroup, SupportRequest
from assistant.notifications import digest
from docsite.core.workspace.reports.report_state import previous_period
from docsite.extras.demo.sample import life
from docsite.extras.demo.sample.views import make_sample_views
from search.models import SearchQuery
from search.query_log import totals
from tests.assistant.improving.gaps.conftest import skip_earlier, store_answer
from tests.conftest import PATIENCE, People, Tenant

pytestmark = pytest.mark.slow

API = {"caller": "api"}  # unlike the questions of the sample
DATA = [("generated", 90), ("sample", 30), ("sample", 90), ("generated", 30)]  # and days
OPENED = 4  # rows of a list that are opened


@pytest.fixture
def sample(project: Tenant, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """The sample, and answers that reports could count in different ways."""
    skip_earlier()
    tenant = project.project
    life.create_sample(tenant)
    make_sample_views(tenant, ["/install", "/configure"])
    assert sealer.seal_project(tenant.pk, PATIENCE)  # a page waits a few seconds only
    Feedback.objects.create(project=tenant, source="contextual", path="/", helpful=False, created_at=timezone.now())
    for outcome in Message.Outcome.values:
        store_answer(tenant, f"Where is the {outcome} ferret?", outcome, **API)
    disliked = store_answer(tenant, "Where is the disliked walrus?", "refused", **API)
    cited = {"sources": [{"title": "A", "url": "https://docs.acme.example/a"}]}
    store_answer(tenant, "Where is the read walrus?", "cut", cut_by="reader", **cited, **API)
    store_answer(tenant, "And where is its food?", "closest_passages", thread=disliked.thread.thread_id, **API)
    store_answer(tenant, "Where is the fixed zebra?", "closest_passages", **API)
    assert grouping.catch_up()
    thumbs.set_thumb(disliked.pk, helpful=False)
    zebras = QuestionGroup.objects.filter(project=tenant, terms__contains=" zebra ")
    assert zebras.update(state="fixed", fixed_at=timezone.now())
    monkeypatch.setattr(next_steps, "MAX_STEPS", 100)
    return project


@pytest.fixture
def generated(project: Tenant, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """A hundred days of every kind of question, search, feedback and support request, without any order."""
    skip_earlier()
    chance, now, tenant = random.Random(46), timezone.now(), project.project

    def earlier() -> datetime:
        return now - timedelta(minutes=chance.randrange(100 * 24 * 60))

    answers = []
    for number in range(150):
        outcome = chance.choice([value for value in Message.Outcome.values if value != "running"])
        facts: dict[str, Any] = {"page_path": chance.choice(["", "/install"]), "at": earlier()}
        facts["rung"] = chance.choice(["model", "extractive"])
        if outcome == "cut":
            facts["cut_by"] = chance.choice(["reader", "service"])
            facts["sources"] = chance.choice([[], [{"title": "A", "url": "https://docs.acme.example/a"}]])
        text = f"{chance.choice(['Where', 'Why'])} is animal {chance.choice('abcdefgh')}{number % 9}?"
        answers.append(store_answer(tenant, text, outcome, caller=chance.choice(["web", "api", "mcp"]), **facts))
    dead = store_answer(tenant, "Who has written this?", "running", at=now - timedelta(days=3))
    Message.objects.filter(pk=dead.pk).update(updated_at=now - timedelta(hours=2))  # its process has died
    again = store_answer(tenant, "Asked first?", "answered", at=now - timedelta(hours=1))
    asked_again = {"thread_id": again.thread.thread_id, "replaces": True}
    open_conversation(tenant, Question("Asked again?", Asker(fp="reader"), Message.Caller.WEB, **asked_again))
    Message.objects.filter(thread=again.thread, role="assistant").update(outcome="refused", state="done")
    SearchQuery.objects.bulk_create(
        SearchQuery(
            project=tenant, at=earlier(), text="word", folded="word", result_count=chance.choice([None, 0, 0, 4])
        )
        for _ in range(80)
    )
    for _ in range(60):
        values = [chance.choice(one) for one in (Feedback.Source.values, Feedback.Status.values)]
        facts = {"path": "/", "helpful": chance.choice([None, True, False]), "created_at": earlier()}
        Feedback.objects.create(project=tenant, source=values[0], status=values[1], **facts)
    for number in range(12):
        state = chance.choice(SupportRequest.State.values)
        tenant.support_requests.create(
            form_id=str(number), subject=f"Help {'with keys' if number % 3 else ''}", message="?", state=state
        )
    assert grouping.catch_up()
    threads.mark_orphans(dead.pk)  # as the next process does at its start
    for answer in chance.sample(answers[20:], 15):
        thumbs.set_thumb(answer.pk, helpful=False)
    groups = list(QuestionGroup.objects.filter(project=tenant))
    for group, state in zip(groups, ["fixed", "dismissed", "assigned"] * 3, strict=False):
        QuestionGroup.objects.filter(pk=group.pk).update(state=state, fixed_at=now)
    monkeypatch.setattr(next_steps, "MAX_STEPS", 100)
    return project


class Site:
    """The admin's pages of a project, as a person reads them, in one range."""

    def __init__(self, client: Any, project: Tenant, dates: str) -> None:
        self.client, self.base, self.dates = client, f"/admin/project/{project.domain}", dates
        html = client.get(f"{self.base}{dates}").content.decode()
        found = re.findall(r'<li><a href="([^"]*)"[^>]*>(<span class=.*?)</a>', html, re.DOTALL)
        words = [" ".join(re.sub("<[^>]+>", " ", tile).split()) for _, tile in found]
        self.tiles = [(unescape(link), text) for (link, _), text in zip(found, words, strict=True)]
        steps = html.split('id="next-steps"')[1].split("</ol>")[0]
        self.steps = [(reason, unescape(link)) for reason, link in re.findall(r'<li>(.*?) <a href="([^"]*)"', steps)]

    def tile(self, pattern: str) -> tuple[int, str]:
        """The number of a tile, and the address that the tile opens."""
        return next((number(found), link) for link, text in self.tiles if (found := re.search(pattern, text)))

    def step(self, pattern: str) -> tuple[int, str]:
        """The number of a next step, and the address that it opens."""
        return next((number(found), link) for reason, link in self.steps if (found := re.search(pattern, reason)))

    def context(self, link: str) -> Any:
        """What the page at an address shows."""
        response = self.client.get(link)
        assert response.status_code == 200, link
        return response.context

    def count_rows(self, link: str) -> int:
        """The rows of a list of conversations, over all its pages. The list says the same number."""
        context, rows = self.context(link), 0
        matching, page = context["matching"], link.partition("?")[0]
        while True:
            rows += len(context["rows"])
            if not context["next"]:
                assert rows == matching
                return rows
            context = self.context(page + context["next"])


def number(found: "re.Match[str] | None") -> int:
    assert found
    return int(found[1].replace(",", ""))


def chips(choices: Any) -> Iterator[tuple[int, str]]:
    """The numbers at the ends of some links, and the addresses."""
    for choice in choices:
        if found := re.search(r" ([\d,]+)$", choice.label):
            yield number(found), choice.link


@pytest.mark.matrix
@pytest.mark.parametrize(("data", "days"), DATA)
def test_a_number_opens_the_list_of_exactly_that_many_rows(
    data: str, days: int, people: People, request: pytest.FixtureRequest
) -> None:
    tenant: Tenant = request.getfixturevalue(data)
    start, end = (datetime.now(UTC) + timedelta(days=day) for day in (-days, 1))
    start, end = (day.replace(hour=0, minute=0, second=0, microsecond=0) for day in (start, end))
    site = Site(people.owner, tenant, f"?from={start:%Y-%m-%d}&to={end:%Y-%m-%d}")
    walk_overview(site, tenant)
    walk_questions(site, tenant, start, end)
    walk_searches_and_feedback(site)
    walk_gaps(site, tenant, start, end)
    walk_digest(site, tenant, start, end)
    walk_pages(site, tenant)


def walk_overview(site: Site, tenant: Tenant) -> None:
    """The tiles and the next steps."""
    asked, link = site.tile(r"^Questions ([\d,]+)")
    assert asked == site.context(link)["totals"].total
    unanswered, link = site.tile(r"([\d,]+) without an answer")
    assert unanswered == site.count_rows(link)
    assert unanswered == site.context(f"{site.base}/questions{site.dates}&outcome=without_answer")["totals"].total
    expected, link = site.step(r"([\d,]+) questions? (?:has|have) no answer")
    assert expected == unanswered == site.context(link)["gaps"]
    small_talk, _ = site.tile(r"([\d,]+) only small talk")
    assert small_talk == site.count_rows(f"{site.base}/conversations{site.dates}&outcome=greeting")
    assert site.count_rows(f"{site.base}/conversations{site.dates}&outcome=answered") + small_talk + unanswered == asked
    visitors, link = site.tile(r"^Visitors ([\d,]+)")
    assert visitors == site.context(link)["numbers"].visitors.totals["total"]
    empty, link = site.tile(r"Searches without result ([\d,]+)")
    listed = site.context(link)
    queries = totals.group_queries(tenant.project, listed["start"], listed["end"], kind="empty")
    assert empty == listed["counts"].without_result == sum(row["without_result"] for row in queries)
    assert listed["table"].found == len(queries)
    all_searches, link = site.tile(r"% of ([\d,]+) searches")
    assert all_searches == site.context(link)["counts"].searches
    nothing, link = site.step(r"([\d,]+) search(?:es)? found nothing")
    assert nothing == empty == site.context(link)["counts"].without_result
    pending, link = site.step(r"([\d,]+) pieces? of feedback")
    assert pending == site.context(link)["table"].found
    for thumb in ("up", "down"):
        count, link = site.tile(rf"([\d,]+) (?:thumbs )?{thumb}\b")
        assert count == site.context(f"{link}&thumb={thumb}")["table"].found


def walk_questions(site: Site, tenant: Tenant, start: datetime, end: datetime) -> None:
    """The report of questions, the list of conversations, and the API."""
    page = f"{site.base}/questions"
    shown = site.context(page + site.dates)
    opened = 0
    for _, values in [*shown["facets"], ("pages", shown["pages"])]:
        for value in values:
            assert value.number == site.context(page + value.link)["totals"].total, value
            opened += 1
    for group, _, _, link, _ in shown["rows"][:OPENED]:
        assert group.total == site.context(page + link)["totals"].total
    page = f"{site.base}/conversations"
    rows = report.list_exchanges(tenant.project, start, end, 10_000)
    exported = Counter(row.answer.outcome for row in rows if row.answer)
    assert [exported] == answer_statistics.count_outcomes([tenant.project], start, end)
    unanswered = sum(not row.is_answered for row in rows if row.answer and row.answer.outcome != "running")
    for count, link in chips(site.context(page + site.dates)["outcomes"]):
        assert count == site.count_rows(page + link), link
        outcome = link.rpartition("outcome=")[2]
        assert count == (unanswered if outcome == "without_answer" else exported[outcome])
        opened += 1
    callers = answer_statistics.count_callers(tenant.project, start, end)  # of the API
    assert callers == shown["totals"].facets["caller"]
    assert opened > 8


def walk_searches_and_feedback(site: Site) -> None:
    """The chips of feedback and of support requests, also beside other filters."""
    page = f"{site.base}/feedback"
    for filtered in ("", "&thumb=down", "&status=pending&source=contextual"):
        shown = site.context(page + site.dates + filtered)
        for tile in [*shown["tiles"], *shown["sources"], *shown["thumbs"]]:
            link = site.dates + filtered if tile["chosen"] else tile["link"].partition("#")[0]
            assert tile["number"] == site.context(page + link)["table"].found, (filtered, tile)
    page = f"{site.base}/support"
    for words in ("", "&q=keys"):
        for count, link in chips(site.context(f"{page}?state=open{words}")["states"]):
            assert count == site.context(page + link)["page"].paginator.count, link


def walk_gaps(site: Site, tenant: Tenant, start: datetime, end: datetime) -> None:
    """The gaps of each kind and state: their number, their rows, the page of a group, and the period before."""
    page, before = f"{site.base}/gaps", previous_period(start, end)
    assert before
    for state in ("open", "fixed", "all"):
        for problem in ("", "without_answer", "refused", "disliked"):
            shown = site.context(f"{page}{site.dates}&state={state}&problem={problem}")
            counts = gap_report.count_gaps(tenant.project, start, end, state, problem)  # of the API
            assert shown["gaps"] == sum(count.total for count in counts)
            assert len(counts) == shown["table"].found
            earlier = {
                count_gap.group: count_gap.total
                for count_gap in gap_report.count_gaps(tenant.project, *before, "all", problem)
            }
            for gap, _ in shown["rows"]:
                assert gap.count.before == earlier.get(gap.group.pk, 0), (problem, gap.text)
            for gap, link in () if problem else shown["rows"][:OPENED]:
                assert gap.count.now == site.context(link)["shown"].gap.count.now


def walk_pages(site: Site, tenant: Tenant) -> None:
    """The numbers of the page about a page, for each page of a question, an answer, a search, feedback or a view."""
    project, opened = tenant.project, Counter[str]()
    paths = {"/nothing", *Feedback.objects.filter(project=project).values_list("path", flat=True)}
    paths |= set(Message.objects.filter(project=project).values_list("page_path", flat=True)) - {""}
    paths |= set(SearchQuery.objects.filter(project=project).values_list("clicked_path", flat=True)) - {""}
    for sources in Message.objects.filter(project=project).values_list("sources", flat=True):
        paths |= {project.path_of(source["url"]) for source in sources}
    for path in paths:
        for part in site.context(f"{site.base}/pages{site.dates}&path={path}")["parts"]:
            if part.label == "Visitors":
                rows = site.context(part.url)["numbers"].visitors.totals["total"]
            elif "/conversations" in part.url:
                rows = site.count_rows(part.url)
            else:
                rows = site.context(part.url)["table"].found
            assert part.number == rows, (path, part)
            assert len(part.rows) == min(part.number, 5) or part.label == "Visitors"
            for link, *_ in part.rows[: not opened[part.label]]:
                assert site.client.get(link).status_code == 200, link
            opened[part.label] += part.number
    assert len(opened) == 6


def walk_digest(site: Site, tenant: Tenant, start: datetime, end: datetime) -> None:
    """The numbers of the digest are those of the pages that they open."""
    section = digest.count_questions(tenant.project, start, end)
    assert section
    asked, link = section.items[0].number, section.items[0].path
    assert asked == f"{site.context(link)['totals'].total:,}"
    pages = digest.list_pages_to_write(tenant.project, start, end)
    for item in pages.items if pages else ():
        assert item.number == f"{site.context(item.path)['shown'].gap.count.now:,} ×"

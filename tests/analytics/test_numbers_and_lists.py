"""A number of the overview opens a list of exactly that many rows: on the demo's sample, and one of each outcome."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone

from analytics.dashboard import next_steps
from analytics.models import Feedback
from analytics.sample import life
from assistant.conversations import report
from assistant.models import Message, QuestionGroup
from assistant.question_groups import grouping, thumbs
from tests.assistant.gaps.conftest import skip_earlier, store_answer
from tests.conftest import People, Tenant
from tests.variants import first_of

pytestmark = pytest.mark.slow

API = {"caller": "api"}  # unlike the questions of the sample


@pytest.fixture
def sample(project: Tenant, monkeypatch: pytest.MonkeyPatch) -> Tenant:
    """The sample, and answers that reports could count in different ways."""
    skip_earlier()
    tenant = project.project
    life.create_sample(tenant)
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


class Site:
    """The admin's pages of a project, as a person reads them, in one range."""

    def __init__(self, client: Any, project: Tenant, dates: str) -> None:
        self.client, self.base = client, f"/admin/project/{project.domain}"
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


def exported(project: Tenant, start: datetime, end: datetime) -> Iterator[tuple[str, bool]]:
    """The caller of each ended question of the export, and whether it is answered."""
    for exchange in report.list_exchanges(project.project, start, end, 10_000):
        answer = Message.objects.get(pk=exchange.answer.pk)  # type: ignore[union-attr]  # each has one
        if answer.outcome != "running":
            yield answer.caller, exchange.is_answered


@pytest.mark.parametrize("days", first_of([30, 1, 100], 1))
def test_a_number_opens_the_list_of_exactly_that_many_rows(sample: Tenant, people: People, days: int) -> None:
    start, end = (datetime.now(UTC) + timedelta(days=day) for day in (-days, 1))
    dates = f"?from={start:%Y-%m-%d}&to={end:%Y-%m-%d}"
    site = Site(people.owner, sample, dates)
    listing = site.context(f"{site.base}/conversations{dates}")["listing"]
    questions = list(exported(sample, listing.start, listing.end))

    asked, link = site.tile(r"^Questions ([\d,]+)")
    assert asked == site.context(link)["totals"].total == len(questions)
    assert asked + 1 == site.count_rows(f"{site.base}/conversations{dates}"), "and the one that runs"

    unanswered, link = site.tile(r"([\d,]+) without an answer")
    assert unanswered == site.count_rows(link) == sum(not is_answered for _, is_answered in questions) > 7
    assert unanswered == site.context(f"{site.base}/questions{dates}&outcome=without_answer")["totals"].total
    told, link = site.step(r"([\d,]+) questions have no answer")
    assert told == unanswered == site.context(link)["gaps"]

    totals = site.context(f"{site.base}/questions{dates}")["totals"]
    for caller in ("web", "api"):
        of_caller = sum(one == caller for one, _ in questions)
        assert of_caller == totals.facets["caller"][caller], caller
        assert of_caller or (caller, days) == ("web", 1), "the sample has quiet days"
        running = Message.objects.filter(project=sample.project, outcome="running", caller=caller).count()
        assert of_caller + running == site.count_rows(f"{site.base}/conversations{dates}&caller={caller}"), caller
        assert of_caller + running == report.count_by_caller(sample.project, listing.start, listing.end)[caller], caller

    empty, link = site.tile(r"Searches without result ([\d,]+)")
    assert empty == site.context(link)["counts"].without_result
    pending, link = site.step(r"([\d,]+) pieces? of feedback")
    assert pending == site.context(link)["table"].found
    assert (
        pending
        == Feedback.objects.filter(
            project=sample.project, status="pending", created_at__gte=listing.start, created_at__lt=listing.end
        ).count()
    )

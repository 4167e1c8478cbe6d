"""Counting anew against brute force: other rules, and sample views that go."""

import contextlib
import dataclasses
import itertools
import random
import threading
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError
from django.db import connections
from django.db.models import Sum

from analytics import agents
from analytics.agents import Verdict
from analytics.collecting import recording
from analytics.counting import agent_views, recount, sealer, sweeper
from analytics.counting.agent_views import AgentSum
from analytics.counting.sealer import StepSize
from analytics.dashboard import time_series
from analytics.models import EPOCH, AgentViews, PageView, Trail
from analytics.reports import visitor_counts
from tests.analytics.counting.history import (
    AGENTS,
    Seen,
    brute,
    history,
    hour,
    view,
    windows,
)
from tests.analytics.counting.test_counting import arrive, check
from tests.conftest import set_analytics
from tests.docsite.core.test_commands import run
from tests.variants import first_of

pytestmark = pytest.mark.slow

NEW_RULES = {
    "human": ("human", "human"),
    "reader": ("ai_training", "crawler"),
    "crawler": ("other_bot", "nobody"),
    "nobody": ("ai_agent", "reader"),
}
SAME_VISITOR = (AGENTS["human"], AGENTS["reader"])  # hashed by what the new rules do not change


def use_new_rules(monkeypatch):
    """Rules of a next version, which class every agent of the histories differently."""
    before = agents.classify
    known = {agent: NEW_RULES[kind][0] for kind, agent in AGENTS.items()}

    def classify(user_agent):
        client_class = known[user_agent]
        if client_class == "human":
            return before(user_agent)
        return Verdict(client_class, "new rule", before(user_agent).agent, "Acme")

    monkeypatch.setattr(agents, "classify", classify)
    monkeypatch.setattr(agents, "VERSION", agents.VERSION + 1)


def judged_anew(seen: Seen) -> Seen:
    """The view as the new rules see it; a visitor stays the one that it was."""
    markdown = seen.observation.raw_path.endswith(".md")
    kind = next(kind for kind, agent in AGENTS.items() if agent == seen.observation.user_agent)
    anew = NEW_RULES[kind][1]
    known_crawler = NEW_RULES[kind][0] in agents.KNOWN_CRAWLERS
    return dataclasses.replace(seen, kind="reader" if markdown and not known_crawler else anew)


def check_agents(project, views: list[Seen]) -> None:
    """What agents read, by the hour and by the day, is what the single views say."""
    for span in agent_views.SPANS:
        stored = Counter()
        for row in AgentViews.objects.filter(project=project, span=span):
            stored[row.start, row.client_class, row.agent, row.rule, row.surface, row.operator] += row.views
        single = Counter(
            (
                view.at // sealer.HOUR // span * span,
                view.client_class,
                view.agent,
                view.rule,
                view.surface,
                view.operator,
            )
            for view in PageView.objects.filter(project=project).exclude(client_class="human", surface="html")
        )
        assert stored == single
        assert sum(stored.values()) == sum(1 for seen in views if seen.kind != "human")


@pytest.mark.parametrize("seed", first_of(range(8), 1))
def test_new_rules_count_as_if_they_had_always_been_there(make_project, monkeypatch, seed):
    dice = random.Random(seed)
    project, now = make_project().project, datetime.now(UTC)
    views = history(dice, dice.choice([30, 300]), 29, now)
    dice.shuffle(views)
    late = [seen for seen in views if seen.observation.user_agent in SAME_VISITOR][: len(views) // 4]
    early = [seen for seen in views if seen not in late]
    arrive(dice, project, early)
    use_new_rules(monkeypatch)
    progress = []
    moved = recount.reclassify(project, lambda done, of: progress.append((done, of)))
    expected = [judged_anew(seen) for seen in early]
    check(project, expected, windows(dice, now, 29, 8))
    check_agents(project, expected)
    assert progress[-1][0] == progress[-1][1]
    assert not PageView.objects.filter(project=project).exclude(user_agent="").exclude(rules_version=agents.VERSION)
    assert moved["ai_user", "ai_training"] == sum(seen.observation.user_agent == AGENTS["reader"] for seen in early)
    assert not recount.reclassify(project), "a second time there is nothing to do"
    arrive(dice, project, late)  # and meet the visit histories that were changed
    check(project, expected + [judged_anew(seen) for seen in late], windows(dice, now, 29, 8))


@pytest.mark.parametrize("seed", first_of(range(8), 1))
def test_sample_views_go_without_a_trace(make_project, seed):
    dice = random.Random(seed)
    project, now = make_project().project, datetime.now(UTC)
    days = dice.choice([20, 300])
    real, sample = history(dice, 200, days, now), []
    for seen in history(dice, 200, days, now):
        address = type(seen.observation.address)(int(seen.observation.address) + 100)
        observation = seen.observation._replace(address=address, sample=True)
        sample.append(Seen(observation, seen.kind, (str(address), seen.who[1])))
    arriving = [*real, *sample]
    dice.shuffle(arriving)
    arrive(dice, project, arriving)
    sealer.seal()
    if seed % 3 == 0:
        sweeper.sweep(force=True)
    ranges = windows(dice, now, days, 8)
    check(project, arriving, ranges)
    assert recount.remove_sample(project) == len(sample)
    check(project, real, ranges)
    assert not PageView.objects.filter(project=project, sample=True).exists()
    if seed % 3:
        check_agents(project, real)
        histories = {bytes(blob) for blob in Trail.objects.filter(project=project).values_list("sightings", flat=True)}
        assert histories, "those of the others are still there"
        assert Trail.objects.filter(project=project).count() == len(
            {seen.who for seen in real if seen.kind != "nobody"}
        )


@pytest.mark.matrix
@pytest.mark.parametrize("sealed", [True, False])
def test_views_may_come_in_meanwhile(make_project, monkeypatch, sealed):
    dice = random.Random(7)
    project, now = make_project().project, datetime.now(UTC)
    views = history(dice, 300, 20, now)
    late = [seen for seen in views if seen.observation.user_agent in SAME_VISITOR][:80]
    early = [seen for seen in views if seen not in late]
    arrive(dice, project, early)
    use_new_rules(monkeypatch)
    acquire_lease, waiting = sealer.acquire_lease, list(late)

    def overtaken(project_id):
        recording.record(project, [seen.observation for seen in waiting])
        if waiting and sealed:
            waiting.clear()
            sealer.seal()
        waiting.clear()
        return acquire_lease(project_id)

    sealer.seal()
    monkeypatch.setattr(sealer, "acquire_lease", overtaken)
    recount.reclassify(project)
    monkeypatch.setattr(sealer, "acquire_lease", acquire_lease)
    expected = [judged_anew(seen) for seen in views]
    check(project, expected, windows(dice, now, 20, 12))
    check_agents(project, expected)


@pytest.mark.matrix
def test_two_at_once_do_no_more_than_one(make_project, monkeypatch):
    dice = random.Random(8)
    project, now = make_project().project, datetime.now(UTC)
    real, sample = history(dice, 200, 20, now), []
    for seen in history(dice, 300, 20, now):
        address = type(seen.observation.address)(int(seen.observation.address) + 100)
        observation = seen.observation._replace(address=address, sample=True)
        sample.append(Seen(observation, seen.kind, (str(address), seen.who[1])))
    arrive(dice, project, [*real, *sample])
    acquire_lease, meet = sealer.acquire_lease, threading.Barrier(2, timeout=20)

    def together(project_id):
        with contextlib.suppress(threading.BrokenBarrierError):
            meet.wait(0.5)  # both have chosen what to change
        return acquire_lease(project_id)

    def remove(removed):
        removed.append(recount.remove_sample(project))
        connections.close_all()

    sealer.seal()
    monkeypatch.setattr(sealer, "acquire_lease", together)
    monkeypatch.setattr(sealer, "StepSize", lambda: StepSize(2))
    removed: list[int] = []
    both = [threading.Thread(target=remove, args=[removed]) for _ in "ab"]
    for one in both:
        one.start()
    for one in both:
        one.join()
    monkeypatch.undo()
    assert sum(removed) == len(sample)
    check(project, real, windows(dice, now, 20, 12))
    check_agents(project, real)


@pytest.mark.matrix
def test_who_loses_the_lease_begins_the_step_again(make_project, monkeypatch):
    dice = random.Random(5)
    project, now = make_project().project, datetime.now(UTC)
    views = history(dice, 200, 20, now)
    arrive(dice, project, views)
    use_new_rules(monkeypatch)
    release_lease, lost = sealer.release_lease, []

    def overtaken(lease, **facts):
        if len(lost) < 3:
            lost.append(lease)
            raise sealer.LeaseLost
        release_lease(lease, **facts)

    sealer.seal()
    monkeypatch.setattr(sealer, "release_lease", overtaken)
    monkeypatch.setattr(sealer, "LEASE_SECONDS", 0.001)  # each can be taken at once
    recount.reclassify(project)
    assert len(lost) == 3
    check(project, [judged_anew(seen) for seen in views], windows(dice, now, 20, 8))


@pytest.mark.parametrize("seed", first_of(range(6), 1))
def test_the_steps_of_a_range_are_each_counted_by_themselves(make_project, seed):
    dice = random.Random(seed)
    project, now = make_project().project, datetime.now(UTC)
    views = history(dice, 300, 29, now)
    arrive(dice, project, views)
    visitor_counts.refresh(project)
    for step in (timedelta(hours=1), timedelta(days=1), timedelta(days=7)):
        for start, end in windows(dice, now, 2 if step < timedelta(days=1) else 29, 3):
            ai_scope = dice.choice(["all", "readers"])
            set_analytics(project, ai_scope=ai_scope)
            split = list(time_series.split(start, end, step))
            assert (split[0][0], split[-1][1]) == (start, end)
            for (_, edge), (following, after) in itertools.pairwise(split):
                assert edge == following == hour(following) or step > timedelta(days=1)
                assert after - following <= step
                assert step != timedelta(days=1) or following.hour == 0
            for one in visitor_counts.count_steps(project, split):
                scope = {"crawlers": ai_scope == "all"}
                assert one.visitors == brute(views, one.start, one.end, **scope)[0]
                assert one.views == brute(views, one.start, one.end, distinct=False, **scope)[0]
    assert visitor_counts.count_steps(project, []) == []


def test_agents_are_told_with_their_forms_rules_and_latest_view(make_project):
    dice = random.Random(1)
    project, now = make_project().project, datetime.now(UTC)
    views = history(dice, 300, 20, now)
    arrive(dice, project, views)
    sealer.seal()
    start, end = hour(now - timedelta(days=9)), hour(now)
    found = agent_views.list_agents(project, start, end)
    seen = [one for one in views if start <= one.at < end and one.kind != "human"]
    assert sum(agent.views for agent in found) == len(seen)
    assert [agent.views for agent in found] == sorted((agent.views for agent in found), reverse=True)
    for agent in found:
        own = [one for one in seen if agents.classify(one.observation.user_agent).agent == agent.name]
        assert agent.views == len(own)
        assert agent.last_seen == max(one.at for one in own)
        assert agent.rules == [agents.classify(own[0].observation.user_agent).rule]
        markdown = sum(one.observation.raw_path.endswith(".md") for one in own)
        assert (agent.surfaces["md"], agent.surfaces["html"]) == (markdown, len(own) - markdown)
        assert agent.markdown_views == markdown


def test_an_hour_has_room_for_so_many_made_up_names(make_project, monkeypatch):
    """Added up here: a service of other tests, which may seal meanwhile, has more room."""
    monkeypatch.setattr(agent_views, "MAX_UNNAMED_ROWS", 5)
    project, now = make_project().project, datetime.now(UTC)
    start = (hour(now) - timedelta(hours=1) - EPOCH) // timedelta(hours=1)
    seen = [
        AgentSum(project.pk, 1, start, "other_bot", f"madeup{n}bot", "bot", "html", "", "", 2, 0) for n in range(20)
    ]
    known = AgentSum(project.pk, 1, start, "ai_training", "GPTBot", "name: GPTBot", "html", "", "OpenAI", 1, 0)
    for first in range(0, 20, 7):  # in several steps
        agent_views.add_sums([*seen[first : first + 7], known])
    found = {agent.name: agent.views for agent in agent_views.list_agents(project, now - timedelta(hours=3), now)}
    assert found["(other)"] == 30
    assert found["GPTBot"] == 3, "those that the rules name always have room"
    assert sum(found.values()) == 43


def test_commands_say_what_they_did(make_project, monkeypatch):
    project = make_project().project
    views = [view(datetime.now(UTC), "/a", 1, "reader"), view(datetime.now(UTC), "/a", 2, "human")]
    recording.record(project, [seen.observation for seen in views])
    recording.record(project, [view(datetime.now(UTC), "/a", 3, "human").observation._replace(sample=True)])
    use_new_rules(monkeypatch)
    output = run("reclassify", project.domain)
    assert f"{project.domain}: 1 views changed class (rules {agents.VERSION})" in output
    assert "1 from AI assistant for a person to AI training crawler" in output
    with pytest.raises(CommandError, match="cannot be undone"):
        run("forgetvisitors", project.domain)


def test_what_is_taken_back_leaves_the_row_that_it_went_into(make_project, monkeypatch):
    monkeypatch.setattr(agent_views, "MAX_UNNAMED_ROWS", 5)
    project, now = make_project().project, datetime.now(UTC)
    known = history(random.Random(1), 1, 0, now)[0].observation._replace(at=hour(now) - timedelta(minutes=5))
    made_up = [
        known._replace(user_agent=f"Madeup{n}bot/1.0", view_id=uuid.uuid4().hex, sample=n < 15) for n in range(20)
    ]
    recording.record(project, made_up)
    sealer.seal()
    monkeypatch.setattr(sealer, "StepSize", lambda: StepSize(1))
    recount.remove_sample(project)
    found = {agent.name: agent.views for agent in agent_views.list_agents(project, now - timedelta(hours=3), now)}
    assert sum(found.values()) == 5
    assert min(found.values()) > 0


@pytest.mark.matrix
def test_the_sums_stay_true_however_full_the_hours_are(make_project, monkeypatch):
    monkeypatch.setattr(agent_views, "MAX_UNNAMED_ROWS", 3)
    monkeypatch.setattr(sealer, "StepSize", lambda: StepSize(5))
    dice = random.Random(12)
    project, now = make_project().project, datetime.now(UTC)
    known = history(dice, 1, 0, now)[0].observation
    made = 0
    for number in range(6):
        for _ in range(30):
            at = hour(now) - timedelta(minutes=dice.randint(1, 150))
            name = f"Madeup{dice.randrange(9)}bot/1.0"
            recording.record(project, [known._replace(user_agent=name, at=at, view_id=uuid.uuid4().hex)])
        made += 30
        sealer.seal()
        monkeypatch.setattr(
            agents, "classify", lambda name, rule=f"rule {number}": Verdict("other_bot", rule, name[:9])
        )
        recount.reclassify(project)
        for span in agent_views.SPANS:
            rows = AgentViews.objects.filter(project=project, span=span)
            assert rows.aggregate(views=Sum("views"))["views"] == made
            assert rows.exclude(agent="(other)").exists(), "those that go make room"
            assert not rows.filter(views__lte=0).exists()


def test_only_views_that_were_judged_get_the_version_of_the_rules(make_project, monkeypatch):
    project, now = make_project().project, datetime.now(UTC)
    views = [view(now - timedelta(days=days), "/a", 1, "reader") for days in (1, 60)]
    recording.record(project, [seen.observation for seen in views])
    before = agents.VERSION
    use_new_rules(monkeypatch)
    recount.reclassify(project)
    found = PageView.objects.filter(project=project).order_by("at").values_list("rule", "rules_version")
    assert list(found) == [("name: ChatGPT-User", before), ("new rule", before + 1)]

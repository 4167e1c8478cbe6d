"""Visitors by source, campaign, entry page, device, browser and language, against brute force."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from analytics.audience import DIMENSIONS, Dimensions
from analytics.collecting.writer import Facts, View
from analytics.counting import audiences, recount, sealer, sweeper, visit_history
from analytics.models import Audience, AudienceCells
from analytics.reports import audience_counts, visitor_counts
from analytics.reports.filtered_counts import FilteredCounts
from tests.analytics.counting.history import Seen, history, windows
from tests.analytics.counting.test_counting import arrive, check
from tests.conftest import set_analytics
from tests.variants import first_of

PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.6 Mobile/15E148 Safari/604.1"
)
SHAPES = {  # referrer, query and language of views, and what is known of them
    ("", "", ""): {"channel": "direct"},
    ("https://www.google.com/", "", "de-AT,en;q=0.8"): {"channel": "search", "source": "google.com", "language": "de"},
    ("https://chatgpt.com/", "?utm_source=chatgpt.com", "en"): {
        "channel": "ai", "source": "chatgpt.com", "utm_source": "chatgpt.com", "language": "en",
    },
    ("", "?utm_source=News&utm_medium=mail&utm_campaign=May", "en"): {
        "channel": "other", "utm_source": "news", "utm_medium": "mail", "utm_campaign": "may", "language": "en",
    },
    ("INTERNAL", "", "en-US"): {"channel": "internal", "language": "en"},
}  # fmt: skip


def with_audience(dice: random.Random, project, seen: Seen) -> tuple[Seen, dict[str, str]]:
    """The view with a random audience, and the values that are expected of it."""
    referrer, query, language = shape = dice.choice(list(SHAPES))
    observation = seen.observation
    is_person = observation.user_agent.startswith("Mozilla/5.0 (X11")
    values = dict(SHAPES[shape])
    agent = observation.user_agent
    if not is_person:
        values.pop("language", None)
        if values["channel"] == "direct":
            del values["channel"]
    elif dice.random() < 0.3:
        agent = PHONE
    if is_person:
        values |= (
            {"device": "desktop", "browser": "Chrome"} if agent != PHONE else {"device": "phone", "browser": "Safari"}
        )
    if values.get("channel", "internal") != "internal":
        values["entry"] = seen.path
    observation = observation._replace(
        referrer=project.docs_url if referrer == "INTERNAL" else referrer,
        raw_path=observation.raw_path + query,
        accept_language=language,
        user_agent=agent,
    )
    return AudienceSeen(observation, seen.kind, (seen.who[0], agent if is_person else seen.who[1])), values


class AudienceSeen(Seen):
    """A view whose address may have a query."""

    @property
    def path(self) -> str:
        return self.observation.raw_path.partition("?")[0].removesuffix(".md")


def flags(seen: Seen, crawlers: bool) -> list[str]:
    ai = {"reader", "crawler"} if crawlers else {"reader"}
    return ["human", "total"] if seen.kind == "human" else ["ai", "total"] if seen.kind in ai else []


def brute(views, start, end, *, crawlers=True, distinct=True, filters=None):
    """Rows by dimension, as the report has them."""
    found = defaultdict(lambda: {"human": [], "ai": [], "total": []})
    for seen, values in {seen.observation.view_id: (seen, values) for seen, values in reversed(views)}.values():
        facts = values | {"page": seen.path}
        if start <= seen.at < end and all(facts.get(name) == value for name, value in (filters or {}).items()):
            for pair in [("", ""), ("page", seen.path), *values.items()]:
                for name in flags(seen, crawlers):
                    found[pair][name].append(seen.who)
    count = (lambda who: len(set(who))) if distinct else len
    rows = defaultdict(list)
    for (dimension, value), lists in found.items():
        if lists["total"]:
            rows[dimension].append((value, *(count(who) for who in lists.values())))
    return {name: sorted(of, key=lambda row: (-row[3], row[0])) for name, of in rows.items()}


def make_views(dice, project, size, days, now):
    return [with_audience(dice, project, seen) for seen in history(dice, size, days, now)]


def check_audience(project, views, ranges):
    visitor_counts.refresh(project)
    for scope in ("all", "readers"):
        set_analytics(project, ai_scope=scope)
        for start, end in ranges:
            for metric in ("visitors", "views"):
                counts = audience_counts.count(project, start, end, metric)
                expected = brute(views, start, end, crawlers=scope == "all", distinct=metric == "visitors")
                for dimension in DIMENSIONS:
                    rows = counts.rows(dimension)
                    assert [tuple(row) for row in rows] == expected.get(dimension, []), (dimension, start, end, metric)
                    for row in rows[:2]:
                        assert counts.of(dimension, row.value) == row


@pytest.mark.parametrize("seed", first_of(range(15), 1))
def test_values_are_counted_exactly_whatever_comes_in_whichever_order(make_project, seed):
    dice = random.Random(seed)
    project, now = make_project().project, datetime.now(UTC)
    days = dice.choice([0.2, 3, 29, 380])
    views = make_views(dice, project, dice.choice([5, 60, 400]), days, now)
    arriving = [seen for seen, _ in views]
    if seed % 2:
        dice.shuffle(arriving)
    arrive(dice, project, arriving)
    ranges = windows(dice, now, days, 8)
    check_audience(project, views, ranges)
    check(project, arriving, ranges[:3])


@pytest.mark.matrix
def test_visitors_at_the_ends_of_a_range_are_exact_even_if_they_do_not_fit_one_set(make_project, monkeypatch):
    dice = random.Random(5)
    project, now = make_project().project, datetime.now(UTC)
    views = make_views(dice, project, 300, 3, now)
    arriving = [seen for seen, _ in views]
    arrive(dice, project, arriving)
    assert sealer.seal_project(project.pk)
    monkeypatch.setattr(visit_history, "MAX_VISITORS", 3)
    ranges = windows(dice, now, 3, 8)
    check_audience(project, views, ranges)
    check(project, arriving, ranges)


@pytest.mark.matrix
def test_steps_of_a_value_are_those_of_the_range(make_project):
    dice = random.Random(3)
    project, now = make_project().project, datetime.now(UTC)
    views = make_views(dice, project, 300, 20, now)
    arrive(dice, project, [seen for seen, _ in views])
    visitor_counts.refresh(project)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = [(day - timedelta(days=ago), day - timedelta(days=ago - 1)) for ago in range(20, -1, -1)]
    ragged = [(start - timedelta(minutes=30), end - timedelta(minutes=30)) for start, end in days]  # as in India
    values = (("source", "google.com"), ("device", "phone"), ("entry", "/page-0"), ("page", "/page-0"))
    for (dimension, value), steps in product(values, (days, ragged, [(day - timedelta(minutes=7), now)])):
        for step in audience_counts.count_steps(project, steps, dimension, value):
            for metric, distinct in (("visitors", True), ("views", False)):
                rows = brute(views, step.start, step.end, distinct=distinct).get(dimension, [])
                expected = next((row[1:] for row in rows if row[0] == value), (0, 0, 0))
                assert tuple(getattr(step, metric).values()) == expected, (dimension, step.start)
    for step in audience_counts.count_steps(project, days[:2], "source", "nobody.example"):
        assert step.visitors["total"] == step.views["total"] == 0


@pytest.mark.parametrize("seed", first_of(range(6), 1))
def test_filters_together_are_counted_exactly_from_raw_views(make_project, seed):
    dice = random.Random(seed)
    project, now = make_project().project, datetime.now(UTC)
    views = make_views(dice, project, 300, 20, now)
    arrive(dice, project, [seen for seen, _ in views])
    visitor_counts.refresh(project)
    choices = [
        ("device", "phone"),
        ("source", "google.com"),
        ("page", "/page-0"),
        ("channel", "direct"),
        ("entry", "/page-0"),
    ]
    for scope in ("all", "readers"):
        set_analytics(project, ai_scope=scope)
        for _ in range(5):
            filters = dict(dice.sample(choices, dice.randint(1, 3)))
            start, end = sorted(now - timedelta(days=20 * dice.random()) for _ in "ab")
            counts = FilteredCounts.load(project, filters, start, end)
            middle = start + (end - start) / 3
            for metric, distinct in (("visitors", True), ("views", False)):
                expected = brute(views, start, end, crawlers=scope == "all", distinct=distinct, filters=filters)
                (total,) = expected.get("", [("", 0, 0, 0)])
                assert tuple(counts.totals(metric).values()) == total[1:]
                rows = [tuple(row.values()) for row in counts.pages(metric).rows()]
                assert rows == expected.get("page", [])
                for dimension in DIMENSIONS:
                    assert [tuple(row) for row in counts.audience(metric).rows(dimension)] == expected.get(
                        dimension, []
                    )
                for step in counts.steps([(start, middle), (middle, end)]):
                    rows = brute(
                        views, step.start, step.end, crawlers=scope == "all", distinct=distinct, filters=filters
                    )
                    (total,) = rows.get("", [("", 0, 0, 0)])
                    assert tuple(getattr(step, metric).values()) == total[1:]


@pytest.mark.matrix
def test_a_recount_takes_sample_views_out_of_every_value(make_project):
    dice = random.Random(9)
    project, now = make_project().project, datetime.now(UTC)
    views = make_views(dice, project, 200, 20, now)
    for seen, _ in views[::2]:
        object.__setattr__(seen, "observation", seen.observation._replace(sample=True))
    arrive(dice, project, [seen for seen, _ in views])
    recount.remove_sample(project)
    check_audience(project, [pair for pair in views if not pair[0].observation.sample], windows(dice, now, 20, 6))


@pytest.mark.matrix
def test_the_sweep_changes_no_count(make_project):
    dice = random.Random(4)
    project, now = make_project().project, datetime.now(UTC)
    views = make_views(dice, project, 200, 25, now)
    arrive(dice, project, [seen for seen, _ in views[:100]])
    arrive(dice, project, [seen for seen, _ in views[100:]])
    sealer.seal()
    sweeper.sweep(force=True)
    check_audience(project, views, windows(dice, now, 25, 6))


def test_a_day_has_a_limited_number_of_audiences(make_project, monkeypatch):
    monkeypatch.setattr(audiences, "MAX_AUDIENCES", 5)
    project = make_project().project
    known = audiences.for_project(project.pk)
    made = [_view(Dimensions("other", f"site-{n}.example", device="phone")) for n in range(20)]
    numbers = known.assign_numbers(made)
    assert known.assign_numbers(made[:4]) == numbers[:4]
    stored = Audience.objects.filter(project=project).values_list("source", flat=True)
    assert sorted(stored) == ["(other)", *sorted(f"site-{n}.example" for n in range(4))]
    assert {known.rows[number] for number in numbers[4:]} == {Dimensions("other", "(other)", device="phone")}
    tomorrow = _view(made[19].dimensions, audiences.DAY)
    assert known.assign_numbers([tomorrow]) != numbers[19:], "another day has room of its own"


def test_a_reader_cannot_make_many_audiences(make_project, monkeypatch):
    monkeypatch.setattr(audiences, "MAX_NEW_OF_A_READER", 3)
    known = audiences.for_project(make_project().project.pk)
    made = [_view(Dimensions("other", f"site-{n}.example"))._replace(network="192.0.2.0/24") for n in range(9)]
    sources = [known.rows[number].source for number in known.assign_numbers(made)]
    assert sources == [*(f"site-{n}.example" for n in range(3)), *["(other)"] * 6]
    assert known.assign_numbers([made[8]._replace(network="198.51.100.0/24")])[0] not in known.assign_numbers(made[3:8])


def test_other_processes_give_values_the_same_numbers(make_project):
    project = make_project().project
    known = audiences.for_project(project.pk)
    for source in ("b.example", "a.example"):
        known.assign_numbers([_view(Dimensions("other", source, browser="Firefox"))])
    another = audiences.Audiences(project.pk)
    another.load()
    assert another.values == known.values
    assert another.assign_numbers([_view(Dimensions("other", "a.example", browser="Firefox"))]) == [2]


def _view(dimensions: Dimensions, at: int = 0) -> View:
    return View(key=1, at=at, path="/", counts=True, visitor=0, facts=Facts(*[""] * 10), dimensions=dimensions)


def test_views_of_which_nothing_is_known_take_no_room(make_project):
    dice = random.Random(2)
    project, now = make_project().project, datetime.now(UTC)
    views = [seen for seen in history(dice, 50, 3, now) if seen.who[1] in ("reader", "crawler")]
    arrive(dice, project, views)
    sealer.seal()
    assert not Audience.objects.filter(project=project).exists()
    assert not AudienceCells.objects.filter(project=project).exists()

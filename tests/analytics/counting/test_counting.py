"""Counting against brute force: whatever the history, the order it arrives in, and what crashes meanwhile."""

import random
from datetime import UTC, datetime

import pytest

from analytics.collecting import recording
from analytics.counting import pages, sealer
from analytics.counting.unsealed import newest_view_id
from analytics.models import PageView, Seal, Trail
from analytics.reports import visitor_counts
from tests.analytics.counting.history import brute, history, view, windows
from tests.conftest import set_analytics
from tests.variants import first_of


def check(project, views, ranges):
    """The reports of a project agree with brute force on every range, for both meanings of AI."""
    for scope in ("all", "readers"):
        set_analytics(project, ai_scope=scope)
        for start, end in ranges:
            for report, distinct in ((visitor_counts.count_visitors, True), (visitor_counts.count_views, False)):
                is_counted = report(project, start, end)
                totals, rows = brute(views, start, end, crawlers=scope == "all", distinct=distinct)
                assert (is_counted.totals, is_counted.rows()) == (totals, rows), (scope, start, end, report.__name__)
                if distinct:
                    for row in [totals, *rows]:
                        assert max(row["human"], row["ai"]) <= row["total"] <= row["human"] + row["ai"]


def arrive(dice, project, views):
    """Send the views in batches, sealed now and then, some twice."""
    rest = list(views)
    while rest:
        size = dice.choice([1, 3, 20, 200])
        batch, rest = rest[:size], rest[size:]
        again = dice.sample(views, min(len(views), 3)) if dice.random() < 0.3 else []
        recording.record(project, [seen.observation for seen in batch + (again if again and not rest else [])])
        if dice.random() < 0.5:
            sealer.seal()


@pytest.mark.parametrize("seed", first_of(range(25), 2))
@pytest.mark.stores
def test_counts_are_exact_whatever_comes_in_whichever_order(make_project, seed):
    dice = random.Random(seed)
    project, now = make_project().project, datetime.now(UTC)
    days = dice.choice([0.2, 3, 29, 380])
    views = history(dice, dice.choice([5, 60, 400]), days, now)
    arriving = list(views)
    match seed % 3:
        case 1:
            dice.shuffle(arriving)
        case 2:  # several sources, each in order
            arriving.sort(key=lambda seen: (seen.who, seen.at))
    arrive(dice, project, arriving)
    check(project, views, windows(dice, now, days, 12))


@pytest.mark.stores
def test_a_damaged_row_of_one_project_does_not_stop_the_others(make_project):
    dice, now = random.Random(15), datetime.now(UTC)
    damaged, sound = (make_project().project for _ in range(2))
    views = history(dice, 60, 3, now)
    for project in (damaged, sound):
        recording.record(project, [seen.observation for seen in views[:40]])
    sealer.seal()
    Trail.objects.filter(project=damaged).update(sightings=b"damaged")
    for project in (damaged, sound):
        recording.record(project, [seen.observation for seen in views[40:]])
    try:
        with pytest.raises(ValueError, match="buffer"):
            sealer.seal()
        assert not Seal.objects.filter(project=damaged, sealed_to__gte=newest_view_id(damaged.pk)).exists()
    finally:
        damaged.delete()
    assert Seal.objects.filter(project=sound, sealed_to__gte=newest_view_id(sound.pk)).exists()
    check(sound, views, windows(dice, now, 3, 2))


def test_a_page_that_another_process_adds_while_a_day_is_loaded_is_known(make_project, monkeypatch):
    project, seen = make_project().project, view(datetime.now(UTC), "/page", 1, "human")
    other, load = pages.Pages(project.pk), pages.Pages.load

    def load_before_the_others_view(loaded: pages.Pages) -> None:
        load(loaded)
        if loaded is other and not PageView.objects.filter(project=project).exists():
            recording.record(project, [seen.observation])

    monkeypatch.setattr(pages.Pages, "load", load_before_the_others_view)
    (again,) = other.assign_numbers([recording.build_view(project, seen.observation)])
    assert again == other.numbers["/page"] == 1

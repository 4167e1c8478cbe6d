"""What every engine is judged by, judged itself: brute force against sets, and the shape of the history."""

import numpy as np
import pytest

from tests.bench.analytics import history
from tests.bench.analytics.history import AI, ANY, DAY, DAYS, HUMAN, HUMANS, PAGES


@pytest.fixture(scope="module")
def views():
    return history.generate(20_000)


@pytest.mark.parametrize("days", history.WINDOWS)
def test_brute_force_finds_what_sets_find(views, days):
    seen = {}
    start = views.end - days * DAY
    columns = (views.at, views.page, views.kind, views.visitor)
    for at, page, kind, visitor in zip(*(column.tolist() for column in columns), strict=True):
        if at >= start:
            for layer in (HUMANS if kind == HUMAN else AI, ANY):
                seen.setdefault((page, layer), set()).add(visitor)
                seen.setdefault((0, layer), set()).add(visitor)
    expected = np.zeros((PAGES + 1, 3), int)
    for (page, layer), visitors in seen.items():
        expected[page, layer] = len(visitors)
    assert np.array_equal(history.count(views.last(days)), expected)


def test_the_history_has_the_shape_that_it_says(views):
    assert len(views) == 20_000
    assert (np.diff(views.at) >= 0).all()
    assert views.end - DAYS * DAY <= views.at[0] <= views.at[-1] < views.end
    human, agents = (set(views.visitor[of].tolist()) for of in (views.kind == HUMAN, views.kind != HUMAN))
    assert 0.14 < (views.kind != HUMAN).mean() < 0.16
    assert 0.23 < len(human & agents) / len(agents) < 0.27
    assert len(set(history.hashed(np.arange(2_000)).tolist())) == 2_000


def test_parts_make_up_the_whole(views):
    parts = [views.part(number, 7) for number in range(7)]
    assert np.array_equal(np.concatenate([part.visitor for part in parts]), views.visitor)

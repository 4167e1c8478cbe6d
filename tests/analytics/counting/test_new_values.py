"""New paths and audiences have limits that hold for all processes together."""

from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from analytics.audience import Dimensions
from analytics.collecting.writer import Facts, View
from analytics.counting import audiences, new_values, pages
from analytics.models import Audience, Page

NETWORK, OTHER_NETWORK = "192.0.2.0/24", "198.51.100.0/24"


def viewed(*paths: str, network: str = "") -> list[View]:
    return [
        View(
            key=1,
            at=0,
            path=path,
            counts=True,
            visitor=0,
            facts=Facts(*[""] * 10),
            dimensions=Dimensions(),
            network=network,
        )
        for path in paths
    ]


def came_from(*sources: str, network: str = "") -> list[View]:
    return [view._replace(dimensions=Dimensions("other", view.path)) for view in viewed(*sources, network=network)]


@pytest.fixture
def project(make_project) -> Any:
    return make_project().project


def paths_of(project: Any) -> set[str]:
    return set(Page.objects.filter(project=project).values_list("path", flat=True))


def sources_of(project: Any) -> set[str]:
    return set(Audience.objects.filter(project=project).values_list("source", flat=True))


def test_a_reader_adds_few_paths_over_all_processes(project, monkeypatch):
    monkeypatch.setattr(pages, "MAX_NEW_OF_A_READER", 3)
    one, other = pages.Pages(project.pk), pages.Pages(project.pk)
    one.assign_numbers(viewed("/a", "/b", network=NETWORK))
    other.assign_numbers(viewed("/a", "/c", "/d", network=NETWORK))
    one.assign_numbers(viewed("/e", network=NETWORK))
    assert paths_of(project) == {"/a", "/b", "/c", pages.OTHER}
    one.assign_numbers(viewed("/f", network=OTHER_NETWORK))
    assert paths_of(project) == {"/a", "/b", "/c", "/f", pages.OTHER}
    assert other.assign_numbers(viewed("/f", "/b", network=NETWORK)) == [one.numbers["/f"], one.numbers["/b"]]


def test_a_reader_adds_few_audiences_over_all_processes(project, monkeypatch):
    monkeypatch.setattr(audiences, "MAX_NEW_OF_A_READER", 3)
    one, other = audiences.Audiences(project.pk), audiences.Audiences(project.pk)
    one.assign_numbers(came_from("a.example", "b.example", network=NETWORK))
    other.assign_numbers(came_from("a.example", "c.example", "d.example", network=NETWORK))
    one.assign_numbers(came_from("e.example", network=NETWORK))
    assert sources_of(project) == {"a.example", "b.example", "c.example", "(other)"}
    one.assign_numbers(came_from("f.example", network=OTHER_NETWORK))
    assert "f.example" in sources_of(project)


def test_a_project_gets_so_many_new_values_a_day_over_all_processes(project, monkeypatch):
    monkeypatch.setattr(pages, "MAX_UNINDEXED", 4)
    monkeypatch.setattr(audiences, "MAX_AUDIENCES", 4)
    for number in range(4):
        pages.Pages(project.pk).assign_numbers(viewed(f"/{number}-a", f"/{number}-b"))
        audiences.Audiences(project.pk).assign_numbers(came_from(f"{number}-a.example", f"{number}-b.example"))
    assert paths_of(project) == {"/0-a", "/0-b", "/1-a", "/1-b", pages.OTHER}
    assert sources_of(project) == {"0-a.example", "0-b.example", "1-a.example", "1-b.example", "(other)"}


def test_known_values_cost_no_statement(project, django_assert_num_queries):
    known, sources = pages.Pages(project.pk), audiences.Audiences(project.pk)
    views = [*viewed("/a", network=NETWORK), *came_from("a.example", network=NETWORK)]
    numbers = known.assign_numbers(views), sources.assign_numbers(views)
    with django_assert_num_queries(0):
        assert (known.assign_numbers(views), sources.assign_numbers(views)) == numbers


def test_while_redis_is_away_each_process_counts_for_itself(project, monkeypatch):
    class Away:
        def add(self, *arguments: Any) -> None:
            raise RedisConnectionError("away")

    monkeypatch.setattr(new_values, "caches", {"limits": Away()})
    monkeypatch.setattr(pages, "MAX_NEW_OF_A_READER", 3)
    known = pages.Pages(project.pk)
    known.assign_numbers(viewed("/a", "/b", network=NETWORK))
    known.assign_numbers(viewed("/c", "/d", network=NETWORK))
    assert paths_of(project) == {"/a", "/b", "/c", pages.OTHER}

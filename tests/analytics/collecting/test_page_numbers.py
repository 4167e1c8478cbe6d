"""The numbers of pages and audiences that a process holds in memory."""

import uuid

from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.collecting import writer
from analytics.collecting.recording import Observation, build_view, record
from analytics.collecting.writer import _Batch
from analytics.counting import audiences, pages
from analytics.models import Page, PageView
from docsite.core.http.client_address import parse_address
from tests.analytics.conftest import CHROME, NOON


def observe(path: str) -> Observation:
    return Observation(uuid.uuid4().hex, path, NOON, parse_address("198.51.100.1"), CHROME)


def test_projects_of_long_ago_are_forgotten_and_known_again(make_project, monkeypatch):
    for module in (pages, audiences):
        monkeypatch.setattr(module, "MAX_CACHED", 4)
    one, two = make_project().project, make_project().project
    held = [module.for_project(one.pk) for module in (pages, audiences)]
    for path in ("/a", "/b", "/c", "/b"):
        for project in (one, two):
            record(project, [observe(f"{path}?utm_source={path[1:]}")])
    for project in (one, two):
        assert list(Page.objects.filter(project=project).order_by("number").values_list("number", "path")) == [
            (1, "/a"),
            (2, "/b"),
            (3, "/c"),
        ]
        views = PageView.objects.filter(project=project).order_by("pk")
        assert list(views.values_list("page", "audience")) == [(1, 1), (2, 2), (3, 3), (2, 2)]
    again = [module.for_project(one.pk) for module in (pages, audiences)]
    assert not {*map(id, held)} & {*map(id, again)}
    assert again == [module.for_project(one.pk) for module in (pages, audiences)], "the one used last stays"


def test_a_new_path_does_not_read_the_whole_index(make_project):
    project = make_project().project
    record(project, [observe("/known")])
    view = build_view(project, observe("/new"))
    with CaptureQueriesContext(connection) as made:
        writer._store([_Batch(project.pk, [view])])
    asked = [query["sql"] for query in made if "search_document" in query["sql"]]
    assert len(asked) == 1
    assert "'/new'" in asked[0]

"""Views in quickly: in batches, beside other requests, and still the same views."""

import asyncio
import threading
import uuid

import httpx
import pytest
from django.db import IntegrityError, transaction

from analytics.collecting import writer
from analytics.collecting.recording import Observation, build_view, record
from analytics.collecting.writer import Receipt, _Batch
from analytics.identity.visitor_hash import hash_visitor, keyed_hash
from analytics.models import Page, PageView
from docsite.core import db
from docsite.core.db import insert, insert_groups
from docsite.core.http.client_address import parse_address
from tests.analytics.conftest import CHROME, CURL, NOON, view
from tests.conftest import assert_error

pytestmark = pytest.mark.slow


def observations(count, agent=CHROME):
    address = parse_address("198.51.100.1")
    return [Observation(uuid.uuid4().hex, f"/{n % 7}", NOON, address, agent) for n in range(count)]


@pytest.mark.stores
def test_a_receipt_is_exact_however_many_rows_go_into_a_statement(make_project):
    project = make_project().project
    known, ignored = observations(130), observations(65, CURL)
    assert record(project, known[:1]) == Receipt(1, 0, 0)
    assert record(project, known) == Receipt(129, 1, 0)
    assert record(project, [*ignored, *known, *observations(70), *ignored]) == Receipt(70, 195, 65)


@pytest.mark.stores
def test_receipts_of_one_commit_are_exact_whoever_repeats_views(make_project):
    one, two = make_project().project, make_project().project
    views, ignored = observations(40), observations(20, CURL)
    batches = [(one, views[:20]), (two, views), (one, [*views[10:30], *ignored]), (one, views[30:]), (one, ignored)]

    def store():
        group = [_Batch(project.pk, [build_view(project, one) for one in seen]) for project, seen in batches]
        return writer._store(group)

    assert store() == [Receipt(20, 0, 0), Receipt(40, 0, 0), Receipt(10, 10, 20), Receipt(10, 0, 0), Receipt(0, 20, 0)]
    assert store() == [Receipt(0, len(views), 0) for _, views in batches]
    assert PageView.objects.filter(project=one).count() == 60
    assert PageView.objects.filter(project=two).count() == 40
    batches = [(one, observations(3)), (two, observations(2, CURL))]
    assert store() == [Receipt(3, 0, 0), Receipt(0, 0, 2)]


@pytest.mark.stores
def test_rows_are_inserted_all_or_none(make_project):
    project = make_project().project
    rows = [(project.pk, number, f"/{number}") for number in range(1, 1001)]
    columns, on_conflict = ("project_id", "number", "path"), "(project_id, number) DO NOTHING"
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(Page._meta.db_table, columns, [*rows[:-1], (project.pk, 1000, None)], on_conflict)
    assert not Page.objects.filter(project=project).exists()
    with transaction.atomic():
        assert insert(Page._meta.db_table, columns, rows[500:], on_conflict) == 500
        assert insert(Page._meta.db_table, columns, rows, on_conflict) == 500
    assert Page.objects.filter(project=project).count() == 1000


@pytest.mark.stores
def test_inserted_text_is_stored_as_it_is(make_project):
    project = make_project().project
    texts = ["/a\tb", "/c\nd\r", "\\N", "\\.", "/e\\tf", "", "/é'\""]
    with transaction.atomic():
        insert(Page._meta.db_table, ("project_id", "number", "path"), [(project.pk, *row) for row in enumerate(texts)])
    assert [*Page.objects.filter(project=project).order_by("number").values_list("path", flat=True)] == texts


# Some fill no statement of many rows, and few rows are inserted with all their values.
@pytest.mark.parametrize("counts", [(1, 20, 1000), (1, 1, 3)])
@pytest.mark.stores
def test_rows_of_a_group_get_the_values_that_they_share(make_project, counts):
    projects = [make_project().project.pk for _ in range(3)]
    counts = dict(zip(projects, counts, strict=True))
    wanted = {(pk, n, f"/{pk}/{n}") for pk, count in counts.items() for n in range(1, count + 1)}
    groups = {(pk,): [(n, f"/{pk}/{n}") for n in range(1, count + 1)] for pk, count in counts.items()}
    stored = Page.objects.filter(project__in=projects)
    columns = (("project_id",), ("number", "path"))
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_groups(Page._meta.db_table, *columns, {**groups, (projects[0],): [(1, None)]})
    assert not stored.exists()
    with transaction.atomic():
        assert insert_groups(Page._meta.db_table, *columns, groups) == len(wanted)
    assert set(stored.values_list("project", "number", "path")) == wanted
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_groups(Page._meta.db_table, *columns, groups)
    stored.delete()
    with transaction.atomic():
        assert insert_groups(Page._meta.db_table, *columns, groups) == len(wanted), "a failure leaves nothing behind"


def test_a_visitor_stays_the_same_from_release_to_release():
    secret = "ab" * 32
    assert hash_visitor(secret, parse_address("198.51.100.1"), "x") == -7192441861986992673
    assert hash_visitor(secret, parse_address("2001:db8:1:2::9"), "x") == 7865485429385226556
    assert keyed_hash(secret, "one", b"view") == -7683461721490173556


def test_every_bad_view_of_a_batch_is_named(collect):
    views = [view(), view(ip="x", timestamp=None), view(), view(path="")]
    assert_error(collect(*views, status=400), 400, "views.1.timestamp: must", "views.1.ip: is not", "views.3.path: ")
    assert_error(collect("x", status=400), 400, "views.0: must be an object")


@pytest.mark.parametrize("views", [{"": 1}, {"0": view(id="1")}, 2**63, 0, "x", None, True, []], ids=str)
def test_views_that_are_no_list_are_named(http, service, project, views):
    url = f"{service.url}/v1/collect/{project.project_id}/views"
    assert_error(http.post(url, json={"views": views}, headers=project.admin), 400, "views: ")


@pytest.fixture
async def client():
    """Requests to the application in this process."""
    from docsite.asgi import application

    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://127.0.0.1") as client:
        yield client


async def test_a_batch_is_read_beside_the_loop(client, make_project, monkeypatch):
    from analytics.api import views
    from docsite.core.http import body

    def noting(function):
        return lambda *args: threads.append(threading.current_thread()) or function(*args)

    threads: list[threading.Thread] = []
    monkeypatch.setattr(views, "validate_views", noting(views.validate_views))
    monkeypatch.setattr(body, "parse", noting(body.parse))
    tenant = await asyncio.to_thread(make_project)
    url = f"/v1/collect/{tenant.project_id}/views"
    response = await client.post(url, json={"views": [view(), view()]}, headers=tenant.admin)
    assert response.json() == {"accepted": 2, "duplicates": 0, "ignored": 0}
    assert len(threads) == 2
    assert threading.current_thread() not in threads


async def test_no_thread_is_started_for_an_api_request(client, monkeypatch):
    """Only the pool of the database's threads may grow, up to its size."""
    await client.get("/health")  # Django has one thread for all requests, which starts with the first
    started: list[str] = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread.name) or start(thread))
    pool = db.HEALTH.executor._max_workers
    for _ in range(3 * pool):
        assert (await client.get("/health")).status_code == 200
    assert [name for name in started if not name.startswith("db_")] == []
    assert len(started) <= pool

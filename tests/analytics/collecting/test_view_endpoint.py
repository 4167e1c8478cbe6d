"""The endpoint of the view script: whose id is taken, and what a reader's browser says about privacy."""

import json
import uuid

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.test import AsyncRequestFactory, Client

from analytics.api import views
from analytics.api.schemas import ViewIn
from analytics.collecting import verification
from docsite.core.access.authentication import project_by_domain, ttl_cache
from docsite.core.db import in_db
from tests.analytics.conftest import CHATGPT, CHROME, NOTHING
from tests.conftest import assert_error, set_analytics, visitor_secret

pytestmark = pytest.mark.slow

HERE, THERE = "127.0.0.2", "127.0.0.3"
DOCS = "https://docs.acme.example"


@pytest.fixture
def beacon(service, collect):
    """Report a view as a browser at an address of this machine."""

    def send(address=HERE, *, to=service, user_agent=CHROME, headers=None, **body):
        transport = httpx.HTTPTransport(local_address=address)
        with httpx.Client(transport=transport, trust_env=False) as client:
            return client.post(
                f"{to.url}/discovery/v1/view/{collect.tenant.domain}",
                content=json.dumps({"id": uuid.uuid4().hex, "path": "/a", **body}),
                headers={"Content-Type": "text/plain", "Origin": DOCS, "User-Agent": user_agent, **(headers or {})},
            )

    return send


@pytest.fixture
def people(visitors):
    """How many people were counted."""
    return lambda: visitors(dateFrom=None, dateTo=None).json()["totals"]["human"]


@pytest.fixture
def first_party(collect):
    """Switch the project's setting on."""
    set_analytics(collect.tenant.project, first_party_ids=True)


def test_an_address_can_report_so_many_views_only(beacon, start, people):
    service = start(LIMIT_COLLECT_IP="2/7933s")  # a window that no other test has
    answers = [beacon("127.0.0.4", to=service) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [204, 204, 429]
    assert_error(answers[2], 429)
    assert int(answers[2].headers["retry-after"]) >= 1
    assert beacon("127.0.0.5", to=service).status_code == 204
    assert people() == 2


@pytest.mark.usefixtures("first_party")
def test_an_id_of_the_browser_is_one_visitor_at_any_address(beacon, people):
    for address in (HERE, THERE):
        assert beacon(address, visitor="one").status_code == 204
    assert beacon(HERE, visitor="one", user_agent=CHROME.replace("142", "143")).status_code == 204
    assert people() == 1
    assert beacon(HERE, visitor="two").status_code == 204
    assert beacon(HERE).status_code == 204  # known by address and user agent
    assert people() == 3


def test_no_id_is_taken_unless_the_project_says_so(beacon, people):
    for address in (HERE, THERE):
        assert beacon(address, visitor="one").status_code == 204
    assert people() == 2
    assert beacon(HERE, visitor="two").status_code == 204
    assert people() == 2


@pytest.mark.usefixtures("first_party")
@pytest.mark.parametrize("header", ["Sec-GPC", "DNT"])
def test_no_id_is_taken_of_a_reader_who_asked_not_to_be_tracked(beacon, people, header):
    for address in (HERE, HERE, THERE):
        assert beacon(address, visitor="one", headers={header: "1"}).status_code == 204
    assert people() == 2
    assert beacon(HERE, headers={header: "0"}).status_code == 204  # with the project's key, not that of the day
    assert people() == 3


@pytest.mark.usefixtures("first_party")
def test_an_agent_is_known_by_its_name_whatever_its_browser_keeps(beacon, visitors):
    for visitor in ("one", "two"):
        assert beacon(visitor=visitor, user_agent=CHATGPT).status_code == 204
    assert visitors(dateFrom=None, dateTo=None).json()["totals"] == {"human": 0, "ai": 1, "total": 1}


@pytest.mark.usefixtures("first_party")
def test_an_id_is_kept_as_a_hash_that_two_projects_do_not_share(beacon, collect, make_project):
    from analytics.identity.visitor_hash import keyed_hash
    from analytics.models import PageView

    assert beacon(visitor="a-random-id").status_code == 204
    (row,) = PageView.objects.filter(project=collect.tenant.project).values()
    assert "a-random-id" not in " ".join(str(value) for value in row.values())
    assert row["visitor"] != keyed_hash(visitor_secret(make_project().project), "a-random-id", b"reader")


@pytest.mark.parametrize("wrong", ["", "x" * 65, 5, ["one"], "a\x00b"])
def test_a_bad_id_is_400_and_names_the_field(beacon, people, wrong):
    assert_error(beacon(visitor=wrong), 400, "visitor: ")
    assert people() == 0


@pytest.mark.parametrize("fine", ["x", "x" * 64, None])
def test_an_id_has_1_to_64_characters_or_is_left_out(beacon, fine):
    assert beacon(visitor=fine).status_code == 204


def test_a_page_fetched_ahead_is_not_stored(beacon, collect, visitors):
    from analytics.models import PageView

    answer = beacon(headers={"Sec-Purpose": "prefetch;prerender"})
    assert answer.status_code == 202
    assert answer.headers["x-view"] == "prefetch"
    assert answer.headers["access-control-allow-origin"] == DOCS
    assert not PageView.objects.filter(project=collect.tenant.project).exists()
    assert visitors(dateFrom=None, dateTo=None).json()["totals"] == NOTHING


@pytest.mark.parametrize(("staff", "status", "counted"), [(True, 202, 0), (False, 204, 1)])
def test_staff_that_is_logged_in_is_not_counted(beacon, people, staff, status, counted):
    user = get_user_model().objects.create_user(f"reader-{uuid.uuid4().hex[:8]}", is_staff=staff)
    browser = Client()
    browser.force_login(user)
    answer = beacon(headers={"Cookie": f"docs_session={browser.cookies['docs_session'].value}"})
    assert (answer.status_code, answer.headers.get("X-View")) == (status, "staff" if staff else None)
    assert people() == counted
    assert beacon(headers={"Cookie": "docs_session=made-up"}).status_code == 204


@pytest.mark.parametrize(("agent", "private"), [(CHROME, False), (CHROME, True), (CHATGPT, False)])
async def test_a_view_is_stored_although_a_cache_expires_meanwhile(make_project, monkeypatch, agent, private):
    """Whatever is found in a cache at the first look may be gone at the second."""
    tenant = await sync_to_async(make_project)()
    project = await in_db(project_by_domain)(tenant.domain)
    headers = {"Origin": DOCS, "User-Agent": agent, **({"Sec-GPC": "1"} if private else {})}
    request = AsyncRequestFactory().post("/", headers=headers)
    request.auth = project

    def view():
        return views.view(request, project.domain, ViewIn(id=uuid.uuid4().hex, path="/a"))

    assert (await view()).status_code == 204  # fills the caches

    def forget_after(look):
        def look_once(*arguments):
            found = look(*arguments)
            ttl_cache.clear()
            verification.invalidate()
            return found

        return look_once

    monkeypatch.setattr(ttl_cache, "peek", forget_after(ttl_cache.peek))
    monkeypatch.setattr(verification, "is_fresh", forget_after(verification.is_fresh))
    assert (await view()).status_code == 204

"""“Paste your docs address”: who may, what a stranger sees, how a site is read, and what becomes of it."""

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from assistant.models import AssistantSettings, WidgetSettings
from docsite.core.access import origins
from docsite.core.tenants.models import Project, Role
from docsite.extras.try_docs import reading, trials, views
from docsite.extras.try_docs.models import Trial
from search.models import Document, Source
from search.sources import detection
from search.sources.request import SourceRequest
from tests.conftest import PATIENCE, Tenant, logged_in, wait_for
from tests.docsite.setup.small_site import serve_site
from tests.variants import first_of

HOST = "127.0.0.1:8000"
START = "/try-your-docs"
FIELD = 'action="/try-your-docs"'
FILES = {  # that list pages, by their paths
    "/llms.txt": "# Heron\n\n- [Install](/install)\n- [Feed](/feed)\n- [Limits](/limits)\n",
    "/llms-full.txt": "\n\n".join(f"# Page {name}\nSource: /{name}\n\nHerons eat {name}." for name in ("a", "b", "c")),
    "/api.json": json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Heron", "version": "1"},
            "paths": {f"/{name}": {"get": {"summary": f"Get {name}", "responses": {}}} for name in ("a", "b", "c")},
        }
    ),
}


@pytest.fixture
def demo(project: Tenant, settings: Any) -> Tenant:
    """The project of the site, as in the process of a demo."""
    settings.ENV = settings.ENV.model_copy(update={"site_domain": project.domain, "crawl_private_hosts": ()})
    settings.ALLOWED_HOSTS = ["*"]
    origins.allow_loopback(project.domain)
    return project


@pytest.fixture
def visitor() -> Client:
    """Whoever sits at this machine."""
    return Client(headers={"Host": HOST, "Origin": f"http://{HOST}"})


@pytest.fixture
def site(settings: Any, demo: Tenant) -> Iterator[str]:
    with serve_site() as address:
        settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": (address.removeprefix("http://"),)})
        yield address


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read sites in the process of the test: they have been read when `trials.create` returns."""
    monkeypatch.setattr(trials, "_begin", lambda source: reading.main(source.pk, source.holder))


def read(visitor: Client, address: str) -> str:
    """Post an address. Returns that of its page."""
    answer = visitor.post(START, {"location": address})
    assert answer.status_code == 302, answer.content.decode()
    return str(answer.headers["Location"])


@pytest.mark.parametrize(
    ("is_demo", "address", "headers", "may"),
    first_of(
        [
            (True, "127.0.0.1", {}, True),
            (True, "::1", {"Host": "[::1]:8000", "Origin": "http://[::1]:8000"}, True),
            (True, "127.0.0.1", {"Host": "localhost", "Origin": "http://localhost"}, True),
            (False, "127.0.0.1", {}, False),
            (True, "192.0.2.7", {}, False),
            (True, "", {}, False),
            (True, "127.0.0.1", {"Host": "rebound.example", "Origin": "http://rebound.example"}, False),
            (True, "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, False),
            (True, "127.0.0.1", {"X-Forwarded-Host": "docs.example"}, False),
            (True, "127.0.0.1", {"Forwarded": "for=192.0.2.7"}, False),
            (True, "127.0.0.1", {"Via": "1.1 proxy"}, False),
            (True, "127.0.0.1", {"X-Real-IP": "192.0.2.7"}, False),
            (True, "127.0.0.1", {"CF-Connecting-IP": "192.0.2.7"}, False),
        ],
        1,
    ),
)
def test_only_whoever_sits_at_the_machine_of_a_demo_gets_the_field(
    demo: Tenant, settings: Any, is_demo: bool, address: str, headers: dict[str, str], may: bool
) -> None:
    if not is_demo:
        origins._loopback_domains.discard(demo.domain)
    client = Client(REMOTE_ADDR=address, headers={"Host": HOST, "Origin": f"http://{HOST}", **headers})
    assert (FIELD in client.get("/").content.decode()) == may
    answer = client.post(START, {"location": "none"})
    assert answer.status_code == (400 if may else 403)
    assert ("whoever sits at the machine" in answer.content.decode()) == (not may)
    assert client.get(START).status_code == (200 if may else 403)


@pytest.mark.parametrize("origin", [None, "null", "https://evil.example", "http://127.0.0.1:9999"])
def test_no_other_site_can_send_the_form(demo: Tenant, site: str, origin: str | None) -> None:
    client = Client(headers={"Host": HOST, **({"Origin": origin} if origin else {})})
    assert client.post(START, {"location": site}).status_code == 403
    assert not Trial.objects.filter(project__organization=demo.project.organization).exists()


def test_a_site_is_read_with_its_name_search_and_questions(
    demo: Tenant, site: str, visitor: Client, in_this_process: None
) -> None:
    page = read(visitor, site)
    project = Trial.objects.get(project__organization=demo.project.organization).project
    assert page == f"/try-your-docs/{project.domain}"
    assert (project.name, project.docs_url) == ("Heron handbook", site)
    assert WidgetSettings.for_project(project).labels == {"name": "Ask Heron handbook"}
    questions = AssistantSettings.for_project(project).starter_questions
    assert questions[0] == "How do I install heron?"  # of a heading
    assert len({question.lower() for question in questions}) == len(questions)
    state = visitor.get(f"{page}/state").json()
    assert state["isActive"] is False
    assert state["line"].startswith("4 pages with 4 sections, read in ")
    shown = visitor.get(page).content.decode()
    assert f'data-domain="{project.domain}"' in shown
    assert all(f'data-ask="{question}"' in shown for question in questions)
    assert "deleted in 23" in shown
    assert "Heron handbook" in visitor.get(START).content.decode()


@pytest.mark.matrix
@pytest.mark.slow
def test_a_process_of_its_own_reads_the_site(demo: Tenant, visitor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_site() as address:
        monkeypatch.setenv("CRAWL_PRIVATE_HOSTS", address.removeprefix("http://"))
        page = read(visitor, address)
        assert visitor.get(page).content.count(b"data-state=") == 1
        wait_for(lambda: not visitor.get(f"{page}/state").json()["isActive"], "the process")
        assert "4 pages" in visitor.get(f"{page}/state").json()["line"]
        waiting = [thread for thread in threading.enumerate() if thread.name == "reader of a trial"]
        for thread in waiting:  # it looks at the outcome
            thread.join(PATIENCE)


def test_no_more_than_the_limits_of_a_trial_are_read(
    demo: Tenant, site: str, visitor: Client, in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reading.LIMITS == {"max_pages": 200, "max_seconds": 20.0}
    monkeypatch.setitem(reading.LIMITS, "max_pages", 2)
    page = read(visitor, site)
    assert visitor.get(f"{page}/state").json()["line"].startswith("2 pages")


@pytest.mark.matrix
@pytest.mark.parametrize(("file", "limit"), first_of([*product(FILES, ["max_pages"]), ("/llms.txt", "max_seconds")], 1))
def test_files_that_list_pages_have_the_same_limits(
    demo: Tenant, settings: Any, visitor: Client, in_this_process: None, monkeypatch: Any, file: str, limit: str
) -> None:
    monkeypatch.setitem(reading.LIMITS, limit, 2 if limit == "max_pages" else -1.0)
    with serve_site(files=FILES) as address:
        settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": (address.removeprefix("http://"),)})
        line = visitor.get(f"{read(visitor, f'{address}{file}')}/state").json()["line"]
    assert ("2 pages with" if limit == "max_pages" else "because the site is slow") in line


def test_a_trial_that_is_deleted_while_it_is_read_stays_deleted(
    demo: Tenant, site: str, visitor: Client, in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    detect = detection.detect

    def detect_and_delete(request: SourceRequest) -> detection.Detection:
        found = detect(request)
        Project.objects.filter(pk=Trial.objects.latest("pk").project_id).delete()
        return found

    monkeypatch.setattr(detection, "detect", detect_and_delete)
    domain = read(visitor, site).rpartition("/")[2]
    assert not Project.objects.filter(domain=domain).exists()


def test_a_trial_without_its_questions_is_no_failure(
    demo: Tenant, site: str, visitor: Client, in_this_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(project: Project) -> None:
        raise ValueError("No question.")

    monkeypatch.setattr(reading, "_add_starters", fail)
    page = read(visitor, site)
    assert visitor.get(f"{page}/state").json()["line"].startswith("4 pages")
    assert Source.objects.get(project__domain=page.rpartition("/")[2]).state == Source.State.DONE


def test_the_admin_says_that_a_project_is_a_trial(
    demo: Tenant, people: Any, site: str, visitor: Client, in_this_process: None
) -> None:
    page = read(visitor, site)
    domain = page.rpartition("/")[2]
    notice = f'Trial: this project is deleted in 23\xa0hours, 59\xa0minutes. <a href="{page}">Keep it</a>'
    assert notice in people.owner.get(f"/admin/project/{domain}/install").content.decode()
    visitor.post(f"{page}/end", {"action": "keep"})
    assert "Trial:" not in people.owner.get(f"/admin/project/{domain}/install").content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "robots", "says"),
    first_of(
        [
            ("/nowhere", "", "answers 404"),
            ("/style.css", "", "only HTML is read"),
            ("/", "User-agent: *\nDisallow: /", "The robots.txt of the site says that"),
        ],
        1,
    ),
)
def test_a_site_that_cannot_be_read_says_why_and_offers_the_field_again(
    demo: Tenant, settings: Any, visitor: Client, in_this_process: None, path: str, robots: str, says: str
) -> None:
    with serve_site(has_sitemap=False, files={"/robots.txt": robots, "/style.css": "a { color: red }"}) as address:
        host = address.removeprefix("http://")
        settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": (host,)})
        page = visitor.get(read(visitor, f"{address}{path}")).content.decode()
    assert says in page
    assert f'value="{address}{path}"' in page
    assert "data-ask" not in page


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("", 400, "required"),
        ("localhost", 400, "begins with https://"),
        ("/etc", 400, "begins with https://"),
        ("file:///etc", 400, "begins with https://"),
        ("https://me:secret@docs.example", 400, "without a user name"),
    ],
)
def test_what_is_no_address_is_a_mistake(demo: Tenant, visitor: Client, address: str, status: int, says: str) -> None:
    answer = visitor.post(START, {"location": address})
    assert answer.status_code == status
    assert says in answer.content.decode()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9/", "http://169.254.169.254/", "http://[::1]/", "http://10.0.0.1"]
)
def test_private_addresses_are_not_read(demo: Tenant, visitor: Client, in_this_process: None, address: str) -> None:
    html = visitor.get(read(visitor, address)).content.decode()
    assert "which is no public address" in html
    assert "has no pages here</h1>" in html


@pytest.mark.matrix
def test_it_is_kept_deleted_or_swept_after_a_day(
    demo: Tenant, site: str, visitor: Client, in_this_process: None
) -> None:
    kept, deleted, old, young = (read(visitor, site).rpartition("/")[2] for _ in range(4))
    answer = visitor.post(f"{START}/{kept}/end", {"action": "keep"})
    assert answer.headers["Location"] == f"/admin/project/{kept}/install"
    assert Source.objects.get(project__domain=kept).state == Source.State.QUEUED
    assert visitor.post(f"{START}/{deleted}/end", {"action": "delete"}).headers["Location"] == START
    Trial.objects.filter(project__domain=old).update(created_at=timezone.now() - timedelta(hours=25))
    trials.delete_old()
    assert set(Project.objects.filter(domain__in=(kept, deleted, old, young)).values_list("domain", flat=True)) == {
        kept,
        young,
    }
    assert not Document.every.filter(project__domain=old).exists()
    assert visitor.get(f"{START}/{kept}").status_code == 404


def test_another_site_cannot_end_a_trial(demo: Tenant, site: str, visitor: Client, in_this_process: None) -> None:
    page = read(visitor, site)
    client = Client(headers={"Host": HOST, "Origin": "https://evil.example"})
    assert client.post(f"{page}/end", {"action": "delete"}).status_code == 403
    assert visitor.get(page).status_code == 200


def test_an_owner_tries_for_the_own_organization_and_a_stranger_sees_nothing(
    demo: Tenant, people: Any, visitor: Client, in_this_process: None
) -> None:
    origins._loopback_domains.discard(demo.domain)
    headers = {"Host": HOST, "Origin": f"http://{HOST}", "X-Forwarded-For": "192.0.2.7"}
    page = people.owner.post(START, {"location": "http://10.0.0.1"}, headers=headers).headers["Location"]
    trial = Trial.objects.get(project__domain=page.rpartition("/")[2])
    assert trial.project.organization == demo.project.organization
    assert people.owner.get(page, headers=headers).status_code == 200
    assert FIELD in people.owner.get("/", headers=headers).content.decode()
    viewer = logged_in(f"viewer of {demo.domain}")
    user = get_user_model().objects.get(username=f"viewer of {demo.domain}")
    demo.project.organization.memberships.create(user=user, role=Role.VIEWER)
    for client in (people.stranger, viewer, visitor):
        assert client.get(page, headers=headers).status_code == 404
        assert client.get(f"{page}/state", headers=headers).status_code == 404
        assert client.post(f"{page}/end", {"action": "delete"}, headers=headers).status_code == 404
    for client in (viewer, visitor):
        assert client.post(START, {"location": "http://10.0.0.1"}, headers=headers).status_code == 403


@pytest.mark.matrix
def test_trials_have_limits(
    demo: Tenant, visitor: Client, in_this_process: None, monkeypatch: pytest.MonkeyPatch, site: str
) -> None:
    monkeypatch.setattr(trials, "MAX_TRIALS", 1)
    read(visitor, "http://10.0.0.1")  # fails, and makes room for the next one
    page = read(visitor, site)
    answer = visitor.post(START, {"location": site})
    assert (answer.status_code, "1 trials are stored" in answer.content.decode()) == (409, True)
    Source.objects.filter(project__domain=page.rpartition("/")[2]).update(state=Source.State.FAILED)
    assert visitor.post(START, {"location": site}).status_code == 409  # its pages are there
    visitor.post(f"{page}/end", {"action": "delete"})
    monkeypatch.setattr(trials, "MAX_RUNNING", 0)
    for _ in range(views.TRIALS_ORG.window()[0]):
        answer = visitor.post(START, {"location": site})
    assert "are being read" in answer.content.decode()  # a refusal costs nothing
    monkeypatch.setattr(trials, "MAX_RUNNING", 2)
    for _ in range(views.TRIALS_ORG.window()[0] - 1):  # of two
        answer = visitor.post(START, {"location": "http://10.0.0.1"})
    assert answer.status_code == 429
    assert "10 sites an hour" in answer.content.decode()
    assert int(answer.headers["Retry-After"]) <= 3600

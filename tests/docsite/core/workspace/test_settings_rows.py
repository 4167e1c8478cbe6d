"""Each app keeps its settings of a project in a row of its own: how migrations move them, and when they are created."""

import re
import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from docsite.core.tenants.models import Project
from tests.conftest import PATIENCE, logged_in
from tests.variants import first_of

# Created when they are needed


def test_a_project_without_a_row_has_the_defaults(make_project):
    from analytics.models import AnalyticsSettings

    project = make_project().project
    settings = AnalyticsSettings.for_project(project)
    assert (settings.ai_scope, settings.secret_rotation, settings.first_party_ids) == ("all", "never", False)
    assert not AnalyticsSettings.objects.filter(project=project).exists(), "reading creates nothing"


def test_a_visitor_secret_is_created_once_whoever_needs_it_first(make_project):
    from analytics.models import AnalyticsSettings

    pk = make_project().project.pk
    secrets: list[str] = []
    together = threading.Barrier(8)

    def first_view() -> None:
        try:
            project = Project.objects.select_related("analytics_settings").get(pk=pk)  # none of them has found a row
            together.wait(PATIENCE)
            row = AnalyticsSettings.stored_for(project)
            secrets.append(row.visitor_secret)
            secrets.append(project.analytics_settings.visitor_secret)
        finally:
            connection.close()

    threads = [threading.Thread(target=first_view) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert secrets == [AnalyticsSettings.objects.get(pk=pk).visitor_secret] * 16
    assert len(bytes.fromhex(secrets[0])) == 32


def test_the_settings_come_with_the_project_in_one_query(make_project, django_assert_num_queries):
    from analytics.collecting import recording
    from analytics.identity import key_rotation
    from analytics.models import AnalyticsSettings
    from docsite.core.access import authentication
    from tests.analytics.counting.history import view

    tenant = make_project()
    AnalyticsSettings.stored_for(tenant.project)
    for look_up, key in (
        (authentication.project_by_domain, tenant.domain),
        (authentication.project_by_id, tenant.project_id),
    ):
        authentication.ttl_cache.clear()
        with django_assert_num_queries(1):
            project = look_up(key)
            seen = view(project.created_at, "/a", 1, "human").observation
            assert recording.try_send(project, seen), "the event loop need not ask the database"
            assert key_rotation.secret_of(project, project.created_at, private=False)
            assert AnalyticsSettings.for_project(project).ai_scope == "all"


# The admin edits them on the project's page


@pytest.fixture
def owner(make_project):
    tenant = make_project()
    return tenant.project, logged_in(f"settings-{tenant.project.pk}", tenant.project.organization)


def form_of(project, **changes):
    own = {"domain": project.domain, "name": project.name, "docs_url": project.docs_url, "allowed_origins": ""}
    own["time_zone"] = project.time_zone
    return {**own, "support_url": "", "ai_scope": "all", "secret_rotation": "never", "mcp_access": "open", **changes}


@pytest.mark.matrix
def test_the_owner_edits_the_settings_of_every_app_on_the_projects_page(owner):
    from analytics.models import AnalyticsSettings
    from assistant.models import AssistantSettings

    project, client = owner
    page = f"/admin/projects/project/{project.pk}/change/"
    fields = ["domain", "name", "docs_url", "allowed_origins", "support_url", "ai_scope", "secret_rotation"]
    html = client.get(page).content.decode()
    places = [html.index(f'name="{name}"') for name in [*fields, "first_party_ids"]]
    assert places == sorted(places)
    assert f'<form action="{page}"' in html, "without the fragment of a link to a field, which hid the confirmation"
    assert html.count("what is older is deleted within a day, for good") == 5
    assert client.post(page, form_of(project)).status_code == 302
    assert not AnalyticsSettings.objects.filter(project=project).exists(), "nothing was changed"
    changes = {"support_url": "help@acme.example", "ai_scope": "readers", "first_party_ids": "on"}
    assert client.post(page, form_of(project, time_zone="Asia/Kolkata", **changes)).status_code == 302
    project.refresh_from_db()
    assert str(project.zone) == "Asia/Kolkata"
    assert "Select a valid choice" in client.post(page, form_of(project, time_zone="Mars/Olympus")).content.decode()
    settings = AnalyticsSettings.objects.get(project=project)
    assert (settings.ai_scope, settings.secret_rotation, settings.first_party_ids) == ("readers", "never", True)
    assert len(bytes.fromhex(settings.visitor_secret)) == 32
    assert AssistantSettings.objects.get(project=project).support_url == "help@acme.example"
    html = client.get(page).content.decode()
    assert 'value="readers" selected' in html
    assert 'value="help@acme.example"' in html
    assert client.post(page, form_of(project, secret_rotation="day")).status_code == 302
    settings.refresh_from_db()
    assert (settings.ai_scope, settings.secret_rotation, settings.first_party_ids) == ("all", "day", False)
    assert settings.visitor_secret == AnalyticsSettings.objects.get(project=project).visitor_secret


def test_a_new_project_is_added_with_its_settings(owner):
    from analytics.models import AnalyticsSettings

    project, client = owner
    domain = f"{project.domain}-added"
    fields = form_of(project, domain=domain, organization=project.organization_id, secret_rotation="month")
    assert client.post("/admin/projects/project/add/", fields).status_code == 302
    assert AnalyticsSettings.objects.get(project__domain=domain).secret_rotation == "month"


def test_an_invalid_setting_is_named_and_nothing_is_stored(owner):
    from assistant.models import AssistantSettings

    project, client = owner
    page = f"/admin/projects/project/{project.pk}/change/"
    html = client.post(page, form_of(project, name="Other", support_url="javascript:alert(1)")).content.decode()
    assert "Write a link that begins with https://" in html
    project.refresh_from_db()
    assert project.name != "Other"
    assert not AssistantSettings.objects.filter(project=project).exists()


@pytest.mark.parametrize(
    ("listed", "named"),
    first_of(
        [
            ("acme.example", "https://docs.acme.example is a site of this project"),
            ("https://partner.example", "https://partner.example:8443 is a site of this project"),
            ("1.2.34", "write an address, a network or the name of a site"),
            ("other.acme.example\nspam.example", ""),
        ],
        1,
    ),
)
def test_a_project_does_not_leave_out_its_own_sites(owner, listed, named):
    project, client = owner
    page = f"/admin/projects/project/{project.pk}/change/"
    own = {"docs_url": "https://docs.acme.example/", "allowed_origins": "https://partner.example:8443"}
    answer = client.post(page, form_of(project, left_out=listed, **own))
    assert answer.status_code == (200 if named else 302)
    assert named in answer.content.decode()


@pytest.mark.slow
def test_origins_are_written_one_a_line_and_forgiven_their_form(owner):
    project, client = owner
    page = f"/admin/projects/project/{project.pk}/change/"
    typed = "https://Acme.example/docs/\r\n\r\n docs.acme.example:443 \nhttp://localhost:3000, https://acme.example"
    assert client.post(page, form_of(project, allowed_origins=typed)).status_code == 302
    project.refresh_from_db()
    stored = ["https://acme.example", "https://docs.acme.example", "http://localhost:3000"]
    assert project.allowed_origins == stored
    assert "\n".join(stored) in client.get(page).content.decode()
    html = client.post(page, form_of(project, allowed_origins="https://a.example\nftp://b.example")).content.decode()
    assert "ftp://b.example: write an address such as https://docs.example.com." in html
    project.refresh_from_db()
    assert project.allowed_origins == stored


def test_the_settings_stand_in_blocks(owner):
    project, client = owner
    html = client.get(f"/admin/projects/project/{project.pk}/change/").content.decode()
    headings = re.findall(r'<h2[^>]*class="fieldset-heading">([^<]+)</h2>', html)
    assert headings == ["Documentation site", "Privacy and retention", "Assistant", "Visitors", "Coding agents"]


def test_the_list_of_projects_takes_as_many_queries_for_every_number(owner):
    project, client = owner
    with CaptureQueriesContext(connection) as queries:
        client.get("/admin/projects/project/")
    for number in range(3):
        Project.objects.create(
            organization=project.organization,
            domain=f"{project.domain}-x{number}",
            name="More",
            docs_url=project.docs_url,
        )
    with CaptureQueriesContext(connection) as more:
        html = client.get("/admin/projects/project/").content.decode()
    assert html.count('class="field-name"') == 4
    assert len(more) == len(queries), "as many queries for every number of projects"


# Read in plain SQL


def test_a_row_is_the_one_that_the_orm_reads(make_project):
    from assistant.models import AssistantSettings, SupportSettings
    from docsite.core.sql import read_row

    project, other = make_project().project, make_project().project
    for model, values in (
        (AssistantSettings, {"threshold": 0.25, "instructions": "Be “brief”.", "starter_questions": ["Why?", "Ü?"]}),
        (SupportSettings, {"emails": ["help@docs.example"], "service_url": "https://s.example", "days": None}),
    ):
        assert read_row(model, "project_id", project.pk) is None
        model.objects.create(project=project, **values)
        found = read_row(model, "project_id", project.pk)
        assert found == model.objects.get(project=project)
        assert {name: getattr(found, name) for name in values} == values
        assert read_row(model, "project_id", other.pk) is None

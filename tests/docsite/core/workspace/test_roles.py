"""Who may open and change what: every address of the admin against every kind of person."""

import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone

from analytics.models import Feedback
from assistant.models import GoldenQuestion, QuestionGroup, SupportRequest, Thread
from docsite.core.delivery.models import Webhook
from docsite.core.tenants.models import Role
from docsite.core.tenants.roles import list_roles_from
from docsite.core.workspace import navigation
from search.models import Document, Source
from tests.assistant.improving.gaps.conftest import store_answer
from tests.conftest import logged_in

pytestmark = pytest.mark.slow

ROLES = VIEWER, WRITER, OWNER = "viewer", "writer", "owner"  # each may do what those before it may
NOBODY = "nobody"  # superusers only
EVERYBODY = pytest.mark.parametrize("everybody", [False, pytest.param(True, marks=pytest.mark.matrix)])
HOW_TO_ADD = """
These addresses of the admin have no row in the table of this test: {missing}.
Say who may open each of them: add it to ADDRESSES below, as "name": Row(reads, acts, {{its arguments}}). `reads` and
`acts` are the least roles that send GET and POST; they are the `reads` and `acts` of `navigation.add_page`, whose
defaults are owners only. A model of the admin needs a row in MODELS instead; its roles are those of its `ScopedAdmin`.
"""


@dataclass(frozen=True)
class Row:
    """The least role that reads an address and that acts there; arguments of its route (`@group` is that row)."""

    reads: str = OWNER
    acts: str = OWNER
    arguments: dict[str, str] | None = None
    query: str = ""


FILE = {"form": "csv"}
ADDRESSES = {
    "workspace_overview": Row(VIEWER),
    "workspace_overview_live": Row(VIEWER),
    "analytics_visitors": Row(VIEWER, WRITER),
    "analytics_export": Row(VIEWER, WRITER, {"name": "visitors.csv"}),
    "analytics_annotations": Row(VIEWER, WRITER),
    "analytics_share": Row(),
    "workspace_agents": Row(VIEWER),
    "workspace_agents_agent": Row(VIEWER, query="?class=ai_training&agent=GPTBot"),
    "workspace_agents_file": Row(VIEWER, arguments={"name": "agents.csv"}),
    "workspace_pages": Row(VIEWER, VIEWER, query="?path=/install"),
    "workspace_questions": Row(VIEWER, WRITER),
    "workspace_questions_file": Row(VIEWER, WRITER, {"name": "groups", **FILE}),
    "workspace_gaps": Row(VIEWER, WRITER),
    "workspace_dead-ends": Row(VIEWER, OWNER),
    "workspace_gaps_file": Row(VIEWER, WRITER, FILE),
    "workspace_gaps_group": Row(VIEWER, WRITER, {"pk": "@group"}),
    "workspace_gaps_act": Row(VIEWER, WRITER, {"pk": "@group", "action": "note"}),
    "workspace_replay": Row(VIEWER, WRITER),
    "workspace_certainty": Row(VIEWER),
    "workspace_certainty_judge": Row(WRITER, WRITER, {"pk": "@answer"}),
    "workspace_certainty_undo": Row(WRITER, WRITER, {"pk": "@answer"}),
    "workspace_certainty_use": Row(arguments={"limit": "5"}),
    "workspace_conversations": Row(VIEWER, WRITER),
    "workspace_conversations_lines": Row(VIEWER, WRITER),
    "workspace_conversations_read": Row(VIEWER, WRITER),
    "workspace_conversations_redact": Row(VIEWER, WRITER),
    "workspace_conversations_thread_lines": Row(VIEWER, WRITER),
    "workspace_conversations_markdown": Row(VIEWER, WRITER),
    "workspace_searches": Row(VIEWER, WRITER),
    "workspace_searches_query": Row(VIEWER, WRITER),
    "workspace_searches_test": Row(VIEWER, WRITER),
    "workspace_searches_file": Row(VIEWER, WRITER, FILE),
    "workspace_feedback": Row(VIEWER, WRITER),
    "workspace_feedback_file": Row(VIEWER, WRITER, {"name": "feedback", **FILE}),
    "workspace_feedback_detail": Row(VIEWER, WRITER),
    "workspace_support": Row(WRITER, WRITER),
    "workspace_support_settings": Row(),
    "workspace_support_detail": Row(WRITER, WRITER, {"request_id": "@request"}),
    "workspace_costs": Row(VIEWER),
    "workspace_protected": Row(),
    "workspace_readers": Row(),
    "workspace_synonyms": Row(VIEWER, WRITER),
    "workspace_synonyms_file": Row(VIEWER, WRITER),
    "workspace_promotions": Row(VIEWER, WRITER),
    "workspace_promotions_file": Row(VIEWER, WRITER),
    "assistant_golden_run": Row(VIEWER, WRITER),
    "search_source_state": Row(VIEWER, VIEWER, {"object_id": "@source"}),  # a POST reads it, too
    "search_source_read": Row(VIEWER, WRITER, {"object_id": "@source"}),
    "workspace_notifications": Row(VIEWER, VIEWER),
    "workspace_webhooks": Row(),
    "workspace_webhooks_edit": Row(arguments={"pk": "@webhook"}),
    "workspace_install": Row(),
    "workspace_install_state": Row(),
    "workspace_install_pages": Row(),
    "workspace_people": Row(VIEWER),
    "workspace_people_rules": Row(),
    "workspace_people_leave": Row(VIEWER, VIEWER),
    "workspace_limits": Row(WRITER),
    "projects_keys": Row(),
    "assistant_settings": Row(),
    "assistant_widget": Row(),
    "privacy_erase": Row(),
    "workspace_audit": Row(),
    "workspace_audit_file": Row(arguments=FILE),
    "sample": Row(),
}
MODELS = {  # who reads the list, who adds, changes and deletes
    "projects_organization": (VIEWER, NOBODY, NOBODY, NOBODY),
    "projects_project": (VIEWER, OWNER, OWNER, NOBODY),
    "search_document": (VIEWER, NOBODY, NOBODY, NOBODY),
    "search_source": (VIEWER, WRITER, WRITER, WRITER),
    "assistant_evaluation": (VIEWER, NOBODY, NOBODY, NOBODY),
    "assistant_goldenquestion": (VIEWER, WRITER, WRITER, WRITER),
    "assistant_assistantsettings": (OWNER, NOBODY, OWNER, NOBODY),
    "analytics_pageview": (VIEWER, NOBODY, NOBODY, NOBODY),
    "privacy_auditentry": (OWNER, NOBODY, NOBODY, NOBODY),
    "auth_group": (NOBODY, NOBODY, NOBODY, NOBODY),
    "auth_user": (NOBODY, NOBODY, NOBODY, NOBODY),
}
OWN = {  # of the log-in itself, of the wizard (whose rules test_wizard.py tests), and those that show only links
    *("index", "login", "logout", "password_change", "password_change_done", "autocomplete", "jsi18n", "app_list"),
    *("view_on_site", "auth_user_password_change", "new_project", "new_project_check", "new_project_name"),
    *("account_log_in", "records"),
}
PARTS = ("changelist", "add", "change", "delete", "history")


def list_names(patterns: Any) -> set[str]:
    names = set()
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            names |= list_names(pattern.url_patterns)
        elif isinstance(pattern, URLPattern) and pattern.name:
            names.add(pattern.name)
    return names


@pytest.fixture
def browsers(project, make_project):
    """A browser of each kind of person."""
    number, organization = project.project.pk, project.project.organization
    found = {"anonymous": Client()}
    found["stranger"] = logged_in(f"stranger {number}", make_project().project.organization)
    for role in Role:
        found[role.value] = logged_in(f"{role} {number}", organization)
        organization.memberships.filter(user__username=f"{role} {number}").update(role=role)
    return found


@pytest.fixture
def rows(project):
    """Rows of the project that the addresses of the admin name."""
    site = project.project
    return {
        "source": Source.objects.create(project=site, name="Docs", location="https://docs.acme.example/"),
        "group": QuestionGroup.objects.create(project=site, terms=" acme ", key="k", question="How?"),
        "thread": Thread.objects.create(project=site, thread_id=uuid.uuid4().hex, fp="someone"),
        "feedback": Feedback.objects.create(
            project=site, feedback_id=uuid.uuid4().hex, path="/install", comment="Hm", created_at=timezone.now()
        ),
        "request": SupportRequest.objects.create(
            project=site, form_id=uuid.uuid4().hex, email="a@acme.example", subject="Hm", message="Hm"
        ),
        "answer": store_answer(site, "How?", "answered", chance=0.9),
        "webhook": Webhook.objects.create(project=site, url="https://acme.example/", secret="", events="gap.opened"),
        "golden": GoldenQuestion.objects.create(project=site, text="How?", paths=["/install"]),
        "document": Document.objects.filter(project=site).first(),
    }


def find_key(row: Any) -> Any:
    """What an address names a row by."""
    return row.request_id if isinstance(row, SupportRequest) else row.pk


def choose_roles(least: str, everybody: bool) -> tuple[str, ...]:
    """The roles that try: the one below the least that may, which is refused and costs little. In the matrix all."""
    place = len(ROLES) if least == NOBODY else ROLES.index(least)
    return ROLES if everybody else ROLES[max(place - 1, 0) : place]


def status(client: Client, address: str, method: str) -> int:
    return getattr(client, method)(address).status_code


def test_every_address_has_a_row():
    """The registered pages, and every other address of the admin."""
    models = {f"{model}_{part}" for model in MODELS for part in PARTS}
    missing = list_names([*navigation.urls(), *admin.site.get_urls()]) - set(ADDRESSES) - models - OWN
    assert not missing, HOW_TO_ADD.format(missing=", ".join(sorted(missing)))
    stale = (set(ADDRESSES) | models) - list_names(admin.site.get_urls())
    assert not stale, f"These rows name no address of the admin: {stale}."


@EVERYBODY
def test_only_the_named_roles_open_and_change_a_page(browsers, project, rows, everybody):
    patterns = {pattern.name: pattern for pattern in walk(admin.site.get_urls())}
    known = {
        "domain": project.domain,
        "thread_id": rows["thread"].thread_id,
        "feedback_id": rows["feedback"].feedback_id,
    }
    for name in sorted(ADDRESSES, key=lambda name: name == "workspace_people_leave"):  # afterwards they open nothing
        row = ADDRESSES[name]
        own = {
            key: find_key(rows[value[1:]]) if value[0] == "@" else value for key, value in (row.arguments or {}).items()
        }
        arguments = {key: {**known, **own}[key] for key in patterns[name].pattern.converters}
        check_page(browsers, name, row, reverse(f"admin:{name}", kwargs=arguments) + row.query, everybody)


def check_page(browsers, name, row, address, everybody):
    """People ask for a page, and act there."""
    for method, least in (("get", row.reads), ("post", row.acts)):
        allowed = {role.value for role in list_roles_from(Role(least))}
        for person in choose_roles(least, everybody):
            code = status(browsers[person], address, method)
            where = f"{method} {address} as {person}: {code}"
            assert (code not in (403, 404, 500)) if person in allowed else (code == 403), where
        if method == "post" and not everybody:
            continue  # strangers are refused before the method counts
        strangers = (302, 404, 405) if "_source_" in name or name == "assistant_golden_run" else (404,)
        assert status(browsers["stranger"], address, method) in strangers, f"{method} {address} as a stranger"
        answer = getattr(browsers["anonymous"], method)(address)
        assert answer.status_code == 302, address
        assert answer["Location"].startswith("/admin/login/"), address


def walk(patterns: Any) -> Any:
    for pattern in patterns:
        yield from walk(pattern.url_patterns) if isinstance(pattern, URLResolver) else [pattern]


@EVERYBODY
def test_only_the_named_roles_open_and_change_the_rows_of_a_model(browsers, rows, project, everybody):
    for model in MODELS:
        check_model(browsers, rows, project, model, everybody)


def check_model(browsers, rows, project, model, everybody):
    """People ask for each page of a model, and change a row."""
    found = {type(row)._meta.label_lower.replace(".", "_"): row for row in rows.values()}
    found |= {"projects_project": project.project, "projects_organization": project.project.organization}
    reads, adds, changes, deletes = MODELS[model]
    row = found.get(model)
    expected = [("changelist", "get", reads), ("add", "get", adds), ("add", "post", adds)]
    if row:
        seen = changes if model == "projects_project" else reads
        expected += [("change", "get", seen), ("history", "get", seen), ("change", "post", changes)]
        expected += [("delete", "get", deletes)]
    for part, method, least in expected:
        arguments = [] if part in ("changelist", "add") else [row.pk]
        address = reverse(f"admin:{model}_{part}", args=arguments)
        allowed = set() if least == NOBODY else {role.value for role in list_roles_from(Role(least))}
        for person in choose_roles(least, everybody):
            code = status(browsers[person], address, method)
            where = f"{method} {address} as {person}: {code}"
            assert (code in (200, 302)) if person in allowed else (code == 403), where
        if arguments:
            assert status(browsers["stranger"], address, method) in (302, 403), address
            assert "Location" not in (answer := browsers["stranger"].get(address)) or answer["Location"] == "/admin/"
        assert status(browsers["anonymous"], address, method) == 302
    action = {"action": "delete_selected", "_selected_action": "1"}
    code = browsers[VIEWER].post(reverse(f"admin:{model}_changelist"), action).status_code
    assert code == 403, "a viewer sent an action of the list"


def test_a_writer_elsewhere_changes_no_row_here_by_an_action_of_the_list(browsers, rows, project, make_project):
    """The viewer of one organization is a writer of another, and so has the actions of the list."""
    elsewhere = make_project().project.organization
    logged_in(f"viewer {project.project.pk}", elsewhere)
    listed = "/admin/assistant/goldenquestion/"
    chosen = {"action": "delete_selected", "_selected_action": [str(rows["golden"].pk)], "post": "yes"}
    assert "Delete selected" in browsers[VIEWER].get(listed).content.decode()
    browsers[VIEWER].post(listed, chosen)
    assert GoldenQuestion.objects.filter(pk=rows["golden"].pk).exists()
    browsers[WRITER].post(listed, chosen)
    assert not GoldenQuestion.objects.filter(pk=rows["golden"].pk).exists()


def test_a_forgotten_rule_is_for_owners():
    from docsite.core.tenants.roles import Rule, find_rule

    assert find_rule("a_page_without_a_rule") == Rule(reads=Role.OWNER, acts=Role.OWNER)


def test_the_navigation_shows_what_the_role_opens(browsers, project):
    for role in Role:
        html = browsers[role.value].get(f"/admin/project/{project.domain}").content.decode()
        for page in navigation.all_pages():
            assert (f">{page.label}</a>" in html) == (page.reads in [r for r in Role if role in list_roles_from(r)])


@pytest.mark.matrix
def test_a_viewer_sees_no_forms_and_reads_why(browsers, rows, project):
    base = f"/admin/project/{project.domain}"
    pages = (f"gaps/{rows['group'].pk}", "synonyms", f"feedback/{rows['feedback'].feedback_id}", "feedback")
    for page in (*pages, f"conversations/{rows['thread'].thread_id}"):
        shown = browsers[VIEWER].get(f"{base}/{page}").content.decode().replace('id="logout-form" method="post"', "")
        assert 'method="post"' not in shown or page == "feedback", page
        assert 'method="post"' in browsers[WRITER].get(f"{base}/{page}").content.decode()
    refused = browsers[VIEWER].post(f"{base}/synonyms", {"line": "a, b"})
    assert "Your role in" in refused.content.decode()

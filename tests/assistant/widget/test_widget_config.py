"""The configuration of a widget: look, labels and starter questions, or the reason why the page may not use it."""

import pytest

from assistant.models import AssistantSettings, WidgetSettings
from assistant.widget.api import QUOTED
from docsite.privacy.models import AuditEntry
from tests.conftest import assert_error, logged_in

pytestmark = pytest.mark.slow

WITHOUT_MODEL = {"aboutAnswersText": QUOTED}
NOTHING = {"enabled": True, "appearance": {}, "labels": WITHOUT_MODEL, "starterQuestions": []}
STARTERS = ["How do I install acme?", "Was kostet es?"]
FOREIGN = ["https://evil.example", "http://docs.acme.example", "https://docs.acme.example:444", "null"]


@pytest.fixture
def tenant(make_project):
    tenant = make_project("https://docs.acme.example/v2", origins=["https://app.acme.example:8443"])
    AssistantSettings.objects.create(project=tenant.project, starter_questions=STARTERS)
    return tenant


def ask(http, service, domain, origin=None):
    return http.get(f"{service.url}/discovery/v1/widget/{domain}", headers={"Origin": origin} if origin else {})


@pytest.mark.parametrize("origin", [None, "https://docs.acme.example", "https://app.acme.example:8443"])
def test_an_allowed_page_gets_the_starter_questions(http, service, tenant, origin):
    response = ask(http, service, tenant.domain, origin)
    assert response.status_code == 200
    assert response.json() == {**NOTHING, "starterQuestions": STARTERS}


def test_the_services_own_origin_counts(http, service, tenant):
    assert ask(http, service, tenant.domain, service.url).json()["enabled"] is True


def test_without_settings_there_are_no_starter_questions(http, service, make_project):
    assert ask(http, service, make_project().domain).json() == NOTHING


def test_starter_questions_come_from_pages_that_answer_them(http, service, project):
    starters = ask(http, service, project.domain).json()["starterQuestions"]
    assert starters == ["How do I install acme?", "How do I configure acme?", "How do I print labels?"]


def test_an_owners_own_label_is_said_in_place_of_ours(http, service, tenant):
    WidgetSettings.objects.create(project=tenant.project, labels={"aboutAnswersText": "By our model."})
    assert ask(http, service, tenant.domain).json()["labels"] == {"aboutAnswersText": "By our model."}


@pytest.mark.parametrize("origin", FOREIGN)
def test_any_other_page_gets_the_reason(http, service, tenant, origin):
    response = ask(http, service, tenant.domain, origin)
    assert response.status_code == 200
    config = response.json()
    assert set(config) == {"enabled", "reason"}
    assert config["enabled"] is False
    assert origin in config["reason"]
    assert config["reason"].endswith(".")
    assert ("allowed origins" in config["reason"]) is (origin != "null"), "null cannot be allowed"


@pytest.mark.parametrize("origin", [None, "https://docs.acme.example", *FOREIGN])
def test_every_origin_may_read_the_configuration(http, service, tenant, origin):
    headers = ask(http, service, tenant.domain, origin).headers
    assert headers["access-control-allow-origin"] == "*"
    assert headers["cache-control"] == "public, max-age=60"
    assert "Origin" in headers["vary"]
    assert "set-cookie" not in headers
    assert "access-control-allow-credentials" not in headers


def test_an_unknown_domain_is_404_to_every_origin(http, service):
    response = ask(http, service, "no-such-domain", "https://evil.example")
    assert_error(response, 404)
    assert response.headers["access-control-allow-origin"] == "*"


def test_requests_of_an_address_are_limited(http, start, tenant):
    limited = start(LIMIT_COLLECT_IP="2/d")
    assert [ask(http, limited, tenant.domain).status_code for _ in range(2)] == [200, 200]
    assert_error(ask(http, limited, tenant.domain), 429)


# What its owner sets in the admin

EMPTY = dict.fromkeys(
    ("variant", "theme", "accent", "radius", "font", "side", "align", "logo", "z_index", "labels"), ""
)
LOOK = {
    "variant": "panel",
    "theme": "dark",
    "accent": "#0a6b5d",
    "radius": "0",
    "font": '"Söhne", sans-serif',
    "side": "start",
    "align": "top",
    "logo": "/logo.svg",
    "z_index": "40",
    "labels": "launcher: Frag uns\r\n\r\n greeting : Hallo: was nun? \r\n",
}


@pytest.fixture
def owner(tenant):
    return logged_in(f"owner-{tenant.project.pk}", tenant.project.organization)


def page(tenant):
    return f"/admin/assistant/assistantsettings/widget/{tenant.domain}"


def test_pages_get_the_settings(http, service, owner, tenant):
    answer = owner.post(page(tenant), {**LOOK, "enabled": "on"})
    assert answer["Location"] == page(tenant)
    assert ask(http, service, tenant.domain).json() == {
        "enabled": True,
        "appearance": {
            "variant": "panel",
            "theme": "dark",
            "accent": "#0a6b5d",
            "radius": 0,
            "font": '"Söhne", sans-serif',
            "side": "start",
            "align": "top",
            "logo": "/logo.svg",
            "zIndex": 40,
        },
        "labels": {**WITHOUT_MODEL, "launcher": "Frag uns", "greeting": "Hallo: was nun?"},
        "starterQuestions": STARTERS,
    }
    shown = owner.get(page(tenant)).content.decode()
    for words in ("#0a6b5d", "/logo.svg", "greeting: Hallo: was nun?\nlauncher: Frag uns"):
        assert words in shown


def test_unset_fields_are_left_out(http, service, owner, tenant):
    owner.post(page(tenant), {**EMPTY, "enabled": "on", "accent": "teal"})
    assert ask(http, service, tenant.domain).json()["appearance"] == {"accent": "teal"}
    owner.post(page(tenant), {**EMPTY, "enabled": "on"})
    assert ask(http, service, tenant.domain).json() == {**NOTHING, "starterQuestions": STARTERS}


def test_a_widget_that_is_switched_off_says_so(http, service, owner, tenant):
    owner.post(page(tenant), {**LOOK})
    response = ask(http, service, tenant.domain)
    assert response.status_code == 200
    reason = f"The widget of the project {tenant.domain} is switched off."
    assert response.json() == {"enabled": False, "reason": reason}
    assert "allowed origins" in ask(http, service, tenant.domain, "https://evil.example").json()["reason"]


INVALID = [
    ("variant", "popup", "Select a valid choice"),
    ("theme", "sepia", "Select a valid choice"),
    ("side", "top", "Select a valid choice"),
    ("align", "end", "Select a valid choice"),
    ("radius", "33", "less than or equal to 32"),
    ("radius", "-1", "greater than or equal to 0"),
    ("z_index", str(2**31), "less than or equal to"),
    ("z_index", "1.5", "Enter a whole number"),
    *(
        ("accent", wrong, "Write a colour")
        for wrong in ("#12345", "red;", "url(x)", "var(--x)", "rgb()", "re d", "#fff}", "expression(1)", "ｒｅｄ")
    ),
    *(("font", wrong, "names of fonts") for wrong in ("a;b", "a{", "a}", "<b>", "a\\9", "a\tb")),
    ("font", "x" * 201, "at most 200 characters"),
    *(("logo", wrong, "begins with https://") for wrong in ("//evil.example/x", "javascript:alert(1)", "logo.svg")),
    *(("logo", wrong, "begins with https://") for wrong in ("data:image/png;base64,AA", "ftp://a/b", "https://")),
    ("logo", "/my logo.svg", "no spaces"),
    ("logo", "https://a.example/" + "x" * 500, "at most 500 characters"),
    ("labels", "launcher", "launcher: write 1 to 300"),
    ("labels", "launcher:", "launcher: write 1 to 300"),
    ("labels", "launcher: " + "x" * 301, "launcher: write 1 to 300"),
    ("labels", "the launcher: x", "the launcher: not the name"),
    ("labels", "__proto__: x", "__proto__: not the name"),
    ("labels", "a: x\na: y", "on one line only"),
    ("labels", "\n".join(f"a{number}: x" for number in range(201)), "At most 200 labels"),
]


@pytest.mark.matrix
def test_an_invalid_value_is_reported_and_nothing_is_saved(owner, tenant):
    for field, value, says in INVALID:
        shown = owner.post(page(tenant), {**EMPTY, "enabled": "on", field: value}).content.decode()
        row = shown.split(f'id="id_{field}_error"')
        assert len(row) == 2, shown
        assert says in row[1].split("</ul>")[0]
        assert "Nothing was saved." in shown
        assert not WidgetSettings.objects.filter(project=tenant.project).exists()


@pytest.mark.parametrize(
    "accent", ["#FFF", "#0a6b5d80", "rgb(10, 107, 93)", "rgb(10 107 93 / 50%)", "hsl(171deg 83% 23%)", "rebeccapurple"]
)
def test_css_colours_are_accepted(owner, tenant, accent):
    assert owner.post(page(tenant), {**EMPTY, "accent": accent}).status_code == 302
    assert tenant.project.widget_settings.accent == accent


def test_only_changes_are_logged(owner, tenant):
    for look in (LOOK, LOOK, {**LOOK, "accent": "red", "labels": ""}):
        assert owner.post(page(tenant), {**look, "enabled": "on"}).status_code == 302
    log = AuditEntry.objects.filter(project=tenant.domain, action__startswith="widget settings ").order_by("pk")
    assert {*log.last().details} == {"accent", "labels"}
    assert log.last().action.endswith("changed")


def test_a_stranger_cannot_open_the_page(tenant, make_project):
    stranger = logged_in(f"stranger-{tenant.project.pk}", make_project().project.organization)
    assert stranger.get(page(tenant)).status_code == 404
    assert stranger.post(page(tenant), {**LOOK, "enabled": "on"}).status_code == 404
    assert not WidgetSettings.objects.filter(project=tenant.project).exists()


def test_both_pages_lead_to_each_other(owner, tenant):
    assistant = f"/admin/assistant/assistantsettings/of/{tenant.domain}"
    assert page(tenant) in owner.get(assistant).content.decode()
    assert assistant in owner.get(page(tenant)).content.decode()
    assert page(tenant) in owner.get(f"/admin/projects/project/of/{tenant.domain}").content.decode()

"""What a page's widget is told of its project: starter questions, or why it may not be used there."""

import pytest

from assistant.models import AssistantSettings
from tests.conftest import assert_error

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
    assert response.json() == {"enabled": True, "starterQuestions": STARTERS}


def test_the_services_own_origin_counts(http, service, tenant):
    assert ask(http, service, tenant.domain, service.url).json()["enabled"] is True


def test_an_owner_who_told_nothing_offers_nothing(http, service, make_project):
    assert ask(http, service, make_project().domain).json() == {"enabled": True, "starterQuestions": []}


@pytest.mark.parametrize("origin", FOREIGN)
def test_any_other_page_is_told_why_not(http, service, tenant, origin):
    response = ask(http, service, tenant.domain, origin)
    assert response.status_code == 200
    told = response.json()
    assert set(told) == {"enabled", "reason"}
    assert told["enabled"] is False
    assert origin in told["reason"]
    assert told["reason"].endswith(".")
    assert ("allowed origins" in told["reason"]) is (origin != "null"), "null cannot be allowed"


@pytest.mark.parametrize("origin", [None, "https://docs.acme.example", *FOREIGN])
def test_every_origin_may_read_it_and_none_is_known_by_it(http, service, tenant, origin):
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


def test_an_address_can_ask_too_often(http, start, tenant):
    limited = start(LIMIT_COLLECT_IP="2/h")
    assert [ask(http, limited, tenant.domain).status_code for _ in range(2)] == [200, 200]
    assert_error(ask(http, limited, tenant.domain), 429)

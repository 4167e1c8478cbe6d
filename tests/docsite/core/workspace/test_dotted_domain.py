"""A project whose name in the API has dots, as the address of its site has."""

import secrets

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import Project

PAGES = ["/admin/projects/project/of/{0}", "/admin/project/{0}/agents", "/admin/project/{0}/conversations",
         "/admin/assistant/assistantsettings/of/{0}"]  # fmt: skip


@pytest.fixture
def dotted(django_db_setup: None):
    domain = f"docs.acme-{secrets.token_hex(4)}.example.com"
    _, assistant_key, _ = create_project(domain, domain, "https://docs.acme.example", origins=[])
    return domain, {"Authorization": f"Bearer {assistant_key}"}


@pytest.mark.matrix
def test_the_api_serves_it(http, service, dotted):
    domain, headers = dotted
    body = {"fp": "anonymous", "messages": [{"id": "1", "role": "user", "content": "hello"}]}
    for path in (f"/discovery/v1/assistant/{domain}/message", f"/discovery/v2/assistant/{domain}/message"):
        assert http.post(service.url + path, json=body, headers=headers).status_code == 200
    assert http.post(f"{service.url}/discovery/v1/search/{domain}", json={"query": "a"}, headers=headers).json() == []
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert http.post(f"{service.url}/mcp/{domain}", json=ping).json()["result"] == {}


@pytest.mark.slow
def test_its_pages_open(admin_client: Client, dotted):
    domain, _ = dotted
    for page in PAGES:
        response = admin_client.get(page.format(domain))
        assert response.status_code in (200, 302), (page, response.status_code)
        assert domain in response.content.decode() + response.get("Location", ""), page


@pytest.mark.parametrize("domain", [".acme", "acme.", "a..b", "a.-b", "Acme.example", "a_b.c", "a/b", "a.b\n"])
def test_other_names_are_refused(domain: str):
    with pytest.raises(ValidationError):
        Project._meta.get_field("domain").run_validators(domain)

"""How agents find the server: cards, the skill file, links that add it to an editor."""

import base64
import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml
from django.test import Client

from docsite.core.access.authentication import ttl_cache
from docsite.extras.mcp.models import McpSettings
from docsite.extras.mcp.site_addition import _WORDS
from docsite.site.navigation import LANGUAGES
from tests.conftest import Tenant, assert_error

HOST = "http://testserver"


@pytest.fixture
def site(project: Tenant, settings: Any) -> Tenant:
    """The project of the pages that the service serves itself."""
    settings.ENV = settings.ENV.model_copy(update={"site_domain": project.domain})
    return project


def set_access(project: Tenant, access: str) -> None:
    McpSettings.objects.update_or_create(project=project.project, defaults={"mcp_access": access})
    ttl_cache.clear()


def test_the_server_card_says_where_to_connect_and_whether_a_key_is_needed(http, service, project):
    url = f"{service.url}/mcp/{project.domain}"
    response = http.get(f"{url}/server-card", headers={"Origin": "https://elsewhere.example"})
    assert response.headers["content-type"] == "application/mcp-server-card+json"
    assert response.headers["access-control-allow-origin"] == "*"
    card = response.json()
    assert re.fullmatch(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+", card["name"])
    assert card["websiteUrl"] == project.project.docs_url
    assert len(card["description"]) <= 100
    [remote] = card["remotes"]
    assert (remote["type"], remote["url"]) == ("streamable-http", url)
    assert "headers" not in remote
    set_access(project, "key")
    other = http.get(f"{service.url}/mcp/{project.domain}/server-card").json()["remotes"]
    assert [one["name"] for one in other[0].get("headers", [])] in ([], ["Authorization"])  # a copy may be 1.5 s old


def test_the_skill_file_is_a_skill_whose_request_works(http, service, project):
    response = http.get(f"{service.url}/mcp/{project.domain}/skill.md")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    _, front, text = response.text.split("---\n", 2)
    skill = yaml.safe_load(front)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", skill["name"])
    assert project.project.name in skill["description"]
    command = re.search(r"curl (\S+) .*?-d '(.*?)'\n```", text, re.DOTALL)
    assert command
    result = http.post(command[1], json=json.loads(command[2])).json()["result"]
    assert result["structuredContent"]["results"][0]["path"] == "/install"


def test_a_server_that_is_off_has_no_files(http, service, make_project):
    tenant = make_project()
    set_access(tenant, "off")
    for name in ("server-card", "skill.md"):
        assert_error(http.get(f"{service.url}/mcp/{tenant.domain}/{name}"), 404)


def test_the_well_known_addresses_of_the_site_lead_to_its_server(client: Client, site: Tenant) -> None:
    server = f"{HOST}/mcp/{site.domain}"
    card = client.get("/.well-known/mcp/server-card.json")
    assert (card["Content-Type"], card["Access-Control-Allow-Origin"]) == ("application/mcp-server-card+json", "*")
    assert card.json()["remotes"][0]["url"] == server
    [entry] = client.get("/.well-known/ai-catalog.json").json()["entries"]
    assert (entry["type"], entry["url"]) == ("application/mcp-server-card+json", f"{server}/server-card")
    [skill] = client.get("/.well-known/agent-skills/index.json").json()["skills"]
    content = client.get(skill["url"]).content
    assert skill["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert f"name: {skill['name']}\n" in content.decode()


def test_llms_txt_names_server_and_skill_below_the_title(client: Client, site: Tenant) -> None:
    text = client.get("/llms.txt").content.decode()
    above = text.partition("\n## ")[0]
    for address in (f"/mcp/{site.domain}", "/coding-agents.md", "/skill.md"):
        assert f"{HOST}{address}" in above


def test_the_page_menu_adds_the_server_to_editors(client: Client, site: Tenant) -> None:
    html = client.get("/quickstart").content.decode()
    cursor, vscode = (re.search(rf'href="({scheme}:[^"]+)"', html) for scheme in ("cursor", "vscode"))
    assert cursor
    assert vscode
    query = parse_qs(urlsplit(cursor[1].replace("&amp;", "&")).query)
    assert query["name"] == [f"{site.domain}-docs"]
    assert json.loads(base64.b64decode(query["config"][0])) == {"url": f"{HOST}/mcp/{site.domain}"}
    added = json.loads(unquote(urlsplit(vscode[1]).query))
    assert added == {"name": f"{site.domain}-docs", "type": "http", "url": f"{HOST}/mcp/{site.domain}"}
    command = f"claude mcp add --transport http {site.domain}-docs {HOST}/mcp/{site.domain}"
    assert f'data-copy="{command}"' in html
    page = client.get("/coding-agents").content.decode()
    assert command in re.sub(r"<[^>]+>", "", page)


def test_the_page_menu_speaks_each_language_of_the_site(client: Client, site: Tenant) -> None:
    assert _WORDS.keys() == LANGUAGES.keys()
    for code, words in _WORDS.items():
        assert words.keys() == _WORDS["en"].keys()
        html = client.get("/" if code == "en" else f"/{code}").content.decode()
        assert [word for word in words.values() if word not in html] == []


def test_nothing_names_a_server_that_is_off(client: Client, site: Tenant) -> None:
    set_access(site, "off")
    for path in ("/.well-known/mcp/server-card.json", "/.well-known/agent-skills/index.json", "/skill.md"):
        assert client.get(path).status_code == 404
    for path in ("/quickstart", "/llms.txt"):
        assert f"/mcp/{site.domain}" not in client.get(path).content.decode()

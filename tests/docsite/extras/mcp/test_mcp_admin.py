"""The owner's view: the setting, the address, and what agents did."""

import re
from typing import Any

import pytest
from django.urls import reverse

from analytics.collecting import writer
from assistant.answering.question import Asker, Question
from assistant.conversations.threads import open_conversation
from assistant.models import Message
from docsite.core.http.client_address import parse_address
from docsite.extras.mcp import agents
from docsite.extras.mcp.models import McpSettings
from docsite.privacy.models import AuditEntry
from tests.conftest import People, Tenant


def change_url(project: Tenant) -> str:
    return reverse("admin:projects_project_change", args=[project.project.pk])


def form_of(page: str) -> dict[str, str]:
    """The values of the form of a project."""
    fields = dict(re.findall(r'<input[^>]*?name="(\w+)"[^>]*?value="([^"]*)"', page))
    fields |= dict.fromkeys(re.findall(r'<textarea[^>]*?name="(\w+)"', page), "")
    for name, options in re.findall(r'<select[^>]*?name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    return fields


@pytest.mark.slow
def test_the_owner_chooses_who_may_use_the_server(people: People, project: Tenant) -> None:
    page = people.owner.get(change_url(project)).content.decode()
    assert '<option value="open" selected>Everyone, within the limits</option>' in page
    fields = {**form_of(page), "mcp_access": "key"}
    response = people.teammate.post(change_url(project), fields)
    assert response.status_code == 302, re.findall(r"errorlist[^>]*>(.*?)</ul>", response.content.decode())
    assert McpSettings.objects.get(project=project.project).mcp_access == "key"
    entry = AuditEntry.objects.filter(project=project.domain, action__startswith="MCP settings").latest("pk")
    assert entry.details["mcp_access"] == "key"
    assert people.stranger.post(change_url(project), {**fields, "mcp_access": "off"}).status_code in (302, 403, 404)
    assert McpSettings.objects.get(project=project.project).mcp_access == "key"


@pytest.mark.parametrize(("access", "words"), [("open", "without a key"), ("key", "Authorization: Bearer svc_dsc_")])
def test_the_page_of_keys_shows_the_address(people: People, project: Tenant, access: str, words: str) -> None:
    McpSettings.objects.create(project=project.project, mcp_access=access)
    url = project.project.get_absolute_url()
    for browser in (people.owner, people.teammate):
        page = browser.get(url).content.decode()
        assert f"http://testserver/mcp/{project.domain}" in page
        assert words in page
    assert people.stranger.get(url).status_code == 404


def test_the_page_of_keys_says_that_the_server_is_off(people: People, project: Tenant) -> None:
    McpSettings.objects.create(project=project.project, mcp_access="off")
    page = people.owner.get(project.project.get_absolute_url()).content.decode()
    assert "The MCP server is off." in page
    assert f"/mcp/{project.domain}" not in page


@pytest.mark.slow
def test_questions_and_reads_of_an_agent_are_in_the_reports_as_its_own(people: People, project: Tenant) -> None:
    address: Any = parse_address("203.0.113.9")
    agents.record_read(project.project, address, "zed-agent/1.2 (MCP client)", "/install")
    writer.flush()
    asked = Question("How do I install acme?", Asker(fp="anonymous"), Message.Caller.MCP, agent="zed-agent")
    thread = open_conversation(project.project, asked).thread_id
    for browser in (people.owner, people.teammate):
        assert "zed-agent" in browser.get(f"/admin/project/{project.domain}/agents").content.decode()
        page = browser.get(f"/admin/project/{project.domain}/conversations?caller=mcp").content.decode()
        assert "How do I install acme?" in page
        assert "Coding agent (MCP)" in page
        conversation = browser.get(f"/admin/project/{project.domain}/conversations/{thread}").content.decode()
        assert "zed-agent" in re.sub(r"<[^>]+>", " ", conversation)
    for name in ("agents", "conversations"):
        assert people.stranger.get(f"/admin/project/{project.domain}/{name}").status_code == 404

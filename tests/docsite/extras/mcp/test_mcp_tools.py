"""What the tools and resources return, what they record, and how they refuse."""

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from analytics.models import Feedback, PageView
from assistant.answering.pipeline import SORRY
from assistant.models import Message
from search.models import SearchQuery
from tests.conftest import PATIENCE, Tenant, wait_for


@pytest.fixture
def rpc(http: Any, service: Any, project: Tenant) -> Any:
    """Call a method of the project's server, with a session that names the client."""

    def call(method: str, session: str = "", **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Mcp-Session-Id": session} if session else {"User-Agent": "python-httpx/0.28"}
        return http.post(f"{service.url}/mcp/{project.domain}", json=message, headers=headers)

    return call


@pytest.fixture
def tool(rpc: Any) -> Any:
    """Call a tool. Returns its text, its data, and whether it failed."""

    def call(name: str, session: str = "", **arguments: Any) -> tuple[str, Any, bool]:
        result = rpc("tools/call", session, name=name, arguments=arguments).json()["result"]
        return result["content"][0]["text"], result.get("structuredContent"), result["isError"]

    return call


@pytest.fixture
def session(rpc: Any) -> str:
    """The session id of a client that named itself."""
    info = {"name": "Acme Code (beta)/2", "version": "2.1"}
    return rpc("initialize", protocolVersion="2025-06-18", clientInfo=info).headers["mcp-session-id"]


def test_search_returns_sections_with_their_pages(tool):
    text, data, failed = tool("search_docs", query="install with pip", limit=2)
    assert not failed
    first = data["results"][0]
    assert (first["path"], first["url"]) == ("/install", "https://docs.acme.example/install#with-pip")
    assert first["title"] == "Installing acme › With pip"
    assert "pip install acme" in first["content"]
    assert first["url"] in text
    assert len(data["results"]) <= 2


@pytest.mark.parametrize("limit", ["2", 2.0, " 2 "])
def test_arguments_of_another_type_are_converted_if_they_can_be(tool, limit):
    _, data, failed = tool("search_docs", query="acme", limit=limit, version=None, language=None)
    assert not failed
    assert len(data["results"]) == 2
    assert tool("search_docs", query="x", limit="two")[2]
    assert tool("search_docs", query=None)[2]
    assert not tool("read_page", path="/install", offset="0")[2]


def test_search_can_be_narrowed(tool):
    assert [hit["path"] for hit in tool("search_docs", query="acme home", version="2.0")[1]["results"]][:1] == [
        "/configure"
    ]
    text, data, failed = tool("search_docs", query="qwertzuiop")
    assert (data["results"], failed) == ([], False)
    assert text.startswith("Nothing found for “qwertzuiop”.")


@pytest.mark.parametrize("path", ["/install", "install.md", "https://docs.acme.example/install#with-pip"])
def test_a_page_is_read_by_any_spelling_of_its_path(tool, path):
    text, data, failed = tool("read_page", path=path)
    assert not failed
    assert (data["path"], data["title"], data["isComplete"]) == ("/install", "Installing acme", True)
    assert data["content"].index("# Installing acme") < data["content"].index("\n## With pip\n")
    assert "pip install acme" in text


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("search_docs", {}, "query: "),
        ("search_docs", {"query": "  "}, "query: must not be blank"),
        ("search_docs", {"query": "x", "limit": 50}, "limit: "),
        ("search_docs", {"query": 5}, "query: "),
        ("read_page", {"path": "/nowhere"}, "There is no page at /nowhere."),
        ("ask_docs", {"question": ""}, "question: must not be blank"),
        ("give_feedback", {"helpful": True}, "path: name either"),
        ("give_feedback", {"helpful": True, "path": "/install", "messageId": "msg_1"}, "path: name either"),
        ("give_feedback", {"helpful": True, "path": "/nowhere"}, "path: there is no page at /nowhere"),
        ("give_feedback", {"helpful": True, "messageId": "msg_nobody"}, "messageId: no such answer"),
        ("give_feedback", {"helpful": "yes", "path": "/install"}, "helpful: "),
    ],
)
def test_wrong_arguments_get_a_sentence_that_names_them(tool, name, arguments, sentence):
    text, data, failed = tool(name, **arguments)
    assert (failed, data) == (True, None)
    assert sentence in text


def test_an_unknown_tool_is_an_error_of_the_protocol(rpc):
    for params in ({"name": "nothing"}, {}, {"name": "search_docs", "arguments": [1]}):
        assert rpc("tools/call", **params).json()["error"]["code"] == -32602


def test_an_answer_has_checked_citations_and_is_stored_as_an_agents(tool, session, project):
    text, data, failed = tool("ask_docs", session, question="How do I install acme with pip?")
    assert not failed
    assert data["isAnswered"]
    assert {source["url"].partition("#")[0] for source in data["sources"]} == {"https://docs.acme.example/install"}
    assert f"]({data['sources'][0]['url'].partition('#')[0]}" in data["answer"]
    assert data["messageId"] in text
    wait_for(lambda: Message.objects.get(message_id=data["messageId"]).state == "done", "the answer")
    answer = Message.objects.get(message_id=data["messageId"])
    assert (answer.caller, answer.agent, answer.thread.project) == ("mcp", "Acme-Code-beta-2", project.project)
    assert data["answer"] == answer.content


def test_what_the_documentation_does_not_answer_is_no_error(tool):
    text, data, failed = tool("ask_docs", question="Who won the football championship in 1974?")
    assert (failed, data["isAnswered"], data["sources"]) == (False, False, [])
    assert text


@pytest.mark.parametrize(("mode", "failed"), [("", False), ("fake:cut", True)])
def test_a_model_answers_agents_and_an_answer_that_breaks_off_is_an_error(http, model_service, project, mode, failed):
    params = {"name": "ask_docs", "arguments": {"question": f"How do I install acme? {mode}"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    result = http.post(f"{model_service.url}/mcp/{project.domain}", json=body).json()["result"]
    assert result["isError"] is failed
    assert (result["content"][0]["text"] == SORRY) is failed
    stored = Message.objects.get(thread__project=project.project, role="assistant")
    assert (stored.rung, stored.state) == ("model", "error" if failed else "done")


def test_an_answer_ends_when_its_agent_leaves(model_service, upstream, project):
    question = f"How do I install acme? fake:held {project.domain}"
    params = {"name": "ask_docs", "arguments": {"question": question}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    answers = Message.objects.filter(thread__project=project.project, role="assistant")
    address = urlsplit(model_service.url)
    agent = http.client.HTTPConnection(address.hostname, address.port, timeout=PATIENCE)
    agent.request("POST", f"/mcp/{project.domain}", body, {"Content-Type": "application/json"})
    wait_for(lambda: upstream.asked(question), "the model to be asked")
    agent.sock.shutdown(socket.SHUT_RDWR)  # the service sees it even if a process that was forked has a copy
    agent.close()
    wait_for(lambda: answers.filter(state="aborted", cut_by="connection").exists(), "the answer to end")


def test_feedback_of_an_agent_is_stored_as_such(tool, project):
    assert tool("give_feedback", path="/install.md", helpful=False, comment=" The option -x is gone. ")[1] == {
        "stored": True
    }
    row = Feedback.objects.get(project=project.project)
    assert (row.source, row.path, row.helpful, row.comment) == ("agent", "/install", False, "The option -x is gone.")
    message_id = tool("ask_docs", question="How do I install acme?")[1]["messageId"]
    assert not tool("give_feedback", messageId=message_id, helpful=True)[2]
    about_answer = Feedback.objects.get(message__message_id=message_id)
    assert (about_answer.source, about_answer.path, about_answer.helpful) == ("agent", "/install", True)


def test_a_search_is_recorded_as_an_agents(tool, project):
    tool("search_docs", query="label printers", language="en")
    wait_for(lambda: SearchQuery.objects.filter(project=project.project).exists(), "the search")
    row = SearchQuery.objects.get(project=project.project)
    assert (row.text, row.caller_kind, row.filter_language) == ("label printers", "mcp", "en")
    assert row.result_count


def test_a_page_that_is_read_is_a_view_of_the_agent_that_named_itself(tool, rpc, session, project):
    tool("read_page", session, path="/install")
    rpc("resources/read", session, uri=f"docs://{project.domain}/guides/labels")
    tool("read_page", path="/configure")
    views = PageView.objects.filter(project=project.project)
    wait_for(lambda: views.count() == 3, "the views")
    assert set(views.values_list("client_class", "agent", "surface")) == {
        ("ai_agent", "Acme-Code-beta-2", "md"),
        ("ai_agent", "python-httpx", "md"),
    }
    tool("search_docs", session, query="install")
    tool("read_page", session, path="/nowhere")
    assert views.count() == 3


def test_a_client_without_a_handshake_is_known_by_its_envelope(http, service, project):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.9"},
    }
    params = {"name": "read_page", "arguments": {"path": "/install"}, "_meta": meta}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "read_page"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert http.post(f"{service.url}/mcp/{project.domain}", json=message, headers=headers).status_code == 200
    views = PageView.objects.filter(project=project.project)
    wait_for(views.exists, "the view")
    assert views.values_list("agent", "operator").get() == ("claude-code", "Anthropic")


def test_resources_are_the_pages_in_parts(rpc, project, monkeypatch):
    listed = rpc("resources/list").json()["result"]
    assert [page["name"] for page in listed["resources"]] == ["/", "/configure", "/guides/labels", "/install"]
    page = listed["resources"][-1]
    assert page["uri"] == f"docs://{project.domain}/install"
    assert (page["title"], page["description"]) == ("Installing acme", "How to install acme on any machine.")
    assert "nextCursor" not in listed
    [read] = rpc("resources/read", uri=page["uri"]).json()["result"]["contents"]
    assert (read["uri"], read["mimeType"]) == (page["uri"], "text/markdown")
    assert "pip install acme" in read["text"]
    [template] = rpc("resources/templates/list").json()["result"]["resourceTemplates"]
    assert template["uriTemplate"] == f"docs://{project.domain}/{{+path}}"


def test_the_list_of_resources_goes_on_at_its_cursor(project, make_project, monkeypatch):
    from docsite.extras.mcp import resources
    from docsite.extras.mcp.json_rpc import RpcError

    monkeypatch.setattr(resources, "PAGE_SIZE", 3)
    first = resources.list_resources(project.project, None)
    second = resources.list_resources(project.project, first["nextCursor"])
    names = [page["name"] for page in first["resources"] + second["resources"]]
    assert names == ["/", "/configure", "/guides/labels", "/install"]
    assert "nextCursor" not in second
    for domain, cursor in ((make_project().project, first["nextCursor"]), (project.project, "x"), (project.project, 5)):
        with pytest.raises(RpcError, match=r"cursor: was not issued"):
            resources.list_resources(domain, cursor)


def test_a_resource_of_another_project_does_not_exist(rpc, project, make_project):
    other = make_project()
    for uri in (f"docs://{other.domain}/install", f"docs://{project.domain}/nowhere", "file:///etc/passwd", 5, None):
        error = rpc("resources/read", uri=uri).json()["error"]
        assert (error["code"], error["message"]) == (-32002, "uri: there is no such page.")

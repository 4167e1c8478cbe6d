"""The official clients in Python and JavaScript, over two processes of the service."""

import json
import subprocess
from typing import Any

import pytest

from analytics.models import PageView
from assistant.models import Message
from tests.conftest import PATIENCE, ROOT, Tenant, wait_for
from tests.variants import first_of

CONTRACT = ROOT / "tests" / "contract"
TOOLS = ["search_docs", "read_page", "ask_docs", "give_feedback"]


def views_of(project: Tenant) -> Any:
    return PageView.objects.filter(project=project.project)


@pytest.mark.slow
@pytest.mark.parametrize("mode", first_of(["auto", "legacy"], 1))
def test_the_python_client_calls_every_tool(service, project, mode):
    seen = run_python(f"{service.url}/mcp/{project.domain}", mode)
    assert seen["version"] == ("2026-07-28" if mode == "auto" else "2025-11-25")
    check(seen, project)
    wait_for(lambda: views_of(project).count() == 2, "the views")
    assert set(views_of(project).values_list("client_class", "agent")) == {("ai_agent", "Python-Agent")}


def run_python(url: str, mode: str) -> dict[str, Any]:
    import asyncio

    import mcp  # takes a second, which no other worker has to wait
    from mcp.client.client import Client

    async def run() -> dict[str, Any]:
        info = mcp.types.Implementation(name="Python Agent", version="1.0")
        async with Client(url, mode=mode, client_info=info) as client:
            found = await client.call_tool("search_docs", {"query": "install with pip"})
            answer = await client.call_tool("ask_docs", {"question": "How do I install acme?"})
            message_id = answer.structured_content["messageId"]
            resources = (await client.list_resources()).resources
            return {
                "version": client.protocol_version,
                "instructions": client.instructions,
                "tools": [tool.name for tool in (await client.list_tools()).tools],
                "search": found.structured_content,
                "page": (await client.call_tool("read_page", {"path": "/install"})).structured_content,
                "answer": answer.structured_content,
                "feedback": (
                    await client.call_tool("give_feedback", {"messageId": message_id, "helpful": True})
                ).structured_content,
                "refused": (await client.call_tool("search_docs", {"query": " "})).is_error,
                "resources": [resource.uri for resource in resources],
                "templates": len((await client.list_resource_templates()).resource_templates),
                "resource": (await client.read_resource(resources[0].uri)).contents[0].text,
            }

    return asyncio.run(run())


def check(seen: dict[str, Any], project: Tenant) -> None:
    """Whatever the client, it has seen this site."""
    assert seen["tools"] == TOOLS
    assert project.project.docs_url in seen["instructions"]
    assert seen["search"]["results"][0]["path"] == "/install"
    assert "pip install acme" in seen["page"]["content"]
    assert seen["answer"]["isAnswered"]
    assert seen["feedback"] == {"stored": True}
    assert seen["refused"] is True
    assert seen["resources"][0] == f"docs://{project.domain}/"
    assert seen["templates"] == 1
    assert "keeps parcels in order" in seen["resource"]
    wait_for(lambda: Message.objects.filter(thread__project=project.project, role="assistant").exists(), "the answer")
    assert set(Message.objects.filter(thread__project=project.project).values_list("caller", flat=True)) == {"mcp"}


@pytest.mark.matrix
@pytest.mark.node
def test_the_javascript_client_calls_every_tool(service, project):
    seen = run_javascript(f"{service.url}/mcp/{project.domain}")
    check(seen, project)
    wait_for(lambda: views_of(project).count() == 2, "the views")
    assert set(views_of(project).values_list("agent", flat=True)) == {"JavaScript-Agent"}


@pytest.mark.matrix
@pytest.mark.node
def test_a_client_may_begin_in_one_process_and_go_on_in_another(service, start, project):
    other = start.fresh()
    seen = run_javascript(f"{service.url}/mcp/{project.domain}", f"{other.url}/mcp/{project.domain}")
    check(seen, project)
    wait_for(lambda: views_of(project).count() == 2, "the views")
    assert set(views_of(project).values_list("agent", flat=True)) == {"JavaScript-Agent"}


def run_javascript(*urls: str) -> dict[str, Any]:
    done = subprocess.run(
        ["node", "mcp.mjs", *urls], cwd=CONTRACT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

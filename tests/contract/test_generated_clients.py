"""Clients that the generators of others make from the OpenAPI document call every operation."""

import base64
import importlib
import inspect
import io
import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from assistant.models import SupportSettings
from tests.assistant.support_requests.conftest import old_token
from tests.conftest import question
from tests.contract.browser import BIN, HERE, NODE
from tests.search.pushes.archives import PAGES, tar

READER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def document(http, service) -> dict[str, Any]:
    return http.get(f"{service.url}/openapi.json").json()


@pytest.fixture
def document_file(document, tmp_path) -> Path:
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(document))
    return file


@pytest.fixture
def thread_id(http, service, project) -> str:
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    return http.post(url, json=question("How do I install acme?"), headers=project.assistant).headers["X-Thread-Id"]


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation for methods in document["paths"].values() for operation in methods.values()
    }


def examples(document: dict[str, Any]) -> dict[str, Any]:
    """The example of each operation's JSON body."""
    schemas = document["components"]["schemas"]
    names = {
        name: operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for name, operation in operations(document).items()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    }
    return {name: schemas[schema]["examples"][0] for name, schema in names.items()}


@pytest.fixture
def bodies(document, service, project, monkeypatch) -> dict[str, Any]:
    """The examples; that of a support request with a token that the project has issued some seconds ago."""
    SupportSettings.objects.create(project=project.project, service_url=service.url, emails=["owner@acme.example"])
    bodies = examples(document)
    bodies["sendSupportRequest"] |= {"token": old_token(project.project, monkeypatch)}
    return bodies


def snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


@pytest.mark.matrix
def test_a_generated_python_client_calls_every_operation(
    document, document_file, bodies, service, project, thread_id, tmp_path, monkeypatch
):
    (tmp_path / "config.yaml").write_text("content_type_overrides: {application/x-ndjson: text/plain}\n")
    command = [BIN / "openapi-python-client", "generate", "--path", document_file, "--meta", "none"]
    command += ["--config", tmp_path / "config.yaml"]  # it does not know JSON lines
    made = subprocess.run(
        [sys.executable, *command, "--output-path", tmp_path / "acme_client"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "WARNING" not in made.stdout + made.stderr
    monkeypatch.syspath_prepend(tmp_path)
    library = importlib.import_module("acme_client")
    values: dict[str, Any] = {"domain": project.domain, "project_id": project.project_id, "thread_id": thread_id}
    values["name"] = "docs"
    values |= {"chat_id": "chat-9", "origin": service.url, "date_from": date(2026, 1, 1)}
    for name, operation in operations(document).items():
        module = importlib.import_module(f"acme_client.api.{operation['tags'][0].lower()}.{snake_case(name)}")
        key = project.admin_key if operation["security"] == [{"AdminKey": []}] else project.assistant_key
        client = library.AuthenticatedClient(service.url, key, headers={"User-Agent": READER})
        parameters = inspect.signature(module.sync_detailed).parameters
        arguments = {each: values[each] for each in parameters if each in values}
        if name == "pushSource":
            arguments["body"] = importlib.import_module("acme_client.types").File(io.BytesIO(tar(PAGES)))
        elif "body" in parameters:
            arguments["body"] = parameters["body"].annotation.from_dict(bodies[name])
        with client as client:
            response = module.sync_detailed(client=client, **arguments)
        assert 200 <= response.status_code < 300, (name, response.content)
        returns_json = "application/json" in operation["responses"][str(response.status_code.value)].get("content", {})
        assert not returns_json or response.parsed is not None, name


@pytest.mark.matrix
@pytest.mark.node
def test_a_generated_typescript_client_calls_every_operation(
    document, document_file, bodies, service, project, thread_id, tmp_path
):
    tools = HERE / "node_modules" / ".bin"
    subprocess.run(
        [NODE, tools / "openapi-ts", "-i", document_file, "-o", tmp_path / "client", "--silent"], check=True, cwd=HERE
    )
    setting = {
        "url": service.url,
        "domain": project.domain,
        "projectId": project.project_id,
        "threadId": thread_id,
        "assistantKey": project.assistant_key,
        "adminKey": project.admin_key,
        "archive": base64.b64encode(tar(PAGES)).decode(),
        "bodies": bodies,
    }
    (tmp_path / "setting.json").write_text(json.dumps(setting))
    (tmp_path / "generated.ts").write_text((HERE / "generated.ts").read_text())
    (tmp_path / "node_modules").symlink_to(HERE / "node_modules")
    options = ["--strict", "--skipLibCheck", "--module", "commonjs", "--target", "es2022", "--outDir", "built"]
    checked = subprocess.run(
        [NODE, tools / "tsc", *options, "--types", "node", "generated.ts"], cwd=tmp_path, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout
    called = subprocess.run(
        [NODE, "built/generated.js", "setting.json"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert called.returncode == 0, called.stderr
    statuses = json.loads(called.stdout)
    assert set(statuses) == set(operations(document))
    assert statuses.pop("resumeAnswer") == 0  # 204: no answer runs
    assert {name for name, status in statuses.items() if not 200 <= status < 300} == set()

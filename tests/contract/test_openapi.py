"""The OpenAPI document: it is valid, it says what the service does, and the documentation says the same."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import openapi_spec_validator
import pytest
from openapi_schema_validator import OAS31Validator

from assistant.models import SupportSettings
from docsite.server import openapi
from docsite.server.api import api
from docsite.site import navigation
from tests.assistant.support_requests.conftest import old_token


@pytest.fixture
def document(http, service) -> dict:
    response = http.get(f"{service.url}/openapi.json")
    assert response.status_code == 200
    return response.json()


def test_it_has_the_version_of_the_specification(document):
    assert document["info"]["version"] == "1.0.0"


def test_a_process_builds_it_once_for_all_addresses(monkeypatch):
    build = Mock(wraps=api.get_openapi_schema)
    monkeypatch.setattr(api, "get_openapi_schema", build)
    openapi._describe_endpoints.cache_clear()
    with ThreadPoolExecutor() as pool:
        one, other = pool.map(openapi.build_document, ("https://one.example", "https://other.example"))
    assert build.call_count == 1
    assert one["servers"] == [{"url": "https://one.example"}]
    assert other == {**one, "servers": [{"url": "https://other.example"}]}


def test_the_operations_are_those_of_the_specification(document):
    operations = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert operations == {
        ("get", "/v1/analytics/{projectId}/visitors"),
        ("get", "/v1/analytics/{projectId}/views"),
        ("get", "/v1/analytics/{projectId}/searches"),
        ("get", "/v1/analytics/{projectId}/sources"),
        ("get", "/v1/analytics/{projectId}/agents"),
        ("get", "/v1/analytics/{projectId}/annotations"),
        ("get", "/v1/analytics/{projectId}/costs"),
        ("get", "/v1/analytics/{projectId}/assistant"),
        ("get", "/v1/analytics/{projectId}/assistant/threads/{threadId}"),
        ("get", "/v1/analytics/{projectId}/assistant/caller-stats"),
        ("get", "/v1/analytics/{projectId}/assistant/gaps"),
        ("get", "/v1/analytics/{projectId}/feedback"),
        ("get", "/v1/analytics/{projectId}/feedback/by-page"),
        ("post", "/v1/collect/{projectId}/views"),
        ("get", "/v1/sources/{projectId}"),
        ("put", "/v1/sources/{projectId}/{name}"),
        ("delete", "/v1/sources/{projectId}/{name}"),
        ("post", "/v1/sources/{projectId}/{name}/manifest"),
        ("post", "/discovery/v1/assistant/{domain}/message"),
        ("post", "/discovery/v1/assistant/{domain}/forget"),
        ("post", "/discovery/v1/assistant/{domain}/preview"),
        ("post", "/discovery/v2/assistant/{domain}/message"),
        ("get", "/discovery/v2/assistant/{domain}/message/{chatId}/stream"),
        ("post", "/discovery/v2/assistant/{domain}/stop"),
        ("post", "/discovery/v1/search/{domain}"),
        ("post", "/discovery/v1/search/{domain}/click"),
        ("post", "/discovery/v1/page/{domain}"),
        ("post", "/discovery/v1/view/{domain}"),
        ("post", "/discovery/v1/feedback/{domain}"),
        ("get", "/discovery/v1/widget/{domain}"),
        ("get", "/discovery/v1/support/{domain}"),
        ("post", "/discovery/v1/support/{domain}"),
        ("post", "/discovery/v1/support/{domain}/event"),
    }


def test_visitors_are_described_as_specified(document):
    operation = document["paths"]["/v1/analytics/{projectId}/visitors"]["get"]
    assert operation["tags"] == ["Analytics"]
    parameters = {parameter["name"]: parameter for parameter in operation["parameters"]}
    assert set(parameters) == {"projectId", "timezone", "dateFrom", "dateTo", "limit", "offset"}
    limit = parameters["limit"]["schema"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 250, 50)
    assert parameters["offset"]["schema"]["minimum"] == 0
    ok = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert ok["$ref"].endswith("/VisitorsByPageResponse")
    bad = operation["responses"]["400"]["content"]["application/json"]["schema"]
    assert bad["$ref"].endswith("/AnalyticsErrorResponse")
    schemas = document["components"]["schemas"]
    assert set(schemas["VisitorsTrafficTotals"]["required"]) == {"human", "ai", "total"}
    assert set(schemas["VisitorsByPageResponse"]["required"]) == {"totals", "visitors", "hasMore"}


@pytest.mark.parametrize(
    ("path", "parameters", "answer", "fields"),
    [
        (
            "searches",
            {"timezone", "dateFrom", "dateTo", "limit", "cursor", "path"},
            "Searches",
            {"searches", "totalSearches", "nextCursor"},
        ),
        (
            "assistant",
            {"timezone", "dateFrom", "dateTo", "limit", "cursor", "path"},
            "Conversations",
            {"conversations", "nextCursor", "hasMore"},
        ),
        ("assistant/threads/{threadId}", {"threadId"}, "Thread", {"threadId", "createdAt", "messages"}),
        ("assistant/caller-stats", {"timezone", "dateFrom", "dateTo"}, "CallerStats", {"web", "api", "other", "total"}),
    ],
)
def test_what_readers_searched_for_and_asked_is_described(document, path, parameters, answer, fields):
    operation = document["paths"][f"/v1/analytics/{{projectId}}/{path}"]["get"]
    assert (operation["tags"], operation["security"]) == (["Analytics"], [{"AdminKey": []}])
    described = {parameter["name"]: parameter for parameter in operation["parameters"]}
    assert set(described) == {"projectId", *parameters}
    required = {name for name, parameter in described.items() if parameter["required"]}
    assert required == {"projectId", "threadId"} & set(described)
    if "limit" in parameters:
        limit, most, default = described["limit"]["schema"], *((100, 50) if path == "searches" else (1000, 100))
        assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, most, default)
        assert described["cursor"]["schema"]["type"] == "string"
    ok = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert ok["$ref"].endswith(f"/{answer}Response")
    assert set(document["components"]["schemas"][f"{answer}Response"]["required"]) == fields
    assert set(operation["responses"]) == {"200", "400", "401", "403", "404", "405", "429", "500", "503"}


@pytest.mark.parametrize(
    ("path", "parameters", "answer", "fields", "default"),
    [
        ("feedback", {"source", "status", "path", "cursor"}, "Feedback", {"feedback", "nextCursor", "hasMore"}, 50),
        ("feedback/by-page", {"source", "status", "path"}, "FeedbackByPage", {"feedback", "hasMore"}, 10),
    ],
)
def test_what_readers_think_is_described(document, path, parameters, answer, fields, default):
    operation = document["paths"][f"/v1/analytics/{{projectId}}/{path}"]["get"]
    assert (operation["tags"], operation["security"]) == (["Analytics"], [{"AdminKey": []}])
    described = {parameter["name"]: parameter["schema"] for parameter in operation["parameters"]}
    assert set(described) == {"projectId", "timezone", "dateFrom", "dateTo", "limit", *parameters}
    limit = described["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 100, default)
    assert described["status"]["type"] == "string"
    assert set(described["source"]["enum"]) == {"code_snippet", "contextual", "agent", "thumbs_only"}
    ok = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert ok["$ref"].endswith(f"/{answer}Response")
    assert set(document["components"]["schemas"][f"{answer}Response"]["required"]) == fields


def test_feedback_takes_no_key_and_names_what_it_needs(document):
    operation = document["paths"]["/discovery/v1/feedback/{domain}"]["post"]
    assert operation["security"] == []
    assert set(operation["responses"]) == {*("204", "400", "403", "404", "405", "413", "415", "429", "500", "503")}
    assert document["components"]["schemas"]["FeedbackIn"]["required"] == ["source", "path"]


def test_there_are_two_bearer_schemes(document):
    schemes = document["components"]["securitySchemes"]
    assert {name: (scheme["type"], scheme["scheme"]) for name, scheme in schemes.items()} == {
        "AdminKey": ("http", "bearer"),
        "AssistantKey": ("http", "bearer"),
    }


def test_message_v1_is_deprecated_and_streams(document):
    operation = document["paths"]["/discovery/v1/assistant/{domain}/message"]["post"]
    assert operation["deprecated"] is True
    assert set(operation["responses"]["200"]["content"]) == {"text/plain"}
    assert operation["security"] == [{"AssistantKey": []}]


def test_every_endpoint_and_error_is_in_the_documentation(document):
    text = "\n".join(page.body for page in navigation.pages().values())
    for path, methods in document["paths"].items():
        assert path in text, path
        for operation in methods.values():
            for status in operation["responses"]:
                assert status in text, status


KEYLESS = {
    ("post", "/discovery/v1/view/{domain}"),
    ("post", "/discovery/v1/feedback/{domain}"),
    ("post", "/discovery/v1/search/{domain}/click"),
    ("get", "/discovery/v1/widget/{domain}"),
    ("get", "/discovery/v1/support/{domain}"),
    ("post", "/discovery/v1/support/{domain}"),
    ("post", "/discovery/v1/support/{domain}/event"),
}
# Of JSON Schema 2020-12, the ones that we use.
KEYWORDS = {
    *(
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "description",
        "enum",
        "examples",
        "format",
        "items",
        "maxProperties",
    ),
    *("maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "pattern", "prefixItems", "properties"),
    *("required", "title", "type"),
}


def operations(document: dict) -> list[tuple[str, str, dict]]:
    return [(method, path, found) for path, methods in document["paths"].items() for method, found in methods.items()]


def schemas(document: dict) -> Iterator[dict]:
    """Every schema, and every schema within it."""
    waiting: list[Any] = [*document["components"]["schemas"].values()]
    for _, _, operation in operations(document):
        waiting += [parameter["schema"] for parameter in operation["parameters"]]
        contents = [response.get("content", {}) for response in operation["responses"].values()]
        waiting += [kind["schema"] for content in contents for kind in content.values()]
    while waiting:
        schema = waiting.pop()
        yield schema
        for keyword in ("anyOf", "prefixItems"):
            waiting += schema.get(keyword, [])
        waiting += schema.get("properties", {}).values()
        waiting += [
            schema[keyword] for keyword in ("items", "additionalProperties") if isinstance(schema.get(keyword), dict)
        ]


def body_schema(document: dict, operation: dict) -> dict:
    """The schema of a request body, for a validator."""
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    return {"$ref": reference, "components": document["components"]}


def body_example(document: dict, operation: dict) -> dict:
    name = body_schema(document, operation)["$ref"].rpartition("/")[2]
    (example,) = document["components"]["schemas"][name]["examples"]
    return example


@pytest.mark.matrix
def test_it_is_valid(document):
    openapi_spec_validator.validate(document)


def test_its_schemas_have_only_keywords_of_json_schema(document):
    assert {keyword for schema in schemas(document) for keyword in schema} <= KEYWORDS


def test_its_server_is_the_one_that_was_asked(document, service):
    assert document["servers"] == [{"url": service.url}]


def test_every_operation_can_be_named_read_and_called(document):
    found = operations(document)
    names = [operation["operationId"] for _, _, operation in found]
    assert len(set(names)) == len(names)
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    for method, path, operation in found:
        assert re.fullmatch(r"[a-z]+([A-Z][a-z]*)*([A-Z][0-9])?", operation["operationId"]), path
        assert len(operation["tags"]) == 1, path
        assert tags[operation["tags"][0]], path
        assert operation["summary"], path
        assert operation["description"].endswith("."), path
        assert (operation["security"] == []) is ((method, path) in KEYLESS), path
        assert all(parameter["description"] for parameter in operation["parameters"]), path
        inside = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"}
        assert inside == set(re.findall(r"{(\w+)}", path)), path
    assert set(tags) == {operation["tags"][0] for _, _, operation in found}


def test_every_error_is_described_with_its_headers(document):
    always = {"401": "WWW-Authenticate", "405": "Allow", "429": "Retry-After", "503": "Retry-After"}
    for method, path, operation in operations(document):
        errors = {status: response for status, response in operation["responses"].items() if status >= "400"}
        assert {"400", "404", "405", "429", "500", "503"} <= set(errors), path
        assert ("401" in errors) is ((method, path) not in KEYLESS), path
        assert ({"413", "415"} <= set(errors)) is (method == "post"), path
        for status, response in errors.items():
            assert response["content"]["application/json"]["schema"]["$ref"].endswith("/AnalyticsErrorResponse")
            assert status not in always or always[status] in response["headers"], path


def test_dates_may_be_days(document):
    for _, path, operation in operations(document):
        for parameter in operation["parameters"]:
            if parameter["name"] in ("dateFrom", "dateTo"):
                assert [form["format"] for form in parameter["schema"]["anyOf"]] == ["date", "date-time"], path


def test_its_examples_are_valid_and_accepted(document, http, service, project, monkeypatch):
    SupportSettings.objects.create(project=project.project, service_url=service.url, emails=["owner@acme.example"])
    for method, path, operation in operations(document):
        if method != "post":
            continue
        example = body_example(document, operation)
        OAS31Validator(body_schema(document, operation)).validate(example)
        if path == "/discovery/v1/support/{domain}":
            example["token"] = old_token(project.project, monkeypatch)
        url = service.url + path.format(domain=project.domain, projectId=project.project_id, name="docs")
        headers = {"Origin": service.url} if (method, path) in KEYLESS else project.assistant
        headers = project.admin if operation["security"] == [{"AdminKey": []}] else headers
        response = http.post(url, json=example, headers={**headers, "User-Agent": "Mozilla/5.0 (X11) Firefox/140.0"})
        assert response.is_success, (path, response.text)
        assert str(response.status_code) in operation["responses"], path

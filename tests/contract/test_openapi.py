"""The OpenAPI document, and the documentation against it."""

import pytest

from docsite.site import navigation


@pytest.fixture
def document(http, service) -> dict:
    response = http.get(f"{service.url}/openapi.json")
    assert response.status_code == 200
    return response.json()


def test_it_has_the_version_of_the_specification(document):
    assert document["info"]["version"] == "1.0.0"


def test_the_operations_are_those_of_the_specification(document):
    operations = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert operations == {
        ("get", "/v1/analytics/{projectId}/visitors"),
        ("get", "/v1/analytics/{projectId}/views"),
        ("get", "/v1/analytics/{projectId}/searches"),
        ("get", "/v1/analytics/{projectId}/assistant"),
        ("get", "/v1/analytics/{projectId}/assistant/threads/{threadId}"),
        ("get", "/v1/analytics/{projectId}/assistant/caller-stats"),
        ("get", "/v1/analytics/{projectId}/feedback"),
        ("get", "/v1/analytics/{projectId}/feedback/by-page"),
        ("post", "/v1/collect/{projectId}/views"),
        ("post", "/discovery/v1/assistant/{domain}/message"),
        ("post", "/discovery/v1/assistant/{domain}/forget"),
        ("post", "/discovery/v2/assistant/{domain}/message"),
        ("get", "/discovery/v2/assistant/{domain}/message/{chatId}/stream"),
        ("post", "/discovery/v2/assistant/{domain}/stop"),
        ("post", "/discovery/v1/search/{domain}"),
        ("post", "/discovery/v1/search/{domain}/click"),
        ("post", "/discovery/v1/page/{domain}"),
        ("post", "/discovery/v1/view/{domain}"),
        ("post", "/discovery/v1/feedback/{domain}"),
        ("get", "/discovery/v1/widget/{domain}"),
    }


def test_visitors_are_described_as_specified(document):
    operation = document["paths"]["/v1/analytics/{projectId}/visitors"]["get"]
    assert operation["tags"] == ["Analytics"]
    parameters = {parameter["name"]: parameter for parameter in operation["parameters"]}
    assert set(parameters) == {"projectId", "dateFrom", "dateTo", "limit", "offset"}
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
            {"dateFrom", "dateTo", "limit", "cursor"},
            "Searches",
            {"searches", "totalSearches", "nextCursor"},
        ),
        (
            "assistant",
            {"dateFrom", "dateTo", "limit", "cursor"},
            "Conversations",
            {"conversations", "nextCursor", "hasMore"},
        ),
        ("assistant/threads/{threadId}", {"threadId"}, "Thread", {"threadId", "createdAt", "messages"}),
        ("assistant/caller-stats", {"dateFrom", "dateTo"}, "CallerStats", {"web", "api", "other", "total"}),
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
    assert set(operation["responses"]) == {"200", "400", "401", "403", "404", "429", "500", "503"}


@pytest.mark.parametrize(
    ("path", "parameters", "answer", "fields", "default"),
    [
        ("feedback", {"source", "status", "cursor"}, "Feedback", {"feedback", "nextCursor", "hasMore"}, 50),
        ("feedback/by-page", {"source", "status"}, "FeedbackByPage", {"feedback", "hasMore"}, 10),
    ],
)
def test_what_readers_think_is_described(document, path, parameters, answer, fields, default):
    operation = document["paths"][f"/v1/analytics/{{projectId}}/{path}"]["get"]
    assert (operation["tags"], operation["security"]) == (["Analytics"], [{"AdminKey": []}])
    described = {parameter["name"]: parameter["schema"] for parameter in operation["parameters"]}
    assert set(described) == {"projectId", "dateFrom", "dateTo", "limit", *parameters}
    limit = described["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 100, default)
    assert described["status"]["type"] == "string"
    (sources,) = [choice["enum"] for choice in described["source"]["anyOf"] if "enum" in choice]
    assert set(sources) == {"code_snippet", "contextual", "agent", "thumbs_only"}
    ok = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert ok["$ref"].endswith(f"/{answer}Response")
    assert set(document["components"]["schemas"][f"{answer}Response"]["required"]) == fields


def test_feedback_takes_no_key_and_names_what_it_needs(document):
    operation = document["paths"]["/discovery/v1/feedback/{domain}"]["post"]
    assert "security" not in operation
    assert set(operation["responses"]) == {*("204", "400", "401", "403", "404", "413", "415", "429", "500", "503")}
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

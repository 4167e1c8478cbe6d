"""OpenAPI documents: a page for each operation, as renderers address them, whatever the document does."""

import json
import time
from pathlib import Path
from textwrap import dedent

import pytest

from docsite.core.tenants.models import Project
from search.indexing.ingest import ingest
from search.retrieval import page_search
from search.sources import Draft, ExcludedPage, Item, Page, openapi
from search.sources.openapi.loading import load
from search.sources.request import SourceRequest
from tests.variants import first_of

DOCUMENT = """
    openapi: 3.1.0
    info: {title: Shop, version: 1.10.0, description: "Sells.\\n\\n# Errors\\n\\nAll alike."}
    servers: [{url: "https://api.example.com", description: Live}]
    security: [{key: []}, {}]
    tags: [{name: Items & Parts, description: What is sold.}]
    paths:
      /items/{id}:
        parameters:
          - {name: id, in: path, required: true, schema: {type: string, pattern: "^[a-z]+$"}}
          - {name: lang, in: query, schema: {type: string}, description: Of the path.}
        get:
          tags: [Items & Parts]
          summary: Get an item
          operationId: getItem
          description: Reads one.
          parameters:
            - {name: lang, in: query, schema: {type: string, default: en, enum: [en, no]}, description: Of texts.}
          responses:
            200:
              description: The item.
              content: {application/json: {schema: {$ref: "#/components/schemas/Item"}, example: {id: a, price: 1.5}}}
            404: {description: None.}
        delete: {tags: [Items & Parts], operationId: dropItem, x-internal: true, responses: {}}
        patch: {tags: [Items & Parts], security: [], deprecated: true, responses: {}}
      /items:
        post:
          tags: [Items & Parts]
          summary: Get an item
          x-codeSamples: [{lang: Shell, source: curl https://api.example.com/items}]
          requestBody:
            required: true
            content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}
          callbacks:
            sold: {"{$request.body#/url}": {post: {summary: It was sold.}}}
      /ping: {get: {responses: {}}}
    webhooks:
      stockLow: {post: {summary: Stock is low, requestBody: {content: {application/json: {schema: {type: object}}}}}}
    components:
      securitySchemes:
        key: {type: apiKey, in: header, name: X-Key}
        login: {type: oauth2, flows: {clientCredentials: {tokenUrl: "https://a.example/token", scopes: {read: Reads.}}}}
      schemas:
        Item:
          allOf:
            - {$ref: "#/components/schemas/Base"}
            - type: object
              required: [price]
              properties:
                price: {type: number, exclusiveMinimum: 0, description: In euros.}
                secret: {type: string, writeOnly: true}
                parts: {type: array, items: {$ref: "#/components/schemas/Item"}}
                from: {oneOf: [{$ref: "#/components/schemas/Maker"}, {type: string}]}
        Base: {type: object, properties: {id: {type: [string, "null"], readOnly: true}}}
        Maker: {type: object, title: A maker, properties: {name: {type: string}}}
"""


def read(source: str | dict, folder: Path, generator: str = "", name: str = "api.yaml") -> list[Item]:
    (folder / name).write_text(json.dumps(source) if isinstance(source, dict) else dedent(source))
    return list(openapi.read(SourceRequest(str(folder / name), "https://docs.example.com", generator)))


def pages_of(source: str | dict, folder: Path, generator: str = "") -> dict[str, Page]:
    made = [item.build() for item in read(source, folder, generator) if isinstance(item, Draft)]
    assert all(isinstance(page, Page) for page in made)
    return {page.path: page for page in made}


def url_of(page: Page) -> str:
    return Project(docs_url="https://docs.example.com").url_of(page.path, "responses", page.address)


@pytest.fixture
def pages(tmp_path) -> dict[str, Page]:
    return pages_of(DOCUMENT, tmp_path)


def test_an_operation_is_a_page_that_tells_all_of_it(pages):
    page = pages["/items-&-parts/get-an-item"]
    assert page.title == "Get an item"
    assert page.description == "Reads one."
    assert page.keywords == ("getItem", "GET /items/{id}", "/items/{id}")
    assert page.tags == ("Items & Parts",)
    assert page.version == ""  # the API's is not the documentation's
    assert page.markdown == dedent("""\
        # Get an item

        `GET /items/{id}`

        Reads one.

        Authentication: `key` (API key in the header `X-Key`), or none.

        At `https://api.example.com/items/{id}`.

        ## Parameters

        In the path:

        - `id` (string, required, pattern `^[a-z]+$`)

        In the query:

        - `lang` (string, default `en`): Of texts. One of `en`, `no`.

        ## Responses

        `200`: The item.

        `application/json`: Item object

        - `id` (string or null)
        - `price` (number, required, exclusiveMinimum `0`): In euros.
        - `parts` (array of Item object)
        - `from` (Maker object or string)
          - **A maker** (Maker object)
            - `name` (string)

        Example:

        ```json
        {
          "id": "a",
          "price": 1.5
        }
        ```

        `404`: None.""")


def test_a_request_shows_what_may_be_sent(pages):
    markdown = pages["/items-&-parts/get-an-item-1"].markdown
    assert "A body is required." in markdown
    assert "- `secret` (string)" in markdown
    assert "- `id`" not in markdown
    assert "## Callbacks\n\n- `sold` (`POST {$request.body#/url}`): It was sold." in markdown
    assert "## Examples\n\nShell\n\n```shell\ncurl https://api.example.com/items\n```" in markdown


def test_what_has_no_name_is_called_by_method_and_path(pages):
    page = pages["/items-&-parts/patch-items"]
    assert page.title == "PATCH /items/{id}"
    assert "This operation is deprecated.\n\nAuthentication: none." in page.markdown
    assert pages["/get-ping"].tags == ()


def test_a_webhook_is_a_page(pages):
    assert "`webhook stockLow`" in pages["/stock-is-low"].markdown


def test_a_tag_and_the_api_have_pages_of_their_own(pages):
    tag, api = pages["/items-&-parts"], pages["/overview"]
    assert "[Get an item](items-%26-parts/get-an-item): `GET /items/{id}`" in tag.markdown
    assert url_of(tag) == "https://docs.example.com/items-%26-parts/get-an-item#responses"
    assert api.title == "Shop"
    assert url_of(api) == "https://docs.example.com/#responses"
    for line in ("Version 1.10.0.", "## Errors", "- `https://api.example.com`: Live", "### login", "- `read`: Reads."):
        assert line in api.markdown


def test_internal_operations_are_left_out(tmp_path):
    left = [item for item in read(DOCUMENT, tmp_path) if isinstance(item, ExcludedPage)]
    assert left == [ExcludedPage("api.yaml: DELETE /items/{id}", "`x-internal` is set")]


@pytest.mark.parametrize(
    ("generator", "path", "address"),
    [
        ("", "/items-&-parts/get-an-item", "/items-&-parts/get-an-item#responses"),
        ("redoc", "/items-&-parts/get-an-item", "/#tag/Items-and-Parts/operation/getItem"),
        ("redoc", "/items-&-parts/get-an-item-1", "/#tag/Items-and-Parts/paths/~1items/post"),
        ("redoc", "/items-&-parts", "/#tag/Items-and-Parts"),
        ("redoc", "/get-ping", "/#/paths/~1ping/get"),
        ("swagger-ui", "/items-&-parts/get-an-item", "/#/Items%20&%20Parts/getItem"),
        ("swagger-ui", "/items-&-parts/patch-items", "/#/Items%20&%20Parts/patch_items__id_"),
        ("swagger-ui", "/get-ping", "/#/default/get_ping"),
        ("swagger-ui", "/stock-is-low", "/#/webhooks/poststockLow"),
    ],
)
def test_addresses_are_those_of_the_renderer(generator, path, address, tmp_path):
    assert url_of(pages_of(DOCUMENT, tmp_path, generator)[path]) == f"https://docs.example.com{address}"


def test_json_and_yaml_make_the_same_pages(tmp_path):
    assert pages_of(load(dedent(DOCUMENT).encode()), tmp_path) == pages_of(DOCUMENT, tmp_path)


def test_files_beside_the_document_are_read_and_no_others(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/user.yaml").write_text('User: {properties: {mail: {$ref: "../base.yml#/Mail"}}}')
    (tmp_path / "base.yml").write_text("Mail: {type: string, format: email}")
    outside = tmp_path.parent / f"{tmp_path.name}.yaml"
    outside.write_text("Secret: {type: string, description: Not for readers.}")
    body = {"properties": {"user": {"$ref": "parts/user.yaml#/User"}, "x": {"$ref": f"../{outside.name}#/Secret"}}}
    body["properties"]["y"] = {"$ref": "https://example.com/a.yaml#/A"}
    markdown = pages_of(operation(body), tmp_path)["/get-x"].markdown
    assert "    - `mail` (string email)" in markdown.replace("  - `mail`", "    - `mail`")
    assert "- `x` (any)" in markdown
    assert "- `y` (any)" in markdown
    assert "Not for readers" not in markdown
    before = digests(tmp_path)
    (tmp_path / "base.yml").write_text("Mail: {type: string}")
    assert digests(tmp_path) != before


def test_what_no_database_can_hold_is_left_out(tmp_path):
    odd = "\x00\ud800"
    one = {"summary": f"Odd{odd}", "tags": [f"t{odd}"], "parameters": [{"name": f"p{odd}", "in": "query"}]}
    page = pages_of({"openapi": "3.0.0", "paths": {f"/{odd}": {"get": one}}}, tmp_path)["/t/odd"]
    assert (page.title, page.tags, page.keywords) == ("Odd", ("t",), ("GET /", "/"))
    assert "- `p` (any)" in page.markdown


def operation(schema: dict) -> dict:
    content = {"application/json": {"schema": schema}}
    return {"openapi": "3.0.0", "paths": {"/x": {"get": {"requestBody": {"content": content}}}}}


def digests(folder: Path) -> set[str]:
    return {
        item.digest for item in openapi.read(SourceRequest(str(folder / "api.yaml"), "")) if isinstance(item, Draft)
    }


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("swagger: '2.0'", "is Swagger 2.0; convert it to OpenAPI 3 first"),
        ("a: 1", "is no OpenAPI document: it has no `openapi` field"),
        ("openapi: 4.0.0", "is OpenAPI 4.0.0; 3.0 and 3.1 can be read"),
        ("[1]", "is not a list of names and values"),
        ("", "is not a list of names and values"),
        ("a: [", "is neither JSON nor YAML (line 2)"),
        ('{"a": ]}', "is neither JSON nor YAML (line 1)"),
        ("a: *b", "has an alias of nothing: b"),
        ("? [a]\n: b", "has a key that is not text"),
        ("- " * 100_000, "is nested too deeply"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a":' * 100_000, "is nested too deeply"),
        ("\n".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}], k{n}: 1}}" for n in range(1, 9)), "alias"),
        ("a0: &a {b: 1}\n" + "a1: {<<: [" + ", ".join(["*a"] * 100_001) + "]}", "merges too much"),
    ],
)
def test_what_is_no_document_is_refused_with_a_sentence(source, reason, tmp_path):
    with pytest.raises(ValueError, match=r"^api\.yaml ") as refused:
        read(source, tmp_path)
    assert reason in str(refused.value)


def test_yaml_is_read_as_its_second_version_has_it():
    source = b"no: &x {at: 2020-01-01, on: off, n: 0o7, m: -12, f: 1e3, t: true, '5': ~}\nb: {<<: [*x, *x], t: 'true'}"
    assert load(source) == {
        "no": (x := {"at": "2020-01-01", "on": "off", "n": "0o7", "m": -12, "f": 1000.0, "t": True, "5": None}),
        "b": {**x, "t": "true"},
    }


BOMBS = {
    "a schema that holds itself": "&s {properties: {a: *s, b: *s}, allOf: [*s], anyOf: [*s, *s], items: *s}",
    "references in a circle": '{$ref: "#/components/schemas/A"}',
    "a thousand properties each time": "{allOf: [*s9, *s9, *s9], oneOf: [*s9, *s9, *s9], example: *s9}",
}


@pytest.mark.parametrize("bomb", first_of(BOMBS, 1))
def test_what_grows_as_it_is_walked_through_is_cut_short(bomb, tmp_path):
    levels = [f"s{n}: &s{n} {{allOf: [{', '.join([f'*s{n - 1}'] * 9)}], x: [*s{n - 1}]}}" for n in range(1, 10)]
    source = "\n".join(
        [
            "openapi: 3.0.0",
            "s0: &s0 {properties: {" + ", ".join(f"p{n}: {{type: string}}" for n in range(1000)) + "}}",
            *levels,
            "components: {schemas: {A: {$ref: '#/components/schemas/B'}, B: {$ref: '#/components/schemas/A'}}}",
            f"paths: {{/x: {{get: {{requestBody: {{content: {{a/b: {{schema: {BOMBS[bomb]}}}}}}}}}}}}}",
        ]
    )
    began = time.process_time()
    assert len(pages_of(source, tmp_path)["/get-x"].markdown) < 40_000
    assert time.process_time() - began < 2


def test_a_thousand_operations_unchanged_are_not_read_again(tmp_path):
    one = load(dedent(DOCUMENT).encode())
    one["paths"] = {f"/items/{n}": one["paths"]["/items/{id}"] for n in range(500)}
    read(one, tmp_path)
    began = time.process_time()
    assert len(digests(tmp_path)) == 500 * 2 + 1 + 1 + 1
    assert time.process_time() - began < 5


def test_an_address_is_read_over_http(monkeypatch):
    class Fetcher:
        def __init__(self, request):
            assert request.private_hosts == ("api.example",)

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *_: None  # noqa: E731

        def get(self, url, limits):
            assert (url, limits.bytes) == ("https://api.example/openapi.json", 20 * 1024 * 1024)
            return type("Answer", (), {"body": json.dumps(operation({})).encode()})

    monkeypatch.setattr("search.sources.openapi.Fetcher", Fetcher)
    request = SourceRequest(
        "https://api.example/openapi.json", "https://docs.example.com", private_hosts=("api.example",)
    )
    assert [item.path for item in openapi.read(request)] == ["/get-x", "/overview"]


FILES = {
    "api.yaml": """
        openapi: 3.1.0
        info: {title: Zoo, version: 1}
        servers: [{url: "https://{region}.zoo.example/v2/", variables: {region: {default: eu}}}]
        paths:
          /animals/{id}: {$ref: paths/animal.yaml}
          /animals:
            post: {$ref: "operations/create.yaml"}
          /gone: {get: {$ref: "operations/gone.yaml"}}
          /status: {get: {summary: Status, servers: [{url: /health}], responses: {}}}
          /animals/{id}/keepers/{keeper}: {put: {summary: Assign a keeper, responses: {}}}
        """,
    "paths/animal.yaml": "{get: {summary: Read an animal, responses: {200: {$ref: ../responses.yaml#/Animal}}}}",
    "operations/create.yaml": """
        summary: Create an animal
        requestBody: {content: {application/json: {schema: {$ref: "../schemas/animal.yaml"}}}}
        responses: {}
        """,
    "responses.yaml": "{Animal: {description: It., content: {text/json: {schema: {$ref: schemas/animal.yaml}}}}}",
    "schemas/animal.yaml": """
        type: object
        properties: {kind: {type: string}, name: {type: string}}
        discriminator: {propertyName: kind, mapping: {cat: cat.yaml, dog: "dog.yaml#/Dog"}}
        """,
    "schemas/cat.yaml": "{allOf: [{$ref: animal.yaml}, {type: object, properties: {lives: {type: integer}}}]}",
    "schemas/dog.yaml": "{Dog: {allOf: [{$ref: animal.yaml}, {type: object, properties: {breed: {type: string}}}]}}",
}


@pytest.fixture
def zoo(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    return tmp_path / "api.yaml"


def test_an_operation_may_stand_in_a_file_of_its_own(zoo):
    drafts = openapi.read(SourceRequest(str(zoo), "https://docs.example.com"))
    pages = {item.path: item.build() for item in drafts}
    created = pages["/create-an-animal"].markdown
    assert "- `kind` (string)\n- `name` (string)\n- **cat** (cat object, `kind` is `cat`)\n" in created
    assert "- **Dog** (Dog object, `kind` is `dog`)\n" in created
    assert ("`lives` (integer)" in created, created.count("`breed` (string)")) == (True, 1)
    assert "At `https://eu.zoo.example/v2/animals`." in created
    assert "`200`: It." in pages["/read-an-animal"].markdown
    assert "At `/health/status`." in pages["/status"].markdown
    problems = {path: page.problems for path, page in pages.items() if page.problems}
    assert problems == {"/get-gone": (("reference", "operations/gone.yaml"),)}


def test_schemas_may_be_named_in_a_discriminator(tmp_path):
    schemas = {
        "Pet": {
            "type": "object",
            "properties": {"kind": {"type": "string"}},
            "discriminator": {"propertyName": "kind", "mapping": {"c": "Cat", "d": "#/components/schemas/Dog"}},
        },
        **{
            name: {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {name.lower(): {"type": "string"}}}]}
            for name in ("Cat", "Dog")
        },
    }
    body = {
        "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}
    }
    document = {
        **{"openapi": "3.0.0", "info": {}, "components": {"schemas": schemas}},
        "paths": {"/pets": {"post": {"requestBody": body, "responses": {}}}},
    }
    markdown = pages_of(document, tmp_path)["/post-pets"].markdown
    assert "array of Cat object or Dog object" in markdown
    assert "- **Cat** (Cat object, `kind` is `c`)\n  - `kind` (string)\n  - `cat` (string)\n- **Dog**" in markdown


ADDRESSES = {
    "https://eu.zoo.example/v2/animals/7f3a": "/read-an-animal",
    "GET /animals/42": "/read-an-animal",
    "/animals/felix": "/read-an-animal",
    "GET /animals/{animal_id}": "/read-an-animal",
    "what does GET https://eu.zoo.example/v2/animals/7?full=1 return": "/read-an-animal",
    "POST https://eu.zoo.example/v2/animals": "/create-an-animal",
    'curl -X PUT "https://eu.zoo.example/v2/animals/7/keepers/ann"': "/assign-a-keeper",
    "/animals/:id/keepers/:who": "/assign-a-keeper",
}


def test_an_operation_is_found_by_an_address_with_values(make_project, zoo):
    project = make_project().project
    ingest(project, openapi.read(SourceRequest(str(zoo), "https://docs.example.com")))
    found = {query: [hit.path for hit in page_search.find(project, query)[:1]] for query in ADDRESSES}
    assert found == {query: [path] for query, path in ADDRESSES.items()}

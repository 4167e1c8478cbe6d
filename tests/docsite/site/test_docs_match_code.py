"""The documentation names everything that the code offers, and its examples are requests that the code accepts."""

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.management import BaseCommand, get_commands, load_command_class

from assistant.asking import consumers
from assistant.wire import data_stream, events, ui_message_stream
from assistant.wire.events import Event
from assistant.wire.protocol import StreamProtocol
from docsite.env import list_models
from docsite.server.api import api
from docsite.setting_types import describe_setting
from docsite.site import navigation
from docsite.site.navigation import Page
from search.sources.markdown.front_matter import split_front_matter
from search.text import analysis
from tests.conftest import ROOT
from tests.dialects import DIALECTS
from tests.variants import first_of

APPS = {"docsite.core.tenants", "docsite.privacy", "docsite.site", "docsite.server", "search", "assistant", "analytics"}
CONTENT = {slug: page.body for slug, page in navigation.pages().items()}
TEXT = "\n".join(CONTENT.values())
DOCUMENT = api.get_openapi_schema(path_prefix="")
WIDGET = ROOT / "static" / "widget"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPERATIONS = [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods]
WITHOUT_DOCUMENT = {"/discovery/v1/assistant/{domain}/socket"}  # no HTTP


def section(slug: str, heading: str) -> str:
    """The text below a heading, up to the next one of its level or a higher one."""
    marks, _, _ = heading.partition(" ")
    start = re.search(rf"^{re.escape(heading)}$", CONTENT[slug], re.MULTILINE)
    assert start, heading
    rest = re.sub(
        r"^```.*?^```$",
        lambda fence: fence[0].replace("\n#", "\n "),
        CONTENT[slug][start.end() :],
        flags=re.MULTILINE | re.DOTALL,
    )
    return re.split(rf"^#{{1,{len(marks)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def first_cells(text: str) -> set[str]:
    """What stands as code in the first column of a table."""
    rows = re.findall(r"^\| (`.+?`(?:, `.+?`)*) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(.+?)`", row)}


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_endpoint_is_named_with_its_method(method: str, path: str) -> None:
    assert re.search(rf"{method} {re.escape(path)}(?![\w/{{])", TEXT)


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_its_parameters_and_fields_are_named(method: str, path: str) -> None:
    operation = DOCUMENT["paths"][path][method.lower()]
    names = [parameter["name"] for parameter in operation.get("parameters", [])]
    names += properties(schema_of(operation))
    assert [name for name in names if not re.search(rf"[`\"{{]{name}[`\"}}]", TEXT)] == []


def test_every_status_is_explained() -> None:
    statuses = {status for path, method in ((p, m.lower()) for m, p in OPERATIONS) for status in answers(path, method)}
    explained = set(re.findall(r"^\| (\d{3}) \|", section("errors-and-limits", "## Statuses"), re.MULTILINE))
    assert {status for status in statuses if status >= "400"} <= explained


def answers(path: str, method: str) -> set[str]:
    return set(map(str, DOCUMENT["paths"][path][method]["responses"]))


def an_answer(*ends: Event) -> list[Event]:
    return [
        events.Start("msg_1", "thr_1"),
        events.ToolCall("call_1", "search", {"query": "query"}),
        events.ToolResult("call_1", []),
        events.Status("model"),
        events.Source(1, "https://x.example", "X"),
        events.Text("text"),
        *ends,
    ]


def encode(protocol: StreamProtocol, answer: list[Event]) -> list[str]:
    encoder = protocol.encoder()
    return [part for event in answer for part in encoder.encode(event)]


ENDS: list[Event] = [events.Finish(), events.Failure("sentence"), events.Abort()]


def test_every_part_of_version_1_is_named() -> None:
    lines = "".join([line for end in ENDS for line in encode(data_stream.PROTOCOL, an_answer(end))]).splitlines()
    assert first_cells(section("streaming", "## Version 1")) == {line[0] for line in lines}
    data = {item["type"] for line in lines if line[0] in "28" for item in json.loads(line[2:])}
    assert all(
        f"`{kind}`" in section("streaming", "## Version 1") or f"[`{kind}`]" in CONTENT["streaming"] for kind in data
    )


def test_every_event_of_version_2_is_named() -> None:
    parts = [json.loads(part) for end in ENDS for part in encode(ui_message_stream.PROTOCOL, an_answer(end))]
    described = section("streaming", "## Version 2")
    assert first_cells(described) == {part["type"] for part in parts}
    keys = {key for part in parts for key in part} - {"type"}
    assert [key for key in keys if key not in described] == []
    assert ui_message_stream.PROTOCOL.end.decode().strip() in described


def test_every_rung_is_named() -> None:
    rungs = set(events.Rung.__args__)
    assert first_cells(section("streaming", "## Status")) == rungs


def test_the_sockets_messages_and_closes_are_named() -> None:
    described = section("streaming", "## Socket")
    messages = set(consumers.SCHEMAS)
    assert messages == set(re.findall(r'\{"type":"(\w+)"', described))
    assert messages
    for code in (consumers.IDLE, consumers.NOT_TEXT, consumers.TOO_LARGE, "status", "retryAfter", 409):
        assert str(code) in described


STOCK_COMMANDS = {"runserver"}  # of Daphne; only its place is ours
COMMANDS = sorted({name for name, app in get_commands().items() if app in APPS} - STOCK_COMMANDS)


STOCK = {option for action in BaseCommand().create_parser("", "")._actions for option in action.option_strings}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_described_with_its_options(name: str) -> None:
    described = section("commands", f"### {name}")
    for action in load_command_class(get_commands()[name], name).create_parser("", name)._actions:
        is_version_of_docs = action.option_strings == ["--version"] and action.nargs != 0
        if not action.option_strings:
            assert str(action.metavar or action.dest).upper() in described, action.dest
        elif is_version_of_docs or not STOCK.issuperset(action.option_strings):
            assert re.search(rf"{action.option_strings[-1]}(?![\w-])", described), action.option_strings


def code(file: str) -> str:
    return (WIDGET / file).read_text()


def block(source: str, begin: str, end: str) -> str:
    return source.partition(begin)[2].partition(end)[0]


def defaults() -> dict[str, str]:
    """The widget's options with the source of their defaults."""
    literal = block(code("src/base/options.js"), "DEFAULTS = {", "\n};")
    return dict(re.findall(r"^  (\w+): (.+),$", literal, re.MULTILINE))


def test_every_option_of_the_widget_has_a_row_with_its_attributes() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", section("embed", "## Look and behaviour"), re.MULTILINE)
    assert {name for name, _, _ in rows} == set(defaults())
    kebab = {name: "data-" + re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", name) for name in defaults()}
    documented = {name: re.findall(r"`([\w-]+)`", attributes) for name, attributes, _ in rows}
    nested = {name for name, default in defaults().items() if default[0] in "{["}
    assert documented.pop("filter") == ["data-version", "data-language", "data-tag"]
    assert documented.pop("nonce") == []  # that of the tag itself
    assert documented == {name: [] if name in nested else [kebab[name]] for name in documented}


def test_every_value_of_an_option_is_named() -> None:
    rules = re.findall(r"^  (\w+): oneOf\((.+)\),$", code("src/base/options.js"), re.MULTILINE)
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)$", section("embed", "## Look and behaviour"), re.MULTILINE))
    assert len(rules) == 5
    for name, values in rules:
        assert all(f"`{value}`" in rows[name] for value in json.loads(f"[{values}]")), name


def test_every_method_event_and_error_of_the_widget_is_named() -> None:
    declared = code("widget.d.ts")
    methods = re.findall(r"^    (\w+)\(", block(declared, "interface Widget {", "\n  }"), re.MULTILINE)
    own = section("embed", "## From your own code")
    assert [name for name in methods if f"DocsAssistant.{name}(" not in own] == []
    happenings = re.findall(r'"(\w+)"', block(declared, "type Happening =", ";"))
    hooks = section("embed", "### Hooks")
    assert set(happenings) == first_cells(hooks) - {"name"}
    kinds = re.findall(r'"(\w+)"', block(declared, "kind:", ";"))
    fields = re.findall(r"^    (\w+): ", block(declared, "interface Answer {", "interface Failure"), re.MULTILINE)
    assert [word for word in [*kinds, *fields] if f"`{word}`" not in hooks] == []


def test_the_playground_offers_every_option_with_its_values() -> None:
    form = (ROOT / "templates" / "pages" / "playground.html").read_text()
    named = {
        name.partition(".")[0] for name in re.findall(r'name="([\w.]+)"', block(form, 'class="options"', "</form>"))
    }
    of_code_only = {"hooks", "nonce", "readerToken", "support"}
    assert named - {"dir"} == set(defaults()) - of_code_only
    rules = dict(re.findall(r"^  (\w+): oneOf\((.+)\),$", code("src/base/options.js"), re.MULTILINE))
    choices = {
        name: re.findall(r"<option>(\w+)</option>", options)
        for name, options in re.findall(r'<select name="(\w+)">(.*?)</select>', form)
    }
    assert {name: choices[name] for name in rules} == {
        name: json.loads(f"[{values}]") for name, values in rules.items()
    }
    labels = set(re.findall(r'name="labels\.(\w+)"', form))
    assert labels <= set(re.findall(r'"(\w+)"', block(code("widget.d.ts"), "type Label =", ";")))


def schema_of(operation: dict[str, Any]) -> dict[str, Any]:
    """The schema of a request's body; empty where there is none."""
    content = operation.get("requestBody", {}).get("content", {})
    return resolved(content["application/json"]["schema"]) if "application/json" in content else {}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["schemas"][name] if name else schema


def properties(schema: dict[str, Any]) -> list[str]:
    return list(schema.get("properties", {}))


def curls() -> Iterator[Any]:
    """Every call of curl in the pages, as a command."""
    for page in navigation.all_pages():
        for language, fenced in FENCE.findall(page.body):
            commands = fenced.replace("\\\n", " ") if language in ("sh", "bash") else ""
            for number, command in enumerate(re.findall(r"^curl (?:[^'\n]|'[^']*')+", commands, re.MULTILINE)):
                yield pytest.param(page, command, id=f"{page.path}-{number}")


@pytest.mark.parametrize(("page", "command"), list(curls()))
def test_the_api_accepts_every_curl_example(page: Page, command: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-d", "--data", "--data-raw", dest="data")
    parser.add_argument("-H", action="append", default=[], dest="headers")
    parser.add_argument("-X", dest="method")
    parser.add_argument("-o")
    for flag in ("-N", "-i", "-s", "-G", "-L", "-I", "-f"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("address")
    curl = parser.parse_args(shlex.split(command)[1:])
    address = re.sub(r"^\$\{?\w+\}?", "https://docs.example.com", curl.address)
    path = urlsplit(re.sub(r"\$\{?\w+\}?", "x", address)).path
    method = (curl.method or ("post" if curl.data else "get")).lower()
    if not path.startswith(("/v1/", "/discovery/")):
        return  # a page, not the API
    template = next(
        (
            template_path
            for _, template_path in OPERATIONS
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template_path), path)
        ),
        None,
    )
    assert template, path
    operation = DOCUMENT["paths"][template][method]
    parameters = {name for name, _ in parse_qsl(urlsplit(address).query)}
    assert parameters <= {parameter["name"] for parameter in operation.get("parameters", [])}
    if "security" in operation:
        assert any(header.startswith("Authorization: Bearer ") for header in curl.headers)
    if curl.data:
        body, schema = json.loads(curl.data), schema_of(operation)
        assert "Content-Type: application/json" in curl.headers
        assert set(body) <= set(properties(schema))
        assert set(schema.get("required", [])) <= set(body)


def test_http_examples_name_existing_endpoints() -> None:
    for body in CONTENT.values():
        for language, fenced in FENCE.findall(body):
            for method, path in re.findall(r"^([A-Z]+) (/\S+)$", fenced, re.MULTILINE) if language == "http" else ():
                assert (method, path) in OPERATIONS or path in WITHOUT_DOCUMENT, path


@pytest.mark.parametrize("slug", ["commands", "sources"])
def test_every_generator_is_named(slug: str) -> None:
    from search.sources.generators import NAMES

    assert [
        name for name in NAMES if f"`{name}`" not in CONTENT[slug] and f"--generator {name}" not in CONTENT[slug]
    ] == []


def test_every_model_server_that_is_tested_has_a_row() -> None:
    rows = section("models", "## Base URLs and settings").lower()
    names = {name.partition("_without_")[0] for name in DIALECTS}
    assert [name for name in names if not all(word in rows for word in name.split("_"))] == []


def test_every_tool_of_the_mcp_server_has_a_row_with_its_arguments() -> None:
    from docsite.extras.mcp.tools.registry import TOOLS

    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", section("coding-agents", "## Tools"), re.MULTILINE))
    assert list(rows) == list(TOOLS)
    for name, tool in TOOLS.items():
        arguments = set(tool.describe()["inputSchema"]["properties"])
        assert arguments <= set(re.findall(r"`(\w+)`", rows[name])), name


def test_every_version_and_setting_of_the_mcp_server_is_named() -> None:
    from docsite.extras.mcp.models import McpSettings
    from docsite.extras.mcp.protocol import VERSIONS

    assert [version for version in VERSIONS if f"`{version}`" not in section("coding-agents", "## Protocol")] == []
    described = section("coding-agents", "## How do I turn the MCP server off, or demand a key?")
    assert re.findall(r"^\| (\w.+?) \|", described, re.MULTILINE)[1:] == McpSettings.Access.labels


# What a page denies, up to the end of the sentence or of the table's cell, and a name of code in it.
DENIAL = re.compile(
    r"(?:\bthere (?:is|are) no\b|\bno\b(?= (?:HTTP )?(?:endpoint|command|setting|option)))([^.;:|\n]*)", re.IGNORECASE
)
KINDS = analysis.terms_of(["HTTP", "endpoint", "command", "setting", "option"])


def offers() -> Iterator[tuple[str, str]]:
    """Each setting, each command, and each page that documents endpoints: its name, and what it says that it does."""
    for model in list_models():
        for name in model.model_fields:
            yield name.upper(), describe_setting(name)
    for name in COMMANDS:
        yield name, f"{name} {load_command_class(get_commands()[name], name).help}"
    for slug, body in CONTENT.items():
        summaries = [
            operation["summary"]
            for path, methods in DOCUMENT["paths"].items()
            for method, operation in methods.items()
            if f"{method.upper()} {path}\n" in body
        ]
        if summaries:
            front, _ = split_front_matter((navigation.CONTENT / f"{slug}.md").read_text())
            yield f"/{slug}", " ".join([front["title"], front["description"], *front.get("keywords", []), *summaries])


def find_opposites(sentences: str) -> list[tuple[str, str]]:
    """What sentences deny although the service offers it, each with its name."""
    known = [(name, set(analysis.terms(text))) for name, text in offers()]
    names = {name for name, _ in known} | {path for _, path in OPERATIONS}
    opposites = []
    for denied in DENIAL.findall(sentences):
        opposites += [(denied, code) for code in re.findall(r"`([^`]+)`", denied) if code in names]
        terms = set(analysis.terms(" ".join(analysis.content_words(denied)))) - KINDS
        opposites += [(denied, name) for name, offered in known if len(terms) > 1 and terms <= offered]
    return opposites


@pytest.mark.parametrize("slug", first_of(CONTENT, 6))
def test_no_page_denies_what_the_service_has(slug: str) -> None:
    assert find_opposites(CONTENT[slug]) == []


@pytest.mark.parametrize(
    ("denial", "name"),
    [
        ("There is no HTTP endpoint that uploads pages.", "/sources"),
        ("The service has no setting for `SECURITY_CONTACT`.", "SECURITY_CONTACT"),
        ("There is no command that exports visitors.", "/analytics-api"),
        ("No endpoint deletes a conversation.", "/assistant-api"),
    ],
)
def test_an_opposite_is_found(denial: str, name: str) -> None:
    assert name in [found for _, found in find_opposites(denial)]

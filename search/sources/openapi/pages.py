"""Render the pages of an API as Markdown: one for each operation, one for each tag, and one for the API."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from search.sources.openapi.schemas import (
    ERROR_RESPONSE,
    REQUEST,
    RESPONSE,
    Detail,
    SchemaRenderer,
    describe,
    describe_limits,
    describe_type,
    format_item,
    get_schema_name,
    merge_all_of,
    to_json,
)
from search.sources.openapi.spec import Operation, Spec, as_list, as_mapping, as_text, remove_unstorable
from search.text.markdown.reader import fence, headings
from search.text.markdown.writer import code_span

_PARAMETER_HEADINGS = {"path": "In the path", "query": "In the query", "header": "As headers", "cookie": "As cookies"}
_HEADING = re.compile(r"(^ *#+)")


def render_operation_page(spec: Spec, operation: Operation) -> str:
    """The Markdown of an operation's page."""
    raw = operation.raw
    parts = [f"# {_join_lines(operation.name)}", code_span(f"{_format_method(operation)} {operation.path}")]
    if raw.get("deprecated") is True:
        parts.append("This operation is deprecated.")
    parts += [_lower_headings(as_text(raw.get("description"))), _render_external_docs(raw)]
    parts += [_render_authentication(spec, raw), _render_addresses(spec, operation)]
    parts += _render_parameters(spec, operation)
    body = spec.resolve(raw.get("requestBody"))
    if content := as_mapping(body.get("content")):
        required = "A body is required." if body.get("required") is True else ""
        parts += ["## Request body", as_text(body.get("description")), required]
        parts += _render_content(spec, content, REQUEST, set())
    parts += _render_responses(spec, as_mapping(raw.get("responses")))
    parts += _render_callbacks(spec, as_mapping(raw.get("callbacks")))
    parts += _render_samples(raw)
    return _join_parts(parts)


def render_tag_page(name: str, about: dict[str, Any], operations: Iterable[tuple[Operation, str]]) -> str:
    """The Markdown of a tag's page. `operations` come with the links to their pages."""
    lines = [
        format_item(f"[{_escape_label(one.name)}]({link})", [], code_span(f"{_format_method(one)} {one.path}").strip())
        for one, link in operations
    ]
    title = as_text(about.get("x-displayName")) or name
    return _join_parts(
        [
            f"# {_join_lines(title)}",
            _lower_headings(as_text(about.get("description"))),
            _render_external_docs(about),
            "## Operations",
            "\n".join(lines),
        ]
    )


def render_api_page(spec: Spec, tags: Iterable[tuple[str, str, str]]) -> str:
    """The Markdown of the API's page. `tags` are names, descriptions and links to their pages."""
    info = as_mapping(spec.root.get("info"))
    version = as_text(info.get("version"))
    schemes = as_mapping(as_mapping(spec.root.get("components")).get("securitySchemes"))
    parts = [f"# {_join_lines(as_text(info.get('title')) or 'API')}", f"Version {version}." if version else ""]
    parts += [_lower_headings(as_text(info.get("description"))), _render_external_docs(spec.root)]
    if servers := [_render_server(as_mapping(server)) for server in as_list(spec.root.get("servers"))]:
        parts += ["## Servers", "\n".join(filter(None, servers))]
    if schemes:
        parts += ["## Authentication", _render_authentication(spec, {})]
        parts += [_render_scheme(name, spec.resolve(scheme)) for name, scheme in schemes.items()]
    if lines := [
        format_item(f"[{_escape_label(name)}]({link})", [], about.split("\n\n")[0]) for name, about, link in tags
    ]:
        parts += ["## Operations by tag", "\n".join(lines)]
    return _join_parts(parts)


def extract_summary(raw: Any) -> str:
    """The first paragraph of a description; empty when it is long or not plain text."""
    first = as_text(raw.get("description")).split("\n\n")[0]
    return "" if len(first) > 300 or first[:1] in ("#", "-", "*", "|", "`", "<") else " ".join(first.split())


def _join_parts(parts: Iterable[str]) -> str:
    return remove_unstorable("\n\n".join(filter(None, parts)))


def _format_method(operation: Operation) -> str:
    return operation.method.lower() if operation.method == "WEBHOOK" else operation.method


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _escape_label(text: str) -> str:
    return re.sub(r"([\[\]])", r"\\\1", _join_lines(text))


def _lower_headings(markdown: str) -> str:
    """The description with its headings one level lower, because the page has its own title."""
    if "#" not in markdown:
        return markdown
    lines = markdown.replace("\r\n", "\n").split("\n")
    for heading in headings(markdown):
        if heading.level < 6:
            lines[heading.line] = _HEADING.sub(r"\1#", lines[heading.line], count=1)
    return "\n".join(lines)


def _render_external_docs(raw: Any) -> str:
    """The link to external documentation."""
    external = as_mapping(raw.get("externalDocs"))
    url = as_text(external.get("url"))
    if not url.startswith(("https://", "http://")) or re.search(r"[\s()<>]", url):
        return ""
    return f"See [{_escape_label(as_text(external.get('description')) or url)}]({url})."


def _render_addresses(spec: Spec, operation: Operation) -> str:
    """The full addresses of an operation: of all servers if it has its own, else of the first one."""
    is_own = operation.raw.get("servers") or operation.common.get("servers")
    servers = spec.list_servers(operation)[: None if is_own else 1]
    addresses = [code_span(f"{server}{operation.path}") for server in servers if server]
    return f"At {' or '.join(addresses)}." if addresses else ""


def _render_server(server: dict[str, Any]) -> str:
    url = as_text(server.get("url"))
    if not url:
        return ""
    variables = [
        format_item(code_span(name), describe_limits(as_mapping(one)), describe(as_mapping(one)), "  ")
        for name, one in as_mapping(server.get("variables")).items()
    ]
    return "\n".join([format_item(code_span(url), [], as_text(server.get("description"))), *variables])


def _render_authentication(spec: Spec, raw: Any) -> str:
    """How callers authenticate. An empty list in the operation means that they do not."""
    requirements = raw.get("security", spec.root.get("security"))
    if not isinstance(requirements, list):
        return ""
    schemes = as_mapping(as_mapping(spec.root.get("components")).get("securitySchemes"))
    alternatives = []
    for alternative in map(as_mapping, requirements):
        schemes_in_words = []
        for name, scopes in alternative.items():
            kind = _describe_scheme(spec.resolve(schemes.get(name)))
            scope_names = ", ".join(map(code_span, filter(None, map(as_text, as_list(scopes)))))
            words = (code_span(name), f"({kind})" if kind else "", f"with {scope_names}" if scope_names else "")
            schemes_in_words.append(" ".join(filter(None, words)))
        alternatives.append(" and ".join(schemes_in_words) or "none")
    return f"Authentication: {', or '.join(alternatives) or 'none'}."


def _describe_scheme(scheme: dict[str, Any]) -> str:
    """A security scheme in words."""
    kind = as_text(scheme.get("type"))
    if kind == "apiKey":
        location = {"query": "query parameter"}.get(as_text(scheme.get("in")), as_text(scheme.get("in")))
        return f"API key in the {location} {code_span(as_text(scheme.get('name')))}"
    if kind == "http":
        form = as_text(scheme.get("bearerFormat"))
        return f"HTTP {as_text(scheme.get('scheme'))}{f', {form}' if form else ''}"
    return {"oauth2": "OAuth 2.0", "openIdConnect": "OpenID Connect", "mutualTLS": "mutual TLS"}.get(kind, kind)


def _render_scheme(name: str, scheme: dict[str, Any]) -> str:
    """The section on a security scheme for the API's page."""
    lines = [_lower_headings(as_text(scheme.get("description")))]
    if url := as_text(scheme.get("openIdConnectUrl")):
        lines.append(f"Discovery: {code_span(url)}.")
    for flow, raw in as_mapping(scheme.get("flows")).items():
        about = as_mapping(raw)
        fields = [field for field in ("authorizationUrl", "tokenUrl") if about.get(field)]
        urls = ", ".join(f"{field}: {code_span(as_text(about[field]))}" for field in fields)
        scopes = as_mapping(about.get("scopes")).items()
        lines.append(f"Flow {code_span(flow)}{': ' if urls else ''}{urls}.")
        lines.append("\n".join(format_item(code_span(scope), [], as_text(meaning)) for scope, meaning in scopes))
    return "\n\n".join(filter(None, [f"### {_join_lines(name)}", f"{_describe_scheme(scheme)}.", *lines]))


def _render_parameters(spec: Spec, operation: Operation) -> Iterator[str]:
    """The parameters, grouped by place. Those of the operation win over those of its path."""
    parameters: dict[tuple[str, str], dict[str, Any]] = {}
    for raw in [*as_list(operation.common.get("parameters")), *as_list(operation.raw.get("parameters"))]:
        parameter = spec.resolve(raw)
        if (name := as_text(parameter.get("name"))) and as_text(parameter.get("in")) in _PARAMETER_HEADINGS:
            parameters[as_text(parameter["in"]), name] = parameter
    if parameters:
        yield "## Parameters"
    for place, words in _PARAMETER_HEADINGS.items():
        if lines := [_render_parameter(spec, name, one) for (where, name), one in parameters.items() if where == place]:
            yield f"{words}:"
            yield "\n".join(lines)


def _render_parameter(spec: Spec, name: str, parameter: dict[str, Any]) -> str:
    content = as_mapping(parameter.get("content"))
    raw = as_mapping(next(iter(content.values()), None)).get("schema") if content else parameter.get("schema")
    schema = merge_all_of(spec, raw)
    words = [describe_type(spec, raw), "required" if parameter.get("required") is True else ""]
    words += describe_limits({**schema, "deprecated": parameter.get("deprecated") or schema.get("deprecated")})
    about = describe({**schema, "description": parameter.get("description") or schema.get("description")})
    if "enum" not in schema and "items" in schema:
        about = describe({"enum": merge_all_of(spec, schema["items"]).get("enum"), "description": about})
    lines = [format_item(code_span(name), words, about)]
    if members := SchemaRenderer(spec, REQUEST).render_properties(raw):
        lines += [f"  {line}" for line in members.split("\n")]
    return "\n".join(lines)


def _render_content(spec: Spec, content: dict[str, Any], detail: Detail, described: set[str | int]) -> Iterator[str]:
    """A body in each content type: its schema, properties and examples.

    `described` has the schemas that the page describes already; more are added.
    """
    for kind, raw in content.items():
        media = as_mapping(raw)
        schema = media.get("schema")
        type_suffix = f": {describe_type(spec, schema)}" if schema else ""
        key = as_text(as_mapping(schema).get("$ref")) or id(schema)
        if key in described:
            yield f"{code_span(kind)}{type_suffix}, as above."
            continue
        yield f"{code_span(kind)}{type_suffix}"
        merged = merge_all_of(spec, schema)
        if "properties" not in merged and not get_schema_name(schema):
            yield describe(merged)
        if members := SchemaRenderer(spec, detail).render_properties(schema):
            described.add(key)
            yield members
        for title, value in list(_find_examples(spec, media, merged))[: detail.examples]:
            if written := to_json(value):
                heading = title if title.endswith((":", ".")) else f"{title}:"
                yield f"{heading}\n\n{fence(written, '' if isinstance(value, str) else 'json')}"


def _find_examples(spec: Spec, media: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The examples of a body, each with its title."""
    named = as_mapping(media.get("examples"))
    for name, raw in named.items():
        example = spec.resolve(raw)
        if "value" in example:
            yield as_text(example.get("summary")) or f"Example {code_span(name)}", example["value"]
    if named:
        return
    for value in [media.get("example"), schema.get("example"), *as_list(schema.get("examples"))]:
        if value is not None:
            yield "Example", value


def _render_responses(spec: Spec, responses: dict[str, Any]) -> Iterator[str]:
    """The responses by status."""
    described: set[str | int] = set()
    if responses:
        yield "## Responses"
    for status, raw in sorted(responses.items()):
        response = spec.resolve(raw)
        about = as_text(response.get("description"))
        yield f"{code_span(status)}: {about}" if about else code_span(status)
        fine = status[:1] in ("1", "2", "3") or len(responses) == 1
        headers = [(name, spec.resolve(one)) for name, one in as_mapping(response.get("headers")).items()]
        if headers:
            yield "Headers:"
            yield "\n".join(
                format_item(code_span(name), [describe_type(spec, one.get("schema"))], as_text(one.get("description")))
                for name, one in headers
            )
        detail = RESPONSE if fine else ERROR_RESPONSE
        yield from _render_content(spec, as_mapping(response.get("content")), detail, described)


def _render_callbacks(spec: Spec, callbacks: dict[str, Any]) -> Iterator[str]:
    """The list of callbacks: requests that the server sends later."""
    lines = []
    for name, raw in callbacks.items():
        for address, path in spec.resolve(raw).items():
            for method, called in spec.resolve(path).items():
                if isinstance(called, dict) and not method.startswith("x-"):
                    about = as_text(called.get("summary")) or as_text(called.get("description"))
                    lines.append(format_item(code_span(name), [code_span(f"{method.upper()} {address}")], about))
    if lines:
        yield "## Callbacks"
        yield "\n".join(lines)


def _render_samples(raw: Any) -> Iterator[str]:
    """The code samples of an operation."""
    samples = [as_mapping(sample) for sample in as_list(raw.get("x-codeSamples")) or as_list(raw.get("x-code-samples"))]
    written = [sample for sample in samples if as_text(sample.get("source"))]
    if written:
        yield "## Examples"
    for sample in written:
        language = as_text(sample.get("lang"))
        yield as_text(sample.get("label")) or language
        yield fence(as_text(sample["source"]), re.sub(r"[^\w+#.-]", "", language.lower()))

"""The pages of an API: one for each operation and each tag, and one for the API as a whole."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from search.sources.openapi.schemas import (
    ANSWER,
    FAILURE,
    REQUEST,
    Detail,
    Outline,
    as_json,
    code,
    describe,
    flags,
    item,
    merge,
    name_of,
    type_of,
)
from search.sources.openapi.spec import Operation, Spec, items, mapping, storable, text
from search.text.markdown.reader import fence, headings

_PLACES = {"path": "In the path", "query": "In the query", "header": "As headers", "cookie": "As cookies"}
_HEADING = re.compile(r"(^ *#+)")


def operation_page(spec: Spec, operation: Operation) -> str:
    """The page of an operation, in Markdown."""
    raw = operation.raw
    parts = [f"# {_line(operation.name)}", code(f"{_verb(operation)} {operation.path}")]
    if raw.get("deprecated") is True:
        parts.append("This operation is deprecated.")
    parts += [_lower_headings(text(raw.get("description"))), _more(raw)]
    parts += [_authentication(spec, raw), _servers(raw, operation.common)]
    parts += _parameters(spec, operation)
    body = spec.resolve(raw.get("requestBody"))
    if content := mapping(body.get("content")):
        parts += ["## Request body", text(body.get("description"))]
        parts += [
            "A body is required." if body.get("required") is True else "",
            *_content(spec, content, REQUEST, set()),
        ]
    parts += _responses(spec, mapping(raw.get("responses")))
    parts += _callbacks(spec, mapping(raw.get("callbacks")))
    parts += _samples(raw)
    return _page(parts)


def tag_page(name: str, about: dict[str, Any], operations: Iterable[tuple[Operation, str]]) -> str:
    """The page of a tag: what it says of itself, and its operations, each with where its page is."""
    listed = [
        item(f"[{_label(one.name)}]({link})", [], code(f"{_verb(one)} {one.path}").strip()) for one, link in operations
    ]
    title = text(about.get("x-displayName")) or name
    return _page(
        [
            f"# {_line(title)}",
            _lower_headings(text(about.get("description"))),
            _more(about),
            "## Operations",
            "\n".join(listed),
        ]
    )


def api_page(spec: Spec, tags: Iterable[tuple[str, str, str]]) -> str:
    """The page of the API as a whole. `tags` come as name, description and where the page is."""
    info = mapping(spec.root.get("info"))
    version = text(info.get("version"))
    schemes = mapping(mapping(spec.root.get("components")).get("securitySchemes"))
    parts = [f"# {_line(text(info.get('title')) or 'API')}", f"Version {version}." if version else ""]
    parts += [_lower_headings(text(info.get("description"))), _more(spec.root)]
    if servers := [_server(mapping(one)) for one in items(spec.root.get("servers"))]:
        parts += ["## Servers", "\n".join(filter(None, servers))]
    if schemes:
        parts += ["## Authentication", _authentication(spec, {})]
        parts += [_scheme(name, spec.resolve(scheme)) for name, scheme in schemes.items()]
    if listed := [item(f"[{_label(name)}]({link})", [], about.split("\n\n")[0]) for name, about, link in tags]:
        parts += ["## Operations by tag", "\n".join(listed)]
    return _page(parts)


def summary_of(raw: Any) -> str:
    """The first paragraph of a description, when it is a sentence or two and no more."""
    first = text(raw.get("description")).split("\n\n")[0]
    return "" if len(first) > 300 or first[:1] in ("#", "-", "*", "|", "`", "<") else " ".join(first.split())


def _page(parts: Iterable[str]) -> str:
    return storable("\n\n".join(filter(None, parts)))


def _verb(operation: Operation) -> str:
    return operation.method.lower() if operation.method == "WEBHOOK" else operation.method


def _line(words: str) -> str:
    return " ".join(words.split())


def _label(words: str) -> str:
    return re.sub(r"([\[\]])", r"\\\1", _line(words))


def _lower_headings(markdown: str) -> str:
    """A description with its headings one level lower, to stand below the title of its page."""
    if "#" not in markdown:
        return markdown
    lines = markdown.replace("\r\n", "\n").split("\n")
    for heading in headings(markdown):
        if heading.level < 6:
            lines[heading.line] = _HEADING.sub(r"\1#", lines[heading.line], count=1)
    return "\n".join(lines)


def _more(raw: Any) -> str:
    """The link to external documentation."""
    external = mapping(raw.get("externalDocs"))
    url = text(external.get("url"))
    if not url.startswith(("https://", "http://")) or re.search(r"[\s()<>]", url):
        return ""
    return f"See [{_label(text(external.get('description')) or url)}]({url})."


def _servers(raw: Any, common: Any) -> str:
    """The servers of an operation that has its own."""
    own = items(raw.get("servers")) or items(common.get("servers"))
    urls = [code(url) for one in own if (url := text(mapping(one).get("url")))]
    return f"Its server: {' or '.join(urls)}." if urls else ""


def _server(server: dict[str, Any]) -> str:
    url = text(server.get("url"))
    if not url:
        return ""
    variables = [
        item(code(name), flags(mapping(one)), describe(mapping(one)), "  ")
        for name, one in mapping(server.get("variables")).items()
    ]
    return "\n".join([item(code(url), [], text(server.get("description"))), *variables])


def _authentication(spec: Spec, raw: Any) -> str:
    """How callers authenticate. An empty list in the operation means: not at all."""
    wanted = raw.get("security", spec.root.get("security"))
    if not isinstance(wanted, list):
        return ""
    schemes = mapping(mapping(spec.root.get("components")).get("securitySchemes"))
    ways = []
    for way in map(mapping, wanted):
        needed = []
        for name, scopes in way.items():
            kind = _kind(spec.resolve(schemes.get(name)))
            asked = ", ".join(code(scope) for scope in map(text, items(scopes)) if scope)
            needed.append(f"{code(name)}{f' ({kind})' if kind else ''}{f' with {asked}' if asked else ''}")
        ways.append(" and ".join(needed) or "none")
    return f"Authentication: {', or '.join(ways) or 'none'}."


def _kind(scheme: dict[str, Any]) -> str:
    """A way to authenticate, in words."""
    kind = text(scheme.get("type"))
    if kind == "apiKey":
        place = {"query": "query parameter"}.get(text(scheme.get("in")), text(scheme.get("in")))
        return f"API key in the {place} {code(text(scheme.get('name')))}"
    if kind == "http":
        form = text(scheme.get("bearerFormat"))
        return f"HTTP {text(scheme.get('scheme'))}{f', {form}' if form else ''}"
    return {"oauth2": "OAuth 2.0", "openIdConnect": "OpenID Connect", "mutualTLS": "mutual TLS"}.get(kind, kind)


def _scheme(name: str, scheme: dict[str, Any]) -> str:
    """A way to authenticate on the page of the API."""
    lines = [_lower_headings(text(scheme.get("description")))]
    if url := text(scheme.get("openIdConnectUrl")):
        lines.append(f"Discovery: {code(url)}.")
    for flow, raw in mapping(scheme.get("flows")).items():
        about = mapping(raw)
        urls = [
            f"{field}: {code(text(about[field]))}" for field in ("authorizationUrl", "tokenUrl") if about.get(field)
        ]
        lines.append(f"Flow {code(flow)}{': ' if urls else ''}{', '.join(urls)}.")
        lines.append(
            "\n".join(item(code(scope), [], text(told_)) for scope, told_ in mapping(about.get("scopes")).items())
        )
    return "\n\n".join(filter(None, [f"### {_line(name)}", f"{_kind(scheme)}.", *lines]))


def _parameters(spec: Spec, operation: Operation) -> Iterator[str]:
    """The parameters by the place where they stand; those of the operation win over those of its path."""
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for raw in [*items(operation.common.get("parameters")), *items(operation.raw.get("parameters"))]:
        parameter = spec.resolve(raw)
        if (name := text(parameter.get("name"))) and text(parameter.get("in")) in _PLACES:
            known[text(parameter["in"]), name] = parameter
    if known:
        yield "## Parameters"
    for place, words in _PLACES.items():
        if listed := [_parameter(spec, name, one) for (where, name), one in known.items() if where == place]:
            yield f"{words}:"
            yield "\n".join(listed)


def _parameter(spec: Spec, name: str, parameter: dict[str, Any]) -> str:
    content = mapping(parameter.get("content"))
    raw = mapping(next(iter(content.values()), None)).get("schema") if content else parameter.get("schema")
    schema = merge(spec, raw)
    words = [type_of(spec, raw), "required" if parameter.get("required") is True else ""]
    words += flags({**schema, "deprecated": parameter.get("deprecated") or schema.get("deprecated")})
    about = describe({**schema, "description": parameter.get("description") or schema.get("description")})
    if "enum" not in schema and "items" in schema:
        about = describe({"enum": merge(spec, schema["items"]).get("enum"), "description": about})
    lines = [item(code(name), words, about)]
    if members := Outline(spec, REQUEST).of(raw):
        lines += [f"  {line}" for line in members.split("\n")]
    return "\n".join(lines)


def _content(spec: Spec, content: dict[str, Any], room: Detail, above: set[str | int]) -> Iterator[str]:
    """A body in each content type: its schema, properties and examples. `above` has the schemas described before."""
    for kind, raw in content.items():
        media = mapping(raw)
        schema = media.get("schema")
        of = f": {type_of(spec, schema)}" if schema else ""
        key = text(mapping(schema).get("$ref")) or id(schema)
        if key in above:
            yield f"{code(kind)}{of}, as above."
            continue
        yield f"{code(kind)}{of}"
        whole = merge(spec, schema)
        if "properties" not in whole and not name_of(schema):
            yield describe(whole)
        if members := Outline(spec, room).of(schema):
            above.add(key)
            yield members
        for title, value in list(_examples(spec, media, whole))[: room.examples]:
            if written := as_json(value):
                yield f"{_with_colon(title)}\n\n{fence(written, '' if isinstance(value, str) else 'json')}"


def _examples(spec: Spec, media: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The examples of a body with what each is called."""
    named = mapping(media.get("examples"))
    for name, raw in named.items():
        example = spec.resolve(raw)
        if "value" in example:
            yield text(example.get("summary")) or f"Example {code(name)}", example["value"]
    if named:
        return
    for value in [media.get("example"), schema.get("example"), *items(schema.get("examples"))]:
        if value is not None:
            yield "Example", value


def _responses(spec: Spec, responses: dict[str, Any]) -> Iterator[str]:
    """The responses by status."""
    above: set[str | int] = set()
    if responses:
        yield "## Responses"
    for status, raw in sorted(responses.items()):
        response = spec.resolve(raw)
        about = text(response.get("description"))
        yield f"{code(status)}: {about}" if about else code(status)
        fine = status[:1] in ("1", "2", "3") or len(responses) == 1
        if headers := [
            item(code(name), [type_of(spec, header.get("schema"))], text(header.get("description")))
            for name, header in ((name, spec.resolve(one)) for name, one in mapping(response.get("headers")).items())
        ]:
            yield "Headers:"
            yield "\n".join(headers)
        yield from _content(spec, mapping(response.get("content")), ANSWER if fine else FAILURE, above)


def _callbacks(spec: Spec, callbacks: dict[str, Any]) -> Iterator[str]:
    """What the server calls later, by name."""
    listed = []
    for name, raw in callbacks.items():
        for address, path in spec.resolve(raw).items():
            for method, called in spec.resolve(path).items():
                if isinstance(called, dict) and not method.startswith("x-"):
                    about = text(called.get("summary")) or text(called.get("description"))
                    listed.append(item(code(name), [code(f"{method.upper()} {address}")], about))
    if listed:
        yield "## Callbacks"
        yield "\n".join(listed)


def _samples(raw: Any) -> Iterator[str]:
    """Code that its authors wrote for it."""
    samples = [mapping(sample) for sample in items(raw.get("x-codeSamples")) or items(raw.get("x-code-samples"))]
    written = [sample for sample in samples if text(sample.get("source"))]
    if written:
        yield "## Examples"
    for sample in written:
        language = text(sample.get("lang"))
        yield text(sample.get("label")) or language
        yield fence(text(sample["source"]), re.sub(r"[^\w+#.-]", "", language.lower()))


def _with_colon(title: str) -> str:
    return title if title.endswith((":", ".")) else f"{title}:"

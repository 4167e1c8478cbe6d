"""Render schemas as Markdown: nested lists of properties, types and limits in words."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from search.sources.openapi.spec import Spec, as_list, as_mapping, as_text
from search.text.markdown.writer import code_span

_MAX_CHOICES = 6  # alternatives of one type that are listed
_MAX_NESTED = 2  # levels of types within a type
MAX_VALUES = 40  # of an enumeration that are listed
MAX_EXAMPLE = 3000  # characters
_MAX_MERGED = 50  # schemas that `allOf` may merge into one
_MAX_FIELDS = 1000  # of one schema
_LIMITS = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "minProperties", "maxProperties"),
)


class Detail(NamedTuple):
    """How much of a body is rendered: levels of properties, lines, examples. Properties with flag `hidden` are not."""

    levels: int
    lines: int
    examples: int
    hidden: str


REQUEST = Detail(5, 200, 3, "readOnly")
RESPONSE = Detail(3, 100, 2, "writeOnly")
ERROR_RESPONSE = Detail(2, 20, 1, "writeOnly")  # error bodies are usually alike


class SchemaRenderer:
    """Renders a schema as a list, within the limits of `detail`."""

    def __init__(self, spec: Spec, detail: Detail) -> None:
        self.spec, self.detail, self.lines_left = spec, detail, detail.lines
        self.rendered_references: set[str] = set()  # references whose properties are already listed

    def render_properties(self, schema: Any) -> str:
        """The properties of an object, or of the objects in a list, with alternatives: a Markdown list, maybe empty."""
        return "\n".join(self._render_nested(schema, "", -1))

    def _render_members(self, schema: dict[str, Any], margin: str, level: int) -> Iterator[str]:
        """The properties, list items and alternatives of a schema that is already merged."""
        properties = as_mapping(schema.get("properties"))
        required = as_list(schema.get("required"))
        for name, raw in properties.items():
            if self.lines_left < 0:
                return
            inner = merge_all_of(self.spec, raw)
            if inner.get(self.detail.hidden) is True:
                continue
            words = ["required"] if name in required else []
            yield from self._render_entry(f"`{name}`", raw, inner, words, margin, level)
        rest = schema.get("additionalProperties")
        if isinstance(rest, dict) and rest:
            yield from self._render_entry("Any other name", rest, merge_all_of(self.spec, rest), [], margin, level)
        if "items" in schema and not properties:
            yield from self._render_nested(schema["items"], margin, level)
        values = _list_values(schema)
        choices = [choice for choice in _choices(schema) if self.spec.resolve(choice).get("type") != "null"]
        if len(choices) == 1:
            yield from self._render_nested(choices[0], margin, level - 1)
            return
        for choice in choices:
            if self.lines_left < 0:
                return
            inner = merge_all_of(self.spec, choice)
            if not {"properties", "items", "oneOf", "anyOf"}.isdisjoint(inner):
                label = as_text(inner.get("title")) or get_schema_name(choice) or "One choice"
                words = [values[as_text(as_mapping(choice).get("$ref"))]] if choice.get("$ref") in values else []
                yield from self._render_entry(f"**{label}**", choice, inner, words, margin, level)

    def _render_nested(self, raw: Any, margin: str, level: int) -> Iterator[str]:
        """The members of a schema, unless they are too deep or already listed. A schema may contain itself."""
        reference = as_text(as_mapping(raw).get("$ref"))
        if level + 1 < self.detail.levels and reference not in self.rendered_references:
            if reference:
                self.rendered_references.add(reference)
            yield from self._render_members(merge_all_of(self.spec, raw), margin, level + 1)

    def _render_entry(
        self, label: str, raw: Any, inner: dict[str, Any], words: list[str], margin: str, level: int
    ) -> Iterator[str]:
        self.lines_left -= 1
        if self.lines_left < 0:
            if self.lines_left == -1:
                yield f"{margin}- Further properties are not shown here."
            return
        yield format_item(
            label, [describe_type(self.spec, raw), *words, *describe_limits(inner)], describe(inner), margin
        )
        yield from self._render_nested(raw, f"{margin}  ", level)


def merge_all_of(spec: Spec, raw: Any) -> dict[str, Any]:
    """The schema merged with the schemas in its `allOf`, with references resolved. References in properties stay."""
    schema = spec.resolve(raw)
    if not isinstance(schema.get("allOf"), list):
        return schema
    merged: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[Any] = []
    queue: list[Any] = [schema]
    for part in queue:
        resolved = spec.resolve(part)
        own = islice(
            (field for field in resolved.items() if part is schema or field[0] != "discriminator"), _MAX_FIELDS
        )
        merged = {**dict(own), **merged}
        properties |= dict(islice(as_mapping(resolved.get("properties")).items(), _MAX_FIELDS))
        required += as_list(resolved.get("required"))[:_MAX_FIELDS]
        queue += as_list(resolved.get("allOf"))[: _MAX_MERGED - len(queue)]
    del merged["allOf"]
    return {**merged, **({"properties": properties, "required": required} if properties else {})}


def describe_type(spec: Spec, raw: Any, level: int = 0) -> str:
    """The type of a value in words: `array render_properties User object`, `string or null`, `string date-time`."""
    schema = merge_all_of(spec, raw)
    kind = schema.get("type")
    kinds = [as_text(name) for name in kind] if isinstance(kind, list) else [as_text(kind)] if as_text(kind) else []
    if schema.get("nullable") is True:
        kinds.append("null")
    if (choices := _choices(schema)) and level < _MAX_NESTED:
        named = dict.fromkeys(describe_type(spec, choice, level + 1) for choice in choices[:_MAX_CHOICES])
        named |= {"others": None} if len(choices) > _MAX_CHOICES else {}
        named |= {"null": None} if "null" in kinds else {}
        return " or ".join(named)
    if not kind:
        kinds[:0] = _infer_type(schema)
    called = get_schema_name(raw)
    words = {"object": f"{called} object" if called else "object", "array": "array"}
    if "items" in schema and level < _MAX_NESTED:
        words["array"] = f"array of {describe_type(spec, schema['items'], level + 1)}"
    form = as_text(schema.get("format"))
    return " or ".join(f"{words.get(kind, kind)}{f' {form}' if form and kind != 'null' else ''}" for kind in kinds)


def describe_limits(schema: dict[str, Any]) -> list[str]:
    """The default and the limits of a value, in words."""
    found = ["deprecated"] if schema.get("deprecated") is True else []
    if schema.get("default") is not None and (default := to_json(schema["default"], 100)):
        found.append(f"default {code_span(default)}")
    for name in _LIMITS:
        limit = schema.get(name)
        if isinstance(limit, int | float | str) and not isinstance(limit, bool) and len(str(limit)) <= 200:
            found.append(f"{name} {code_span(str(limit))}")
    return found


def describe(schema: dict[str, Any]) -> str:
    """The description of a schema, followed by the values that its `enum` or `const` allows."""
    values = as_list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    named = [code_span(word) for value in values[:MAX_VALUES] if (word := to_json(value, 100))]
    more = f" and {len(values) - MAX_VALUES} more" if len(values) > MAX_VALUES else ""
    allowed = f"{'One of' if len(values) > 1 else 'Always'} {', '.join(named)}{more}." if named else ""
    description = as_text(schema.get("description"))
    if not allowed or "\n" in description:
        return "\n\n".join(filter(None, [description, allowed]))
    stop = "." if description and description[-1] not in ".!?:" else ""
    return f"{description}{stop} {allowed}".strip()


def format_item(label: str, words: list[str], description: str, margin: str = "") -> str:
    """A Markdown list item: `- label (words): description`. The description may have several paragraphs."""
    about = ", ".join(filter(None, words))
    head = f"{margin}- {label}{f' ({about})' if about else ''}"
    first, *rest = description.split("\n") if description else [""]
    if first[:1] in ("-", "*", "#", "|", ">", "`", "1") and rest:
        first, rest = "", ["", first, *rest]
    lines = [f"{head}: {first}" if first else head]
    return "\n".join([*lines, *(f"{margin}  {line}".rstrip() for line in rest)])


def to_json(value: Any, max_length: int = MAX_EXAMPLE) -> str:
    """The value as JSON, or text unchanged; empty when the result would be longer than `max_length`."""
    if isinstance(value, str):
        return value if len(value) <= max_length else ""
    if not _fits(value, max_length):
        return ""
    text = json.dumps(value, indent=2 if isinstance(value, dict | list) else None, ensure_ascii=False, default=str)
    return text if len(text) <= max_length else ""


def get_schema_name(raw: Any) -> str:
    """The name in the schema's reference, or that of the file; empty for an inline schema."""
    last = as_text(as_mapping(raw).get("$ref")).rsplit("/", 1)[-1]
    return last if "#" in as_text(as_mapping(raw).get("$ref")) else last.partition(".")[0]


def _choices(schema: dict[str, Any]) -> list[Any]:
    """The alternatives of a schema, or the subtypes that its discriminator names."""
    choices = [*as_list(schema.get("oneOf")), *as_list(schema.get("anyOf"))]
    return choices or [{"$ref": reference} for reference in _list_values(schema)]


def _list_values(schema: dict[str, Any]) -> dict[str, str]:
    """What the discriminator's property is in each subtype, in words, by the reference to the subtype."""
    discriminator = as_mapping(schema.get("discriminator"))
    name = code_span(as_text(discriminator.get("propertyName")))
    mapping = islice(as_mapping(discriminator.get("mapping")).items(), _MAX_FIELDS)
    return {as_text(reference): f"{name} is {code_span(as_text(value))}" for value, reference in mapping}


def _infer_type(schema: dict[str, Any]) -> list[str]:
    """The types of a schema without a `type`, from its other fields."""
    if "properties" in schema or "additionalProperties" in schema:
        return ["object"]
    if "items" in schema:
        return ["array"]
    values = as_list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    return ["string"] if values and all(isinstance(value, str) for value in values) else ["any"]


def _fits(value: Any, max_parts: int) -> bool:
    """Whether a value has at most so many parts. A part that occurs twice counts twice."""
    queue = [value]
    while queue and len(queue) <= max_parts:
        max_parts -= 1
        node = queue.pop()
        queue += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return not queue

"""Schemas to Markdown: a list of properties, nested as they are."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from search.sources.openapi.spec import Spec, items, mapping, text

_MAX_CHOICES = 6  # of a type that are named
_MAX_NESTED = 2  # types within a type that are named
MAX_VALUES = 40  # of an enumeration that are named
MAX_EXAMPLE = 3000  # characters
_MAX_PARTS = 50  # schemas that `allOf` may join into one
_MAX_FIELDS = 1000  # of one of them
_LIMITS = (
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "minProperties", "maxProperties"),
)


class Detail(NamedTuple):
    """How much detail a body gets: levels of properties, lines, examples; and which properties it leaves out."""

    levels: int
    lines: int
    examples: int
    hidden: str


REQUEST = Detail(5, 200, 3, "readOnly")
ANSWER = Detail(3, 100, 2, "writeOnly")
FAILURE = Detail(2, 20, 1, "writeOnly")  # errors are much the same everywhere


class Outline:
    """A schema as a list, as long and as deep as its `room` has it."""

    def __init__(self, spec: Spec, room: Detail) -> None:
        self.spec, self.room, self.left = spec, room, room.lines
        self.shown: set[str] = set()  # references whose properties stand there already

    def of(self, schema: Any) -> str:
        """The properties of an object, or of the objects in a list; what they may be where there are choices."""
        return "\n".join(self._within(schema, "", -1))

    def _members(self, schema: dict[str, Any], margin: str, level: int) -> Iterator[str]:
        """What is within a schema that is joined."""
        properties = mapping(schema.get("properties"))
        required = items(schema.get("required"))
        for name, raw in properties.items():
            if self.left < 0:
                return
            inner = merge(self.spec, raw)
            if inner.get(self.room.hidden) is True:
                continue
            words = ["required"] if name in required else []
            yield from self._entry(f"`{name}`", raw, inner, words, margin, level)
        rest = schema.get("additionalProperties")
        if isinstance(rest, dict) and rest:
            yield from self._entry("Any other name", rest, merge(self.spec, rest), [], margin, level)
        if "items" in schema and not properties:
            yield from self._within(schema["items"], margin, level)
        choices = [choice for choice in _choices(schema) if self.spec.resolve(choice).get("type") != "null"]
        if len(choices) == 1:
            yield from self._within(choices[0], margin, level - 1)
            return
        for choice in choices:
            if self.left < 0:
                return
            inner = merge(self.spec, choice)
            if _has_members(inner):
                label = text(inner.get("title")) or name_of(choice) or "One choice"
                yield from self._entry(f"**{label}**", choice, inner, [], margin, level)

    def _within(self, raw: Any, margin: str, level: int) -> Iterator[str]:
        """The members of a schema, unless they stand there already or too deep. A schema may hold itself."""
        reference = text(mapping(raw).get("$ref"))
        if level + 1 < self.room.levels and reference not in self.shown:
            if reference:
                self.shown.add(reference)
            yield from self._members(merge(self.spec, raw), margin, level + 1)

    def _entry(
        self, label: str, raw: Any, inner: dict[str, Any], words: list[str], margin: str, level: int
    ) -> Iterator[str]:
        self.left -= 1
        if self.left < 0:
            if self.left == -1:
                yield f"{margin}- Further properties are not shown here."
            return
        yield item(label, [type_of(self.spec, raw), *words, *flags(inner)], describe(inner), margin)
        yield from self._within(raw, f"{margin}  ", level)


def merge(spec: Spec, raw: Any) -> dict[str, Any]:
    """A schema merged with those in `allOf`, references resolved. Its properties stay as they are."""
    schema = spec.resolve(raw)
    if not isinstance(schema.get("allOf"), list):
        return schema
    whole: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[Any] = []
    waiting: list[Any] = [schema]
    for part in waiting:
        resolved = spec.resolve(part)
        whole = {**dict(islice(resolved.items(), _MAX_FIELDS)), **whole}
        properties |= dict(islice(mapping(resolved.get("properties")).items(), _MAX_FIELDS))
        required += items(resolved.get("required"))[:_MAX_FIELDS]
        waiting += items(resolved.get("allOf"))[: _MAX_PARTS - len(waiting)]
    del whole["allOf"]
    return {**whole, **({"properties": properties, "required": required} if properties else {})}


def type_of(spec: Spec, raw: Any, level: int = 0) -> str:
    """What a value is, in words: `array of User object`, `string or null`, `string date-time`."""
    schema = merge(spec, raw)
    kind = schema.get("type")
    kinds = [text(one) for one in kind] if isinstance(kind, list) else [text(kind)] if text(kind) else []
    if schema.get("nullable") is True:
        kinds.append("null")
    if (choices := _choices(schema)) and level < _MAX_NESTED:
        named = dict.fromkeys(type_of(spec, choice, level + 1) for choice in choices[:_MAX_CHOICES])
        named |= {"others": None} if len(choices) > _MAX_CHOICES else {}
        named |= {"null": None} if "null" in kinds else {}
        return " or ".join(named)
    if not kind:
        kinds[:0] = _guess_type(schema)
    called = name_of(raw)
    words = {"object": f"{called} object" if called else "object", "array": "array"}
    if "items" in schema and level < _MAX_NESTED:
        words["array"] = f"array of {type_of(spec, schema['items'], level + 1)}"
    form = text(schema.get("format"))
    return " or ".join(f"{words.get(kind, kind)}{f' {form}' if form and kind != 'null' else ''}" for kind in kinds)


def flags(schema: dict[str, Any]) -> list[str]:
    """The default and the limits of a value, in words."""
    found = ["deprecated"] if schema.get("deprecated") is True else []
    if schema.get("default") is not None and (default := as_json(schema["default"], 100)):
        found.append(f"default {code(default)}")
    for name in _LIMITS:
        limit = schema.get(name)
        if isinstance(limit, int | float | str) and not isinstance(limit, bool) and len(str(limit)) <= 200:
            found.append(f"{name} {code(str(limit))}")
    return found


def describe(schema: dict[str, Any]) -> str:
    """The description of a schema and the values that it allows."""
    values = items(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    named = [code(word) for value in values[:MAX_VALUES] if (word := as_json(value, 100))]
    more = f" and {len(values) - MAX_VALUES} more" if len(values) > MAX_VALUES else ""
    allowed = f"{'One of' if len(values) > 1 else 'Always'} {', '.join(named)}{more}." if named else ""
    description = text(schema.get("description"))
    if not allowed or "\n" in description:
        return "\n\n".join(filter(None, [description, allowed]))
    return f"{_ended(description)} {allowed}".strip()


def item(label: str, words: list[str], description: str, margin: str = "") -> str:
    """An item of a list: what it is called, what it is, and its description, which may have several paragraphs."""
    about = ", ".join(filter(None, words))
    head = f"{margin}- {label}{f' ({about})' if about else ''}"
    first, *rest = description.split("\n") if description else [""]
    if first[:1] in ("-", "*", "#", "|", ">", "`", "1") and rest:
        first, rest = "", ["", first, *rest]
    lines = [f"{head}: {first}" if first else head]
    return "\n".join([*lines, *(f"{margin}  {line}".rstrip() for line in rest)])


def code(word: str) -> str:
    """A code span, whatever backticks are in it."""
    word = " ".join(word.split())
    return f"`` {word} ``" if "`" in word else f"`{word}`"


def as_json(value: Any, longest: int = MAX_EXAMPLE) -> str:
    """A value as JSON, text as it is; empty when it would be too long."""
    if isinstance(value, str):
        return value if len(value) <= longest else ""
    if not _is_small(value, longest):
        return ""
    written = json.dumps(value, indent=2 if isinstance(value, dict | list) else None, ensure_ascii=False, default=str)
    return written if len(written) <= longest else ""


def name_of(raw: Any) -> str:
    """What a schema is called where it is referred to."""
    reference = raw.get("$ref") if isinstance(raw, dict) else None
    return reference.rsplit("/", 1)[-1] if isinstance(reference, str) and "#" in reference else ""


def _choices(schema: dict[str, Any]) -> list[Any]:
    return [*items(schema.get("oneOf")), *items(schema.get("anyOf"))]


def _has_members(schema: dict[str, Any]) -> bool:
    return any(key in schema for key in ("properties", "items", "oneOf", "anyOf"))


def _guess_type(schema: dict[str, Any]) -> list[str]:
    """The type of a schema that names none."""
    if "properties" in schema or "additionalProperties" in schema:
        return ["object"]
    if "items" in schema:
        return ["array"]
    values = items(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    return ["string"] if values and all(isinstance(value, str) for value in values) else ["any"]


def _ended(sentence: str) -> str:
    return sentence if not sentence or sentence[-1:] in ".!?:" else f"{sentence}."


def _is_small(value: Any, most: int) -> bool:
    """Whether a value has no more than so many parts, each counted as often as it stands there."""
    waiting = [value]
    while waiting and len(waiting) <= most:
        most -= 1
        node = waiting.pop()
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return not waiting

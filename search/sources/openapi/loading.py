"""Load JSON and YAML from untrusted files as plain values."""

import json
import re
from typing import Any

import yaml

MAX_BYTES = 20 * 1024 * 1024
MAX_DEPTH = 200
MAX_MERGED = 100_000  # keys that `<<` may copy; only `<<` makes YAML grow while it is loaded

_INTEGER = re.compile(r"[-+]?\d{1,18}")
_NUMBER = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d{1,3})?")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def load(raw: bytes) -> dict[str, Any]:
    """The object in a JSON or YAML file. Raises ValueError with the end of a sentence: "is not UTF-8".

    An alias gives the same Python object as its anchor. So a nested value may be far larger than the file, and may
    contain itself: limit every walk through it.
    """
    if len(raw) > MAX_BYTES:
        raise ValueError("is larger than 20 MiB")
    try:
        text = raw.decode("utf-8-sig")
        value = _load_json(text) if text.lstrip().startswith("{") else _load_yaml(text)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("is not a list of names and values")
    return value


def _load_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return _load_yaml(text)  # YAML also has mappings in braces


class _OpenMapping:
    """A mapping that is not closed yet: the key that has no value yet, and the values of `<<`."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.key: str | None = None
        self.merged: list[Any] = []


def _load_yaml(text: str) -> Any:
    """Load the first document by the rules of YAML 1.2: `no` and dates are text.

    It is built from events, because PyYAML's own loaders crash the process on deep nesting.
    """
    try:
        return _Builder().build(text)
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise ValueError(f"is neither JSON nor YAML{f' (line {mark.line + 1})' if mark else ''}") from None


class _Builder:
    """Builds the value of a document from its YAML events."""

    def __init__(self) -> None:
        self.open: list[_OpenMapping | list[Any]] = []
        self.anchors: dict[str, Any] = {}
        self.merged = 0
        self.result: Any = None

    def build(self, text: str) -> Any:
        """The value of the first document."""
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.ScalarEvent):
                self._add(event.value if self._expects_key() else _parse_scalar(event), event.anchor)
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in self.anchors:
                    raise ValueError(f"has an alias of nothing: {event.anchor}")
                self._add(self.anchors[event.anchor], None)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                opened: _OpenMapping | list[Any] = [] if isinstance(event, yaml.SequenceStartEvent) else _OpenMapping()
                if len(self.open) == MAX_DEPTH:
                    raise ValueError("is nested too deeply")
                self._add(opened if isinstance(opened, list) else opened.value, event.anchor)
                self.open.append(opened)
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self.open.pop()
                if isinstance(closed, _OpenMapping) and closed.merged:
                    self._merge(closed)
            elif isinstance(event, yaml.DocumentEndEvent):
                break
        return self.result

    def _expects_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1], _OpenMapping) and self.open[-1].key is None

    def _add(self, value: Any, anchor: str | None) -> None:
        """Add a value to the innermost open collection: as a list item, a key, or the value of a key."""
        if anchor:
            self.anchors[anchor] = value
        if not self.open:
            self.result = value
            return
        parent = self.open[-1]
        if isinstance(parent, list):
            parent.append(value)
        elif parent.key is None:
            if isinstance(value, dict | list):
                raise ValueError("has a key that is not text")
            parent.key = str(value)
        elif parent.key == "<<":
            parent.merged.append(value)
            parent.key = None
        else:
            parent.value[parent.key] = value
            parent.key = None

    def _merge(self, mapping: _OpenMapping) -> None:
        sources = (one for value in mapping.merged for one in (value if isinstance(value, list) else [value]))
        for source in sources:
            if isinstance(source, dict):
                self.merged += len(source)
                if self.merged > MAX_MERGED:
                    raise ValueError("merges too much")
                for key, value in list(source.items()):
                    mapping.value.setdefault(key, value)


def _parse_scalar(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar. Without quotes it may be a number or a constant."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text

"""Load JSON and YAML from untrusted files as plain values."""

import json
import re
from typing import Any

import yaml

MAX_BYTES = 20 * 1024 * 1024
MAX_DEPTH = 200
MAX_MERGED = 100_000  # keys that `<<` may copy: it is the one way for YAML to grow as it is read

_INTEGER = re.compile(r"[-+]?\d{1,18}")
_NUMBER = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d{1,3})?")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def load(raw: bytes) -> dict[str, Any]:
    """The object in some JSON or YAML. Raises ValueError with the end of a sentence: "is not UTF-8".

    An alias is the very value that it names, so a nested value may be far larger
    than the file and may contain itself: walk through it with a budget.
    """
    if len(raw) > MAX_BYTES:
        raise ValueError("is larger than 20 MiB")
    try:
        text = raw.decode("utf-8-sig")
        value = _json(text) if text.lstrip().startswith("{") else _yaml(text)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("is not a list of names and values")
    return value


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return _yaml(text)  # which has braces, too


class _Mapping:
    """A mapping that is being read: the key that waits for its value, and what `<<` brings."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.key: str | None = None
        self.merged: list[Any] = []


def _yaml(text: str) -> Any:
    """The first document of some YAML, as YAML 1.2 has it: `no` is a word, and so is a date.

    It is read event by event, since the loaders of PyYAML end the process on deep nesting.
    """
    try:
        return _Reader().read(text)
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise ValueError(f"is neither JSON nor YAML{f' (line {mark.line + 1})' if mark else ''}") from None


class _Reader:
    """One pass over the events of a document."""

    def __init__(self) -> None:
        self.open: list[_Mapping | list[Any]] = []
        self.anchors: dict[str, Any] = {}
        self.merged = 0
        self.result: Any = None

    def read(self, text: str) -> Any:
        """The value of the first document."""
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.ScalarEvent):
                self._put(event.value if self._wants_key() else _scalar(event), event.anchor)
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in self.anchors:
                    raise ValueError(f"has an alias of nothing: {event.anchor}")
                self._put(self.anchors[event.anchor], None)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                opened: _Mapping | list[Any] = [] if isinstance(event, yaml.SequenceStartEvent) else _Mapping()
                if len(self.open) == MAX_DEPTH:
                    raise ValueError("is nested too deeply")
                self._put(opened if isinstance(opened, list) else opened.value, event.anchor)
                self.open.append(opened)
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self.open.pop()
                if isinstance(closed, _Mapping) and closed.merged:
                    self._merge(closed)
            elif isinstance(event, yaml.DocumentEndEvent):
                break
        return self.result

    def _wants_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1], _Mapping) and self.open[-1].key is None

    def _put(self, value: Any, anchor: str | None) -> None:
        """A value where it belongs: in what is open, as a key or as a key's value."""
        if anchor:
            self.anchors[anchor] = value
        if not self.open:
            self.result = value
            return
        around = self.open[-1]
        if isinstance(around, list):
            around.append(value)
        elif around.key is None:
            if isinstance(value, dict | list):
                raise ValueError("has a key that is not text")
            around.key = str(value)
        elif around.key == "<<":
            around.merged.append(value)
            around.key = None
        else:
            around.value[around.key] = value
            around.key = None

    def _merge(self, mapping: _Mapping) -> None:
        sources = (one for value in mapping.merged for one in (value if isinstance(value, list) else [value]))
        for source in sources:
            if isinstance(source, dict):
                self.merged += len(source)
                if self.merged > MAX_MERGED:
                    raise ValueError("merges too much")
                for key, value in list(source.items()):
                    mapping.value.setdefault(key, value)


def _scalar(event: yaml.ScalarEvent) -> Any:
    """A scalar that is written without quotes may be a number or a constant."""
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text

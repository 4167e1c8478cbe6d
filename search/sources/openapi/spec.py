"""An OpenAPI document: its parts, and what its references mean."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from search.sources import UNSTORABLE, compute_digest
from search.sources.files import read_in_folder
from search.sources.openapi.loading import MAX_BYTES, load

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
MAX_FILES = 200  # that a document may refer to
MAX_PATH = 100  # fields: many paths may refer to the same large object
MAX_SUMMARY = 150
_MAX_STEPS = 20  # from a reference to what it means
_FILE = re.compile(rb"""\$ref["']?\s*:\s*["']?([^"'#\s,}]+\.(?:json|ya?ml))""")


class Operation(NamedTuple):
    """What can be called: `method` is in upper case, and `WEBHOOK` for what calls the reader; `path` is then its name.

    `pointer` is its JSON pointer. `common` holds the parameters and servers of the path that it is one of.
    """

    method: str
    path: str
    pointer: str
    raw: Mapping[str, Any]
    common: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What its page is called."""
        return self.summary or self.id or f"{self.method} {self.path}"

    @property
    def summary(self) -> str:
        """Its summary, unless that is a whole description."""
        summary = " ".join(text(self.raw.get("summary")).split())
        return summary if len(summary) <= MAX_SUMMARY else ""

    @property
    def id(self) -> str:
        """Its `operationId`, which need not be there."""
        return text(self.raw.get("operationId"))

    @property
    def tags(self) -> list[str]:
        """The names of its tags; the first is where it is shown."""
        return [tag for tag in map(text, items(self.raw.get("tags"))) if tag]


class Spec:
    """A document of OpenAPI 3, with the files that it refers to. `digest` is of them all."""

    def __init__(self, files: dict[str, dict[str, Any]], digest: str, name: str) -> None:
        """`files` by path from the folder that holds them; `name` is that of the document itself."""
        self.files, self.digest = files, digest
        self.root = files[name]
        self.name = name

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "") -> "Spec":
        """A document that stands alone. Raises ValueError with the end of a sentence."""
        return cls({name: _validate(load(raw))}, compute_digest(raw), name)

    @classmethod
    def from_file(cls, file: Path) -> "Spec":
        """A document and the files beside and below it that it refers to; others it refers to are left alone."""
        folder = file.parent.resolve()
        files: dict[str, dict[str, Any]] = {}
        raws: list[bytes] = []
        waiting = [file.name]
        for name in waiting:
            try:
                raw = read_in_folder(folder, folder / name, MAX_BYTES)
            except ValueError:
                if not raws:
                    raise
                continue
            if len(waiting) > MAX_FILES or sum(map(len, raws)) + len(raw) > MAX_BYTES:
                continue
            files[name] = _with_paths(_load(raw), name) if raws else _validate(load(raw))
            raws.append(raw)
            named = (_beside(name, found.decode("utf-8", "replace")) for found in _FILE.findall(raw))
            waiting += [found for found in dict.fromkeys(named) if found not in waiting]
        return cls(files, compute_digest(*raws), file.name)

    def resolve(self, node: Any) -> dict[str, Any]:
        """An object, or the one that its reference means, with what stands beside the reference.

        Nothing, where a reference leads nowhere or to another host.
        """
        beside: dict[str, Any] = {}
        for _ in range(_MAX_STEPS):
            if not isinstance(node, dict):
                return beside
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return {**node, **beside} if beside else node
            beside = {**{key: value for key, value in node.items() if key != "$ref"}, **beside}
            node = self._at(reference)
        return beside

    def operations(self) -> Iterator[Operation]:
        """What can be called, then the webhooks, in the order of the document."""
        for field in ("paths", "webhooks", "x-webhooks"):
            for key, item in mapping(self.root.get(field)).items():
                path = storable(key)
                common = self.resolve(item)
                for method, raw in islice(common.items(), MAX_PATH):
                    if method in METHODS and isinstance(raw, dict):
                        pointer = f"/{field}/{path.replace('~', '~0').replace('/', '~1')}/{method}"
                        verb = method.upper() if field == "paths" else "WEBHOOK"
                        yield Operation(verb, path, pointer, raw, common)

    def _at(self, reference: str) -> Any:
        place, _, pointer = reference.partition("#")
        node: Any = self.files.get(posixpath.normpath(place) if place else self.name)
        for step in pointer.split("/")[1:]:
            step = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list):
                node = node[int(step)] if step.isdecimal() and int(step) < len(node) else None
            else:
                node = node.get(step) if isinstance(node, dict) else None
        return node


def text(value: Any) -> str:
    """A value that should be text; nothing where it is none."""
    return storable(str(value)).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def storable(words: str) -> str:
    """Text without what a database or UTF-8 cannot have: NUL, and halves of surrogate pairs."""
    return UNSTORABLE.sub("", words)


def items(value: Any) -> list[Any]:
    """A value that should be a list."""
    return value if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """A value that should be an object."""
    return value if isinstance(value, dict) else {}


def _validate(root: dict[str, Any]) -> dict[str, Any]:
    """The root of a document of OpenAPI 3."""
    if "swagger" in root:
        raise ValueError(f"is Swagger {text(root['swagger'])[:10]}; convert it to OpenAPI 3 first")
    version = text(root.get("openapi"))
    if not version:
        raise ValueError("is no OpenAPI document: it has no `openapi` field")
    if not version.startswith("3"):
        raise ValueError(f"is OpenAPI {version[:10]}; 3.0 and 3.1 can be read")
    return root


def _load(raw: bytes) -> dict[str, Any]:
    """A file that is referred to; empty when it is none that can be read."""
    try:
        return load(raw)
    except ValueError:
        return {}


def _beside(name: str, reference: str) -> str:
    """The file that is meant by a reference in another one, from the folder of the document on."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(reference)))


def _with_paths(root: dict[str, Any], name: str) -> dict[str, Any]:
    """A file whose references are written from the folder of the document on."""
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict | list) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict) and isinstance(reference := node.get("$ref"), str) and "://" not in reference:
            place, hash_, pointer = reference.partition("#")
            node["$ref"] = f"{_beside(name, place) if place else name}{hash_}{pointer}"
        waiting += node.values() if isinstance(node, dict) else node
    return root

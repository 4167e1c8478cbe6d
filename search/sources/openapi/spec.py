"""An OpenAPI document: its operations, and the resolution of its references."""

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
MAX_PATH = 100  # fields of one path; many paths may refer to the same large object
MAX_SUMMARY = 150
_MAX_STEPS = 20  # from reference to reference
_FILE_REFERENCE = re.compile(rb"""\$ref["']?\s*:\s*["']?([^"'#\s,}]{1,500}\.(?:json|ya?ml))""")


class Operation(NamedTuple):
    """An operation or a webhook. `raw` is its object.

    - `method` is in upper case; `WEBHOOK` for a webhook, whose `path` is its name.
    - `pointer` is the JSON pointer to the operation.
    - `common` is the path item, with parameters and servers that all operations of the path share.
    """

    method: str
    path: str
    pointer: str
    raw: Mapping[str, Any]
    common: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The title of its page."""
        return self.summary or self.id or f"{self.method} {self.path}"

    @property
    def summary(self) -> str:
        """The summary; empty when it is as long as a description."""
        summary = " ".join(as_text(self.raw.get("summary")).split())
        return summary if len(summary) <= MAX_SUMMARY else ""

    @property
    def id(self) -> str:
        """The `operationId`; may be empty."""
        return as_text(self.raw.get("operationId"))

    @property
    def tags(self) -> list[str]:
        """The names of its tags. Renderers show it below the first one."""
        return [tag for tag in map(as_text, as_list(self.raw.get("tags"))) if tag]


class Spec:
    """An OpenAPI 3 document with the files that it refers to. `digest` covers all of them."""

    def __init__(self, files: dict[str, dict[str, Any]], digest: str, name: str) -> None:
        """`files` maps paths, relative to the document's folder, to contents. `name` is the path of the document."""
        self.files, self.digest = files, digest
        self.root = files[name]
        self.name = name

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "") -> "Spec":
        """Load a document without other files. Raises ValueError with the end of a sentence."""
        return cls({name: _validate(load(raw))}, compute_digest(raw), name)

    @classmethod
    def from_file(cls, file: Path) -> "Spec":
        """Load a document and the files in its folder that it refers to. Raises ValueError with the end of a sentence.

        References to other files stay unresolved.
        """
        folder = file.parent.resolve()
        files: dict[str, dict[str, Any]] = {}
        raws: list[bytes] = []
        queue = [file.name]
        for name in queue:
            try:
                raw = read_in_folder(folder, folder / name, MAX_BYTES)
            except ValueError:
                if not raws:
                    raise
                continue
            if len(queue) > MAX_FILES or sum(map(len, raws)) + len(raw) > MAX_BYTES:
                continue
            try:
                content = load(raw)
            except ValueError:
                if not raws:
                    raise
                content = {}  # a referenced file that cannot be read
            files[name] = _rewrite_references(content, name) if raws else _validate(content)
            raws.append(raw)
            references = (match.decode("utf-8", "replace") for match in _FILE_REFERENCE.findall(raw))
            paths = dict.fromkeys(_resolve_relative_path(name, reference) for reference in references)
            queue += [path for path in paths if path not in queue]
        return cls(files, compute_digest(*raws), file.name)

    def resolve(self, node: Any) -> dict[str, Any]:
        """The object, or the object that it refers to, merged with the fields next to the `$ref`.

        These fields win. A reference to nothing or to another host gives only these fields.
        """
        siblings: dict[str, Any] = {}
        for _ in range(_MAX_STEPS):
            if not isinstance(node, dict):
                return siblings
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return {**node, **siblings} if siblings else node
            siblings = {**{key: value for key, value in node.items() if key != "$ref"}, **siblings}
            node = self._look_up(reference)
        return siblings

    def operations(self) -> Iterator[Operation]:
        """All operations, first those of the paths, then those of the webhooks, each in the order of the document."""
        for field in ("paths", "webhooks", "x-webhooks"):
            for key, path_item in as_mapping(self.root.get(field)).items():
                path = remove_unstorable(key)
                common = self.resolve(path_item)
                for method, raw in islice(common.items(), MAX_PATH):
                    if method in METHODS and isinstance(raw, dict):
                        pointer = f"/{field}/{path.replace('~', '~0').replace('/', '~1')}/{method}"
                        verb = method.upper() if field == "paths" else "WEBHOOK"
                        yield Operation(verb, path, pointer, raw, common)

    def _look_up(self, reference: str) -> Any:
        path, _, pointer = reference.partition("#")
        node: Any = self.files.get(posixpath.normpath(path) if path else self.name)
        for step in pointer.split("/")[1:]:
            step = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list):
                node = node[int(step)] if step.isdecimal() and int(step) < len(node) else None
            else:
                node = node.get(step) if isinstance(node, dict) else None
        return node


def as_text(value: Any) -> str:
    """The value as text; empty if it is neither text nor a number."""
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    return remove_unstorable(str(value)).strip() if is_text else ""


def remove_unstorable(text: str) -> str:
    """The text without NUL and halves of surrogate pairs, which databases and UTF-8 do not allow."""
    return UNSTORABLE.sub("", text)


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def as_mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _validate(root: dict[str, Any]) -> dict[str, Any]:
    """Return the root of an OpenAPI 3 document. Raises ValueError with the end of a sentence for any other."""
    if "swagger" in root:
        raise ValueError(f"is Swagger {as_text(root['swagger'])[:10]}; convert it to OpenAPI 3 first")
    version = as_text(root.get("openapi"))
    if not version:
        raise ValueError("is no OpenAPI document: it has no `openapi` field")
    if not version.startswith("3"):
        raise ValueError(f"is OpenAPI {version[:10]}; 3.0 and 3.1 can be read")
    return root


def _resolve_relative_path(name: str, reference: str) -> str:
    """The path of the file that file `name` refers to, relative to the document's folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(reference)))


def _rewrite_references(root: dict[str, Any], name: str) -> dict[str, Any]:
    """Make all references in the file `name` relative to the document's folder. Changes and returns `root`."""
    seen: set[int] = set()
    queue: list[Any] = [root]
    while queue:
        node = queue.pop()
        if not isinstance(node, dict | list) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict) and isinstance(reference := node.get("$ref"), str) and "://" not in reference:
            path, hash_, pointer = reference.partition("#")
            node["$ref"] = f"{_resolve_relative_path(name, path) if path else name}{hash_}{pointer}"
        queue += node.values() if isinstance(node, dict) else node
    return root

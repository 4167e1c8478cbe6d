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
MAX_FILES = 5000  # that a document may refer to
MAX_PATH = 100  # fields of one path; many paths may refer to the same large object
MAX_SUMMARY = 150
MAX_SERVERS = 10  # of one operation
_MAX_STEPS = 20  # from reference to reference
_FILE = re.compile(r"[^#]{1,500}\.(?:json|ya?ml)")
_VARIABLE = re.compile(r"\{([^{}]*)\}")


class Operation(NamedTuple):
    """An operation or a webhook. `raw` is its object.

    - `method` is in upper case; `WEBHOOK` for a webhook, whose `path` is its name.
    - `pointer` is the JSON pointer to the operation.
    - `common` is the path item, with parameters and servers that all operations of the path share.
    - `missing` are references to nothing that stand in place of the operation.
    """

    method: str
    path: str
    pointer: str
    raw: Mapping[str, Any]
    common: Mapping[str, Any]
    missing: tuple[str, ...] = ()

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
        self.missing: dict[str, None] = {}  # references to nothing that were looked up

    @classmethod
    def from_bytes(cls, raw: bytes, name: str = "") -> "Spec":
        """Load a document without other files. Raises ValueError with the end of a sentence."""
        root = _validate(load(raw))
        _rewrite_references(root, name, is_root=True)
        return cls({name: root}, compute_digest(raw), name)

    @classmethod
    def from_file(cls, file: Path) -> "Spec":
        """Load a document and the files in its folder that it refers to. Raises ValueError with the end of a sentence.

        References to other files stay unresolved.
        """
        folder = file.parent.resolve()
        files: dict[str, dict[str, Any]] = {}
        raws: list[bytes] = []
        size = 0
        queue = [file.name]
        queued = set(queue)
        for name in queue:
            try:
                raw = read_in_folder(folder, folder / name, MAX_BYTES)
                size += len(raw)
                content = load(raw) if size <= MAX_BYTES else {}
            except ValueError:
                if not files:
                    raise
                continue  # a referenced file that cannot be read
            references = _rewrite_references(content if files else _validate(content), name, is_root=not files)
            files[name] = content
            raws.append(raw)
            found = [path for path in references if path not in queued][: MAX_FILES - len(queued)]
            queued.update(found)
            queue += found
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
            if (node := self._look_up(reference)) is None:
                self.missing[reference] = None
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
                        self.missing.clear()
                        resolved = self.resolve(raw)
                        yield Operation(verb, path, pointer, resolved, common, tuple(self.missing))

    def list_servers(self, operation: Operation) -> list[str]:
        """The URLs of an operation's servers without a slash at the end, with the defaults of their variables."""
        owners = (operation.raw, operation.common, self.root)
        servers = next((found for owner in owners if (found := as_list(owner.get("servers")))), [])
        count = 0 if operation.method == "WEBHOOK" else MAX_SERVERS
        return [_fill_variables(server).rstrip("/") for server in servers[:count]]

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


def _fill_variables(server: Any) -> str:
    variables = as_mapping(as_mapping(server).get("variables"))
    url = as_text(as_mapping(server).get("url"))
    return _VARIABLE.sub(lambda name: as_text(as_mapping(variables.get(name[1])).get("default")), url)


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


def _rewrite_references(root: dict[str, Any], name: str, *, is_root: bool) -> dict[str, None]:
    """Make the references in the file `name` relative to the document's folder. Returns the files that they name.

    They are `$ref`, and the values of a discriminator's `mapping`, which may also be names of schemas. Changes `root`.
    """
    files: dict[str, None] = {}

    def rewrite(reference: str) -> str:
        if "://" in reference:
            return reference
        path, hash_, pointer = reference.partition("#")
        if _FILE.fullmatch(path):
            files[_resolve_relative_path(name, path)] = None
        own = "" if is_root else name
        return f"{_resolve_relative_path(name, path) if path else own}{hash_}{pointer}"

    seen: set[int] = set()
    queue: list[Any] = [root]
    while queue:
        node = queue.pop()
        if not isinstance(node, dict | list) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict) and isinstance(reference := node.get("$ref"), str):
            node["$ref"] = rewrite(reference)
        if isinstance(node, dict) and "propertyName" in node and isinstance(mapping := node.get("mapping"), dict):
            node["mapping"] = {
                value: rewrite(target if re.search(r"[/#.]", target) else f"#/components/schemas/{target}")
                for value, target in mapping.items()
                if isinstance(target, str)
            }
        queue += node.values() if isinstance(node, dict) else node
    return files

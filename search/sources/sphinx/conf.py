"""A Sphinx project's conf.py, read and never run: the assignments of plain values at its top level."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.sources import compute_digest
from search.sources.files import read_text_in_folder

MAX_BYTES = 1024 * 1024
MAX_EXTENSIONS = 50  # files with extensions of the project's own

_PLACES = ("", "docs", "doc", "docs/source", "doc/source", "source", "docs/en", "doc/en", "docs/src", "doc/build")
_SPHINX = re.compile(
    r"^[ \t]*(?:extensions|html_theme|master_doc|root_doc|source_suffix|project)[ \t]*=|sphinx", re.MULTILINE
)
_DEFINITION = re.compile(r"add_(object_type|crossref_type)\(\s*(?:directivename\s*=\s*)?[\"'](\w[\w:-]*)[\"']")


@dataclass(frozen=True)
class Conf:
    """The settings of conf.py, and the directives that it and its extensions define for things and for places."""

    values: dict[str, Any]
    digest: str
    objects: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()

    def text(self, name: str) -> str:
        """A setting that is text."""
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """A setting that lists texts."""
        value = self.values.get(name)
        items = value if isinstance(value, list | tuple | set | dict) else [value]
        return [item for item in items if isinstance(item, str)]

    def pairs(self, name: str) -> dict[str, Any]:
        """A setting that has values by name."""
        value = self.values.get(name)
        return {key: one for key, one in value.items() if isinstance(key, str)} if isinstance(value, dict) else {}


def find_folder(root: Path) -> Path | None:
    """The folder below a repository's root that has conf.py and the pages."""
    return next((root / place for place in _PLACES if _SPHINX.search(_text(root / place / "conf.py", root))), None)


def read(folder: Path, root: Path) -> Conf:
    """The settings of a folder below `root`; none where it has no conf.py that Python could parse."""
    source = _text(folder / "conf.py", root)
    values: dict[str, Any] = {}
    try:
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        values[target.id] = _value(statement.value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    places = ("_ext", "ext", "_exts", "exts", "extensions")
    files = sorted(file for place in places for file in (folder / place).glob("*.py"))
    texts = [source, *(_text(file, root) for file in files[:MAX_EXTENSIONS])]
    defined = [found for text in texts for found in _DEFINITION.findall(text)]
    objects, targets = (
        frozenset(name for kind, name in defined if kind == wanted) for wanted in ("object_type", "crossref_type")
    )
    return Conf(values, compute_digest(*texts), objects, targets)


def _value(node: ast.expr) -> Any:
    """A literal, without the parts that only a run could tell; None where nothing is left."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {key.value: _value(value) for key, value in pairs if isinstance(key, ast.Constant)}
    return node.value if isinstance(node, ast.Constant) else None


def _text(file: Path, root: Path) -> str:
    try:
        return read_text_in_folder(root, file, MAX_BYTES)
    except ValueError:
        return ""

"""A Sphinx project's conf.py, read and never run: assignments of plain values at its top level."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.sources import digest_of
from search.sources.files import text_inside

MOST_BYTES = 1024 * 1024
MOST_SUMMED = 1_000_000  # characters and items of all that is added up

_PLACES = ("", "docs", "doc", "docs/source", "doc/source", "source", "docs/en", "doc/en", "docs/src", "doc/build")
_OF_SPHINX = re.compile(
    r"^[ \t]*(?:extensions|html_theme|master_doc|root_doc|source_suffix|project)[ \t]*=|sphinx", re.MULTILINE
)
_DEFINED = re.compile(r"add_(object_type|crossref_type)\(\s*(?:directivename\s*=\s*)?[\"'](\w[\w:-]*)[\"']")


@dataclass(frozen=True)
class Conf:
    """What conf.py says: `values` by name, and the directives that it and its extensions define.

    `digest` is of what it says. Values may stand in each other many times: nothing should walk through all of them.
    """

    values: dict[str, Any]
    digest: str
    objects: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()

    def text(self, name: str, default: str = "") -> str:
        """A setting that is text."""
        value = self.values.get(name)
        return value if isinstance(value, str) else default

    def texts(self, name: str) -> list[str]:
        """A setting that lists texts."""
        value = self.values.get(name)
        items = value if isinstance(value, list | tuple | set | dict) else [value]
        return [item for item in items if isinstance(item, str)]

    def pairs(self, name: str) -> dict[str, Any]:
        """A setting that has values by name."""
        value = self.values.get(name)
        return {key: one for key, one in value.items() if isinstance(key, str)} if isinstance(value, dict) else {}


def folder_of(root: Path) -> Path | None:
    """The folder below a repository's root in which conf.py and the pages lie."""
    for place in _PLACES:
        folder = root / place
        if _OF_SPHINX.search(_text(folder / "conf.py", root)):
            return folder
    return None


def read(folder: Path, root: Path) -> Conf:
    """The settings of a folder with pages, below `root`; none where it has no conf.py that Python could read."""
    source = _text(folder / "conf.py", root)
    values = _Values()
    try:
        for statement in ast.parse(source).body:
            _assign(statement, values)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    defined: dict[str, set[str]] = {"object_type": set(), "crossref_type": set()}
    extensions = [
        file for name in ("_ext", "ext", "_exts", "exts", "extensions") for file in (folder / name).glob("*.py")
    ]
    texts = [source, *(_text(file, root) for file in sorted(extensions)[:50])]
    for text in texts:
        for kind, name in _DEFINED.findall(text):
            defined[kind].add(name)
    return Conf(values, digest_of(*texts), frozenset(defined["object_type"]), frozenset(defined["crossref_type"]))


class _Values(dict[str, Any]):
    """Values by name, and how much of them was added up."""

    summed = 0


def _assign(statement: ast.stmt, values: _Values) -> None:
    if isinstance(statement, ast.Assign):
        targets, given = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value:
        targets, given = [statement.target], statement.value
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        targets, given = [statement.target], ast.BinOp(statement.target, ast.Add(), statement.value)
    else:
        return
    for target in targets:
        if isinstance(target, ast.Name):
            try:
                values[target.id] = _value(given, values)
            except (ValueError, TypeError):
                values.pop(target.id, None)


def _value(node: ast.expr, values: _Values) -> Any:
    """A literal, a name that was assigned before, or a sum of such. Raises ValueError or TypeError."""
    if isinstance(node, ast.Name):
        if node.id not in values:
            raise ValueError
        return values[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _value(node.left, values), _value(node.right, values)
        if type(left) is not type(right) or not isinstance(left, str | list | tuple):
            raise ValueError
        values.summed += len(left) + len(right)
        if values.summed > MOST_SUMMED:
            raise ValueError
        return left + right
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [value for one in node.elts for value in _known(one, values)]
    if isinstance(node, ast.Dict):
        return {
            key: value
            for name, one in zip(node.keys, node.values, strict=True)
            if name is not None
            for key in _known(name, values)
            if isinstance(key, str)
            for value in _known(one, values)
        }
    return ast.literal_eval(node)


def _known(node: ast.expr, values: _Values) -> list[Any]:
    """A value in a list, or nothing when only running the file would tell it."""
    try:
        return [_value(node, values)]
    except (ValueError, TypeError):
        return []


def _text(file: Path, root: Path) -> str:
    try:
        return text_inside(root, file, MOST_BYTES)
    except ValueError:
        return ""

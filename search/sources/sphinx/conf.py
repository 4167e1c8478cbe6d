"""Load conf.py of a Sphinx project without running it: the plain values that its top level assigns."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.sources import compute_digest
from search.sources.files import MARKDOWN, list_files, read_text_or_nothing

MAX_BYTES = 1024 * 1024
MAX_CONFS = 100  # in one repository
MAX_EXTENSIONS = 50  # files with extensions of the project's own

_FOLDERS = ("", "docs", "doc", "docs/source", "doc/source", "source", "docs/en", "doc/en", "docs/src", "doc/build")
_EXTENSION_FOLDERS = ("_ext", "ext", "_exts", "exts", "extensions")
_SETTING = re.compile(
    r"^[ \t]*(?:extensions|html_theme|master_doc|root_doc|source_suffix|project)[ \t]*=|sphinx", re.MULTILINE
)
_DEFINITION = re.compile(r"add_(object_type|crossref_type)\(\s*(?:directivename\s*=\s*)?[\"'](\w[\w:-]*)[\"']")


@dataclass(frozen=True)
class Conf:
    """The settings of conf.py, and the directives that it and its extensions define.

    `object_types` describe objects, `crossref_types` are targets; both are named after the functions of Sphinx.
    """

    values: dict[str, Any]
    digest: str
    object_types: frozenset[str] = frozenset()
    crossref_types: frozenset[str] = frozenset()

    def get_text(self, name: str) -> str:
        """A text; empty if the setting is none."""
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def get_list(self, name: str) -> list[str]:
        """The texts of a list, or a single text as a list."""
        value = self.values.get(name)
        items = value if isinstance(value, list | tuple | set | dict) else [value]
        return [item for item in items if isinstance(item, str)]

    def get_dict(self, name: str) -> dict[str, Any]:
        """Values by name; empty if the setting has none."""
        value = self.values.get(name)
        return {key: one for key, one in value.items() if isinstance(key, str)} if isinstance(value, dict) else {}


def find_folder(root: Path, *, is_thorough: bool = True) -> Path | None:
    """The folder of a repository that has conf.py and the pages: a usual one, else the one above the most pages.

    That one holds more than half of them, and is the deeper one of equals. It is searched for with `is_thorough` only.
    """
    if folder := next((root / name for name in _FOLDERS if _is_sphinx(root, root / name)), None):
        return folder
    names = list_files(root) if is_thorough else []
    pages = [name for name in names if name.endswith((".rst", *MARKDOWN))]
    found = [name.rpartition("/")[0] for name in names if name.endswith("/conf.py")][:MAX_CONFS]
    counts = {folder: sum(name.startswith(f"{folder}/") for name in pages) for folder in found}
    likely = sorted(found, key=lambda folder: (counts[folder], folder.count("/")), reverse=True)
    inner = (root / folder for folder in likely if counts[folder] * 2 > len(pages))
    return next((folder for folder in inner if _is_sphinx(root, folder)), None)


def _is_sphinx(root: Path, folder: Path) -> bool:
    return bool(_SETTING.search(read_text_or_nothing(root, folder / "conf.py", MAX_BYTES)))


def load_conf(folder: Path, root: Path) -> Conf:
    """The settings of a folder in `root`. There are none without a conf.py that Python can parse."""
    source = read_text_or_nothing(root, folder / "conf.py", MAX_BYTES)
    values: dict[str, Any] = {}
    try:
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        values[target.id] = _literal(statement.value)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    files = sorted(file for name in _EXTENSION_FOLDERS for file in (folder / name).glob("*.py"))
    texts = [source, *(read_text_or_nothing(root, file, MAX_BYTES) for file in files[:MAX_EXTENSIONS])]
    defined = [definition for text in texts for definition in _DEFINITION.findall(text)]
    object_types = frozenset(name for kind, name in defined if kind == "object_type")
    crossref_types = frozenset(name for kind, name in defined if kind == "crossref_type")
    return Conf(values, compute_digest(*texts), object_types, crossref_types)


def _literal(node: ast.expr) -> Any:
    """The value of an expression. Parts that are no literals are None."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {key.value: _literal(value) for key, value in pairs if isinstance(key, ast.Constant)}
    return node.value if isinstance(node, ast.Constant) else None

"""Find and read the configuration of a site generator."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from docsite.core.unicode.addresses import urlsplit
from search.sources.files import read_text_in_folder, read_text_or_nothing, resolve_links
from search.sources.markdown import javascript
from search.sources.request import SourceRequest

MAX_BYTES = 1024 * 1024


def read_text(root: Path, file: Path) -> str:
    """The text of a configuration file below a root. Raises ValueError with a sentence when it cannot be read."""
    try:
        return read_text_in_folder(root, file, MAX_BYTES)
    except ValueError as wrong:
        raise ValueError(f"{file.name} {wrong}") from None


def find(folder: Path, names: Sequence[str]) -> Path | None:
    """The first file of these names in a folder."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def depends_on(root: Path, folder: Path, package: str) -> bool:
    """Whether the `package.json` of a folder names a package."""
    return f'"{package}"' in read_text_or_nothing(root, folder / "package.json", MAX_BYTES)


def load(root: Path, file: Path, loader: Any = yaml.SafeLoader) -> Any:
    """The value in a TOML, JSON or YAML file. Raises ValueError with a sentence when it cannot be read."""
    text = read_text(root, file)
    kind = {".toml": "TOML", ".json": "JSON"}.get(file.suffix, "YAML")
    try:
        if kind == "YAML":
            return yaml.load(text, Loader=loader)
        return json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{file.name} is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        line = mark.line + 1 if mark else getattr(wrong, "lineno", 0)
        raise ValueError(f"{file.name} is not {kind}{f' (line {line})' if line else ''}") from None


def find_languages(root: Path, file: Path, script: str) -> dict[str, str]:
    """The languages in a script, as `javascript.find_languages`, also where it imports them from a file beside it."""
    names = set(re.findall(r"\blocales(?:\s*:\s*(\w+))?\s*[,}\n]", script)) - {""} or {"locales"}
    for path, imported in javascript.find_imports(script).items():
        if not names.isdisjoint(imported):
            places = (file.parent / f"{path}{ending}" for ending in ("", *javascript.list_names(""), ".json"))
            text = next((text for place in places if (text := read_text_or_nothing(root, place, MAX_BYTES))), "")
            text = text.replace("export default {", f"{imported[0]} = {{")
            script += f"\n{imported[0]} = {text}" if text.startswith("{") else f"\n{text}"
    return javascript.find_languages(script)


def find_inner_folder(root: Path, folder: Path) -> Path | None:
    """The folder without links, if it is one and lies in the root."""
    resolved = resolve_links(folder)
    return resolved if resolved.is_relative_to(resolve_links(root)) and resolved.is_dir() else None


def remove_known_base(base: str, request: SourceRequest) -> str:
    """The path below which a site is, without slashes around it; empty if the docs URL ends with it."""
    base = base.strip("/")
    return "" if urlsplit(request.docs_url).path.rstrip("/").endswith(f"/{base}") else base

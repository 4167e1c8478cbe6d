"""A folder of Markdown files, as it lies or as a manifest lists it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from docsite.paths import normalize
from search.sources import Bad, Page

SUFFIXES = {".md", ".markdown"}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
MOST_BYTES = 5 * 1024 * 1024
FIELDS = ("title", "description", "version", "language")


def read_folder(root: Path) -> Iterator[Page | Bad]:
    """Every Markdown file below a folder; hidden files and folders are left out."""
    for file in sorted(root.rglob("*")):
        relative = file.relative_to(root)
        if file.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in relative.parts):
            yield _read(root, relative.as_posix(), normalize(quote(relative.as_posix())), {})


def read_manifest(root: Path, manifest: Path) -> Iterator[Page | Bad]:
    """The pages a JSON-lines manifest lists: `path, file, format, title, language, version, tags`."""
    with manifest.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            origin = f"{manifest.name} line {number}"
            try:
                item = json.loads(line)
            except (ValueError, RecursionError):
                yield Bad(origin, "not JSON")
                continue
            if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("path", "file")):
                yield Bad(origin, "needs `path` and `file`, both text")
                continue
            path = normalize(item["path"])
            if item.get("format", "md") not in ("md", "markdown"):
                yield Bad(item["file"], f"format {str(item['format'])[:20]} is not known", path)
                continue
            yield _read(root, item["file"], path, item)


def _read(root: Path, name: str, path: str, given: dict[str, Any]) -> Page | Bad:
    """One file; what the manifest gives wins over the front matter."""
    file = root / name
    try:
        if not file.resolve().is_relative_to(root.resolve()):
            return Bad(name, "lies outside the source folder", path)
        if file.stat().st_size > MOST_BYTES:
            return Bad(name, "is larger than 5 MiB", path)
        source = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return Bad(name, "is not UTF-8", path)
    except OSError as failure:
        return Bad(name, (failure.strerror or "cannot be read").lower(), path)
    except ValueError:
        return Bad(name, "is no file name", path)
    try:
        front, body = front_matter(source)
        meta = {**front, **{key: value for key, value in given.items() if value not in (None, "")}}
        tags = _tags(meta.get("tags"))
    except ValueError as wrong:
        return Bad(name, str(wrong), path)
    text = {key: str(meta[key]).strip() for key in FIELDS if meta.get(key) not in (None, "")}
    if _UNSTORABLE.search("".join([path, source, *tags, *text.values()])):
        return Bad(name, "contains a NUL character or half of a surrogate pair", path)
    return Page(origin=name, path=path, markdown=body, tags=tags, **text)


def front_matter(source: str) -> tuple[dict[str, Any], str]:
    """Split a page into its YAML front matter and its Markdown. Raises ValueError when the YAML is wrong."""
    lines = source.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return {}, source
    try:
        end = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "..."))
    except StopIteration:
        return {}, source  # a rule, not front matter
    try:
        front = yaml.load("\n".join(lines[1:end]), Loader=yaml.BaseLoader)  # all text: version 1.10 is not 1.1
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise ValueError(f"its front matter is not YAML{f' (line {mark.line + 2})' if mark else ''}") from None
    if front is None:
        front = {}
    if not isinstance(front, dict):
        raise ValueError("its front matter is not a list of names and values")
    return front, "\n".join(lines[end + 1 :])


def _tags(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        raise ValueError("its tags are not a list")
    return tuple(dict.fromkeys(str(tag).strip() for tag in value if str(tag).strip()))

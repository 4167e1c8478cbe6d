"""A folder of Markdown and MDX files, as it lies or as a manifest lists it."""

import json
import math
import re
import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from docsite.paths import normalize
from search.sources import Bad, Page
from search.sources.mdx import to_markdown

FORMATS = {"md": "md", "markdown": "md", "mdx": "mdx"}  # by a file's ending, or as a manifest says it
LEAST_BOOST, MOST_BOOST = 0.1, 10.0
_OPERATION = re.compile(r"(?i)(?:^|\s)(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s+(\S+)\s*$")
_NAMED_LINE = re.compile(r"[A-Za-z][\w-]*:(?:\s|$)")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
MOST_BYTES = 5 * 1024 * 1024
MOST_FRONT_MATTER = 64 * 1024  # bytes
MOST_WORDS, LONGEST_WORD = 100, 100  # of tags, and of keywords
FIELDS = ("title", "description", "version", "language")


def read_folder(root: Path) -> Iterator[Page | Bad]:
    """Every Markdown and MDX file below a folder; hidden files and folders are left out."""
    for file in sorted(root.rglob("*")):
        relative = file.relative_to(root)
        if _ending(file.name) in FORMATS and not any(part.startswith(".") for part in relative.parts):
            yield _read(root, relative.as_posix(), normalize(quote(relative.as_posix())), {})


def read_manifest(root: Path, manifest: Path) -> Iterator[Page | Bad]:
    """The pages a JSON-lines manifest lists: `path, file, format, title, language, version, tags`.

    Without a format the file's ending says it, and what has no known ending is Markdown.
    """
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
            form = item.get("format")
            if form and not (isinstance(form, str) and form in FORMATS):
                shown = form if isinstance(form, str) else reprlib.repr(form)
                yield Bad(item["file"], f"format {shown[:20]} is not known", path)
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
        text = {key: words for key in FIELDS if (words := _text(meta, key)) is not None}
        tags = tuple(dict.fromkeys(_words(meta, "tags") + _words(meta, "tag")))[:MOST_WORDS]
        keywords = _words(meta, "keywords")
        boost = _boost(meta)
    except ValueError as wrong:
        return Bad(name, str(wrong), path)
    if _UNSTORABLE.search("".join([path, source, *tags, *keywords, *text.values()])):
        return Bad(name, "contains a NUL character or half of a surrogate pair", path)
    if FORMATS.get(given.get("format") or _ending(name)) == "mdx":
        body = to_markdown(body)
    body = _with_operation(body, meta.get("openapi") or meta.get("api"))
    return Page(origin=name, path=path, markdown=body, tags=tags, boost=boost, keywords=keywords, **text)


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower()


def front_matter(source: str) -> tuple[dict[str, Any], str]:
    """Split a page into its YAML front matter and its Markdown. Raises ValueError when the YAML is wrong or too long.

    Aliases can make a value far larger than the file, so nobody may walk through or print what is nested.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return {}, source
    try:
        end = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "..."))
    except StopIteration:
        return {}, source  # a rule, not front matter
    text = "\n".join(lines[1:end])
    if len(text.encode("utf-8", "surrogatepass")) > MOST_FRONT_MATTER:
        raise ValueError("its front matter is larger than 64 KiB")
    try:
        front = _yaml(text)
    except ValueError:
        front = _readable_lines(lines[1:end])
        if not front:
            raise
    if front is None:
        front = {}
    if not isinstance(front, dict):
        raise ValueError("its front matter is not a list of names and values")
    return front, "\n".join(lines[end + 1 :])


def _yaml(text: str) -> Any:
    """YAML with all values as text: version 1.10 is not 1.1."""
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        mark = getattr(wrong, "problem_mark", None)
        raise ValueError(f"its front matter is not YAML{f' (line {mark.line + 2})' if mark else ''}") from None


def _readable_lines(lines: list[str]) -> dict[str, Any]:
    """The names with values of front matter that is no YAML as a whole: one bad line should not hide a page."""
    front: dict[str, Any] = {}
    for line in lines[:200]:
        if _NAMED_LINE.match(line):
            try:
                front.update(_yaml(line))
            except ValueError:
                continue
    return front


def _text(meta: dict[str, Any], name: str) -> str | None:
    """A single value as text, None where there is none."""
    value = meta.get(name)
    if value is None or value == "":
        return None
    if not _is_single(value):
        raise ValueError(f"its `{name}` is not text")
    return str(value).strip()


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _words(meta: dict[str, Any], name: str) -> tuple[str, ...]:
    """A list of single values, or a text with commas. What is over 100 words, or 100 characters of one, is cut off."""
    value = meta.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        raise ValueError(f"its {name} are not a list")
    if not all(map(_is_single, value)):
        raise ValueError(f"its `{name}` are not a list of words")
    words = dict.fromkeys(str(word).strip()[:LONGEST_WORD].strip() for word in value)
    return tuple(word for word in words if word)[:MOST_WORDS]


def _boost(meta: dict[str, Any]) -> float:
    """The page's boost, or that below `search`. A word there means something to another tool and is passed over."""
    search = meta.get("search")
    value = meta.get("boost") or (search.get("boost") if isinstance(search, dict) else None)
    try:
        boost = float(value or 1)
    except (TypeError, ValueError):
        return 1.0
    if not math.isfinite(boost) or boost <= 0:
        raise ValueError("its boost is not a positive number")
    return min(max(boost, LEAST_BOOST), MOST_BOOST)


def _with_operation(body: str, openapi: Any) -> str:
    """The page with the method and path that its front matter gives it, below its title, unless it has them."""
    operation = _OPERATION.search(openapi) if isinstance(openapi, str) else None
    if not operation:
        return body
    method = operation[1].lower() if operation[1].lower() == "webhook" else operation[1].upper()
    line = f"`{method} {operation[2]}`"
    if line.strip("`") in body:
        return body
    title, _, rest = body.lstrip("\n").partition("\n")
    return f"{title}\n\n{line}\n\n{rest}" if title.startswith("# ") else f"{line}\n\n{body}"

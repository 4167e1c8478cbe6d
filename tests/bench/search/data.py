"""The judged queries and the documentation sets of a data folder, as its README tells."""

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docsite.paths import normalize


@dataclass(frozen=True)
class Query:
    """A query and the pages that answer it. `variant` says how it was derived from another one, if it was."""

    id: str
    set: str
    kind: str
    text: str
    relevant: dict[str, int]
    filter: dict[str, str] | None
    variant: str

    @property
    def asked(self) -> tuple[str, dict[str, str] | None]:
        """What an engine is asked."""
        return self.text, self.filter


@dataclass
class Data:
    """`sets` are folders with pages and a `manifest.jsonl`, by name; `queries` holds the identifiers, too."""

    sets: dict[str, Path]
    queries: list[Query] = field(default_factory=list)

    @property
    def judged(self) -> list[Query]:
        """Without the identifiers."""
        return [query for query in self.queries if query.kind != "identifier"]

    @property
    def identifiers(self) -> list[Query]:
        """The identifiers alone."""
        return [query for query in self.queries if query.kind == "identifier"]

    def of(self, name: str) -> list[Query]:
        """The queries of one set."""
        return [query for query in self.queries if query.set == name]


def unpack(source: Path, folder: Path) -> None:
    """Write the documentation sets of a data folder below another folder."""
    for archive in sorted((source / "corpora").glob("*.tar.gz")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")


def read(source: Path, folder: Path) -> Data:
    """The data, with its sets where they were unpacked."""
    sets = {manifest.parent.name: manifest.parent for manifest in sorted(folder.glob("*/manifest.jsonl"))}
    files = [source / "queries.jsonl", source / "identifiers.jsonl"]
    items = [item for file in files if file.exists() for item in _lines(file)]
    return Data(sets, [_query(item) for item in items if item["corpus"] in sets])


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text().splitlines():
        if line.strip():
            yield json.loads(line)


def _query(item: dict[str, Any]) -> Query:
    relevant = {normalize(path): grade for path, grade in item["relevant"].items()}
    wanted = {kind: value.lower() for kind, value in (item.get("filter") or {}).items()}
    return Query(
        item["qid"], item["corpus"], item["kind"], item["query"], relevant, wanted or None, item.get("variant", "")
    )

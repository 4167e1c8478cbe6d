"""A test collection: judged queries and documentation sets, in the folder layout that its README describes."""

import json
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from docsite.core.paths import normalize

Item = TypeVar("Item")

UNANSWERED = Path(__file__).with_name("unanswered.jsonl")  # one for each line: the name of a set, the question
_MARKDOWN = re.compile(r"(?<=\])\([^()\s]*\)|[`*\\]")  # addresses of links, and signs


@dataclass(frozen=True)
class Query:
    """A query and the pages that answer it, with grades.

    `variant` says how it was derived from another query, if it was. `source` says where the judgement comes from.
    """

    id: str
    set: str
    kind: str
    text: str
    relevant: dict[str, int]
    filter: dict[str, str] | None
    variant: str
    current_path: str = ""
    source: str = ""

    @property
    def request(self) -> tuple[str, dict[str, str] | None]:
        """The text and the filter, as a search engine gets them."""
        return self.text, self.filter


@dataclass(frozen=True)
class RealQuestion:
    """A question to the assistant in a reader's own words. A text that matches every one of `patterns` answers it.

    Patterns are for lower-case text without Markdown signs. Without patterns, the set does not answer the question.
    """

    set: str
    text: str
    patterns: tuple[str, ...]
    current_path: str = ""
    context: tuple[str, ...] = ()

    def is_answered_by(self, markdown: str) -> bool:
        """Whether a text has the needed fact."""
        text = " ".join(_MARKDOWN.sub("", markdown).lower().split())
        return bool(self.patterns) and all(re.search(pattern, text) for pattern in self.patterns)


@dataclass
class Collection:
    """Folders with pages and a `manifest.jsonl`, by the name of the set, and the queries, identifiers included.

    `unanswered` are questions about other products that share words with a set, and other ones that no set answers.
    """

    sets: dict[str, Path]
    queries: list[Query] = field(default_factory=list)
    questions: list[RealQuestion] = field(default_factory=list)
    unanswered: list[RealQuestion] = field(default_factory=list)

    @property
    def judged(self) -> list[Query]:
        """The queries without the identifiers."""
        return [query for query in self.queries if query.kind != "identifier"]

    @property
    def identifiers(self) -> list[Query]:
        """The identifiers alone."""
        return [query for query in self.queries if query.kind == "identifier"]

    def queries_of(self, name: str) -> list[Query]:
        """The queries of one set."""
        return [query for query in self.queries if query.set == name]

    def questions_of(self, name: str) -> list[RealQuestion]:
        """The questions in people's own words to one set."""
        return [question for question in self.questions if question.set == name]


def unpack(source: Path, folder: Path) -> None:
    """Write the documentation sets of a data folder below another folder. Raises ValueError for a broken archive."""
    for archive in sorted((source / "corpora").glob("*.tar.gz")):
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
        except (tarfile.TarError, EOFError, OSError) as broken:
            raise ValueError(f"corpora/{archive.name}: {broken}") from None


def load(source: Path, folder: Path) -> Collection:
    """Load the collection, whose sets were unpacked below `folder`. Raises ValueError for a line that is no query."""
    sets = {manifest.parent.name: manifest.parent for manifest in sorted(folder.glob("*/manifest.jsonl"))}
    files = [source / "queries.jsonl", source / "identifiers.jsonl"]
    queries = [query for file in files if file.exists() for query in _load_lines(file, _parse_query)]
    real = source / "questions.jsonl"
    questions = list(_load_lines(real, _parse_question)) if real.exists() else []
    return Collection(
        sets,
        [query for query in queries if query.set in sets],
        [question for question in questions if question and question.set in sets],
        [question for question in _load_lines(UNANSWERED, _parse_unanswered) if question.set in sets],
    )


def _load_lines(file: Path, parse: Callable[[dict[str, Any]], Item]) -> Iterator[Item]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield parse(json.loads(line))
                except (ValueError, KeyError, TypeError, AttributeError) as wrong:
                    raise ValueError(f"{file.name} line {number} is no query ({wrong})") from None


def _parse_question(item: dict[str, Any]) -> RealQuestion | None:
    """A question that stands alone; None for one that follows up others."""
    if item.get("history"):
        return None
    return RealQuestion(
        item["corpus"],
        item["question"],
        tuple(item["must"]) if item["answerable"] else (),
        normalize(item["currentPath"]) if item.get("currentPath") else "",
        tuple(selection["value"] for selection in item.get("context") or ()),
    )


def _parse_unanswered(item: dict[str, Any]) -> RealQuestion:
    return RealQuestion(item["corpus"], item["question"], ())


def _parse_query(item: dict[str, Any]) -> Query:
    relevant = {normalize(path): grade for path, grade in item["relevant"].items()}
    wanted = {kind: value.lower() for kind, value in (item.get("filter") or {}).items()}
    return Query(
        item["qid"],
        item["corpus"],
        item["kind"],
        item["query"],
        relevant,
        wanted or None,
        item.get("variant") or "",
        normalize(item["currentPath"]) if item.get("currentPath") else "",
        item.get("source") or "",
    )

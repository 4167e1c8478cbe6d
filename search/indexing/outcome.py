"""The summary of an ingest, and the errors by which it fails."""

from dataclasses import dataclass, field
from typing import Any

from search.signals import IndexEffect, IndexWarning
from search.sources import ExcludedPage, Problem, UnreadablePage


@dataclass
class Summary:
    """Counts of the pages of an ingest, and the pages that it did not index, with the reasons.

    `skipped` files could not be read; `left_out` files are not pages; `wrong_lines` are those of front matter,
    each with its file. `problems` are those with settings. `sections` counts the sections written.
    `paths` lists the added, changed and removed pages. `report` is that of
    `search.indexing.report`. `effects` is empty unless the indexes were compared.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    sections: int = 0
    redirects: int = 0
    skipped: list[UnreadablePage] = field(default_factory=list)
    left_out: list[ExcludedPage] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    wrong_lines: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[IndexWarning] = field(default_factory=list)
    paths: dict[str, list[str]] = field(default_factory=lambda: {"added": [], "changed": [], "removed": []})
    report: dict[str, Any] = field(default_factory=dict)
    effects: list[IndexEffect] = field(default_factory=list)


class IngestRefused(ValueError):
    """The new index was discarded, so the old one stays. `summary` counts what was read."""

    def __init__(self, reason: str, summary: Summary) -> None:
        super().__init__(reason)
        self.summary = summary


class IngestSuperseded(ValueError):
    """Another ingest of the project began, so this one stops."""

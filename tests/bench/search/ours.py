"""Our search as a worker, in process: `ingest` builds, `find` answers. DATA_DIR names the folder of its database."""

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django
from django.core.management import call_command

django.setup()

from docsite.core.tenants.management.commands.createproject import create_project  # noqa: E402  # Django comes first
from docsite.core.tenants.models import Project  # noqa: E402
from search.hits import Filters  # noqa: E402
from search.indexing.ingest import ingest  # noqa: E402
from search.models import Section  # noqa: E402
from search.retrieval import ranking  # noqa: E402
from search.retrieval.page_search import find  # noqa: E402
from search.sources import Item, Page  # noqa: E402
from search.sources.markdown.folder import read_manifest  # noqa: E402
from tests.bench.search import held_out, scale  # noqa: E402
from tests.bench.search.worker import PAGES, serve, timed  # noqa: E402
from tests.drafts import build_drafts  # noqa: E402
from tests.training import data  # noqa: E402

projects: dict[str, Project] = {}
models: dict[str, held_out.Model] = {}


def build(set: str, folder: str) -> dict[str, Any]:
    """Ingest a set from its files, end to end."""
    return _ingest(set, read_manifest(Path(folder), Path(folder) / "manifest.jsonl"))


def build_large(set: str, folders: list[str], copies: int) -> dict[str, Any]:
    """Ingest varied copies of sets, a version each."""
    pages = [
        page
        for folder in folders
        for page in build_drafts(read_manifest(Path(folder), Path(folder) / "manifest.jsonl"))
        if isinstance(page, Page)
    ]
    return _ingest(set, list(scale.varied(pages, copies)))


def _ingest(set: str, pages: Iterable[Item]) -> dict[str, Any]:
    projects[set], key, _ = create_project(set, "Bench", "https://docs.example", [])
    began = time.perf_counter()
    summary = ingest(projects[set], pages)
    seconds = time.perf_counter() - began
    bad = [f"{bad.origin} {bad.reason}" for bad in summary.skipped]
    return {"seconds": seconds, "sections": summary.sections, "pages": summary.added, "bad": bad, "key": key}


def sections(set: str, file: str) -> dict[str, Any]:
    """Write the sections of a set for the peers: the same cuts and texts that we have indexed."""
    with Path(file).open("w") as out:
        for record in _records(projects[set]):
            out.write(json.dumps(record) + "\n")
    return {}


def _records(project: Project) -> Iterator[dict[str, Any]]:
    rows = Section.objects.filter(document__project=project).select_related("document").order_by("document", "position")
    for number, row in enumerate(rows.iterator()):
        page = row.document
        intro = page.description if row.position == 0 and page.description not in row.text else ""
        yield {
            "id": number,
            "path": page.path,
            "title": page.title,
            "trail": row.trail,
            "headings": "\n".join(row.trail),
            "text": "\n".join(filter(None, [intro, row.text])),
            "version": page.version.lower(),
            "language": page.language.lower(),
            "tags": [tag.lower() for tag in page.tags],
        }


def train(source: str, folder: str) -> dict[str, Any]:
    """Make the models that have not seen the set they are judged on."""
    models.update(held_out.held_out(data.load(Path(source), Path(folder))))
    return {"sets": sorted(models)}


def ask(set: str, queries: list[Any]) -> dict[str, Any]:
    """The pages of each query, with their scores and facets."""
    project = projects[set]
    with patch.object(ranking, "MODEL", models.get(set, ranking.MODEL)):
        hits, ms = timed(
            lambda text, wanted: find(project, text, filters=Filters(**wanted or {}), limit=PAGES), queries
        )
    return {
        "pages": [[hit.path for hit in found] for found in hits],
        "scores": [[hit.score for hit in found] for found in hits],
        "facets": [
            [{"version": hit.version, "language": hit.language, "tag": list(hit.tags)} for hit in found]
            for found in hits
        ],
        "ms": ms,
    }


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    serve({"build": build, "build_large": build_large, "sections": sections, "train": train, "ask": ask})

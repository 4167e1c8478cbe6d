"""Make the folder of judged queries out of a source package: `python -m tests.bench.documentation FOLDER`."""

import json
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import django

django.setup()

from docsite.site.navigation import CONTENT, DEFAULT_LANGUAGE  # noqa: E402  # Django comes first
from search.sources import Draft, Item, Page  # noqa: E402
from search.sources.registry import read  # noqa: E402
from search.sources.request import SourceRequest  # noqa: E402
from tests.bench.documentation import NAME, OWN, SECTIONS  # noqa: E402
from tests.bench.documentation.questions import QUESTIONS  # noqa: E402
from tests.docsite.site.test_own_questions import QUESTIONS as OWN_QUESTIONS  # noqa: E402
from tests.drafts import build_drafts  # noqa: E402

SITE = "https://docs.example"


def main(folder: Path) -> None:
    """Write the sets, packed and unpacked, and their queries."""
    package = next(folder.glob("*.tar.gz"))
    with tempfile.TemporaryDirectory() as temporary:
        with tarfile.open(package) as packed:
            packed.extractall(temporary, filter="data")
        docs = next(Path(temporary).glob("*/docs"))
        pages = [
            item
            for item in read(SourceRequest(str(docs), SITE))
            if isinstance(item, Draft) and item.path.strip("/").startswith(tuple(f"{part}/" for part in SECTIONS))
        ]
        django_pages = write_set(folder, NAME, pages)
    own = read(SourceRequest(str(CONTENT), SITE, language=DEFAULT_LANGUAGE))
    own_pages = write_set(folder, OWN, (item for item in own if getattr(item, "language", "en") in ("", "en")))
    queries = [*judge(NAME, QUESTIONS, django_pages), *judge(OWN, OWN_QUESTIONS, own_pages)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))


def write_set(folder: Path, name: str, items: Iterable[Item]) -> set[str]:
    """Write the pages as Markdown files with a manifest; the paths of the pages."""
    target = folder / name
    target.mkdir(exist_ok=True)
    paths, lines = set(), []
    for number, page in enumerate(page for page in build_drafts(items) if isinstance(page, Page)):
        file, path = f"{number}.md", find_name(page.path)
        (target / file).write_text(page.markdown)
        paths.add(path)
        lines.append({"path": path, "file": file, "format": "md", "title": page.title, "description": page.description})
    (target / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "corpora").mkdir(exist_ok=True)
    with tarfile.open(folder / "corpora" / f"{name}.tar.gz", "w:gz") as packed:
        packed.add(target, name)
    return paths


def find_name(path: str) -> str:
    """The name of a page in the questions: its path without slashes at the ends and without `.html`."""
    return path.strip("/").removesuffix(".html")


def judge(name: str, questions: dict[str, str], paths: set[str]) -> Iterator[dict[str, object]]:
    """The judged queries of a set. Raises ValueError for a page that the set does not have."""
    for number, (question, places) in enumerate(questions.items()):
        relevant = {place.partition("#")[0].strip("/") for place in places.split()}
        if missing := relevant - paths:
            if name == NAME:
                raise ValueError(f"{question}: there is no page {', '.join(sorted(missing))}.")
            relevant &= paths
        if relevant:
            yield {
                "qid": f"{name}-{number}", "corpus": name, "kind": "question", "source": "qa", "query": question,
                "relevant": dict.fromkeys(sorted(relevant), 1),
            }  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))

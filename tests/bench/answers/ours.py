"""Our answers as a worker, in process and without a model. It indexes and ranks as `tests.bench.search.ours` does."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django
from django.core.management import call_command

django.setup()

from assistant.answering.question import Question  # noqa: E402
from assistant.improving.golden_questions import checks  # noqa: E402  # Django comes first
from search.hits import Filters  # noqa: E402
from search.models import Section  # noqa: E402
from search.retrieval import answerability, ranking  # noqa: E402
from search.retrieval.answerability import ChanceModel  # noqa: E402
from search.retrieval.page_search import find  # noqa: E402
from search.retrieval.passages import find_passages  # noqa: E402
from tests.bench.search import ours  # noqa: E402
from tests.bench.search.ours import models, projects, train  # noqa: E402
from tests.bench.search.worker import serve  # noqa: E402
from tests.training import answers, data  # noqa: E402

SEARCHED = 5  # pages that search is given to find the right ones

chances: dict[str, ChanceModel] = {}


def build(set: str, folder: str) -> dict[str, Any]:
    """Ingest a set and make its vectors, as an installed service does by itself."""
    built = ours.build(set, folder)
    call_command("embed", set, stdout=io.StringIO())
    return built


def prepare(source: str, folder: str, shipped: bool = False) -> dict[str, Any]:
    """Make the weights that have not seen the set they are judged on; what each set is to be asked, by id.

    Without training, the shipped weights are used.
    """
    judged = data.load(Path(source), Path(folder))
    if not shipped:
        train(source, folder)
        chances.update(answers.fit_held_out(answers.build_examples(judged, models)))
    return {"asked": {name: [query.id for query in answers.select_queries(judged, name)] for name in judged.sets}}


def pages(set: str) -> dict[str, Any]:
    """Each page as it was written, and its sections as readers see them: heading, anchor, text."""
    found: dict[str, Any] = {}
    for page in projects[set].documents.all():
        found[page.path] = {"content": page.content, "title": page.title, "sections": []}
    rows = Section.objects.filter(document__project=projects[set], document__build="").order_by("document", "position")
    for path, *section in rows.values_list("document__path", "heading", "anchor", "text"):
        found[path]["sections"].append(section)
    return found


@contextmanager
def _use_weights(set: str) -> Iterator[None]:
    """Within the block, the weights that were made for the set, or the shipped ones."""
    model, chance_model = models.get(set, ranking.MODEL), chances.get(set, answerability.MODEL)
    with patch.object(ranking, "MODEL", model), patch.object(answerability, "MODEL", chance_model):
        yield


def ask(set: str, queries: list[Any]) -> dict[str, Any]:
    """The answer to each query, the pages that it cites, and those that search finds with the same weights."""
    project, found = projects[set], []
    with _use_weights(set):
        for text, wanted in queries:
            filters = Filters(**wanted or {})
            outcome = checks.answer(project, Question(text, filters=filters))
            found.append({
                "text": outcome.text,
                "sources": [project.path_of(source.url) for source in outcome.sources],
                "searched": [hit.path for hit in find(project, text, filters=filters, limit=SEARCHED)],
            })  # fmt: skip
    return {"answers": found}


def chance(set: str, queries: list[Any]) -> dict[str, Any]:
    """How likely the set's pages were taken to answer each query."""
    with _use_weights(set):
        found = [find_passages(projects[set], text, filters=Filters(**wanted or {})) for text, wanted in queries]
    return {"chances": [retrieved.chance for retrieved in found]}


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    serve({"build": build, "prepare": prepare, "pages": pages, "ask": ask, "chance": chance})

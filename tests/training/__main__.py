"""Train the weights of the ranking with judged queries: `make train DATA=folder`.

The folder has queries.jsonl, identifiers.jsonl and corpora/NAME.tar.gz (pages and their manifest.jsonl). The indexes
are built in a database of their own. Prints the quality of models on a set that they were not trained on.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.template.defaultfilters import pluralize

django.setup()

from docsite.core.tenants.models import Organization, Project
from search.indexing.ingest import ingest
from search.retrieval import answerability, ranking
from search.retrieval.answerability import ChanceModel
from search.sources.markdown.folder import read_manifest
from tests.training import answers, data, examples, passages, regression, weights_file


@contextmanager
def fresh_database(folder: Path) -> Iterator[None]:
    """An empty SQLite database in place of the configured one: weights are the same for every engine."""
    configured = connections[DEFAULT_DB_ALIAS]
    settings = {
        **configured.settings_dict,
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(folder / "training.sqlite3"),
        "OPTIONS": {},
    }
    connections[DEFAULT_DB_ALIAS] = DatabaseWrapper(settings, DEFAULT_DB_ALIAS)
    try:
        with connections[DEFAULT_DB_ALIAS].schema_editor() as editor:  # migrations take ten times as long
            for model in apps.get_models():
                editor.create_model(model)
        yield
    finally:
        connections[DEFAULT_DB_ALIAS].close()
        connections[DEFAULT_DB_ALIAS] = configured


def main(arguments: list[str]) -> None:
    """Train on all sets. Raises SystemExit with a sentence about what is wrong with the data."""
    parser = argparse.ArgumentParser(prog="make train", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, help="folder of judged queries and documentation sets")
    parser.add_argument("--output", type=Path, default=ranking.WEIGHTS_FILE, help="the weights file")
    options = parser.parse_args(arguments)
    source: Path = options.data
    if not (source / "queries.jsonl").is_file():
        raise SystemExit(f"{source} has no queries.jsonl.")
    with tempfile.TemporaryDirectory() as folder:
        try:
            data.unpack(source, Path(folder))
            judged = data.load(source, Path(folder))
        except ValueError as wrong:
            raise SystemExit(f"{source}: {wrong}.") from None
        if not judged.sets:
            raise SystemExit(f"{source} has no corpora/NAME.tar.gz with a NAME/manifest.jsonl in it.")
        if len(judged.sets) < 2:
            raise SystemExit("Training needs at least two documentation sets: each is judged by the others.")
        if not all(judged.queries_of(name) for name in judged.sets):
            raise SystemExit(f"{source}: every documentation set needs queries.")
        with fresh_database(Path(folder)):
            _train(judged, source, options.output)


def _train(judged: data.Collection, source: Path, output: Path) -> None:
    """Index the documentation sets, train on them, and write the weights file.

    For each set it also trains on all others, which tells the quality on documentation that was not trained on.
    """
    own, foreign, real = {}, {}, {}
    organization = Organization.objects.create(name="Training")
    for name, folder in judged.sets.items():
        project = Project.objects.create(
            organization=organization, domain=name, name=name, docs_url=f"https://{name}.example"
        )
        summary = ingest(project, read_manifest(folder, folder / "manifest.jsonl"))
        own[name] = examples.build_own(project, judged.queries_of(name))
        foreign[name] = examples.build_foreign(project, judged, name)
        real[name] = passages.build_examples(project, judged.questions_of(name))
        if not any(any(example.right) for example in own[name]):
            raise SystemExit(f"No query of {name} finds a page that answers it. Do the paths of queries.jsonl agree?")
        pages = f"{summary.added} page{pluralize(summary.added)}"
        print(f"{name}: {pages}, {summary.sections} sections, {len(own[name])} examples")
    held_out = regression.cross_validate(own, foreign)
    ranked = {name: regression.rank_examples(own[name], held_out[name]) for name in own}
    ranked["all"] = [pair for name in own for pair in ranked[name]]
    figures = {name: regression.measure(pairs) for name, pairs in ranked.items()}
    print("On each set, trained on the others:")
    for name, row in figures.items():
        print(f"  {name:12}" + "  ".join(f"{measure} {value:.3f}" for measure, value in row.items()))
    model = regression.fit([example for name in own for example in (*own[name], *foreign[name])])
    passage_models = passages.fit_held_out(real, own, held_out)
    facts = passages.measure(real, passage_models)
    shares = "  ".join(f"{name} {share:.3f}" for name, share in facts.items())
    print(f"Questions in people's own words: {shares}")
    all_own = [example for name in own for example in own[name]]
    passage_model = passages.fit([example for name in real for example in real[name]], all_own, model)
    chance, refused = _fit_answers(judged, passage_models)
    output.write_text(
        weights_file.render(model, passage_model, chance, judged, figures | {"passages": facts}, refused, source)
    )
    print(f"Written to {output}. Compare: make bench-search DATA={source}")


def _fit_answers(
    judged: data.Collection, passage_models: dict[str, ranking.Model]
) -> tuple[ChanceModel, dict[str, Any]]:
    """Fit the weights of answerability, with rankings that were not trained on the set."""
    answer_examples = answers.build_examples(judged, passage_models)
    refused = answers.cross_validate(answer_examples)
    print(f"Refused below a chance of {answerability.MIN_CHANCE}, trained on the other sets:")
    for kind, shares in refused.items():
        print(f"  {kind:12}" + "  ".join(f"{name} {share:.3f}" for name, share in shares.items()))
    return answers.fit([example for name in answer_examples for example in answer_examples[name]]), refused


if __name__ == "__main__":
    main(sys.argv[1:])

"""The weights file: its content, how it was made, and whether it still matches the code."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from search.postings.search_index import SearchIndex
from search.retrieval import answerability, parsing, ranking
from search.retrieval.answerability import ChanceModel
from search.text import analysis
from search.text.terms import Entry, facet, rarity
from search.text.vocabulary import Vocabulary
from tests.training import regression
from tests.training.data import Collection

_PAGES = (
    ("Install acme", "Install with pip", "Run `pip install acme-cli` in a virtual environment, then `acme --version`."),
    ("Install acme", "From source", "Clone the repository and build it. The build needs a compiler."),
    (
        "Configure acme",
        "Settings",
        "`ACME_HOME` names the folder. `useColor` turns colours on, `--no-cache` caching off.",
    ),
    ("Configuración", "Ajustes", "La carpeta se elige con `ACME_HOME`."),
)
_QUERIES = ("install acme with pip", "no cache", "acme_home", "instal sorce", "configu", "colour", "settings folder ")


def render(
    model: ranking.Model,
    passage_model: ranking.Model,
    chance: ChanceModel,
    data: Collection,
    figures: Mapping[str, Mapping[str, float]],
    refused: Mapping[str, Mapping[str, float]],
    source: Path,
) -> str:
    """The text of the weights file."""
    recipe = {
        "command": "make train DATA=folder",
        "fingerprint": fingerprint(),
        "penalty": regression.PENALTY,
        "fixed": sorted(regression.FIXED),
        "data": {
            "sets": sorted(data.sets),
            "queries": len(data.queries),
            "questions": len(data.questions),
            "sha256": {file.name: digest(file) for file in _files(source)},
        },
    }
    stored = {
        **_render_model(model),
        "recipe": recipe,
        "cross_validated": figures,
        "passages": _render_model(passage_model),
        "answerable": {
            "intercept": chance.intercept,
            "weights": dict(zip(answerability.FEATURES, chance.weights, strict=True)),
            "cross_validated": refused,
        },
    }
    return json.dumps(stored, indent=2, ensure_ascii=False) + "\n"


def _render_model(model: ranking.Model) -> dict[str, Any]:
    weights = {name: model.weights[name] for name in ranking.FEATURES if name in model.weights}
    return {"intercept": model.intercept, "weights": weights}


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _files(source: Path) -> Sequence[Path]:
    return [file for file in sorted(source.rglob("*")) if file.name.endswith((".jsonl", ".tar.gz"))]


def fingerprint() -> str:
    """A hash of the features of some small pages and queries. When it changes, the weights need another training."""
    entries, vocabulary = [], Vocabulary()
    for number, texts in enumerate(_PAGES):
        joined, terms, forms = analysis.index_texts([texts[0], texts[1], "", "", texts[2]])
        title, heading, trail, about, body = joined
        name = facet("n", analysis.name_of(texts[1]))
        entries.append(Entry(number, number // 2, number % 2, title, heading, trail, about, body, facets=name))
        vocabulary.add([(terms, forms)])
    index = SearchIndex.build(entries)
    candidates = index.load(np.arange(len(entries)))
    rows: list[Any] = [list(ranking.FEATURES), round(rarity(10, 3), 6)]
    for query in _QUERIES:
        rows += [
            [round(value, 6) for value in row]
            for row in ranking.compute_features(index, parsing.parse(query, vocabulary), candidates)
        ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]

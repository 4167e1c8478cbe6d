"""A small model in place of a real one: its vectors count words, and some words mean the same."""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from search.sources import Page
from search.vectors import registry
from search.vectors.embedders import EmbeddingError, Vectors, normalize

SYNONYMS = {"delete": "remove", "erase": "remove", "car": "auto"}


class FakeEmbedder:
    """Counts words, each in a dimension that its hash chooses. `texts` are the sections that it was asked for."""

    model = "fake 1"
    batch_size = 3
    fails = False

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.queries: list[str] = []

    def embed_sections(self, texts: Sequence[str]) -> Vectors:
        if self.fails:
            raise EmbeddingError("the model is away")
        self.texts += texts
        return normalize(np.array([self._count(text) for text in texts]))

    def embed_query(self, text: str) -> Vectors:
        if self.fails:
            raise EmbeddingError("the model is away")
        self.queries.append(text)
        return normalize(self._count(text))

    def _count(self, text: str) -> Any:
        counts = np.full(64, 0.01)
        for word in re.findall(r"\w+", text.lower()):
            counts[hashlib.md5(SYNONYMS.get(word, word).encode()).digest()[0] % 64] += 1
        return counts


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    fake = FakeEmbedder()
    monkeypatch.setattr(registry, "get_embedder", lambda: fake)
    return fake


@pytest.fixture
def pages() -> Callable[..., list[Page]]:
    """Pages of one section each, by name and text."""
    return lambda **texts: [Page(name, f"/{name}", f"# {name}\n\n{text}\n") for name, text in texts.items()]

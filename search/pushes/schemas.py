"""Requests and responses of pushes over HTTP."""

from datetime import datetime
from typing import Annotated, Literal

from ninja import Schema
from pydantic import BaseModel, Field, StrictStr, field_validator

from docsite.core.http.schemas import configure_with_example
from search.pushes import stored_files
from search.sources import archives, generators
from search.sources.request import normalize_prefix

SourceName = Annotated[str, Field(max_length=50, pattern=r"^[-a-zA-Z0-9_]+$")]


class PushQuery(BaseModel):
    """How to read the archive. An option that is missing keeps its value of the last push."""

    preview: Literal["0", "1"] = Field("0", description="`1`: change nothing, and tell what the push would do.")
    delta: Literal["0", "1"] = Field(
        "0", description="`1`: the archive has `.push-manifest.json` and only the files that are missing."
    )
    root: str = Field(
        "", max_length=400, description="Folder of the documentation in the archive. Empty: the only folder, or all."
    )
    generator: str | None = Field(None, description="What renders the site. Empty: detected from the files.")
    under: str | None = Field(None, description="Path below which its pages are, such as `/api`.")
    version: str | None = Field(None, max_length=100, description="For pages that name no version.")
    language: str | None = Field(None, max_length=35, description="For pages that name no language.")

    @field_validator("root")
    @classmethod
    def _check_root(cls, value: str) -> str:
        try:
            return archives.check_path(value, "root") or ("." if value else "")
        except ValueError:
            raise ValueError("must be a folder of the archive") from None

    @field_validator("generator")
    @classmethod
    def _check_generator(cls, value: str) -> str:
        generators.validate(value)
        return value

    @field_validator("under")
    @classmethod
    def _check_under(cls, value: str) -> str:
        return normalize_prefix(value)


class ManifestIn(BaseModel):
    """All files of the documentation."""

    model_config = configure_with_example({"files": {"install.md": "0" * 64}})

    files: dict[StrictStr, StrictStr] = Field(
        max_length=archives.MAX_FILES, description="SHA-256 of each file in hexadecimal, by its path in the archive."
    )

    @field_validator("files")
    @classmethod
    def _check_files(cls, value: dict[str, str]) -> dict[str, str]:
        for path, digest in value.items():
            stored_files.check_file(path, digest)
        return value


class MissingFiles(Schema):
    """The files that a push has to send."""

    missing: list[str] = Field(description="Paths. Of files with the same content only one is in it.")


class PushedSource(Schema):
    """A source that is pushed, with its last push."""

    name: str
    state: str = Field(description="`new`, `running`, `done` or `failed`.")
    pages: int = Field(description="Its pages in the index.")
    pushedAt: datetime | None = Field(description="When a push last succeeded.")
    error: str = Field(description="Why the last push failed. Empty: it did not.")


class PushedSources(Schema):
    """The pushed sources of a project, by name."""

    sources: list[PushedSource]

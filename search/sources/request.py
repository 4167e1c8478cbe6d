"""The request that every reader gets: what to read, and how."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from docsite.core.paths import normalize, within
from docsite.core.unicode.addresses import urlsplit

_MAX_PREFIX = 200


@dataclass(frozen=True)
class SourceRequest:
    """Where pages come from, and how to read them.

    - `generator` names the site generator; when it is empty, the reader recognizes it from the files.
    - `path_prefix` stands before the path of each page of the source, such as `/api`; empty for none.
    - `version` and `language` apply to pages that name none.
    - `previous_validators` has the validators of the last run's pages, by address.
    - `private_hosts` are hosts that may be read although they are not public.
    - `opens_sample`: one address may be opened on the site, to say whether it is right.
    - `max_pages` and `max_seconds` are limits of a site, llms.txt or OpenAPI address below its own.
    - `progress` is called with a line that says what the reader does.
    """

    location: str
    docs_url: str
    generator: str = ""
    path_prefix: str = ""
    version: str = ""
    language: str = ""
    manifest: Path | None = None
    private_hosts: tuple[str, ...] = ()
    previous_validators: Mapping[str, str] = field(default_factory=dict)
    opens_sample: bool = False
    max_pages: int | None = None
    max_seconds: float | None = None
    progress: Callable[[str], None] = lambda line: None

    @property
    def is_remote(self) -> bool:
        """Whether the location is a URL that is fetched over HTTP."""
        return urlsplit(self.location).scheme in ("http", "https")

    @property
    def file(self) -> Path | None:
        """The file at the location, if it is one."""
        return None if self.is_remote or not Path(self.location).is_file() else Path(self.location)

    @property
    def folder(self) -> Path | None:
        """The folder at the location, if it is one."""
        return None if self.is_remote or not Path(self.location).is_dir() else Path(self.location)

    def path_of(self, address: str) -> str:
        """The path of the page at an address, relative to the docs URL where the address lies below it."""
        return within(normalize(address), normalize(self.docs_url))


def normalize_prefix(prefix: str) -> str:
    """Normalize the path prefix of a source; empty for the root. Raises ValueError with a sentence.

    >>> normalize_prefix("api/")
    '/api'
    """
    plain = unquote(prefix.strip())
    if "://" in plain or not {"?", "#"}.isdisjoint(plain) or ".." in plain.split("/") or len(plain) > _MAX_PREFIX:
        raise ValueError(f"Write a path such as /api, without .., ? and #, of at most {_MAX_PREFIX} characters.")
    return normalize(prefix).rstrip("/")

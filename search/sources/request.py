"""What to read and how: every reader of sources gets one request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docsite.core.paths import normalize, within

_MAX_UNDER = 200


@dataclass(frozen=True)
class SourceRequest:
    """Where pages come from, and how to understand them.

    - `generator` renders the site; when it is empty, the reader finds out from the files.
    - `under` is the path below which the source's pages stand.
    - `version` and `language` are for pages that name none.
    - `known` has the validators of the pages of the last run by address.
    - `private_hosts` may be read although they are not public.
    """

    location: str
    docs_url: str
    generator: str = ""
    under: str = ""
    version: str = ""
    language: str = ""
    manifest: Path | None = None
    private_hosts: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda line: None

    @property
    def is_remote(self) -> bool:
        """Whether the location is an address that is read over HTTP."""
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
        """The path of the page at an address, as the project sees it."""
        return within(normalize(address), normalize(self.docs_url))


def under_of(given: str) -> str:
    """Where a source's pages begin, in its one spelling; empty for the root. Raises ValueError with a sentence.

    >>> under_of("api/")
    '/api'
    """
    plain = unquote(given.strip())
    if "://" in plain or not {"?", "#"}.isdisjoint(plain) or ".." in plain.split("/") or len(plain) > _MAX_UNDER:
        raise ValueError(f"Write a path such as /api, without .., ? and #, of at most {_MAX_UNDER} characters.")
    return normalize(given).rstrip("/")

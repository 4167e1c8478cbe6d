"""What is to be read and how: what every source is told."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docsite.core.paths import normalize, within

_LONGEST_UNDER = 200


@dataclass(frozen=True)
class Reading:
    """Where pages come from, and how they are to be understood.

    `generator` says what renders the site; empty, the files tell. `under` is where the source's pages begin;
    `version` and `language` are of pages that name none. `known` has the validators of the last time's pages
    by address. `private_hosts` are read though they are not public.
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
        """Whether it is read over HTTP."""
        return urlsplit(self.location).scheme in ("http", "https")

    def path_of(self, address: str) -> str:
        """The path of the page at an address, as the project sees it."""
        return within(normalize(address), normalize(self.docs_url))


def under_of(given: str) -> str:
    """Where a source's pages begin, in its one spelling; empty for the root. Raises ValueError with a sentence.

    >>> under_of("api/")
    '/api'
    """
    plain = unquote(given.strip())
    if "://" in plain or not {"?", "#"}.isdisjoint(plain) or ".." in plain.split("/") or len(plain) > _LONGEST_UNDER:
        raise ValueError(f"Write a path such as /api, without .., ? and #, of at most {_LONGEST_UNDER} characters.")
    return normalize(given).rstrip("/")

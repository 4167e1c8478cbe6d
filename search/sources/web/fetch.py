"""Fetch from untrusted hosts over HTTP: every address is checked, and everything received is bounded."""

import re
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlsplit

import httpcore
import httpx

from search.sources.request import SourceRequest
from search.sources.web import network
from search.sources.web.private import PrivateHosts

AGENT = "docs-service"  # what robots.txt may call it
USER_AGENT = f"{AGENT}/0.1 (reads documentation for its owner's search)"
MAX_REDIRECTS = 5
MAX_VALIDATOR = 200
MAX_ADDRESS = 2000
_REDIRECTS = (301, 302, 303, 307, 308)
_SHOWN = 200  # characters of an address in a message
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


class Limits(NamedTuple):
    """Limits of a fetch: bytes, compressed or not, and total seconds with redirects."""

    bytes: int
    seconds: float


PAGE = Limits(5 * 1024 * 1024, 20.0)
LARGE = Limits(100 * 1024 * 1024, 120.0)  # a whole site or interface in one file


class FetchError(ValueError):
    """An address could not be fetched. As text it is a sentence; `reason` is its part after the address.

    `status` is the server's status, 0 without an answer. `elsewhere` is True for a redirect to another site.
    """

    def __init__(self, url: str, reason: str, status: int = 0, *, elsewhere: bool = False) -> None:
        super().__init__(f"{printable(url)} {reason}")
        self.reason = reason
        self.status = status
        self.elsewhere = elsewhere

    @property
    def is_gone(self) -> bool:
        """Whether the page does not exist, rather than failed this time."""
        return self.status in (404, 410)


@dataclass(frozen=True)
class Answer:
    """A response. `url` is the address after redirects, `headers` have lower-case names, `body` is decompressed."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_unchanged(self) -> bool:
        """Whether the validator still holds, so that there is no body."""
        return self.status == 304

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The encoding that the server names; may be empty."""
        found = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", self.headers.get("content-type", ""), re.IGNORECASE)
        return found[1] if found else ""

    @property
    def validator(self) -> str:
        """The value for a conditional request: the ETag, else the date; empty without either."""
        given = self.headers.get("etag") or self.headers.get("last-modified", "")
        return given if len(given) <= MAX_VALIDATOR and given.isascii() and given.isprintable() else ""


class Fetcher:
    """Sends GET requests without cookies, credentials or proxies of the environment. Safe for several threads.

    It connects only over http and https, and only to public hosts and those that the owner allows, also after
    redirects. Redirects stay on the site (`same_site`). The time limit does not cover the look-up of a name, which
    ends when the system's resolver gives up.
    """

    def __init__(self, request: SourceRequest, resolver: network.Resolver = network.resolve) -> None:
        guarded = network.GuardedBackend(PrivateHosts(request.private_hosts), resolver)
        self._pool = httpcore.ConnectionPool(network_backend=guarded)

    def __enter__(self) -> "Fetcher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.close()

    def get(self, url: str, validator: str = "", caps: Limits = PAGE, only: Collection[str] = ()) -> Answer:
        """The answer with status 200, or 304 when the validator (`Answer.validator`) still holds.

        With `only`, bodies of other media types are not read. Raises FetchError.
        """
        at = _readable(url, url)
        with network.within(caps.seconds) as until:
            for _ in range(MAX_REDIRECTS + 1):
                answer = self._ask(url, at, validator, caps, only, until)
                if answer.status not in _REDIRECTS:
                    break
                at = _readable(url, answer.headers.get("location", ""), at)
                if not same_site(url, str(at)):
                    raise FetchError(url, f"leads to another site, {printable(str(at))}", answer.status, elsewhere=True)
            else:
                raise FetchError(url, f"is redirected more than {MAX_REDIRECTS} times", answer.status)
        if answer.status == 200 or (answer.is_unchanged and validator):
            return answer
        raise FetchError(url, f"answers {answer.status}", answer.status)

    def _ask(
        self, url: str, at: httpx.URL, validator: str, caps: Limits, only: Collection[str], until: float
    ) -> Answer:
        """One request, without following where it leads."""
        headers = [
            (b"User-Agent", USER_AGENT.encode()),
            (b"Accept", b"text/html, application/xhtml+xml, */*;q=0.5"),
            (b"Accept-Encoding", b"gzip"),
        ]
        if validator:
            condition = b"If-None-Match" if validator.endswith('"') else b"If-Modified-Since"
            headers.append((condition, validator.encode("ascii", "ignore")))
        target = httpcore.URL(scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path)
        waiting = {"timeout": {"pool": caps.seconds}}
        try:
            with self._pool.stream("GET", target, headers=headers, extensions=waiting) as response:
                given = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
                answer = Answer(str(at.copy_with(fragment=None)), response.status, given, b"")
                if response.status != 200 or (only and answer.content_type not in only):
                    return answer
                pieces = _until(response.iter_stream(), until)
                body = b"".join(decompress(pieces, given.get("content-encoding", ""), caps.bytes))
                return Answer(answer.url, answer.status, given, body)
        except network.NotPublic as refused:
            raise FetchError(
                url,
                f"is at {refused.address}, which is no public address. Where documentation is to be read from there, "
                f"name {at.netloc.decode()} in CRAWL_PRIVATE_HOSTS.",
            ) from None
        except network.UnknownHost:
            raise FetchError(url, "cannot be reached: there is no host of that name") from None
        except httpcore.TimeoutException:
            raise FetchError(url, f"did not answer whole within {caps.seconds:g} seconds") from None
        except (httpcore.NetworkError, httpcore.ProtocolError) as failure:
            said = _UNPRINTABLE.sub("?", str(failure))[:_SHOWN]
            raise FetchError(url, f"cannot be reached: {said or 'the connection broke'}") from None
        except ValueError as wrong:
            raise FetchError(url, str(wrong)) from None


def same_site(one: str, other: str) -> bool:
    """Whether the other address belongs to the site of the one: the same host and port, with or without `www.`.

    From http it may go on to https, and never back.

    >>> same_site("http://docs.example/a", "https://www.docs.example/b")
    True
    """
    downgraded = urlsplit(one).scheme.lower() == "https" and urlsplit(other).scheme.lower() == "http"
    return site_of(one) == site_of(other) and not downgraded


def site_of(url: str) -> tuple[str, int | None]:
    """The host without `www.`, and the port where it is not the scheme's own. Raises ValueError for what is none."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme.lower())
    return (parts.hostname or "").rstrip(".").removeprefix("www."), None if parts.port == usual else parts.port


def printable(url: str) -> str:
    """An address for messages: one line, not too long, without password and query, which may hold secrets.

    >>> printable("https://me:secret@docs.example/?token=secret")
    'https://docs.example/?…'
    """
    url = re.sub(r"(?<=//)[^/?#]*@", "", url)
    url, _, query = url.partition("?")
    return _UNPRINTABLE.sub("?", url[:_SHOWN]) + ("?…" if query else "…" if len(url) > _SHOWN else "")


def decompress(pieces: Iterable[bytes], encoding: str, most: int) -> Iterator[bytes]:
    """Decompress a body piece by piece; nothing beyond the limit is ever decompressed.

    Raises ValueError with a reason when the body, compressed or not, is larger than `most`, or broken.
    """
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise ValueError("is packed in a way that was not asked for")
    unzip = zlib.decompressobj(wbits=47) if encoding not in ("", "identity") else None  # with the head of zlib or gzip
    packed = size = 0
    for piece in pieces:
        packed += len(piece)
        while piece:
            if unzip:
                try:
                    some = unzip.decompress(piece, most + 1 - size)
                except zlib.error:
                    raise ValueError("is packed in a way that cannot be unpacked") from None
                piece = unzip.unconsumed_tail
            else:
                some, piece = piece, b""
            size += len(some)
            if max(size, packed) > most:
                raise ValueError(f"is larger than {most // 1024 // 1024} MiB")
            yield some
    if unzip and packed and not unzip.eof:
        raise ValueError("breaks off")


def _until(pieces: Iterator[bytes], until: float) -> Iterator[bytes]:
    """The pieces until the time is over: sockets do not time data that has already arrived."""
    for piece in pieces:
        if time.monotonic() > until:
            raise httpcore.ReadTimeout("the time is over")
        yield piece


def _readable(asked: str, url: str, base: httpx.URL | None = None) -> httpx.URL:
    """The address, if it may be requested. Raises FetchError about the first address."""
    try:
        found = base.join(url) if base else httpx.URL(url)
        site_of(str(found))  # which minds the port, too
    except (httpx.InvalidURL, ValueError):
        raise FetchError(asked, "is no address" if not base else "leads to what is no address") from None
    if found.scheme not in ("http", "https") or not found.host:
        verb = "leads to" if base else "is"
        raise FetchError(asked, f"{verb} no address that begins with https:// or http://", elsewhere=bool(base))
    if len(str(found)) > MAX_ADDRESS:
        raise FetchError(asked, f"{'leads to' if base else 'is'} an address of more than {MAX_ADDRESS} characters")
    if found.userinfo:
        verb = "leads to an address with" if base else "has"
        raise FetchError(asked, f"{verb} a user name or a password, which are never sent", elsewhere=bool(base))
    return found

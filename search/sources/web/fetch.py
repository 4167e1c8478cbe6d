"""Fetch from untrusted hosts over HTTP: every address is checked, and every response is limited."""

import math
import re
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import httpcore
import httpx

from docsite.core.network import connections as network
from docsite.core.network.private_hosts import PrivateHosts
from docsite.core.unicode.addresses import urlsplit
from search.sources.request import SourceRequest

AGENT = "docs-service"  # our name in robots.txt
USER_AGENT = f"{AGENT}/0.1 (reads documentation for its owner's search)"
MAX_REDIRECTS = 5
MAX_VALIDATOR = 200
MAX_ADDRESS = 2000
_REDIRECTS = (301, 302, 303, 307, 308)
_MAX_PRINTED = 200  # characters of an address in a message
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


class Limits(NamedTuple):
    """Limits of a fetch: bytes of the body, compressed and decompressed; seconds, including redirects."""

    bytes: int
    seconds: float


PAGE = Limits(5 * 1024 * 1024, 20.0)
LARGE = Limits(100 * 1024 * 1024, 120.0)  # a whole site in one file


class FetchError(ValueError):
    """An address could not be fetched. The message is a sentence; `reason` is its part after the address.

    `status` is the HTTP status, 0 without a response. `leaves_site` is True for a redirect to another site, and
    `is_private` for a host that is not public.
    """

    def __init__(
        self, url: str, reason: str, status: int = 0, *, leaves_site: bool = False, is_private: bool = False
    ) -> None:
        super().__init__(f"{printable(url)} {reason}")
        self.reason = reason
        self.status = status
        self.leaves_site = leaves_site
        self.is_private = is_private

    @property
    def is_gone(self) -> bool:
        """Whether the server says that the page does not exist."""
        return self.status in (404, 410)


@dataclass(frozen=True)
class Response:
    """A response. `url` is the URL after redirects, `headers` have lower-case names, `body` is decompressed."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_unchanged(self) -> bool:
        """Whether the page has not changed since the validator was sent (status 304). Then there is no body."""
        return self.status == 304

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The encoding in the Content-Type; may be empty."""
        found = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", self.headers.get("content-type", ""), re.IGNORECASE)
        return found[1] if found else ""

    @property
    def validator(self) -> str:
        """The value for the next conditional request: the ETag, else the date of change; may be empty."""
        value = self.headers.get("etag") or self.headers.get("last-modified", "")
        return value if len(value) <= MAX_VALIDATOR and value.isascii() and value.isprintable() else ""


class Fetcher(AbstractContextManager["Fetcher", None]):
    """Sends GET requests without cookies, credentials or the environment's proxies. Safe for several threads.

    It connects only over http and https, and only to public hosts and to private hosts that the owner allows. This
    also holds after redirects, which must stay on the site (`is_same_site`). The time limit does not cover the
    resolution of a name; that ends when the system's resolver gives up. All requests together take at most
    `max_seconds`, and those of the request.
    """

    def __init__(
        self, request: SourceRequest, resolver: network.Resolver = network.resolve, *, max_seconds: float = math.inf
    ) -> None:
        self._until = time.monotonic() + min(max_seconds, request.max_seconds or math.inf)
        backend = network.GuardedBackend(PrivateHosts(request.private_hosts), resolver)
        self._pool = httpcore.ConnectionPool(network_backend=backend)

    def __exit__(self, *exception: object) -> None:
        self._pool.close()

    def get(self, url: str, validator: str = "", limits: Limits = PAGE, media_types: Collection[str] = ()) -> Response:
        """The response with status 200, or 304 when `validator` (`Response.validator`) is still current.

        With `media_types`, the body of any other type is not read. Raises FetchError.
        """
        current_url = validate_url(url, url)
        left = self._until - time.monotonic()
        if left <= 0:
            raise FetchError(url, "was not opened, because the site is slow")
        limits = limits._replace(seconds=min(limits.seconds, left))
        with network.deadline(limits.seconds) as deadline:
            for _ in range(MAX_REDIRECTS + 1):
                response = self._send(url, current_url, validator, limits, media_types, deadline)
                if response.status not in _REDIRECTS:
                    break
                current_url = validate_url(url, response.headers.get("location", ""), current_url)
                if not is_same_site(url, str(current_url)):
                    raise FetchError(
                        url, f"leads to another site, {printable(str(current_url))}", response.status, leaves_site=True
                    )
            else:
                raise FetchError(url, f"is redirected more than {MAX_REDIRECTS} times", response.status)
        if response.status == 200 or (response.is_unchanged and validator):
            return response
        raise FetchError(url, f"answers {response.status}", response.status)

    def _send(
        self, url: str, target_url: httpx.URL, validator: str, limits: Limits, media_types: Collection[str], end: float
    ) -> Response:
        """Send one request. Redirects are not followed."""
        headers = [
            (b"User-Agent", USER_AGENT.encode()),
            (b"Accept", b"text/html, application/xhtml+xml, */*;q=0.5"),
            (b"Accept-Encoding", b"gzip"),
        ]
        if validator:
            condition = b"If-None-Match" if validator.endswith('"') else b"If-Modified-Since"
            headers.append((condition, validator.encode("ascii", "ignore")))
        raw_url = httpcore.URL(
            scheme=target_url.raw_scheme, host=target_url.raw_host, port=target_url.port, target=target_url.raw_path
        )
        extensions = {"timeout": {"pool": limits.seconds}}
        try:
            with self._pool.stream("GET", raw_url, headers=headers, extensions=extensions) as stream:
                response_headers = {
                    name.decode("latin-1").lower(): value.decode("latin-1") for name, value in stream.headers
                }
                response = Response(str(target_url.copy_with(fragment=None)), stream.status, response_headers, b"")
                if stream.status != 200 or (media_types and response.content_type not in media_types):
                    return response
                pieces = _enforce_deadline(stream.iter_stream(), end)
                body = b"".join(decompress(pieces, response_headers.get("content-encoding", ""), limits.bytes))
                return Response(response.url, response.status, response_headers, body)
        except network.PrivateAddressError as refused:
            raise FetchError(
                url,
                f"is at {refused.address}, which is no public address. To read it, add it to the "
                "environment variable of the service or of this command "
                f"(CRAWL_PRIVATE_HOSTS={target_url.netloc.decode()}), or name the folder of the built site",
                is_private=True,
            ) from None
        except network.UnknownHostError:
            raise FetchError(url, "cannot be reached: there is no host of that name") from None
        except httpcore.TimeoutException:
            raise FetchError(url, f"did not answer whole within {limits.seconds:g} seconds") from None
        except (httpcore.NetworkError, httpcore.ProtocolError) as failure:
            message = _UNPRINTABLE.sub("?", str(failure))[:_MAX_PRINTED]
            raise FetchError(url, f"cannot be reached: {message or 'the connection broke'}") from None
        except ValueError as wrong:
            raise FetchError(url, str(wrong)) from None


def is_same_site(one: str, other: str) -> bool:
    """Whether two URLs belong to one site: the same host and port, with or without `www.`.

    The second may be https when the first is http, but not the other way round.

    >>> is_same_site("http://docs.example/a", "https://www.docs.example/b")
    True
    """
    downgraded = urlsplit(one).scheme.lower() == "https" and urlsplit(other).scheme.lower() == "http"
    return parse_site(one) == parse_site(other) and not downgraded


def parse_site(url: str) -> tuple[str, int | None]:
    """The host without `www.`, and the port unless it is the default. Raises ValueError for an invalid URL."""
    parts = urlsplit(url)
    default_port = {"http": 80, "https": 443}.get(parts.scheme.lower())
    return (parts.hostname or "").rstrip(".").removeprefix("www."), None if parts.port == default_port else parts.port


def printable(url: str) -> str:
    """A URL for messages: one short line, without password and query, which may contain secrets.

    >>> printable("https://me:secret@docs.example/?token=secret")
    'https://docs.example/?…'
    """
    url = re.sub(r"(?<=//)[^/?#]*@", "", url)
    url, _, query = url.partition("?")
    return _UNPRINTABLE.sub("?", url[:_MAX_PRINTED]) + ("?…" if query else "…" if len(url) > _MAX_PRINTED else "")


def decompress(pieces: Iterable[bytes], encoding: str, max_bytes: int) -> Iterator[bytes]:
    """Yield the decompressed body piece by piece, never more than `max_bytes`.

    Raises ValueError with a reason when the body is broken, or larger than `max_bytes` (compressed or not).
    """
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise ValueError("is packed in a way that was not asked for")
    decompressor = zlib.decompressobj(wbits=47) if encoding not in ("", "identity") else None  # zlib or gzip header
    compressed_size = size = 0
    for piece in pieces:
        compressed_size += len(piece)
        while piece:
            if decompressor:
                try:
                    data = decompressor.decompress(piece, max_bytes + 1 - size)
                except zlib.error:
                    raise ValueError("is packed in a way that cannot be unpacked") from None
                piece = decompressor.unconsumed_tail
            else:
                data, piece = piece, b""
            size += len(data)
            if max(size, compressed_size) > max_bytes:
                raise ValueError(f"is larger than {max_bytes // 1024 // 1024} MiB")
            yield data
    if decompressor and compressed_size and not decompressor.eof:
        raise ValueError("breaks off")


def _enforce_deadline(pieces: Iterator[bytes], deadline: float) -> Iterator[bytes]:
    """The pieces until the deadline. The socket's own timeout does not apply to data that has already arrived."""
    for piece in pieces:
        if time.monotonic() > deadline:
            raise httpcore.ReadTimeout("the time is over")
        yield piece


def validate_url(requested: str, url: str, base: httpx.URL | None = None) -> httpx.URL:
    """The absolute URL, if it may be requested. Raises FetchError, which names the URL that was requested first."""
    try:
        parsed = base.join(url) if base else httpx.URL(url)
        parse_site(str(parsed))  # raises ValueError for an invalid port
    except (httpx.InvalidURL, ValueError):
        raise FetchError(requested, "is no address" if not base else "leads to what is no address") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        verb = "leads to" if base else "is"
        raise FetchError(requested, f"{verb} no address that begins with https:// or http://", leaves_site=bool(base))
    if len(str(parsed)) > MAX_ADDRESS:
        raise FetchError(requested, f"{'leads to' if base else 'is'} an address of more than {MAX_ADDRESS} characters")
    if parsed.userinfo:
        verb = "leads to an address with" if base else "has"
        raise FetchError(requested, f"{verb} a user name or a password, which are never sent", leaves_site=bool(base))
    return parsed

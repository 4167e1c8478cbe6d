"""Reading over HTTP from hosts that nobody vouches for: addresses are judged, and nothing is taken without a bound."""

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


class Caps(NamedTuple):
    """The most that is taken: bytes, packed or unpacked, and seconds in all, redirects included."""

    bytes: int
    seconds: float


PAGE = Caps(5 * 1024 * 1024, 20.0)
LARGE = Caps(100 * 1024 * 1024, 120.0)  # a whole site or interface in one file


class Unfetched(ValueError):
    """Nothing came from an address. As text it is a sentence; `reason` goes on after the address.

    `status` is what the server answered, 0 when it did not. `elsewhere` says that it redirects to another site.
    """

    def __init__(self, url: str, reason: str, status: int = 0, *, elsewhere: bool = False) -> None:
        super().__init__(f"{shown(url)} {reason}")
        self.reason = reason
        self.status = status
        self.elsewhere = elsewhere

    @property
    def is_gone(self) -> bool:
        """Whether there is no such page, rather than none just now."""
        return self.status in (404, 410)


@dataclass(frozen=True)
class Answer:
    """What a server gave. `url` is the address after redirects, `headers` have lower-case names, `body` is unpacked."""

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
        """What to ask with whether it has changed: the ETag, else the date; empty where the server gives neither."""
        given = self.headers.get("etag") or self.headers.get("last-modified", "")
        return given if len(given) <= MAX_VALIDATOR and given.isascii() and given.isprintable() else ""


class Fetcher:
    """Asks with GET: no cookies, no credentials, no proxies of the environment. May be used by several threads.

    Only http and https, only public hosts and those that the owner names, at the first and at each address that it is
    redirected to. Redirects stay on the site (`same_site`). What a cap of time does not reach is the look-up of a name,
    which ends when the system's resolver gives up.
    """

    def __init__(self, request: SourceRequest, resolver: network.Resolver = network.resolve) -> None:
        guarded = network.Guarded(PrivateHosts(request.private_hosts), resolver)
        self._pool = httpcore.ConnectionPool(network_backend=guarded)

    def __enter__(self) -> "Fetcher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.close()

    def get(self, url: str, validator: str = "", caps: Caps = PAGE, only: Collection[str] = ()) -> Answer:
        """The answer with status 200, or 304 when the validator (`Answer.validator`) still holds.

        With `only`, bodies of other media types are not read. Raises Unfetched.
        """
        at = _readable(url, url)
        with network.within(caps.seconds) as until:
            for _ in range(MAX_REDIRECTS + 1):
                answer = self._ask(url, at, validator, caps, only, until)
                if answer.status not in _REDIRECTS:
                    break
                at = _readable(url, answer.headers.get("location", ""), at)
                if not same_site(url, str(at)):
                    raise Unfetched(url, f"leads to another site, {shown(str(at))}", answer.status, elsewhere=True)
            else:
                raise Unfetched(url, f"is redirected more than {MAX_REDIRECTS} times", answer.status)
        if answer.status == 200 or (answer.is_unchanged and validator):
            return answer
        raise Unfetched(url, f"answers {answer.status}", answer.status)

    def _ask(self, url: str, at: httpx.URL, validator: str, caps: Caps, only: Collection[str], until: float) -> Answer:
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
                pieces = _timed(response.iter_stream(), until)
                body = b"".join(unpacked(pieces, given.get("content-encoding", ""), caps.bytes))
                return Answer(answer.url, answer.status, given, body)
        except network.NotPublic as refused:
            raise Unfetched(
                url,
                f"is at {refused.address}, which is no public address. Where documentation is to be read from there, "
                f"name {at.netloc.decode()} in CRAWL_PRIVATE_HOSTS.",
            ) from None
        except network.Unknown:
            raise Unfetched(url, "cannot be reached: there is no host of that name") from None
        except httpcore.TimeoutException:
            raise Unfetched(url, f"did not answer whole within {caps.seconds:g} seconds") from None
        except (httpcore.NetworkError, httpcore.ProtocolError) as failure:
            said = _UNPRINTABLE.sub("?", str(failure))[:_SHOWN]
            raise Unfetched(url, f"cannot be reached: {said or 'the connection broke'}") from None
        except ValueError as wrong:
            raise Unfetched(url, str(wrong)) from None


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


def shown(url: str) -> str:
    """An address as a message may have it: of one line, not too long, without a password or a query, which may be one.

    >>> shown("https://me:secret@docs.example/?token=secret")
    'https://docs.example/?…'
    """
    url = re.sub(r"(?<=//)[^/?#]*@", "", url)
    url, _, query = url.partition("?")
    return _UNPRINTABLE.sub("?", url[:_SHOWN]) + ("?…" if query else "…" if len(url) > _SHOWN else "")


def unpacked(pieces: Iterable[bytes], encoding: str, most: int) -> Iterator[bytes]:
    """The bytes behind a content encoding, each piece as it comes; nothing beyond the cap is ever unpacked.

    Raises ValueError with a reason when they, packed or not, are more than `most`, or are broken.
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


def _timed(pieces: Iterator[bytes], until: float) -> Iterator[bytes]:
    """The pieces as long as there is time: what was received at once is not timed by the sockets."""
    for piece in pieces:
        if time.monotonic() > until:
            raise httpcore.ReadTimeout("the time is over")
        yield piece


def _readable(asked: str, url: str, base: httpx.URL | None = None) -> httpx.URL:
    """An address that may be asked. Raises Unfetched about the address that it all began with."""
    try:
        found = base.join(url) if base else httpx.URL(url)
        site_of(str(found))  # which minds the port, too
    except (httpx.InvalidURL, ValueError):
        raise Unfetched(asked, "is no address" if not base else "leads to what is no address") from None
    if found.scheme not in ("http", "https") or not found.host:
        verb = "leads to" if base else "is"
        raise Unfetched(asked, f"{verb} no address that begins with https:// or http://", elsewhere=bool(base))
    if len(str(found)) > MAX_ADDRESS:
        raise Unfetched(asked, f"{'leads to' if base else 'is'} an address of more than {MAX_ADDRESS} characters")
    if found.userinfo:
        verb = "leads to an address with" if base else "has"
        raise Unfetched(asked, f"{verb} a user name or a password, which are never sent", elsewhere=bool(base))
    return found

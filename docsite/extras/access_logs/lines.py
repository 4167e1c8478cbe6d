"""Turn the lines of an access log into views.

A view is a GET request that was answered with a page. If a line lacks a field, the field
is empty: no `Accept`, and no request not to be tracked.
"""

import functools
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum

from analytics import agents
from analytics.collecting.recording import CLOCK_SKEW, EARLIEST, Observation
from analytics.collecting.requests import is_prefetch
from docsite.core.http import client_address
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.access_logs import formats
from docsite.extras.access_logs.request import Request

MAX_LINE_BYTES = 65_536
_MAX_VALUE_LENGTH = 2_000
_MAX_COPIES = 100_000  # equal lines of one minute that are numbered

_MISSED = ("404", "410")
_VIEWED = ("200", "304")  # 304: the reader has the page in a cache
_ASSETS = frozenset(
    {
        "7z", "aac", "apk", "atom", "avi", "avif", "bin", "bmp", "br", "bz2", "cjs", "css", "csv", "cur", "deb",
        "dmg", "doc", "docx", "eot", "epub", "exe", "flac", "gif", "gz", "ico", "ics", "iso", "jar", "jpeg", "jpg",
        "js", "json", "jsonl", "less", "log", "map", "mjs", "mov", "mp3", "mp4", "mpeg", "msi", "odt", "ogg", "otf",
        "pdf", "pkg", "png", "ppt", "pptx", "ps1", "rar", "rpm", "rss", "scss", "sh", "sig", "svg", "swf", "tar",
        "tgz", "tif", "tiff", "toml", "ts", "tsv", "ttf", "txt", "wasm", "wav", "webm", "webmanifest", "webp", "woff",
        "woff2", "xls", "xlsx", "xml", "xsl", "xz", "yaml", "yml", "zip", "zst",
    }
)  # fmt: skip
_LLMS = ("llms.txt", "llms-full.txt")
_ABSOLUTE = re.compile(r"https?://(?:[^/?#]*@)?([^/?#]*)", re.IGNORECASE)
COMMENT = b"#"  # a line that begins with it describes the log


@functools.lru_cache(20_000)
def _address(text: str) -> client_address.Address | None:
    """The reader's address: the first one where a log has those of proxies behind it."""
    return client_address.parse_hop(text.strip('"').partition(",")[0])


class SkipReason(StrEnum):
    """Why a line is not a view."""

    UNREADABLE = "unreadable"
    NO_TIME = "without a known time"
    NO_ADDRESS = "without a known address"
    NO_TARGET = "without a known path"
    NO_METHOD = "without a known method"
    NO_STATUS = "without a known status"
    NO_USER_AGENT = "without a known user agent"
    METHOD = "other methods than GET"
    STATUS = "redirects, errors and other answers"
    ASSET = "not pages"
    FOLDER = "outside the documentation's folder"
    HOST = "of other sites"
    AHEAD = "fetched ahead"
    PERSON = "of people"
    COMMENT = "comments"
    LEFT_OUT = "left out by the project"


_MISSING = {
    "target": SkipReason.NO_TARGET,
    "method": SkipReason.NO_METHOD,
    "status": SkipReason.NO_STATUS,
    "agent": SkipReason.NO_USER_AGENT,
}
UNKNOWN = (SkipReason.UNREADABLE, SkipReason.NO_TIME, SkipReason.NO_ADDRESS, *_MISSING.values())  # it may be a view


class ViewParser:
    """Makes views of a site from the lines of one log, in their order.

    The id of a view is the request id of the line, or else the line itself, so it is the
    same in any copy of the log. Equal lines of one minute are numbered: each is a view.

    `people`: whether to include the views of people. A script in their browsers may count them already.
    """

    def __init__(self, docs_url: str, origins: Iterable[str] = (), *, people: bool = True) -> None:
        self.people = people
        self.folder = urlsplit(docs_url).path.rstrip("/")
        self.hosts = {_normalize_host(urlsplit(url).hostname or "") for url in (docs_url, *origins)}
        self.minute: datetime | None = None  # of the latest view
        self.copies: dict[int, int] = {}  # of that minute, by a line's hash
        self.missed: Observation | None = None  # the request of the last line, if it was for a page that does not exist

    def parse(self, raw: bytes) -> Observation | SkipReason:
        """The view of a line, or the reason why it is not a view. Sets `missed`."""
        self.missed = None
        if len(raw) > MAX_LINE_BYTES:
            return SkipReason.UNREADABLE
        if raw.startswith(COMMENT):
            return SkipReason.COMMENT
        line = formats.decode(raw)
        request = formats.parse_line(line)
        if request is None:
            return SkipReason.UNREADABLE
        at, address = formats.parse_time(request.time), _address(request.address)
        if at is None or at < EARLIEST or at > datetime.now(UTC) + CLOCK_SKEW:
            return SkipReason.NO_TIME
        if address is None:
            return SkipReason.NO_ADDRESS
        host, path = _split_target(request.target)
        reason = _MISSING.get(request.missing) or self._skip_reason(request, host, path)
        if reason is SkipReason.STATUS and request.status in _MISSED:
            viewed = self._skip_reason(request._replace(status=_VIEWED[0]), host, path) is None
            self.missed = _build_observation(request, path, at, address) if viewed else None
        if reason:
            return reason
        if not self.people and _is_person(request):
            return SkipReason.PERSON
        minute = at.replace(second=0, microsecond=0)
        if minute != self.minute or len(self.copies) >= _MAX_COPIES:
            self.minute = minute
            self.copies.clear()
        return _build_observation(request, path, at, address, request.request_id or self._number_line(line))

    def _skip_reason(self, request: Request, host: str, path: str) -> SkipReason | None:
        if request.method != "GET":
            return SkipReason.METHOD
        if request.status not in _VIEWED:
            return SkipReason.STATUS
        if not request.target:
            return SkipReason.UNREADABLE
        if not _is_page(path) or "_rsc=" in request.target:  # Next.js fetches parts of pages, mostly for visible links
            return SkipReason.ASSET
        if any(
            _is_site_name(name) and _normalize_host(name) not in self.hosts for name in (request.host, host) if name
        ):
            return SkipReason.HOST
        if self.folder and not f"{path}/".startswith(f"{self.folder}/"):
            return SkipReason.FOLDER
        if is_prefetch(request.purpose):
            return SkipReason.AHEAD
        return None

    def _number_line(self, line: str) -> str:
        known = hash(line)
        number = self.copies[known] = self.copies.get(known, -1) + 1
        return f"{number} {line}"


def _build_observation(
    request: Request, path: str, at: datetime, address: client_address.Address, view_id: str = ""
) -> Observation:
    return Observation(
        view_id=view_id,
        raw_path=path[:_MAX_VALUE_LENGTH] + _campaign_of(request.target),
        at=at,
        address=address,
        user_agent=_clean_value(request.user_agent),
        accept=_clean_value(request.accept),
        referrer=_clean_value(request.referrer),
        private=request.private,
    )


def _split_target(target: str) -> tuple[str, str]:
    """Host and path of a target. Only requests through a proxy name a host."""
    host = ""
    if not target.startswith("/") and (absolute := _ABSOLUTE.match(target)):
        host, target = absolute[1], target[absolute.end() :] or "/"
    return host, target.partition("?")[0].partition("#")[0]


def _campaign_of(target: str) -> str:
    """The query of a target that names a campaign; empty for other queries, which no view needs."""
    query = target.partition("?")[2].partition("#")[0] if "utm_" in target else ""
    return f"?{query[:_MAX_VALUE_LENGTH]}" if query else ""


@functools.lru_cache(20_000)
def _is_page(path: str) -> bool:
    """Whether a path belongs to a page, and not to another file or an asset."""
    name = path.lower().rpartition("/")[2]
    if "/." in path or path.startswith(("/_", "/cdn-cgi/")):
        return False
    return name in _LLMS or "." not in name or name.rpartition(".")[2] not in _ASSETS


def _is_person(request: Request) -> bool:
    """Whether a person reads a page in a browser, which runs its scripts."""
    human = agents.classify(request.user_agent).client_class == "human"
    return human and agents.requested_format(request.target, request.accept) == "html"


def _normalize_host(host: str) -> str:
    return host.lower().partition(":")[0].rstrip(".").removeprefix("www.")


def _is_site_name(host: str) -> bool:
    """Whether a host is a domain name, and not an IP address or a local machine."""
    name = host.partition(":")[0]
    return "." in name and not name.replace(".", "").isdecimal()


def _clean_value(text: str) -> str:
    """A value cut to its maximum length, without characters that a database or a terminal cannot handle."""
    text = text[:_MAX_VALUE_LENGTH]
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)

"""Two functions of `urllib.parse` for foreign addresses. The library normalizes a host with letters beyond ASCII."""

import re
from urllib import parse
from urllib.parse import SplitResult

MAX_HOST = 255  # characters with user and port; that of DNS is shorter
_LONG_HOST = re.compile(rf"[^/?#]*//[^/?#]{{{MAX_HOST + 1}}}")
_SKIPPED = re.compile("[\t\r\n]")  # by `urllib.parse`, wherever they stand


def urlsplit(url: str) -> SplitResult:
    """The parts of an address. Raises ValueError for a wrong host, and for a very long one beyond ASCII."""
    return parse.urlsplit(_check_host(url))  # noqa: TID251  # here alone


def urljoin(base: str, url: str) -> str:
    """The address of a link on a page. Raises ValueError as `urlsplit` does."""
    return parse.urljoin(_check_host(base), _check_host(url))  # noqa: TID251  # here alone


def _check_host(url: str) -> str:
    if not url.isascii() and _LONG_HOST.match(_SKIPPED.sub("", url)):
        raise ValueError("the host is too long")
    return url

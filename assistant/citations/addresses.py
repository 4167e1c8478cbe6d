"""Which addresses an answer may link to: those of its passages, of the passages' text, and of the owner's settings.

With a passage of https://docs.example/install whose text names https://pypi.example/acme,
`AllowedAddresses.look_up` gives:

    https://docs.example/install#pip   the passages of that page, to be cited
    https://pypi.example/acme          the address itself, which may stay
    https://evil.example               neither

`is_private` says whether an address is one that a reader has at home, such as http://localhost:8000/. An answer may
name it, as code.
"""

import html
import ipaddress
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from docsite.core.unicode.addresses import urlsplit
from search.hits import Hit

# A renderer may make a link of plain text that begins with one of these.
_LINKED = ("https://", "http://", "ftp://", "www.", "mailto:", "xmpp:")
# No renderer does with these, but they are addresses, too.
_OTHER_SCHEMES = ("ws", "wss", "redis", "rediss", "postgres", "postgresql", "mysql", "mongodb", "sqlite", "amqp",
                  "nats", "tcp", "file")  # fmt: skip
PREFIXES = (*_LINKED, *(f"{scheme}://" for scheme in _OTHER_SCHEMES))
PREFIX = re.compile("|".join(map(re.escape, PREFIXES)), re.IGNORECASE)
CHARACTERS = re.compile(r"[^\s<>|`\"\[\]【】]*")  # the longest stretch that can belong to one address
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_IN_TEXT = re.compile(
    r"(?:https?://|mailto:)[^\s<>\"'`|\\]+|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+", re.IGNORECASE
)
_UNSAFE = re.compile(r"[^\w\-.~:/?#@!$&'*+,;=%]", re.ASCII)
_PRIVATE_NAME = re.compile(r"(?:[a-z][a-z\d-]*\.)*(?:localhost|local|internal)|[a-z][a-z\d_-]*|", re.IGNORECASE)
_TRAILING = "?!.,:;*_~'"
_MAX_ENDS = 10  # characters at the end of an address that may belong to the sentence


class AddressMatch(NamedTuple):
    """The result of a look-up: `passages` (indexes) of a page, or an allowed `url`, or neither."""

    passages: Sequence[int] = ()
    url: str = ""


class AllowedAddresses:
    """The addresses that one answer may link to. They are collected at the first look-up: most answers need none."""

    def __init__(self, passages: Sequence[Hit], allowed: Collection[str]) -> None:
        """`passages` may grow later."""
        self._passages = passages
        self._allowed = allowed
        self._collected = 0  # passages
        self._pages: dict[str, list[int]] = {}
        self._urls: dict[str, str] = {}

    def _collect(self) -> None:
        """Allow the addresses that the owner has listed, and those in passages that are new since the last look-up."""
        for address in self._allowed:
            self._allow(address if ":" in address or "@" not in address else f"mailto:{address}")
        self._allowed = ()
        if len(self._passages) == self._collected:
            return
        new = self._passages[self._collected :]
        for index, hit in enumerate(new, self._collected):
            self._pages.setdefault(_page_key(hit.url), []).append(index)
        self._collected += len(new)
        for hit in new:
            for found in _IN_TEXT.finditer(hit.body):
                for address in _possible_ends(found[0]):
                    self._allow(address if ":" in address else f"mailto:{address}")

    def look_up(self, written: str) -> AddressMatch:
        """Find an address as a model wrote it, in a link or in plain text."""
        self._collect()
        address = _unescape(written)
        if address.lower().startswith("www."):
            address = f"https://{address}"
        if "@" in address and ":" not in address:
            address = f"mailto:{address}"
        key = _normalize(address)
        if not key:
            return AddressMatch()
        if passages := self._pages.get(_page_key(address)):
            return AddressMatch(passages)
        return AddressMatch(url=self._urls.get(key, ""))

    def _allow(self, address: str) -> None:
        address = _unescape(address)
        if key := _normalize(address):
            self._urls.setdefault(key, address)


def is_private(address: str) -> bool:
    """Whether the host of an address is the reader's own machine or one in a private network, or there is none."""
    if "\\" in address or not PREFIX.match(address) or "://" not in address:
        return False
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    if _PRIVATE_NAME.fullmatch(host):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def escape_for_link(url: str) -> str:
    """Escape an address for a Markdown link, so that it leads to the same place."""
    quoted = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
    return quoted.replace("&", "&amp;") if ENTITY.search(quoted) else quoted


def trim(text: str) -> str:
    """Remove the punctuation of the sentence around an address from its end, as GitHub's autolinks do."""
    end, surplus = len(text), text.count(")") - text.count("(")
    while end and (text[end - 1] in _TRAILING or (text[end - 1] == ")" and surplus > 0)):
        end -= 1
        surplus -= text[end] == ")"
    return text[:end]


def _possible_ends(found: str) -> Iterable[str]:
    """The address as it was found, then without each character at its end that may belong to the sentence."""
    yield found
    for _ in range(_MAX_ENDS):
        if not found or found[-1].isalnum() or found[-1] in "/#=&%+-":
            break
        found = found[:-1]
        yield found


def _unescape(address: str) -> str:
    """Undo the escapes and entities of Markdown."""
    return ENTITY.sub(lambda found: html.unescape(found[0]), _ESCAPE.sub(r"\1", address.strip()))


def _normalize(address: str) -> str:
    """The same text for equal addresses; empty for anything but http, https and mailto."""
    if not address.isprintable() or " " in address or "\\" in address:  # other white space is not printable
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme in ("http", "https") and parts.netloc:
        return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()
    return address if parts.scheme == "mailto" and parts.path else ""


def _page_key(address: str) -> str:
    return _normalize(address.partition("#")[0]).rstrip("/")

"""Addresses in a model's answer: where they stand, and whose they are."""

import html
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from search.hits import Hit

# What a renderer may take for an address where it stands in plain text, by its beginning.
BEGINNINGS = ("https://", "http://", "ftp://", "www.", "mailto:", "xmpp:")
BEGINNING = re.compile("|".join(map(re.escape, BEGINNINGS)), re.IGNORECASE)
RUN = re.compile(r"[^\s<>|`\"\[\]【】]*")  # how far one goes at most
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WRITTEN = re.compile(r"(?:https?://|mailto:)[^\s<>\"'`|\\]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_UNSAFE = re.compile(r"[^\w\-.~:/?#@!$&'*+,;=%]", re.ASCII)
_TAIL = "?!.,:;*_~'"


class Owner(NamedTuple):
    """Whose an address is: that of the page of some passages, or one that may be kept as `url`, or neither."""

    passages: Sequence[int] = ()
    url: str = ""


class Addresses:
    """The addresses that an answer may lead to."""

    def __init__(self, passages: Sequence[Hit], allowed: Collection[str]) -> None:
        self._pages: dict[str, list[int]] = {}
        for index, hit in enumerate(passages):
            self._pages.setdefault(_page(hit.url), []).append(index)
        self._kept: dict[str, str] = {}
        for address in allowed:
            self._keep(address if ":" in address or "@" not in address else f"mailto:{address}")
        for hit in passages:
            for found in _WRITTEN.finditer(hit.body):
                for address in _ends(found[0]):
                    self._keep(address if ":" in address else f"mailto:{address}")

    def _keep(self, address: str) -> None:
        if key := _key(_unescaped(address)):
            self._kept.setdefault(key, _unescaped(address))

    def owner(self, written: str) -> Owner:
        """Whose an address is, as a model wrote it in a link or in the text."""
        address = _unescaped(written)
        if address.lower().startswith("www."):
            address = f"https://{address}"
        if "@" in address and ":" not in address:
            address = f"mailto:{address}"
        key = _key(address)
        if not key:
            return Owner()
        if found := self._pages.get(_page(address)):
            return Owner(found)
        return Owner(url=self._kept.get(key, ""))


def safe(url: str) -> str:
    """An address as it can stand in a Markdown link and lead where it says."""
    quoted = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
    return quoted.replace("&", "&amp;") if _ENTITY.search(quoted) else quoted


def trimmed(run: str) -> str:
    """An address without what ends the sentence around it, as GitHub's autolinks have it."""
    while run:
        if run[-1] in _TAIL:
            run = run.rstrip(_TAIL)
        elif run[-1] == ")" and run.count(")") > run.count("("):
            run = run[:-1]
        else:
            break
    return run


def _ends(found: str) -> Iterable[str]:
    """An address as it may be meant: with all that follows, and without the ends of sentences and brackets."""
    yield found
    while found and not (found[-1].isalnum() or found[-1] in "/#=&%+-"):
        found = found[:-1]
        yield found


def _unescaped(address: str) -> str:
    return _ENTITY.sub(lambda found: html.unescape(found[0]), _ESCAPE.sub(r"\1", address.strip()))


def _key(address: str) -> str:
    """What equal addresses have in common; empty for what is no address of the web or of mail."""
    if any(character.isspace() or not character.isprintable() or character == "\\" for character in address):
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme in ("http", "https") and parts.netloc:
        return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()
    return address if parts.scheme == "mailto" and parts.path else ""


def _page(address: str) -> str:
    return _key(address.partition("#")[0]).rstrip("/")

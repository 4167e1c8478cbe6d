"""Read a user agent: the names in it, where they stand, and the addresses.

It takes one pass, and only so many comments and names are looked at, so that no string is slow.
"""

import functools
import re
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_WORDS = 24
MOST_PIECES = 32

_PIECES = re.compile(r"[()\[\]]|[^()\[\]]+")
_NOT_IN_KEYS = re.compile(r"[^a-z0-9!]+")
_ENDINGS = re.compile(r"(bots?|crawler|spider|scraper|agent|user|fetcher|search)(?![a-z])", re.IGNORECASE)
_IN_ENDINGS = ("bot", "er", "agent", "search")  # each ending has one
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,12}\b(?!-)")
_BARE_HOST = re.compile(
    r"(?:[\w-]+\.)+(?:com|org|net|io|ai|dev|co|eu|fm|de|uk|ru|cz|fr|tech|app|me|info|xyz|cloud|so)(?:/\D.*)?"
)
# Only literals at the beginnings, which makes a search fast.
_DEVICE = re.compile(
    r"android|iphone|ipad|ipod|cpu os|tizen|kaios|symb|series ?[46]0|windows phone|iemobile|smart-?tv|web0s|webos|"
    r"netcast|hbbtv|playstation|nintendo|xbox|blackberry|bb10|playbook|bada|midp|j2me|viera|bravia|maemo|meego|"
    r"fban|fb_iab|inapp"
)
_DEVICE_FIRST = re.compile(r"(?:mobile|tablet|tv)\b")


def each(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


# In the strings of so many browsers that they are no names, unless `compatible;` stands before.
_EVERYWHERE = each(
    "Mozilla AppleWebKit Chrome Safari Gecko KHTML like Linux Windows NT Macintosh Intel Mac OS X X11 U Win64 x64 "
    "WOW64 Mobile Version Android iPhone iPad CPU x86_64 i686 Firefox en-us en-US Build Edg OPR"
)
_SAYS_NOTHING = ("agent", "bot", "client", "crawler", "app")  # `Agent/AmazonBuyForMe`


class Place(NamedTuple):
    """Where a name stands.

    `declared`: behind `compatible;`. `device`: within what is said of a device. `engine`: behind `KHTML, like Gecko` in
    one comment. `first`: at the beginning of the string.
    """

    declared: bool = False
    device: bool = False
    engine: bool = False
    first: bool = False


class Word(NamedTuple):
    """A name in a user agent, and whether it has a version."""

    name: str
    key: str
    versioned: bool
    at: Place


@dataclass
class Words:
    """What a user agent says: its names, those of several words, the hosts it links to; whether it is a phone."""

    words: list[Word] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    mobile: bool = False


def key(name: str) -> str:
    """The same for all spellings of a name."""
    lowered = name.lower()
    return lowered if lowered.isascii() and lowered.isalnum() else _NOT_IN_KEYS.sub("", lowered)


@functools.lru_cache(maxsize=4_000)
def parts(name: str) -> tuple[str, ...]:
    """The words that a name is made of: `SomeLLMCrawler` is some, llm and crawler."""
    lowered = name.lower()
    if any(map(lowered.__contains__, _IN_ENDINGS)):
        name = _ENDINGS.sub(r"-\1", name)
    return tuple(part.lower() for part in _PARTS.findall(name))


def read(text: str) -> Words:
    """The words of a user agent."""
    if " " not in text:
        text = text.replace("+", " ")  # some logs write a space so
    found = Words()
    depth = 0
    at = Place(first=True)
    for piece in _PIECES.findall(text)[:MOST_PIECES]:
        if piece in "()[]":
            depth = max(0, depth + (1 if piece in "([" else -1))
            at = Place()
        else:
            at = _read_piece(piece, found, at, inside=depth > 0)
        if len(found.words) >= MOST_WORDS:
            break
    return found


def _read_piece(piece: str, found: Words, at: Place, inside: bool) -> Place:
    """Add the names of a comment, or of what stands between comments."""
    lowered = piece.lower() if inside else ""
    if inside and (_DEVICE_FIRST.match(lowered) or _DEVICE.search(lowered)):
        at = at._replace(device=True)
    found.mobile |= at.device
    engine = inside and piece.startswith("KHTML") and not found.mobile
    for place, segment in enumerate(piece.replace(",", ";").split(";")[:MOST_PIECES]):
        if engine and place == 2:
            at = at._replace(engine=True)
        phrase: list[str] = []
        for written in segment.split()[:MOST_WORDS]:
            word = written.strip("+.:'\"!*|<>{}&")
            if word == "compatible":
                at, phrase = Place(declared=True), []
            elif name := _name(word, found, at):
                found.words.append(name)
                found.phrases += ["".join(phrase[start:]) + name.key for start in range(len(phrase))]
                phrase = [] if "/" in word else [*phrase[-1:], name.key]
            else:
                phrase = []
            if at.first:
                at = Place(device=at.device)
            if len(found.words) >= MOST_WORDS:
                return at
    return at


def _name(word: str, found: Words, at: Place) -> Word | None:
    """The name that a word is, if it is one; if it is an address, its host is kept."""
    if word.startswith("@") and "/" in word:
        word = word[1:].replace("/", "-", 1)  # a package of npm: `@modelcontextprotocol/server-fetch`
    if "://" in word or "@" in word or word.startswith("www."):
        if match := _HOST.match(word.rpartition("://")[2].rpartition("@")[2].lower()):
            found.hosts.append(match[0].removeprefix("www."))
        return None
    if not at.device and "." in word and _BARE_HOST.fullmatch(word.lower()):
        found.hosts.append(word.lower().partition("/")[0])  # it may be the client's name, too
    name, slash, version = word.partition("/")
    if version[:1].isalpha() and name.lower() in _SAYS_NOTHING:
        name, slash, version = version, "", ""
    if (name in _EVERYWHERE and not at.declared) or not (name[:1].isalpha() or any(map(str.isalpha, name))):
        return None
    return Word(name, key(name), bool(slash) and (version[:1].isdigit() or version[:2].lower().startswith("v")), at)


_BROWSER_WORDS = each(
    "mozilla applewebkit chrome safari gecko version mobile khtml like firefox compatible linux windows x11 macintosh "
    "edg opr intel mac os nt u x android iphone"
)


_LIKE_A_NAME = re.compile(r"[\w.-]{1,40}")  # what is kept for good shall be no message and nobody's token


def client_name(found: Words) -> str:
    """The name that a client most likely goes by: the one it declares, one with a version, or the first."""
    likely = [word for word in found.words if not word.at.device and word.key not in _BROWSER_WORDS]
    names = [word for word in likely if _LIKE_A_NAME.fullmatch(word.name)]
    declared = [word for word in names if word.at.declared]
    versioned = [word for word in names if word.versioned]
    return next((word.name for word in (*declared, *versioned, *names)), "")

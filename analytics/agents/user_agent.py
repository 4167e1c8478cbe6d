"""Parse a user agent into names, their positions, and the hosts of its links.

Parsing takes one pass and reads a limited number of comments and names, so no user agent is slow.
"""

import functools
import re
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_NAMES = 24
MAX_PIECES = 32

_PIECES = re.compile(r"[()\[\]]|[^()\[\]]+")
_NOT_IN_KEYS = re.compile(r"[^a-z0-9!]+")
_ENDINGS = re.compile(r"(bots?|crawler|spider|scraper|agent|user|fetcher|search)(?![a-z])", re.IGNORECASE)
_IN_ENDINGS = ("bot", "er", "agent", "search")  # each ending has one
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,12}\b(?!-)")
_BARE_HOST = re.compile(
    r"(?:[\w-]+\.)+(?:com|org|net|io|ai|dev|co|eu|fm|de|uk|ru|cz|fr|tech|app|me|info|xyz|cloud|so)(?:/\D.*)?"
)
# Each alternative begins with a literal, which makes the search fast.
_DEVICE = re.compile(
    r"android|iphone|ipad|ipod|cpu os|tizen|kaios|symb|series ?[46]0|windows phone|iemobile|smart-?tv|web0s|webos|"
    r"netcast|hbbtv|playstation|nintendo|xbox|blackberry|bb10|playbook|bada|midp|j2me|viera|bravia|maemo|meego|"
    r"fban|fb_iab|inapp"
)
_DEVICE_FIRST = re.compile(r"(?:mobile|tablet|tv)\b")


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# Tokens of many browsers. They are names only after `compatible;`.
_BROWSER_TOKENS = word_set(
    "Mozilla AppleWebKit Chrome Safari Gecko KHTML like Linux Windows NT Macintosh Intel Mac OS X X11 U Win64 x64 "
    "WOW64 Mobile Version Android iPhone iPad CPU x86_64 i686 Firefox en-us en-US Build Edg OPR"
)
_GENERIC_NAMES = ("agent", "bot", "client", "crawler", "app")  # `Agent/AmazonBuyForMe`


class Position(NamedTuple):
    """The position of a name in a user agent.

    `declared`: after `compatible;`. `device`: in the description of a device. `engine`: after `KHTML, like Gecko` in
    the same comment. `first`: at the beginning of the string.
    """

    declared: bool = False
    device: bool = False
    engine: bool = False
    first: bool = False


class Name(NamedTuple):
    """A name in a user agent, and whether it has a version."""

    name: str
    key: str
    versioned: bool
    at: Position


@dataclass
class ParsedUserAgent:
    """A parsed user agent: names, `phrases` (names of several words), hosts of links, and whether it is mobile."""

    names: list[Name] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    mobile: bool = False


def normalize(name: str) -> str:
    """The key of a name, the same for all spellings."""
    lowered = name.lower()
    return lowered if lowered.isascii() and lowered.isalnum() else _NOT_IN_KEYS.sub("", lowered)


@functools.lru_cache(maxsize=4_000)
def split_words(name: str) -> tuple[str, ...]:
    """Split a name into words: `SomeLLMCrawler` has some, llm and crawler."""
    lowered = name.lower()
    if any(map(lowered.__contains__, _IN_ENDINGS)):
        name = _ENDINGS.sub(r"-\1", name)
    return tuple(part.lower() for part in _PARTS.findall(name))


def parse(text: str) -> ParsedUserAgent:
    """Parse a user agent."""
    if " " not in text:
        text = text.replace("+", " ")  # some logs write spaces as +
    parsed = ParsedUserAgent()
    depth = 0
    at = Position(first=True)
    for piece in _PIECES.findall(text)[:MAX_PIECES]:
        if piece in "()[]":
            depth = max(0, depth + (1 if piece in "([" else -1))
            at = Position()
        else:
            at = _parse_piece(piece, parsed, at, inside=depth > 0)
        if len(parsed.names) >= MAX_NAMES:
            break
    return parsed


def _parse_piece(piece: str, parsed: ParsedUserAgent, at: Position, inside: bool) -> Position:
    """Add the names of a comment, or of the text between comments."""
    lowered = piece.lower() if inside else ""
    if inside and (_DEVICE_FIRST.match(lowered) or _DEVICE.search(lowered)):
        at = at._replace(device=True)
    parsed.mobile |= at.device
    engine = inside and piece.startswith("KHTML") and not parsed.mobile
    for place, segment in enumerate(piece.replace(",", ";").split(";")[:MAX_PIECES]):
        if engine and place == 2:
            at = at._replace(engine=True)
        phrase: list[str] = []
        for written in segment.split()[:MAX_NAMES]:
            word = written.strip("+.:'\"!*|<>{}&")
            if word == "compatible":
                at, phrase = Position(declared=True), []
            elif name := _parse_name(word, parsed, at):
                parsed.names.append(name)
                parsed.phrases += ["".join(phrase[start:]) + name.key for start in range(len(phrase))]
                phrase = [] if "/" in word else [*phrase[-1:], name.key]
            else:
                phrase = []
            if at.first:
                at = Position(device=at.device)
            if len(parsed.names) >= MAX_NAMES:
                return at
    return at


def _parse_name(word: str, parsed: ParsedUserAgent, at: Position) -> Name | None:
    """The name that a word is, if it is one; if it is an address, its host is kept."""
    if word.startswith("@") and "/" in word:
        word = word[1:].replace("/", "-", 1)  # a package of npm: `@modelcontextprotocol/server-fetch`
    if "://" in word or "@" in word or word.startswith("www."):
        if match := _HOST.match(word.rpartition("://")[2].rpartition("@")[2].lower()):
            parsed.hosts.append(match[0].removeprefix("www."))
        return None
    if not at.device and "." in word and _BARE_HOST.fullmatch(word.lower()):
        parsed.hosts.append(word.lower().partition("/")[0])  # it may be the client's name, too
    name, slash, version = word.partition("/")
    if version[:1].isalpha() and name.lower() in _GENERIC_NAMES:
        name, slash, version = version, "", ""
    if (name in _BROWSER_TOKENS and not at.declared) or not (name[:1].isalpha() or any(map(str.isalpha, name))):
        return None
    return Name(
        name, normalize(name), bool(slash) and (version[:1].isdigit() or version[:2].lower().startswith("v")), at
    )


_BROWSER_WORDS = word_set(
    "mozilla applewebkit chrome safari gecko version mobile khtml like firefox compatible linux windows x11 macintosh "
    "edg opr intel mac os nt u x android iphone"
)


_SAFE_NAME = re.compile(r"[\w.-]{1,40}")  # the name is stored for good, so it must not be a message or a token


def client_name(parsed: ParsedUserAgent) -> str:
    """The most likely name of a client: after `compatible;`, or with a version, or the first one."""
    likely = [word for word in parsed.names if not word.at.device and word.key not in _BROWSER_WORDS]
    names = [word for word in likely if _SAFE_NAME.fullmatch(word.name)]
    declared = [word for word in names if word.at.declared]
    versioned = [word for word in names if word.versioned]
    return next((word.name for word in (*declared, *versioned, *names)), "")

"""Split a whole site in one file, `llms-full.txt`, into its pages. There is no standard; sites do one of these:

- elements: `<page>`, `<doc title="…" url="…">`, `<document>`, each around a page
- front matter with `url:`, `source:` or the like above each page
- a title and its source, as Mintlify writes it: `# Title`, then `Source: https://…`
- nothing: then each heading of the first level outside code begins a page

The file may be very large, so it is searched as bytes and not parsed by `search.text.markdown`.
"""

import re
from collections.abc import Iterator
from html import unescape
from itertools import chain, pairwise
from typing import NamedTuple

_ELEMENT = re.compile(rb"^[ \t]*<(page|doc|document)\b([^>\n]{0,2000})>", re.MULTILINE)
_ATTRIBUTE = re.compile(rb"""\b(title|url|href|source|src|path)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_CHILD = re.compile(rb"^[ \t]*<(title|url|source)>([^<\n]{0,2000})</\1>[ \t]*$", re.MULTILINE | re.IGNORECASE)
_WRAPPER = re.compile(rb"^[ \t]*</?(?:content|document_content)>[ \t]*$", re.MULTILINE)
_FRONT = re.compile(
    rb"^---[ \t]*\n(?:[A-Za-z_][\w-]*[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n|- [^\n]*\n|\n)*){1,60}---[ \t]*$", re.MULTILINE
)
_PLACE = re.compile(
    rb"^(?:url|source|source_url|canonical|canonical_url|permalink|href|link)[ \t]*:"
    rb"\s*(?:html:\s*)?[\"']?((?:https?://|/)[^\s\"']*)",
    re.MULTILINE,
)
_SOURCE = re.compile(
    rb"^#[ \t]+([^\n]+)\n(?:[ \t]*\n){0,2}(?:>[ \t]*)?\**(?:Source|URL|Canonical)(?: URL)?\**:\**[ \t]*"
    rb"<?((?:https?://|/)[^\s>]*)>?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_FENCE_OR_TITLE = re.compile(rb"^ {0,3}(`{3,}|~{3,})([^\n]*)$|^#[ \t]+(\S[^\n]*)$", re.MULTILINE)
_NAMES = (b"url", b"href", b"source", b"src", b"path")  # of an address, the likeliest first


class Piece(NamedTuple):
    """A page of the file. `address` may be relative, or empty; `markdown` may begin with front matter."""

    title: str
    address: str
    markdown: bytes


def pieces(source: bytes) -> Iterator[Piece]:
    """The pages of a file, one by one. Takes time in proportion to its length."""
    source = source.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    for convention in (_by_elements, _by_front_matter, _by_sources, _by_titles):
        found = convention(source)
        if first := next(found, None):
            yield first
            yield from found
            return


def _by_elements(source: bytes) -> Iterator[Piece]:
    for element, end in _with_ends(_ELEMENT.finditer(source), source):
        said = {name.lower(): one or other for name, one, other in _ATTRIBUTE.findall(element[2])}
        closing = source.find(b"</" + element[1] + b">", element.end(), end)
        body = source[element.end() : end if closing < 0 else closing].strip()
        head = body[:4000]
        said |= {name.lower(): value.strip() for name, value in _CHILD.findall(head)}
        body = _WRAPPER.sub(b"", _CHILD.sub(b"", head) + body[4000:]).strip()
        address = next((said[name] for name in _NAMES if said.get(name)), b"")
        if not address and (front := _FRONT.match(body)) and (place := _PLACE.search(front[0])):
            address = place[1]
        if not address and (source_line := _SOURCE.match(body)):
            address = source_line[2]
            body = _without_source(source_line, body[source_line.end() :])
        yield Piece(unescape(_text(said.get(b"title", b""))), unescape(_text(address)), body)


def _by_front_matter(source: bytes) -> Iterator[Piece]:
    fronts = (front for front in _FRONT.finditer(source) if _PLACE.search(front[0]))
    for front, end in _with_ends(fronts, source):
        place = _PLACE.search(front[0])
        yield Piece("", _text(place[1]) if place else "", source[front.start() : end])


def _by_sources(source: bytes) -> Iterator[Piece]:
    for heading, end in _with_ends(_SOURCE.finditer(source), source):
        yield Piece("", _text(heading[2]), _without_source(heading, source[heading.end() : end]))


def _by_titles(source: bytes) -> Iterator[Piece]:
    for title, end in _with_ends(_titles(source), source):
        yield Piece(_text(title[3]), "", source[title.start() : end])


def _titles(source: bytes) -> Iterator[re.Match[bytes]]:
    """The headings of the first level outside code."""
    fence = b""
    for line in _FENCE_OR_TITLE.finditer(source):
        if fence:
            if line[1] and line[1].startswith(fence) and not line[2].strip():
                fence = b""
        elif line[1]:
            fence = line[1]
        else:
            yield line


def _with_ends(begun: Iterator[re.Match[bytes]], source: bytes) -> Iterator[tuple[re.Match[bytes], int]]:
    """The match that begins each page, and where the page ends."""
    for one, after in pairwise(chain(begun, [None])):
        if one:
            yield one, after.start() if after else len(source)


def _without_source(heading: re.Match[bytes], body: bytes) -> bytes:
    return b"# " + heading[1] + b"\n" + body


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace("\x00", "").strip()

"""Split `llms-full.txt`, a whole site in one file, into its pages. There is no standard; sites do one of these:

- an element around each page: `<page>`, `<doc title="…" url="…">`, `<document>`
- front matter with `url:`, `source:` or the like above each page
- a title and a source line, as in Mintlify: `# Title`, then `Source: https://…`
- nothing; then each heading of level 1 outside code begins a page

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
_ADDRESS_LINE = re.compile(
    rb"^(?:url|source|source_url|canonical|canonical_url|permalink|href|link)[ \t]*:"
    rb"\s*(?:html:\s*)?[\"']?((?:https?://|/)[^\s\"']*)",
    re.MULTILINE,
)
_SOURCE = re.compile(
    rb"^#[ \t]++([^\n]+)\n(?:[ \t]*\n){0,2}(?:>[ \t]*)?\**(?:Source|URL|Canonical)(?: URL)?\**:\**[ \t]*"
    rb"<?((?:https?://|/)[^\s>]*)>?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_FENCE_OR_TITLE = re.compile(rb"^ {0,3}(`{3,}|~{3,})([^\n]*)$|^#[ \t]+(\S[^\n]*)$", re.MULTILINE)
_NAMES = (b"url", b"href", b"source", b"src", b"path")  # attributes with the address, the most likely one first


class PageSource(NamedTuple):
    """A page of the file. `address` may be relative or empty; `markdown` may begin with front matter."""

    title: str
    address: str
    markdown: bytes


def split_pages(source: bytes) -> Iterator[PageSource]:
    """Yield the pages of a file. Takes time in proportion to its length."""
    source = source.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    for convention in (_split_by_elements, _split_by_front_matter, _split_by_source_lines, _split_by_titles):
        found = convention(source)
        if first := next(found, None):
            yield first
            yield from found
            return


def _split_by_elements(source: bytes) -> Iterator[PageSource]:
    for element, end in _find_ends(_ELEMENT.finditer(source), source):
        attributes = {name.lower(): one or other for name, one, other in _ATTRIBUTE.findall(element[2])}
        closing = source.find(b"</" + element[1] + b">", element.end(), end)
        body = source[element.end() : end if closing < 0 else closing].strip()
        head = body[:4000]
        attributes |= {name.lower(): value.strip() for name, value in _CHILD.findall(head)}
        body = _WRAPPER.sub(b"", _CHILD.sub(b"", head) + body[4000:]).strip()
        address = next((attributes[name] for name in _NAMES if attributes.get(name)), b"")
        if not address and (front := _FRONT.match(body)) and (address_line := _ADDRESS_LINE.search(front[0])):
            address = address_line[1]
        if not address and (source_line := _SOURCE.match(body)):
            address = source_line[2]
            body = _remove_source_line(source_line, body[source_line.end() :])
        yield PageSource(unescape(_decode(attributes.get(b"title", b""))), unescape(_decode(address)), body)


def _split_by_front_matter(source: bytes) -> Iterator[PageSource]:
    fronts = (front for front in _FRONT.finditer(source) if _ADDRESS_LINE.search(front[0]))
    for front, end in _find_ends(fronts, source):
        address_line = _ADDRESS_LINE.search(front[0])
        yield PageSource("", _decode(address_line[1]) if address_line else "", source[front.start() : end])


def _split_by_source_lines(source: bytes) -> Iterator[PageSource]:
    for heading, end in _find_ends(_SOURCE.finditer(source), source):
        yield PageSource("", _decode(heading[2]), _remove_source_line(heading, source[heading.end() : end]))


def _split_by_titles(source: bytes) -> Iterator[PageSource]:
    for title, end in _find_ends(_find_titles(source), source):
        yield PageSource(_decode(title[3]), "", source[title.start() : end])


def _find_titles(source: bytes) -> Iterator[re.Match[bytes]]:
    """The headings of level 1 outside code."""
    fence = b""
    for line in _FENCE_OR_TITLE.finditer(source):
        if fence:
            if line[1] and line[1].startswith(fence) and not line[2].strip():
                fence = b""
        elif line[1]:
            fence = line[1]
        else:
            yield line


def _find_ends(starts: Iterator[re.Match[bytes]], source: bytes) -> Iterator[tuple[re.Match[bytes], int]]:
    """The match at the start of each page, and the page's end."""
    for one, after in pairwise(chain(starts, [None])):
        if one:
            yield one, after.start() if after else len(source)


def _remove_source_line(heading: re.Match[bytes], body: bytes) -> bytes:
    return b"# " + heading[1] + b"\n" + body


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").replace("\x00", "").strip()

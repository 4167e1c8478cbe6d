"""Read a web page: its content as Markdown, and its metadata."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urldefrag

from selectolax.lexbor import LexborHTMLParser, LexborNode

from search.sources import UNSTORABLE, Page
from search.sources.html import blocks, main
from search.sources.html.inline import absolute

MAX_BYTES = 5 * 1024 * 1024
MAX_ELEMENTS = 300_000
MAX_DEPTH = 500  # elements in each other
MAX_ATTRIBUTES = 5_000  # of one element, or fewer of several: their squares count, as they do for lexbor's time
_STEP = 10_000  # elements; so many in each other are parsed in a tenth of a second, 60,000 in four
_ELEMENT = re.compile(r"<[a-zA-Z]")
_ATTRIBUTE = r"[\s/]*+=?[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+))?+"
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rf"<[a-zA-Z][^\s/>]*+((?:{_ATTRIBUTE})*+)")
_CHARSET = re.compile(rb"""<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_INVISIBLE = re.compile("[\u200b\u200c\u2060\ufeff\xad]")
_SUFFIX = re.compile(r"\s+[|–—·»:-]\s+[^|–—·»]*$")
_REFRESH = re.compile(r"\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.IGNORECASE)
_SLOW = 10  # seconds: a page that refreshes later than this is one to read


@dataclass(frozen=True)
class HtmlPage:
    """A web page. `links` are absolute, in order, without fragments or repeats.

    `refresh` is the address that the page redirects to. Pages with `refresh` or `noindex` may have no content.
    """

    title: str = ""
    description: str = ""
    language: str = ""
    version: str = ""
    keywords: tuple[str, ...] = ()
    markdown: str = ""
    links: tuple[str, ...] = ()
    canonical: str = ""
    noindex: bool = False
    refresh: str = ""

    def to_page(self, origin: str, path: str, address: str) -> Page:
        """The page of a source with this content."""
        return Page(
            origin=origin,
            path=path,
            markdown=self.markdown,
            title=self.title,
            description=self.description,
            version=self.version,
            language=self.language,
            keywords=self.keywords,
            address=address,
        )


def read_html(source: bytes | str, address: str, charset: str = "") -> HtmlPage:
    """Read the page at an absolute address. `charset` is the encoding that the server names.

    Headings keep the anchors of the page, and links become absolute. Takes time in proportion to the size.
    Raises ValueError, with a sentence, for what is too large, nested too deeply, or has no text.
    """
    if len(source) > MAX_BYTES:
        raise ValueError("is larger than 5 MiB")
    tree = _parse(UNSTORABLE.sub("", source if isinstance(source, str) else _decode(source, charset)))
    base = tree.css_first("base[href]")
    base_address = (absolute(address, base.attributes.get("href") or "") if base else "") or address
    meta = dict(_meta(tree))
    robots = {word.strip() for name in ("robots", "googlebot") for word in meta.get(name, "").lower().split(",")}
    links = () if robots & {"nofollow", "none"} else tuple(dict.fromkeys(_links(tree, base_address)))
    canonical = tree.css_first('link[rel~="canonical" i][href]')
    named = tree.css_first("title")
    root = tree.root
    page = HtmlPage(
        title=_title(named.text() if named else ""),
        description=_line(meta.get("description") or meta.get("og:description", "")),
        language=_line((root.attributes.get("lang") or "") if root else ""),
        version=_line(meta.get("docsearch:version") or meta.get("docusaurus_version", "")),
        keywords=tuple(filter(None, map(_line, meta.get("keywords", "").split(",")))),
        links=links,
        canonical=absolute(base_address, canonical.attributes.get("href") or "") if canonical else "",
        noindex=bool(robots & {"noindex", "none"}),
        refresh=_refresh(tree, base_address),
    )
    if page.noindex or page.refresh:
        return page
    main.strip(tree)
    holder = main.content(tree)
    title = _heading(tree, holder) or page.title
    markdown = blocks.to_markdown(holder, base_address, title) if holder else ""
    if not markdown:
        raise ValueError("has no text")
    return replace(page, title=title, markdown=markdown)


def _decode(source: bytes, charset: str) -> str:
    """Decode a page by its byte order mark, the server's charset or the page's, else as UTF-8."""
    for mark, encoding in _MARKS:
        if source.startswith(mark):
            return source.decode(encoding, "replace")
    told = _CHARSET.search(source[:4096])
    for name in (charset, told[1].decode("ascii", "replace") if told else ""):
        try:
            encoding = codecs.lookup(name).name if name else ""
            # What says UTF-16 in its own bytes is not; and Latin-1 means Windows-1252 on the web.
            if encoding and not encoding.startswith(("utf-16", "utf-32")):
                return source.decode("cp1252" if encoding in ("iso8859-1", "ascii") else encoding, "replace")
        except (LookupError, ValueError, AttributeError, TypeError):
            continue
    return source.decode("utf-8", "replace")


def _parse(source: str) -> LexborHTMLParser:
    """Parse the page. Lexbor's time grows with the square of the depth, so the depth is checked while parsing."""
    starts = [found.start() for found in _ELEMENT.finditer(source)]
    if len(starts) > MAX_ELEMENTS:
        raise ValueError("has more than 300,000 elements")
    if sum(len(_ATTRIBUTES.findall(tag[1])) ** 2 for tag in _TAG.finditer(source)) > MAX_ATTRIBUTES**2:
        raise ValueError("has an element with too many attributes")
    seen = 0
    while True:
        seen += max(_STEP, seen // 4)
        tree = LexborHTMLParser(source[: starts[seen]] if seen < len(starts) else source)
        if _depth(tree) > MAX_DEPTH:
            raise ValueError("is nested too deeply")
        if seen >= len(starts):
            return tree


def _depth(tree: LexborHTMLParser) -> int:
    """The largest nesting depth."""
    node, depth, most = tree.root, 0, 0
    while node is not None:
        if (inner := node.first_child) is not None:
            node, depth = inner, depth + 1
            most = max(most, depth)
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None
    return most


def _meta(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """The page's meta elements by name. The first of a name counts."""
    for node in reversed(tree.css("meta[content]")):
        given = node.attributes
        if name := given.get("name") or given.get("property"):
            yield name.strip().lower(), given.get("content") or ""


def _links(tree: LexborHTMLParser, base: str) -> Iterator[str]:
    for node in tree.css("a[href], area[href]"):
        given = node.attributes
        if "nofollow" not in (given.get("rel") or "").lower().split():
            target = urldefrag(absolute(base, given.get("href") or ""))[0]
            if target.startswith("http"):
                yield target


def _refresh(tree: LexborHTMLParser, base: str) -> str:
    """The address that the page redirects to at once; empty for none."""
    node = tree.css_first('meta[http-equiv="refresh" i][content]')
    told = _REFRESH.match(node.attributes.get("content") or "") if node else None
    return absolute(base, told[2]) if told and int(told[1][:6]) < _SLOW else ""


def _heading(tree: LexborHTMLParser, holder: LexborNode | None) -> str:
    """The text of the page's first heading of the first level: in its content, else above it."""
    found = (holder.css_first("h1") if holder else None) or tree.css_first("h1")
    return _line(found.text()) if found else ""


def _title(named: str) -> str:
    """A document's title without the name of its site."""
    title = _line(named)
    return _SUFFIX.sub("", title) or title


def _line(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", text).split())

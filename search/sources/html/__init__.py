"""Read a web page: its content as Markdown, its metadata and its links."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from urllib.parse import urldefrag

from selectolax.lexbor import LexborHTMLParser

from search.sources import UNSTORABLE, Page
from search.sources.html import blocks, main
from search.sources.html.inline import make_absolute

MAX_BYTES = 5 * 1024 * 1024
MAX_ELEMENTS = 300_000
MAX_DEPTH = 500  # levels of nested elements
MAX_ATTRIBUTES = 5_000  # of one element. The sum of squares is limited, because lexbor's time grows with it
_STEP = 10_000  # elements; 10,000 nested ones are parsed in 0.1 s, 60,000 in 4 s
_ELEMENT = re.compile(r"<[a-zA-Z]")
_ATTRIBUTE = r"=?[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+))?+"
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rf"<[a-zA-Z][^\s/>]*+((?:[\s/]*+{_ATTRIBUTE})*+)")
_CHARSET = re.compile(rb"""<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_INVISIBLE = re.compile("[\u200b\u200c\u2060\ufeff\xad]")
_SUFFIX = re.compile(r"\s+[|–—·»:-]\s+[^|–—·»]*$")
_MAX_TITLE = 1_000  # characters of a title from which the site's name is removed
_REFRESH = re.compile(r"\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"'\s]+)", re.IGNORECASE)
_MAX_REDIRECT_DELAY = 10  # seconds; a page that refreshes later is a page with content


@dataclass(frozen=True)
class HtmlPage(Page):
    """A web page, of no source yet.

    - `site_name` is what the page calls its site, or the end of its title after a separator; empty for none.
    - `links` are absolute, in order, without fragments and repeats.
    - `refresh` is the address that the page redirects to; empty for most pages.
    - A page with `refresh` or `noindex` has no `markdown`.
    """

    site_name: str = ""
    links: tuple[str, ...] = ()
    canonical: str = ""
    noindex: bool = False
    refresh: str = ""

    def to_page(self, origin: str, path: str, address: str) -> Page:
        """The page of a source with this content."""
        own = {field.name: getattr(self, field.name) for field in fields(Page)}
        return Page(**{**own, "origin": origin, "path": path, "address": address})


def read_html(source: bytes | str, address: str, charset: str = "") -> HtmlPage:
    """Convert the page at an absolute address. `charset` is the encoding from the server's Content-Type.

    Headings keep their anchors, and links become absolute. Takes time in proportion to the size. Raises ValueError
    with the end of a sentence when the page is too large, nested too deeply, or has no text.
    """
    if len(source) > MAX_BYTES:
        raise ValueError("is larger than 5 MiB")
    tree = _parse(UNSTORABLE.sub("", source if isinstance(source, str) else _decode(source, charset)))
    base = tree.css_first("base[href]")
    base_address = (make_absolute(address, base.attributes.get("href") or "") if base else "") or address
    meta = dict(_read_meta(tree))
    robots = {word.strip() for name in ("robots", "googlebot") for word in meta.get(name, "").lower().split(",")}
    links = () if robots & {"nofollow", "none"} else tuple(dict.fromkeys(_find_links(tree, base_address)))
    canonical = tree.css_first('link[rel~="canonical" i][href]')
    title_element = tree.css_first("title")
    full_title = _join_lines(title_element.text() if title_element else "")
    suffix = _SUFFIX.search(full_title) if len(full_title) <= _MAX_TITLE else None
    name_in_title = suffix[0].lstrip(" |–—·»:-") if suffix else ""
    root = tree.root
    page = HtmlPage(
        origin=address,
        path="",
        markdown="",
        title=(full_title[: suffix.start()] if suffix else "") or full_title,
        site_name=_join_lines(meta.get("og:site_name") or meta.get("application-name") or name_in_title),
        description=_join_lines(meta.get("description") or meta.get("og:description", "")),
        language=_join_lines((root.attributes.get("lang") or "") if root else ""),
        version=_join_lines(meta.get("docsearch:version") or meta.get("docusaurus_version", "")),
        keywords=tuple(filter(None, map(_join_lines, meta.get("keywords", "").split(",")))),
        links=links,
        canonical=make_absolute(base_address, canonical.attributes.get("href") or "") if canonical else "",
        noindex=bool(robots & {"noindex", "none"}),
        refresh=_find_refresh(tree, base_address),
    )
    if page.noindex or page.refresh:
        return page
    main.remove_boilerplate(tree)
    container = main.find_content(tree)
    heading = (container.css_first("h1") if container else None) or tree.css_first("h1")
    title = (_join_lines(heading.text()) if heading else "") or page.title
    markdown = blocks.to_markdown(container, base_address, title) if container else ""
    if not markdown:
        raise ValueError("has no text")
    return replace(page, title=title, markdown=markdown)


def _decode(source: bytes, charset: str) -> str:
    """Decode a page by its byte order mark, by the server's or the page's charset, or else as UTF-8."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if source.startswith(mark):
            return source.decode(encoding, "replace")
    declared = _CHARSET.search(source[:4096])
    for name in (charset, declared[1].decode("ascii", "replace") if declared else ""):
        try:
            encoding = codecs.lookup(name).name if name else ""
            # A charset that could be read as ASCII is not UTF-16. On the web, Latin-1 means Windows-1252.
            if encoding and not encoding.startswith(("utf-16", "utf-32")):
                return source.decode("cp1252" if encoding in ("iso8859-1", "ascii") else encoding, "replace")
        except (LookupError, ValueError, AttributeError, TypeError):
            continue
    return source.decode("utf-8", "replace")


def _parse(source: str) -> LexborHTMLParser:
    """Parse the page in growing parts. Lexbor's time grows with the square of the depth, so it is checked early."""
    starts = [found.start() for found in _ELEMENT.finditer(source)]
    if len(starts) > MAX_ELEMENTS:
        raise ValueError("has more than 300,000 elements")
    if sum(len(_ATTRIBUTES.findall(tag[1])) ** 2 for tag in _TAG.finditer(source)) > MAX_ATTRIBUTES**2:
        raise ValueError("has an element with too many attributes")
    parsed = 0
    while True:
        parsed += max(_STEP, parsed // 4)
        tree = LexborHTMLParser(source[: starts[parsed]] if parsed < len(starts) else source)
        if _measure_depth(tree) > MAX_DEPTH:
            raise ValueError("is nested too deeply")
        if parsed >= len(starts):
            return tree


def _measure_depth(tree: LexborHTMLParser) -> int:
    """The largest nesting depth."""
    node, depth, max_depth = tree.root, 0, 0
    while node is not None:
        if (inner := node.first_child) is not None:
            node, depth = inner, depth + 1
            max_depth = max(max_depth, depth)
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None
    return max_depth


def _read_meta(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """Yield the names and contents of meta elements, last first, so that in a dict the first of a name wins."""
    for node in reversed(tree.css("meta[content]")):
        attributes = node.attributes
        if name := attributes.get("name") or attributes.get("property"):
            yield name.strip().lower(), attributes.get("content") or ""


def _find_links(tree: LexborHTMLParser, base: str) -> Iterator[str]:
    for node in tree.css("a[href], area[href]"):
        attributes = node.attributes
        if "nofollow" not in (attributes.get("rel") or "").lower().split():
            target = urldefrag(make_absolute(base, attributes.get("href") or ""))[0]
            if target.startswith("http"):
                yield target


def _find_refresh(tree: LexborHTMLParser, base: str) -> str:
    """The address that the page redirects to without much delay; empty for none."""
    node = tree.css_first('meta[http-equiv="refresh" i][content]')
    refresh = _REFRESH.match(node.attributes.get("content") or "") if node else None
    return make_absolute(base, refresh[2]) if refresh and int(refresh[1][:6]) < _MAX_REDIRECT_DELAY else ""


def _join_lines(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", text).split())

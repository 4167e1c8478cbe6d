"""Find the content of a web page, and remove navigation and other boilerplate."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Elements that are never text of the page. A hidden tab is text.
_NOT_TEXT = """
    script:not([type^='math/tex']), style, noscript, template, svg, canvas, iframe, object, audio, video,
    input, select, textarea, dialog, button:not([role=tab]):not([aria-expanded]), button[aria-haspopup],
    nav, [role=navigation], [role=search], [role=banner], [role=contentinfo], [role=dialog], [inert], rp,
    [role=doc-noteref], [role=doc-backlink], [aria-hidden=true],
    [hidden]:not([role=tabpanel]):not([hidden=until-found]),
    [style*='display:none']:not([role=tabpanel]), [style*='display: none']:not([role=tabpanel]),
    .katex-html, .sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .screen-reader-only, .sd-sr-only
"""
# Navigation and tools of documentation sites, by the class names of generators. An id alone is no evidence: a heading
# "Feedback" has the id `feedback`.
_SITE_ELEMENTS = """
    .headerlink, .hash-link, .anchorjs-link, .heading-anchor, .doc-anchor, .td-heading-self-link, .sl-anchor-link,
    .viewcode-link, .viewcode-back, a.src, a.srclink, .view-source-button, div.pdoc-code, .mkdocstrings-source,
    .hideme, .out-of-band, rustdoc-toolbar, td.linenos, span.linenos, .linenodiv, .lineno, .line-number,
    span.line-numbers, .line-numbers-rows, .line-numbers-wrapper, .rouge-gutter, .hljs-ln-numbers,
    [class*='language-'] > .lang, .copybtn, .copy-button, .clipboard, div.buttons,
    .footnote-reference, .footnote-ref, .footnote-backref, .fn-backref,
    .toc, div#toc:not(.section), .table-of-contents, .tableOfContents, .on-this-page, .localtoc, .page-toc,
    .theme-doc-toc-mobile, .theme-doc-toc-desktop, div.contents, aside.contents, .toc-sidebar, .toc-drawer, .td-toc,
    .breadcrumb, .breadcrumbs, .breadcrumb-nav, .theme-doc-breadcrumbs, .md-path, .td-breadcrumbs, .wy-breadcrumbs,
    .tsd-breadcrumb, .bd-header-article, [aria-label=breadcrumbs], [aria-label=Breadcrumb],
    .pagination, .pagination-nav, .prev-next, .prev-next-area, .prev-next-footer, .rst-footer-buttons, div.related,
    .related-pages, .pager, .nav-buttons, .nav-chapters, .page-nav, .VPDocFooter, .theme-doc-footer,
    .edit-this-page, .edit-page, .edit-link, .theme-edit-this-page, .last-updated, .theme-last-updated,
    .md-content__button, .md-source-file, .td-page-meta, .content-icon-container, .page-feedback,
    .theme-doc-version-badge, .theme-doc-version-banner, .skip-link, .skip-to-content,
    .cookie-banner, .cookie-consent, div.footer, .sphinxsidebar, .sidebar-nav, .sidebar-drawer, .md-sidebar,
    .bd-sidebar-secondary
"""
# Containers of the content, the most reliable first.
_CONTENT_SELECTORS = ("main", "[role=main]", "article", "div#content", "div#main-content", "div#main", "div.content")
# Elements in the container that also have all the content, with less around it.
_INNER_SELECTORS = (
    *(".theme-doc-markdown", ".vp-doc", ".md-content__inner", ".bd-article", "div.body", "[itemprop=articleBody]"),
    *(".td-content", "div#content-area", "article", ".markdown-body", ".mdx-content"),
)
_PERMALINK = re.compile(r"[#¶§🔗\s\u200b]*")
_MAX_DEPTH = 50  # levels that are searched for the content
_MAIN_SHARE = 0.6  # an element with more than this share of the text has the content


def remove_boilerplate(tree: LexborHTMLParser) -> None:
    """Remove all elements that are not content from the page."""
    for node in _select_inner_first(tree, f"{_NOT_TEXT}, {_SITE_ELEMENTS}"):
        if node.tag not in ("html", "head", "body", "main"):
            node.decompose()
    for node in _select_inner_first(tree, "header, footer, aside, form, button"):
        if _is_boilerplate(node):
            node.decompose()
    for link in tree.css(", ".join(f"{around} a[href*='#']" for around in ("h1", "h2", "h3", "h4", "h5", "h6", "dt"))):
        if _PERMALINK.fullmatch(link.text()):  # the link may have the anchor, so only its text is removed
            for sign in list(link.iter(include_text=True)):
                sign.decompose()


def _select_inner_first(tree: LexborHTMLParser, selectors: str) -> list[LexborNode]:
    """The matching elements without repeats, inner ones first, because removing an element removes its children."""
    return list({node.mem_id: node for node in tree.css(selectors)}.values())[::-1]


def find_content(tree: LexborHTMLParser) -> LexborNode | None:
    """The element with the content; None for a page without text. Call `remove_boilerplate` first."""
    body = tree.body
    if body is None or not body.text().strip():
        return None
    container = _find_container(body)
    for selector in _INNER_SELECTORS:
        inner = [node for node in container.css(selector) if node.mem_id != container.mem_id]
        if len(inner) == 1 and _has_most_of(container, inner[0]):
            return inner[0]
    return container


def _find_container(body: LexborNode) -> LexborNode:
    """The element that is marked as the content, or else the smallest one with most of the text."""
    for selector in _CONTENT_SELECTORS:
        found = body.css(selector)
        if found and (len(found) == 1 or selector in ("main", "[role=main]")):
            return max(found, key=_length)
    node = body
    for _ in range(_MAX_DEPTH):
        densest = max(node.iter(), key=_length, default=None)
        if densest is None or densest.tag in ("p", "pre", "table", "ul", "ol", "dl") or not _has_most_of(node, densest):
            break
        node = densest
    return node


def _has_most_of(outer: LexborNode, inner: LexborNode) -> bool:
    """Whether `inner` has most of the text and all `h1` headings of `outer`."""
    if len(inner.css("h1")) < len(outer.css("h1")):
        return False
    return _length(inner) > _MAIN_SHARE * _length(outer)


def _is_boilerplate(node: LexborNode) -> bool:
    """Whether a header, footer, form, button or aside is not part of the content."""
    if node.tag == "header":
        return node.css_first("h1") is None
    if node.tag == "footer":
        return node.parent is None or node.parent.tag != "blockquote"
    if node.tag == "form":
        return node.css_first("h1, h2, pre") is None
    if node.tag == "button":
        return not node.text().strip()
    return sum(_length(link) for link in node.css("a")) > _MAIN_SHARE * _length(node)  # an aside with links only


def _length(node: LexborNode) -> int:
    return len(node.text().strip())

"""The part of a web page that is its content, without what surrounds and interrupts it."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

# What no reader takes for the text of the page, wherever it stands. A tab that is not shown is text all the same.
_UNREAD = """
    script:not([type^='math/tex']), style, noscript, template, svg, canvas, iframe, object, audio, video,
    input, select, textarea, dialog, button:not([role=tab]):not([aria-expanded]), button[aria-haspopup],
    nav, [role=navigation], [role=search], [role=banner], [role=contentinfo], [role=dialog], [inert], rp,
    [role=doc-noteref], [role=doc-backlink], [aria-hidden=true],
    [hidden]:not([role=tabpanel]):not([hidden=until-found]),
    [style*='display:none']:not([role=tabpanel]), [style*='display: none']:not([role=tabpanel]),
    .katex-html, .sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .screen-reader-only, .sd-sr-only
"""
# The furniture of documentation sites, by the names that generators give it. Ids alone are no names: a heading
# "Feedback" has the id `feedback`.
_FURNITURE = """
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
# What holds the content of a page, the surest first.
_HOLDERS = ("main", "[role=main]", "article", "div#content", "div#main-content", "div#main", "div.content")
# Boxes within it that hold all the content and less besides.
_NARROWER = (
    *(".theme-doc-markdown", ".vp-doc", ".md-content__inner", ".bd-article", "div.body", "[itemprop=articleBody]"),
    *(".td-content", "div#content-area", "article", ".markdown-body", ".mdx-content"),
)
_PERMALINK = re.compile(r"[#¶§🔗\s\u200b]*")
_MAX_DEPTH = 50  # levels that are looked through for the content
_MAIN_SHARE = 0.6  # of the text: what holds so much of it is taken for all


def strip(tree: LexborHTMLParser) -> None:
    """Remove what is not content, from the whole page."""
    for node in _inner_first(tree, f"{_UNREAD}, {_FURNITURE}"):
        if node.tag not in ("html", "head", "body", "main"):
            node.decompose()
    for node in _inner_first(tree, "header, footer, aside, form, button"):
        if _is_beside(node):
            node.decompose()
    for link in tree.css(", ".join(f"{around} a[href*='#']" for around in ("h1", "h2", "h3", "h4", "h5", "h6", "dt"))):
        if _PERMALINK.fullmatch(link.text()):  # it may bear the anchor, so only its sign goes
            for sign in list(link.iter(include_text=True)):
                sign.decompose()


def _inner_first(tree: LexborHTMLParser, selectors: str) -> list[LexborNode]:
    """The matching elements once each, inner ones first, because removing an element removes what is in it."""
    return list({node.mem_id: node for node in tree.css(selectors)}.values())[::-1]


def content(tree: LexborHTMLParser) -> LexborNode | None:
    """What holds the content of a stripped page; None when there is no text at all."""
    body = tree.body
    if body is None or not body.text().strip():
        return None
    holder = _main(body)
    for selector in _NARROWER:
        inner = [node for node in holder.css(selector) if node.mem_id != holder.mem_id]
        if len(inner) == 1 and _holds(holder, inner[0]):
            return inner[0]
    return holder


def _main(body: LexborNode) -> LexborNode:
    """The element that is marked as the content, else the smallest that holds most of the text."""
    for selector in _HOLDERS:
        found = body.css(selector)
        if found and (len(found) == 1 or selector in ("main", "[role=main]")):
            return max(found, key=_length)
    node = body
    for _ in range(_MAX_DEPTH):
        densest = max(node.iter(), key=_length, default=None)
        if densest is None or densest.tag in ("p", "pre", "table", "ul", "ol", "dl") or not _holds(node, densest):
            break
        node = densest
    return node


def _holds(outer: LexborNode, inner: LexborNode) -> bool:
    """Whether `inner` has most of the text of `outer`, and all of its headings of the first level."""
    if len(inner.css("h1")) < len(outer.css("h1")):
        return False
    return _length(inner) > _MAIN_SHARE * _length(outer)


def _is_beside(node: LexborNode) -> bool:
    """Whether a header, a footer and the like stands beside the content rather than in it."""
    if node.tag == "header":
        return node.css_first("h1") is None
    if node.tag == "footer":
        return node.parent is None or node.parent.tag != "blockquote"
    if node.tag == "form":
        return node.css_first("h1, h2, pre") is None
    if node.tag == "button":
        return not node.text().strip()
    return sum(_length(link) for link in node.css("a")) > _MAIN_SHARE * _length(node)  # an aside of links


def _length(node: LexborNode) -> int:
    return len(node.text().strip())

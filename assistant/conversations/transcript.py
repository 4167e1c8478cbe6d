"""Renders an answer as HTML, for the admin and for pages without JavaScript.

Its text comes from pages, readers and models, so it is not trusted: HTML is shown
as text, images are not loaded, and links lead only to http, https and mailto, in
a new tab.
"""

from collections.abc import Sequence

from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_LINK_SCHEMES = ("https://", "http://", "mailto:")


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Leave other schemes, and addresses within the admin, as text."""
        return url.lower().startswith(_LINK_SCHEMES)


def render(answer: str) -> SafeString:
    """Render the Markdown of an answer."""
    return SafeString(_MARKDOWN.render(answer))  # safe: with `html` off, the renderer escapes all other tags


def _render_link(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    tokens[index].attrs |= {"rel": "noopener noreferrer nofollow", "target": "_blank"}
    return self.renderToken(tokens, index, options, env)


def _render_heading(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    tokens[index].tag = "h4"  # below the headings of the page
    return self.renderToken(tokens, index, options, env)


def _build_parser() -> MarkdownIt:
    parser = _Markdown("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.add_render_rule("link_open", _render_link)
    parser.add_render_rule("heading_open", _render_heading)
    parser.add_render_rule("heading_close", _render_heading)
    return parser


_MARKDOWN = _build_parser()

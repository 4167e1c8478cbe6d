"""Answers as HTML for the admin. They are not to be trusted: their words come from pages, readers and models.

HTML in them is shown as text, images are not loaded, and links lead only to the
web or to a mail program, in a tab of their own.
"""

from collections.abc import Sequence

from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_LINKS = ("https://", "http://", "mailto:")


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Other schemes, and addresses within the admin, stay text."""
        return url.lower().startswith(_LINKS)


def render(answer: str) -> SafeString:
    """The answer's HTML."""
    return SafeString(_MARKDOWN.render(answer))  # with `html` off, all but its own tags is escaped


def _link_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    tokens[index].attrs |= {"rel": "noopener noreferrer nofollow", "target": "_blank"}
    return self.renderToken(tokens, index, options, env)


def _heading(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    tokens[index].tag = "h4"  # below those of the page
    return self.renderToken(tokens, index, options, env)


def _build() -> MarkdownIt:
    parser = _Markdown("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


_MARKDOWN = _build()

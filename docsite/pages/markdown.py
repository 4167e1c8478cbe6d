"""Markdown to HTML, nothing inline in it: anchored headings, highlighted code, tables that scroll."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from search.sections import anchor_and_heading, inline_text

_FORMATTER = HtmlFormatter(nowrap=True)


@dataclass(frozen=True)
class Heading:
    """A heading of a page: 2 for `##`, and so on. `anchor` is the one that search hits carry too."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class Rendered:
    """A page's HTML and its headings in order."""

    html: str
    headings: tuple[Heading, ...]


def render(markdown: str) -> Rendered:
    """Render one page. HTML in the source is shown, never passed through."""
    env: EnvType = {"headings": []}
    html = _MARKDOWN.render(markdown, env)
    return Rendered(html, tuple(env["headings"]))


def _mark_headings(tokens: Sequence[Token], env: EnvType) -> None:
    seen: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            anchor, text = anchor_and_heading(inline_text(tokens[index + 1]), seen)
            heading = Heading(int(token.tag[1]), text, anchor)
            token.meta["heading"] = tokens[index + 2].meta["heading"] = heading
            env["headings"].append(heading)


def _heading_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    heading = tokens[index].meta.get("heading")
    if heading is None:
        return f"<{tokens[index].tag}>"
    return f'<div class="heading"><{tokens[index].tag} id="{escape(heading.anchor)}">'


def _heading_close(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    heading = tokens[index].meta.get("heading")
    if heading is None:
        return f"</{tokens[index].tag}>\n"
    # The link stands beside the heading, so that a screen reader's list of headings stays clean.
    return (
        f'</{tokens[index].tag}><a class="anchor" href="#{escape(heading.anchor)}" '
        f'aria-label="Link to “{escape(heading.text)}”">#</a></div>\n'
    )


def _fence(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    language = token.info.strip().split(" ")[0] or "text"
    try:
        code = highlight(token.content, get_lexer_by_name(language), _FORMATTER)
    except ClassNotFound:
        code = escape(token.content)
    return (
        f'<div class="code"><div class="code-bar"><span>{escape(language)}</span></div>'
        f'<pre tabindex="0"><code>{code}</code></pre></div>\n'
    )


def _table_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return '<div class="table" tabindex="0"><table>\n'


def _table_close(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return "</table></div>\n"


def _build() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.core.ruler.push("headings", lambda state: _mark_headings(state.tokens, state.env))
    parser.add_render_rule("heading_open", _heading_open)
    parser.add_render_rule("heading_close", _heading_close)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


_MARKDOWN = _build()

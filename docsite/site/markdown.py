"""Markdown to HTML without inline styles or scripts: anchored headings, highlighted code, tables that scroll."""

import re
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

from search.text.markdown.plain_text import anchor_and_heading, inline_text
from search.text.markdown.reader import new_parser

_FORMATTER = HtmlFormatter(nowrap=True)  # `site.css` has the colours of its classes
_TITLE = re.compile(r"""\b(?:title|filename)=(["'])(.+?)\1""")
_TAB = re.compile(r'\btab="([^"]+)"')  # blocks with it that follow one another become tabs by a script


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


def render(markdown: str, link_to: str = "Link to “{}”") -> Rendered:
    """Render one page. HTML in the source is escaped. `link_to` is the label of the link beside a heading."""
    env: EnvType = {"headings": [], "link_to": link_to}
    return Rendered(_MARKDOWN.render(markdown, env), tuple(env["headings"]))


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
        f'aria-label="{escape(env["link_to"].format(heading.text))}">#</a></div>\n'
    )


def _fence(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    language, _, more = tokens[index].info.strip().partition(" ")
    language = language or "text"
    name = _title(more.strip())
    tab = _TAB.search(more)
    label = tab[1] if tab else name or language
    attribute = f' data-tab="{escape(label)}"' if tab else ""
    filename = f' data-filename="{escape(name)}"' if name else ""
    return (
        f'<div class="code"{attribute}><div class="code-bar"><span>{escape(label)}</span></div>'
        f'<pre tabindex="0"{filename}><code class="language-{escape(language)}">'
        f"{_highlight(tokens[index].content, language)}</code></pre></div>\n"
    )


def _title(more: str) -> str:
    """The title after a fence's language: `title="app.py"`, or `app.py` alone."""
    if named := _TITLE.search(more):
        return named[2]
    return "" if "=" in more or "{" in more else more


def _highlight(code: str, language: str) -> str:
    """Code as HTML, with a span for each token that may have a colour."""
    try:
        return highlight(code, get_lexer_by_name(language), _FORMATTER)
    except ClassNotFound:
        return escape(code)


def _build() -> MarkdownIt:
    parser = new_parser()
    parser.core.ruler.push("headings", lambda state: _mark_headings(state.tokens, state.env))
    parser.add_render_rule("heading_open", _heading_open)
    parser.add_render_rule("heading_close", _heading_close)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return parser


_MARKDOWN = _build()

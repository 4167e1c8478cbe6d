"""The words of Markdown as a reader sees them, and the anchors that GitHub makes of headings."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from markdown_it.token import Token

from search.text.markdown.reader import MAX_PARAGRAPH, new_parser, parse

_PARSER = new_parser()
_EXPLICIT_ID = re.compile(r"(?:(?<!\s)\s++|)(?:\{:?[^{}#]*+#([^\s{}#]*+)[^{}]*+\}|\[#([\w:.-]++)\])\s*+$")
# Simple inline marks that can be read without the parser.
_SIMPLE = re.compile(
    r"`(?<![`\\]`)(?!`)([^`]+)`(?!`)"
    r"|\*(?<![*\\]\*)\*(?![\s*])([^*`_\[\]\\<&~]+)(?<!\s)\*\*(?!\*)"
    r"|\*(?<![*\\]\*)(?![\s*])([^*`_\[\]\\<&~]+)(?<!\s)\*(?!\*)"
    r"|\[(?<![!\\\]]\[)([^\[\]*`_\\<&~]+)\]\(https?://[^()\s<>\\&]+\)"
)
_MARKED = re.compile(r"[`*]|\\[^\w ]|(?<![^\W_])_|_(?![^\W_])|~~|\]\(|<[A-Za-z]|&#?\w+;")
_LINE_END = re.compile(r" {0,100}\n {0,100}")
_CODE_TITLE = re.compile(r"""\b(?:title|filename|name|label)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_COLOURS = re.compile(r"</?(?:font|span|b|u)(?: [^<>]{0,200})?>")  # tags that show the colours of a terminal
_CODE_WORD = re.compile(r"[\w./@-]+")


def slug(heading: str) -> str:
    """GitHub's anchor of a heading: lower case, no punctuation, hyphens for spaces. Combining marks stay."""
    heading = heading.strip().lower()
    if heading.isascii():
        return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading))
    return "".join(filter(_belongs_to_slug, heading)).replace(" ", "-")


def _belongs_to_slug(sign: str) -> bool:
    category = unicodedata.category(sign)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc") or sign in " -" or "Ⓐ" <= sign <= "ⓩ"


def anchor_and_heading(raw: str, counts: dict[str, int]) -> tuple[str, str]:
    """Anchor and visible text of a heading; an explicit `{#id}` wins, a repeated slug gets a number.

    `{#}` says that the heading has no anchor; a heading without text has none either. `counts` has how often each slug
    occurred above on the page.
    """
    explicit = _EXPLICIT_ID.search(raw)
    heading = _EXPLICIT_ID.sub("", raw).strip()
    if explicit:
        return explicit[1] or explicit[2] or "", heading
    anchor = slug(heading)
    if not anchor:
        return "", heading
    count = counts.get(anchor, 0)
    counts[anchor] = count + 1
    return (f"{anchor}-{count}" if count else anchor), heading


def plain(markdown: str) -> str:
    """The words of some Markdown, code included, without its markup; one line for each block."""
    return words_of(parse(markdown))


def inline_text(token: Token) -> str:
    """The visible text of an inline token, without its markup."""
    return _joined(token.children or [])


def words_of(tokens: Iterable[Token]) -> str:
    """The text of some blocks, one line for each."""
    lines = []
    for token in tokens:
        if token.type == "inline":
            lines.append(text_of(token.content))
        elif token.type == "fence":
            code = token.content.strip()
            if token.info.startswith("console") and "</" in code:
                code = _COLOURS.sub("", code)
            lines += [_code_title(token.info), code]
        elif token.type in ("code_block", "rows"):
            lines.append(token.content.strip())
    return "\n".join(line for line in lines if line)


def text_of(content: str) -> str:
    """The visible text of a block's Markdown. A text that is too long to be prose stays as it is."""
    if len(content) > MAX_PARAGRAPH or not _MARKED.search(content):
        return _LINE_END.sub(" ", content).strip()
    if not _MARKED.search(_SIMPLE.sub("", content)):
        return _LINE_END.sub(" ", _SIMPLE.sub(lambda mark: mark[mark.lastindex or 0], content)).strip()
    children: list[Token] = []
    _PARSER.inline.parse(content, _PARSER, {}, children)
    return _joined(children)


def _joined(children: Sequence[Token]) -> str:
    text = ""
    for child in children:
        if child.type in ("text", "text_special", "code_inline", "image"):
            text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            text += " "
    return text.strip()


def _code_title(info: str) -> str:
    """The title of a code block, or the file name after its language."""
    words = info.split()[1:]
    if not words:
        return ""
    if named := _CODE_TITLE.search(info):
        return named[1] or named[2] or ""
    return words[0] if "." in words[0] and _CODE_WORD.fullmatch(words[0]) else ""

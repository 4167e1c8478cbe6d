"""A Markdown page to its sections: one for each heading, split where one grows too long."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

MOST_WORDS = 400
_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

_EXPLICIT_ID = re.compile(r"\s*\{:?\s*#([\w:.-]+)[^}]*\}\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_ADMONITION = re.compile(r'(\s*)(?:!!!|\?\?\?\+?)\s+[\w-]+(?:\s+[\w-]+)*(?:\s+"(.*)")?\s*$')
_TAB = re.compile(r'(\s*)===[!+]?\s+"(.+)"\s*$')
_BLOCK = re.compile(r"\s*/{3,}\s*(?:[\w-]+)?(?:\s*\|\s*(.+))?\s*$")
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?(?:[a-zA-Z][\w-]*)(?:\s[^<>]*)?/?>")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)(?:\{[^}]*\})?")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^()\s>]*)>?(?:\s+[\"'(][^)]*)?\)(?:\{[^}]*\})?")


@dataclass(frozen=True)
class Part:
    """A section of a page. `trail` holds the headings above it and its own; an intro has neither heading nor anchor."""

    heading: str
    anchor: str
    trail: tuple[str, ...]
    body: str
    text: str


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def anchor_and_heading(raw: str, seen: dict[str, int]) -> tuple[str, str]:
    """Anchor and visible text of a heading; an explicit `{#id}` wins, a repeated slug gets a number."""
    explicit = _EXPLICIT_ID.search(raw)
    heading = _EXPLICIT_ID.sub("", raw).strip()
    if explicit:
        return explicit[1], heading
    anchor = slug(heading)
    count = seen.get(anchor, 0)
    seen[anchor] = count + 1
    return (f"{anchor}-{count}" if count else anchor), heading


def inline_text(token: Token) -> str:
    """The visible text of an inline token, without its markup."""
    text = ""
    for child in token.children or []:
        if child.type in ("text", "code_inline"):
            text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            text += " "
        elif child.type == "image":
            text += child.content
    return text.strip()


def split(markdown: str, title: str = "") -> list[Part]:
    """The sections of a page, in order. A page without headings is one section."""
    source = clean(markdown)
    lines = source.split("\n")
    tokens = _PARSER.parse(source)
    seen: dict[str, int] = {}
    headings: list[tuple[int, int, int, str, str]] = []  # first line, line after, level, text, anchor
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            anchor, text = anchor_and_heading(inline_text(tokens[index + 1]), seen)
            headings.append((token.map[0], token.map[1], int(token.tag[1]), text, anchor))

    parts: list[Part] = []
    starts = [(0, 0, 1, "", ""), *headings]
    trail: list[tuple[int, str]] = []
    for index, (_, body_start, level, heading, anchor) in enumerate(starts):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(lines)
        is_page_title = level == 1 and len(trail) == 0
        if heading and not is_page_title:
            trail = [(above, name) for above, name in trail if above < level] + [(level, heading)]
        shown, target = ("", "") if is_page_title else (heading, anchor)
        below = blocks(lines[body_start:end])
        for body in _pack(below):
            parts.append(Part(shown, target, tuple(name for _, name in trail), body, plain(body)))
        if shown and not below:
            parts.append(Part(shown, target, tuple(name for _, name in trail), "", ""))
    return parts or [Part("", "", (), title, title)]


def clean(markdown: str) -> str:
    """Markdown that can be quoted anywhere: no comments, HTML tags, images, relative links or site-specific syntax.

    The titles of admonitions and tabs stay as bold lines and their text moves
    to the left; code is left as it is.
    """
    lines: list[str] = []
    fence = ""
    indents: list[int] = []
    for line in _COMMENT.sub("", markdown.replace("\r\n", "\n").replace("\t", "    ")).split("\n"):
        stripped = line.strip()
        if not fence and stripped:
            width = len(line) - len(line.lstrip())
            while indents and width < indents[-1]:
                indents.pop()
        if indents:
            line = line[min(indents[-1], len(line) - len(line.lstrip())) :]
        marker = _FENCE.match(line)
        if marker and not fence:
            fence = marker[1]
        elif marker and fence and stripped.startswith(fence) and not stripped.strip(fence[0]):
            fence = ""
        elif not fence:
            if opened := _ADMONITION.match(line) or _TAB.match(line):
                base = (indents[-1] if indents else 0) + len(opened[1])
                indents.append(base + 4)
                lines += ["", f"{opened[1]}**{opened[2]}**" if opened[2] else "", ""]
                continue
            if block := _BLOCK.match(line):
                lines += ["", f"**{block[1].strip()}**" if block[1] else "", ""]
                continue
            line = _inline(line)
        lines.append(line)
    return "\n".join(lines)


def _inline(line: str) -> str:
    """Drop tags, images and relative link targets of a line, outside code spans."""
    spans: list[str] = []

    def put_aside(span: re.Match[str]) -> str:
        spans.append(span[0])
        return f"\x00{len(spans) - 1}\x00"  # no page holds a NUL

    line = _TAG.sub("", _IMAGE.sub(r"\1", _CODE_SPAN.sub(put_aside, line)))
    line = _LINK.sub(_absolute_only, line)
    line = line if line.endswith("  ") else line.rstrip()  # two spaces break a line
    return re.sub("\x00(\\d+)\x00", lambda mark: spans[int(mark[1])], line)


def _absolute_only(link: re.Match[str]) -> str:
    return link[0] if link[2].startswith(("http://", "https://", "mailto:")) else link[1]


def blocks(lines: list[str]) -> list[str]:
    """The top-level blocks of some lines, as they are written."""
    tokens = _PARSER.parse("\n".join(lines))
    blocks = []
    for token in tokens:
        if token.level == 0 and token.map and token.nesting >= 0:
            block = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")
            if block.strip() and token.type != "hr":
                blocks.append(block)
    return blocks


def _pack(blocks: list[str]) -> list[str]:
    """Join blocks into bodies of about 400 words; a block, code above all, is never cut."""
    bodies: list[list[str]] = []
    size = MOST_WORDS
    for block in blocks:
        count = len(block.split())
        if not bodies or (size + count > MOST_WORDS and size > MOST_WORDS // 4):
            bodies.append([])
            size = 0
        bodies[-1].append(block)
        size += count
    return ["\n\n".join(body) for body in bodies]


def plain(markdown: str) -> str:
    """The words of some Markdown, code included, without its markup; one line for each block."""
    lines = []
    for token in _PARSER.parse(markdown):
        if token.type == "inline":
            lines.append(inline_text(token))
        elif token.type in ("fence", "code_block"):
            lines.append(token.content.strip())
    return "\n".join(line for line in lines if line)

"""The anchors that site generators give to headings, where they differ from GitHub's."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import anchor_and_heading, plain, slug
from search.text.markdown.reader import headings

_CLOSING = re.compile(r"[ \t]+#+$")
_WITH_ID = re.compile(
    r"(.*?)([ \t]+#+)?[ \t]*\{:?([^{}#]*)#([^\s{}#]+)[^{}]*\}[ \t]*$"
)  # closing marks may come before
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*(?:\.|(?<=:)[ \t]*)[^{}#]*\}$")
_MARKED = re.compile(r"[`*_<\[&:\\{!~$]")
_WRITABLE = re.compile(r"[^\s{}#]+")  # what `{#anchor}` may hold
_NUMBERED = re.compile(r"(.*)_([0-9]+)", re.DOTALL)
_VITEPRESS_SPECIAL = re.compile(r"[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'“”‘’<>,.?/]+")
_MINTLIFY_DROPPED = re.compile("[?,;:!'\"()\\[\\]{}\u200d\ufe0e\ufe0f\U0001f1e6-\U0001faff\u2600-\u27bf\u2b00-\u2bff]")


Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True)
class Slugs:
    """How a generator makes anchors: `slug` of the visible text. A repeated one gets a number, from `first` on.

    `separator` stands before the number. Python-Markdown (`_`) counts on from a number that the text ends in.
    """

    name: str
    slug: Callable[[str], str]
    separator: str = "-"
    first: int = 1

    def unique(self, slug: str, used: set[str], counts: dict[str, int]) -> str:
        """The slug, or the next with a number that is not used. `counts` has the last numbers given."""
        if slug and slug not in used:
            return slug
        numbered = _NUMBERED.fullmatch(slug) if self.separator == "_" else None
        base, number = (numbered[1], int(numbered[2][:9])) if numbered else (slug, self.first - 1)
        number = max(number, counts.get(base, 0)) + 1
        while f"{base}{self.separator}{number}" in used:
            number += 1
        counts[base] = number
        return f"{base}{self.separator}{number}"


def add_anchors(markdown: str, slugs: Slugs) -> str:
    """The Markdown with `{#anchor}` behind each heading whose anchor differs from GitHub's.

    Anchors in the text win. Code is left as it is; takes time in proportion to the length.
    """
    lines = markdown.split("\n")
    found = [(heading.line, _text(heading.source)) for heading in headings(markdown)]
    explicit = {number: anchor for number, text in found if (anchor := _explicit_anchor(text))}
    used = set(explicit.values())
    counts: dict[str, int] = {}
    seen: dict[str, int] = {}  # of GitHub's names, as `search.text.sections` will count them
    for number, text in found:
        if number in explicit:
            written = _WITH_ID.match(lines[number])
            if written and (written[2] or written[3].strip()):  # `search.text.markdown` would take it for classes
                lines[number] = f"{written[1]} {{#{written[4]}}}"
            continue
        anchor = slugs.unique(slugs.slug(text), used, counts)
        used.add(anchor)
        github = slug(text)
        repeats = seen.get(github, 0)
        if anchor == (f"{github}-{repeats}" if repeats else github) or not _WRITABLE.fullmatch(anchor):
            seen[github] = repeats + 1
        else:
            bare = _ATTRIBUTES.sub("", _CLOSING.sub("", lines[number].rstrip()))
            lines[number] = f"{bare} {{#{anchor}}}"
    return "\n".join(lines)


def python_markdown(separator: str = "-", keep_unicode: bool = False) -> Slugs:
    """The slugs of Python-Markdown's `toc`."""

    def slugify(text: str) -> str:
        if not keep_unicode:
            text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
        bare = re.sub(r"[^\w\s-]", "", text).strip().lower()
        return re.sub(rf"[{re.escape(separator)}\s]+", lambda _: separator, bare)

    return Slugs(f"toc {separator!r} {keep_unicode}", slugify, "_")


def pymdownx(separator: str = "-", case: str = "none", percent_encode: bool = False, form: Form = "NFC") -> Slugs:
    """The slugs of PyMdown Extensions; `case` is `none`, `lower`, `lower-ascii` or `fold`."""
    change: dict[str, Callable[[str], str]] = {
        "lower": str.lower,
        "fold": str.casefold,
        "lower-ascii": lambda text: re.sub("[A-Z]", lambda letter: letter[0].lower(), text),
    }

    def slugify(text: str) -> str:
        text = change.get(case, str)(unicodedata.normalize(form, text).strip())
        bare = re.sub(r"[^\w\- ]", "", text).replace(" ", separator)
        return quote(bare) if percent_encode else bare

    return Slugs(f"pymdownx {separator!r} {case} {percent_encode} {form}", slugify, "_")


def _vitepress(text: str) -> str:
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", text) if not "\u0300" <= mark <= "\u036f")
    bare = re.sub(r"[\x00-\x1f]", "", bare)
    bare = _VITEPRESS_SPECIAL.sub("-", bare).strip("-").lower()
    return f"_{bare}" if bare[:1] in set("0123456789") else bare


def _mintlify(text: str) -> str:
    """Mintlify's slug: characters that an address escapes stay, others become hyphens; then some marks are removed."""
    escaped = quote(re.sub(r"\s+", "-", text.lower().strip()), safe="!~*'()")
    kept = "%_" if re.search("%[0-9A-F]{2}", escaped) else "_"
    bare = re.sub(rf"[^A-Za-z0-9{kept}]+", "-", escaped).strip("-")
    return _MINTLIFY_DROPPED.sub("", unquote(bare))


VITEPRESS = Slugs("vitepress", _vitepress)
MINTLIFY = Slugs("mintlify", _mintlify, first=2)


def _text(raw: str) -> str:
    """The visible text of a heading, behind it the anchor that it has."""
    written = _WITH_ID.match(raw)
    if written:
        return f"{_text(written[1])} {{#{written[4]}}}"
    raw = _ATTRIBUTES.sub("", raw)
    return plain(clean(f"# {raw}")) if _MARKED.search(raw) else raw


def _explicit_anchor(text: str) -> str:
    anchor, heading = anchor_and_heading(text, {})
    return anchor if heading != text else ""

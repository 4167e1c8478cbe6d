"""Compute the anchors that site generators give to headings."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, unquote

from docsite.core.unicode.normalization import Form, normalize, to_ascii
from search.text.markdown.attributes import split_attributes
from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import anchor_and_heading, plain, slug
from search.text.markdown.reader import headings

_HEADING = re.compile(r"(?m)^#{1,6}[ \t].*$")
_CLOSING_MARKS = re.compile(r"(?<![ \t])[ \t]++#++$")
_MARKUP = re.compile(r"[`*_<\[&:\\{!~$]")
_VALID_ANCHOR = re.compile(r"[^\s{}#]+")  # allowed in `{#anchor}`
_NUMBERED = re.compile(r"(.*)_([0-9]+)", re.DOTALL)
_VITEPRESS_SPECIAL = re.compile(r"[\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'“”‘’<>,.?/]+")
_CODE_OR_DASHES = re.compile(r"`[^`]*`|(?<!-)-{2,3}(?!-)")
_MINTLIFY_DROPPED = re.compile("[?,;:!'\"()\\[\\]{}\u200d\ufe0e\ufe0f\U0001f1e6-\U0001faff\u2600-\u27bf\u2b00-\u2bff]")


@dataclass(frozen=True)
class Slugs:
    """How a generator makes anchors: `slug` of the visible text. Repeated slugs get numbers, from `first` on.

    `separator` stands before the number. Python-Markdown (`_`) continues from a number at the end of the text.
    `drops_dashes`: outside of code, `--` and `---` become dashes, which are no part of the anchor.
    """

    name: str
    slug: Callable[[str], str]
    separator: str = "-"
    first: int = 1
    drops_dashes: bool = False

    def make_unique(self, slug: str, used: set[str], counts: dict[str, int]) -> str:
        """The slug, with the next free number if it is used. `counts` has the last number of each slug."""
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
    """Add `{#anchor}` to each heading whose anchor differs from GitHub's.

    Anchors in the text win. Code stays unchanged. Takes time in proportion to the length.
    """
    lines = markdown.split("\n")
    found = [(heading, *_split_heading(heading.source)) for heading in headings(markdown)]
    used = {anchor for _, _, anchor, _ in found if anchor}
    counts: dict[str, int] = {}
    github_counts: dict[str, int] = {}  # repeats of GitHub's anchors, as `search.text.sections` counts them
    for heading, text, explicit, has_list in found:
        number = heading.line
        bare = _CLOSING_MARKS.sub("", split_attributes(lines[number])[0]) if has_list else lines[number]
        if explicit is not None:
            lines[number] = f"{bare} {{#{explicit}}}" if has_list else bare
            continue
        if slugs.drops_dashes and "--" in heading.source:
            bare_source = _CODE_OR_DASHES.sub(lambda found: found[0] if found[0][0] == "`" else "", heading.source)
            plain_slug = slugs.slug(_split_heading(bare_source)[0])
        else:
            plain_slug = slugs.slug(text)
        if not plain_slug and slugs.separator == "-":  # generators differ, and there is nothing to link to
            lines[number] = f"{_CLOSING_MARKS.sub('', bare.rstrip())} {{#}}"
            continue
        anchor = slugs.make_unique(plain_slug, used, counts)
        used.add(anchor)
        github = slug(text)
        repeats = github_counts.get(github, 0)
        if anchor == (f"{github}-{repeats}" if repeats and github else github) or not _VALID_ANCHOR.fullmatch(anchor):
            github_counts[github] = repeats + 1
            lines[number] = bare
        else:
            lines[number] = f"{_CLOSING_MARKS.sub('', bare.rstrip())} {{#{anchor}}}"
    return "\n".join(lines)


def extract_section(markdown: str, anchor: str, slugs: Slugs) -> str:
    """The text below the heading with this anchor, up to the next heading of its level or above; empty without one."""
    lines = markdown.split("\n")
    used: set[str] = set()
    counts: dict[str, int] = {}
    start = level = 0
    for heading in headings(markdown):
        if start and heading.level <= level:
            return "\n".join(lines[start : heading.line])
        text, explicit, _ = _split_heading(heading.source)
        name = explicit or slugs.make_unique(slugs.slug(text), used, counts)
        used.add(name)
        if name == anchor and not start:
            start, level = heading.line + 1, heading.level
    return "\n".join(lines[start:]) if start else ""


def drop_unknown_anchors(markdown: str, *marks: str) -> str:
    """The page, where a heading with one of these marks has no anchor unless it names one: its text is not known."""

    def mark_heading(heading: re.Match[str]) -> str:
        is_known = not any(mark in heading[0] for mark in marks) or split_attributes(heading[0])[1] is not None
        return heading[0] if is_known else f"{heading[0]} {{#}}"

    return _HEADING.sub(mark_heading, markdown)


def build_python_markdown_slugs(separator: str = "-", keep_unicode: bool = False) -> Slugs:
    """The slugs of Python-Markdown's `toc`."""

    def slugify(text: str) -> str:
        if not keep_unicode:
            text = to_ascii(text)
        bare = re.sub(r"[^\w\s-]", "", text).strip().lower()
        return re.sub(rf"[{re.escape(separator)}\s]+", lambda _: separator, bare)

    return Slugs(f"toc {separator!r} {keep_unicode}", slugify, "_")


def build_pymdownx_slugs(
    separator: str = "-", case: str = "none", percent_encode: bool = False, form: Form = "NFC"
) -> Slugs:
    """The slugs of PyMdown Extensions; `case` is `none`, `lower`, `lower-ascii` or `fold`."""
    convert_case: dict[str, Callable[[str], str]] = {
        "lower": str.lower,
        "fold": str.casefold,
        "lower-ascii": lambda text: re.sub("[A-Z]", lambda letter: letter[0].lower(), text),
    }

    def slugify(text: str) -> str:
        text = convert_case.get(case, str)(normalize(form, text).strip())
        bare = re.sub(r"[^\w\- ]", "", text).replace(" ", separator)
        return quote(bare) if percent_encode else bare

    return Slugs(f"pymdownx {separator!r} {case} {percent_encode} {form}", slugify, "_")


def _make_vitepress_slug(text: str) -> str:
    bare = "".join(mark for mark in normalize("NFKD", text) if not "\u0300" <= mark <= "\u036f")
    bare = re.sub(r"[\x00-\x1f]", "", bare)
    bare = _VITEPRESS_SPECIAL.sub("-", bare).strip("-").lower()
    return f"_{bare}" if bare[:1] in set("0123456789") else bare


def _make_mintlify_slug(text: str) -> str:
    """Mintlify's slug. Letters of all scripts stay, other characters become hyphens, some marks are removed."""
    escaped = quote(re.sub(r"\s+", "-", text.lower().strip()), safe="!~*'()")
    kept_signs = "%_" if re.search("%[0-9A-F]{2}", escaped) else "_"
    bare = re.sub(rf"[^A-Za-z0-9{kept_signs}]+", "-", escaped).strip("-")
    return _MINTLIFY_DROPPED.sub("", unquote(bare))


VITEPRESS = Slugs("vitepress", _make_vitepress_slug)
GITHUB = Slugs("github", slug)
MINTLIFY = Slugs("mintlify", _make_mintlify_slug, first=2)


def _split_heading(raw: str) -> tuple[str, str | None, bool]:
    """The visible text of a heading, the anchor that it gives itself or None, and whether it has an attribute list."""
    bare, anchor = split_attributes(raw)
    text = plain(clean(f"# {bare}")) if _MARKUP.search(bare) else bare
    if anchor is not None:
        return text, anchor or None, True
    explicit, heading = anchor_and_heading(text, {})
    return heading, explicit if heading != text else None, False

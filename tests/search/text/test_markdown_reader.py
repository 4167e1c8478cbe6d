"""The one Markdown reader: blocks, headings and code in the dialects of site generators."""

import time

import pytest

from search.text.markdown.cleaning import clean
from search.text.markdown.links import CodeSpans
from search.text.markdown.reader import fence, fenced_lines, fences, headings, is_code, parse_site, title_of
from tests.variants import first_of

TOKENS = {
    "admonition": ('!!! note "A *b*"\n    Text.\n\n    More.\n\nAfter.', [("indented_open", 0, 5, "**A *b***")]),
    "collapsed": ("??? tip\n    Text.", [("indented_open", 0, 2, "")]),
    "tabs": ('=== "p"\n    a\n=== "u"\n    b', [("indented_open", 0, 2, "**p**"), ("indented_open", 2, 4, "**u**")]),
    "tab in an item": ('- x\n\n    === "pip"\n\n        a\n\n- y', [("indented_open", 2, 6, "**pip**")]),
    "footnote": ("a\n[^1]: Note\n    goes on", [("indented_open", 1, 3, "")]),
    "meaning": ("Term\n:   Meaning", [("indented_open", 1, 2, "")]),
    "directive": ("Text\n:::tip[Mind]{.x}\nText\n:::", [("directive", 1, 2, "**Mind**"), ("directive", 3, 4, "")]),
    "documented module": ("::: a.b\n    options:\n      c: d\n\nText", [("directive", 0, 3, "`a.b`")]),
    "block": ("/// tip | Mind\n    type: x\n\nText\n///", [("directive", 0, 2, "**Mind**"), ("directive", 4, 5, "")]),
    "definition": ("Text\n[a]: b.md 'c'", [("definition", 1, 2, "a")]),
    "comment": ("a <!-- b\n\n```\n--> c\n\nd", [("hidden", 0, 4, "")]),
    "style": ("<style>\n\na\n</style> b", [("hidden", 0, 4, "")]),
    "comment that never ends": ("a <!-- b\n\nc", []),
    "comment in code": ("`<!--` a\n-->", []),
    "code": ('```\n!!! note\n:::\n<!--\n```\n\n    === "a"\n\n-->', []),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), TOKENS.values(), ids=TOKENS)
def test_what_generators_add_has_tokens(source, expected):
    kinds = ("indented_open", "directive", "definition", "hidden")
    assert [(token.type, *token.map, token.info) for token in parse_site(source) if token.type in kinds] == expected


def test_headings_count_in_admonitions_and_nowhere_else():
    source = (
        "# A\n\nB\nc\n---\n\n!!! note\n    ## D ##\n\n- # no\n\n> # no\n\n```\n# no\n```\n\n<!--\n# no\n-->\n\n    # no"
    )
    assert list(headings(source)) == [(0, 1, "A"), (3, 2, "B\nc"), (7, 2, "D")]


def test_lines_are_counted_by_line_feeds_alone():
    assert list(headings("a\rb\r\n\n# C")) == [(2, 1, "C")]
    assert fenced_lines("a\rb\n```\r\nc\n```\nd") == {1, 2, 3}


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# A `b`\n\ntext", "A `b`"),
        ("Title\n=====", "Title"),
        ("```sh\n# no\n```\n\n## B\n\n# C", "C"),
        ("## B", ""),
        ("", ""),
    ],
)
def test_the_title_is_the_first_heading_of_the_first_level(source, title):
    assert title_of(source) == title


def test_a_fence_of_mdx_stands_as_far_to_the_right_as_its_component():
    source = "<Box>\n      ```js\n      a\n      ```\n</Box>\n\n- b\n\n     ~~~\n     c"
    assert list(fences(source)) == [(8, 10)]
    assert list(fences(source, is_mdx=True)) == [(1, 4), (8, 10)]


def test_a_fence_is_longer_than_those_within():
    assert fence("a", "py") == "```py\na\n```"
    assert fence("````\na\n````") == "`````\n````\na\n````\n`````"


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        *(("```\na", True), ("~~~ py\na\n~~~", True), ("    a", True), ("- ```\n  a", False), ("``a``", False)),
        *(("\n\n\ta", True), ("\r\n    a", True), ("   ~~~\na", True), ("  a", False), ("\n\na\n\n```\nb", False)),
        ("", False),
    ],
)
def test_code_is_told_from_text(block, expected):
    assert is_code(block) is expected


def test_a_code_span_ends_at_as_many_backticks():
    spans = CodeSpans("`a` ``b ` c`` `d")
    assert [spans.end(at) for at in (0, 4, 14)] == [3, 13, 15]
    assert spans.end(4, limit=10) == 6


def test_attributes_below_an_item_do_not_end_its_list():
    source = '* One\n{#here}\n\n    === "pip"\n\n        a\n\n* Two'
    assert clean(source) == "* One\n\n\n    **pip**\n\n\n    a\n\n* Two"


HOSTILE = ("!!! a\n    ", "!!! a\n", '=== "a"\n    - ', "[^1]: ", ": a\n", ":::", ":::a\n    b\n", "/// a\n    b:\n",
           "<!--", "<!--\n", "> <!--\n", "<svg>\n", "[a]: b\n", ":::" + " " * 1990 + "x\n", "- ```\n")  # fmt: skip


@pytest.mark.parametrize("piece", first_of(HOSTILE, 1))
def test_hostile_blocks_cost_time_in_proportion(piece):
    def seconds(size: int) -> float:
        began = time.process_time()
        clean(piece * (size // len(piece)) + "\n-->")
        return time.process_time() - began

    assert any(seconds(96_000) < 25 * max(seconds(12_000), 0.02) for _ in range(3))

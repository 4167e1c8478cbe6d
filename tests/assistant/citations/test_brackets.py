"""Parsing of square brackets, from whole texts and from the beginnings of streams."""

import pytest

from assistant.citations.brackets import (
    Bracket,
    Definition,
    Link,
    Literal,
    Marker,
    Reference,
    parse,
    parse_other,
    plain_label,
)


def parse_whole(text: str, **context: bool) -> Bracket | None:
    return parse(text, True, **{"is_image": False, "may_define": False, "may_refer": True, **context})


@pytest.mark.parametrize(
    ("text", "bracket"),
    [
        ("[2] and more", Marker([2], 3)),
        ("[^1, 3]", Marker([1, 3], 7)),
        ("[passages 1 and 2]", Marker([1, 2], 18)),
        ("[2-4]", Marker([2, 3, 4], 5)),
        ("[1](https://a.example)", Marker([1], 22)),
        ("[guide](https://a.example) here", Link("guide", "https://a.example", 26)),
        ("[a [b] c](<x y> 'title')", Link("a [b] c", "x y", 24)),
        ("[guide][g]", Reference("guide", 10, 10)),
        ("[guide][1]", Reference("guide", 7, 10)),
        ("[g]: https://a.example", Literal()),
        ("[ ] box", Literal()),
        ("[open", Literal()),
        ("[`]`", Literal()),
    ],
)
def test_a_bracket_is_a_marker_a_link_or_nothing_special(text: str, bracket: Bracket) -> None:
    assert parse_whole(text) == bracket


def test_the_context_of_a_bracket_decides_too() -> None:
    assert parse_whole("[g]: https://a.example", may_define=True) == Definition(22)
    assert parse_whole("[g]: a note of several words", may_define=True) == Literal()
    assert parse_whole("[0][1]", may_refer=False) == Marker([0], 3)
    assert parse_whole("[x][1]", may_refer=False) == Literal()
    assert parse_whole("[1](i.png)", is_image=True) == Link("1", "i.png", 10)


@pytest.mark.parametrize("text", ["[2", "[2]", "[guide](https://", "[guide][g", "[`code", "[guide"])
def test_the_beginning_of_a_stream_waits_for_more(text: str) -> None:
    assert parse(text, False, is_image=False, may_define=True, may_refer=True) is None


def test_a_lenticular_bracket_may_be_a_marker() -> None:
    assert parse_other("【2†source】.", False) == Marker([2], 10)
    assert parse_other("【2†sou", False) is None
    assert parse_other("【see】", False) == Literal()


def test_the_label_of_an_allowed_link_contains_no_other_link() -> None:
    assert plain_label("the [inner](https://evil.example) <b>guide") == "the inner bguide"
    assert plain_label("`code [1]`") == "`code [1]`"
    for label in ("https://evil.example", "me@evil.example", "WWW.evil.example", "12", "[]"):
        assert plain_label(label) == "", label

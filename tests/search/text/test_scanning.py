"""Pieces of a text that may hold an index term: none with one is passed over."""

import pytest

from search.text import analysis
from search.text.english import read_words
from search.text.scanning import Scanner


def find(terms: list[str], line: str, language: str = "en") -> list[str]:
    pieces = list(Scanner(terms, language).find_pieces(line))
    assert all(line[at : at + len(piece)] == piece for at, piece in pieces)
    return [piece for _, piece in pieces]


@pytest.mark.matrix
def test_every_english_word_is_found_by_its_stem():
    words = [word for word in read_words() if word.isascii() and word.isalpha()]
    assert len(words) > 20_000
    assert not [word for word in words if not find([analysis.stem(word)], word)]


@pytest.mark.parametrize(
    ("term", "piece"),
    [
        ("email", "E-Mail,"),
        ("usechat", "`use_Chat()`"),
        ("die", "dying"),
        ("cplusplus", "C++"),
        ("csharp", "C#."),
        (".net", ".NET"),
        ("=>", "=>"),
        ("zebra", "ｚｅｂｒａ"),
        ("file", "ﬁles"),
        ("naiv", "naïve"),
        ("js", "js"),
    ],
)
def test_a_word_is_found_however_it_is_written(term, piece):
    assert piece in find([term], f"one two {piece} three")


def test_other_pieces_are_passed_over():
    assert find(["configur", "server"], "The Server – once it was “configured” – says no more.") == [
        "Server",
        "“configured”",
    ]
    assert find(["publiqu"], "une publication", "fr") == ["une", "publication"], "its stemmer changes the middle"

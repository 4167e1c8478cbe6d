"""What agents read as the headline of a page, and that a hostile one costs no more than its length."""

import pytest

from docsite.extras.agent_pages.pages import _split_title


@pytest.mark.parametrize(
    ("markdown", "headline", "below"),
    [
        ("# Labels\nText", "Labels", "Text"),
        ("\n\n#\tLabels ##\nText", "Labels", "Text"),
        ("# Labels {#labels .wide}\n", "Labels", ""),
        ("# Labels {.wide} #", "Labels", ""),
        ("# C#\n", "C#", ""),
        ("# {braces} inside\n", "{braces} inside", ""),
        ("# An open {brace\n", "An open {brace", ""),
        ("# {#only}\nText", "Title", "Text"),
        ("# ##\nText", "Title", "Text"),
        ("#Labels\nText", "Title", "#Labels\nText"),
        ("Text\n# Labels", "Title", "Text\n# Labels"),
    ],
)
def test_the_headline_stands_without_hashes_and_attributes(markdown: str, headline: str, below: str) -> None:
    assert _split_title(markdown, "Title") == (headline, below)


@pytest.mark.parametrize("piece", ["#", "# ", " ", "{", "{}", "} {"])
def test_a_long_headline_takes_no_time(piece: str) -> None:
    headline, _ = _split_title(f"# {piece * 300_000}\x01", "Title")
    assert headline.endswith("\x01")

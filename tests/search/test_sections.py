"""Markdown to sections: headings, anchors, and text that can be quoted."""

from search.sections import clean, split

PAGE = """\
# Title { #ignored }

Intro with a [relative](../other.md) and an [absolute](https://x.example/) link. ![shot](a.png)

## First heading!

Text <span class="x">marked</span>. <!-- gone -->

```python title="a.py"
# not a heading
<b>kept</b> [kept](kept.md)
```

### Deeper { #own-anchor }

!!! note "Mind this"

    Indented words.

=== "pip"

    ```sh
    pip install x
    ```

/// tip | Title of the tip
Inside.
///

## First heading!

Again.
"""


def test_a_page_is_cut_at_its_headings():
    parts = split(PAGE, "Title")
    assert [(part.heading, part.anchor, part.trail) for part in parts] == [
        ("", "", ()),
        ("First heading!", "first-heading", ("First heading!",)),
        ("Deeper", "own-anchor", ("First heading!", "Deeper")),
        ("First heading!", "first-heading-1", ("First heading!",)),
    ]


def test_a_body_can_be_quoted_anywhere():
    intro, first, deeper, _ = split(PAGE, "Title")
    assert intro.body == "Intro with a relative and an [absolute](https://x.example/) link. shot"
    assert first.body == ('Text marked.\n\n```python title="a.py"\n# not a heading\n<b>kept</b> [kept](kept.md)\n```')
    assert "**Mind this**\n\nIndented words." in deeper.body
    assert "**pip**\n\n```sh\npip install x\n```" in deeper.body
    assert "**Title of the tip**\n\nInside." in deeper.body
    assert "///" not in deeper.body


def test_text_is_the_body_without_markup():
    _, first, _, _ = split(PAGE, "Title")
    assert first.text == "Text marked.\n# not a heading\n<b>kept</b> [kept](kept.md)"


def test_a_long_section_is_split_between_blocks_and_never_inside_code():
    code = "```\n" + "word word word\n" * 300 + "```"
    parts = split("# T\n\n## H\n\n" + "\n\n".join(["words " * 150] * 4) + "\n\n" + code)
    bodies = [part.body for part in parts if part.heading == "H"]
    assert len(bodies) == 3
    assert bodies[-1].endswith(code)
    assert {part.anchor for part in parts if part.heading == "H"} == {"h"}


def test_a_page_without_headings_is_one_section():
    assert [part.body for part in split("Just words.")] == ["Just words."]
    assert [part.body for part in split("", "Empty")] == ["Empty"]


def test_code_in_a_line_keeps_what_looks_like_markup():
    assert clean("Use `<T>` and `[a](b)` but not <i>this</i>.") == "Use `<T>` and `[a](b)` but not this."

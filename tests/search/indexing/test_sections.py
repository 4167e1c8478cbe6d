"""Markdown to sections: headings, anchors, and text that can be quoted."""

import pytest

from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import plain
from search.text.markdown.reader import MAX_CELLS, blocks, parse
from search.text.sections import LONG_HEADING, MAX_WORDS, split
from tests.variants import first_of

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
    assert intro.body == "Intro with a [relative](../other.md) and an [absolute](https://x.example/) link. shot"
    assert first.body == ('Text marked.\n\n```python title="a.py"\n# not a heading\n<b>kept</b> [kept](kept.md)\n```')
    assert "**Mind this**\n\nIndented words." in deeper.body
    assert "**pip**\n\n```sh\npip install x\n```" in deeper.body
    assert "**Title of the tip**\n\nInside." in deeper.body
    assert "///" not in deeper.body


def test_text_is_the_body_without_markup_and_the_titles_of_code():
    _, first, _, _ = split(PAGE, "Title")
    assert first.text == "Text marked.\na.py\n# not a heading\n<b>kept</b> [kept](kept.md)"


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


CLEANED = {
    # MkDocs
    "admonition": ('!!! note "Mind"\n    One.\n\n    Two.\n\nThree.', "**Mind**\n\nOne.\n\nTwo.\n\nThree."),
    "admonition without a space": ("!!!note\n    One.", "One."),
    "collapsed": ('??? api "API"\n    [`a.B`][a.B]', "**API**\n\n`a.B`"),
    "tabs": ('=== "pip"\n\n    a\n\n=== "uv"\n\n    b', "**pip**\n\na\n\n**uv**\n\nb"),
    "tabs in a list": (
        '- x\n\n    === "pip"\n\n        ```sh\n        a <b>\n        ```\n\n    after',
        "- x\n\n    **pip**\n\n    ```sh\n    a <b>\n    ```\n\n    after",
    ),
    "blocks": ("/// details | More\n    type: tip\n\nText.\n\n///", "**More**\n\nText."),
    "include": ("{* ../../docs_src/a.py hl[1] *}\n\nText.\n\n--8<-- \"a.md\"", "Text."),
    "autodoc": ("::: a.B\n    options:\n        members:\n            - c\n\nText.", "`a.B`\n\nText."),
    "cross references": ("[`A`][x.A], [text][x.y], [name][], a[0][1]", "`A`, text, name, a[0][1]"),
    "classes": ("[a](b){ .md-button } `c`{.python}\n{: .x #y }", "[a](b) `c`"),
    "icons": (":material-check: :fontawesome-solid-x:{ .y } Done :tada:, at 12:30:45", "  Done , at 12:30:45"),
    "code with a language": ("`#!python a`", "`a`"),
    "definition list": ("Term\n:   Meaning\n\n    More.", "Term\n\nMeaning\n\nMore."),
    "abbreviation": ("Text.\n\n*[HTML]: Hypertext", "Text."),
    "template": ("{% raw %}Text{% endraw %} {{ version }}", "Text"),
    # Docusaurus, VitePress, GitHub
    "directive": (":::note Title\n\nText.\n\n:::", "**Title**\n\nText."),
    "directive with brackets": (":::tip[A *b*]{.x}\nText.\n:::", "**A *b***\n\nText."),
    "nested directives": ("::::info\n:::warning\nText.\n:::\n::::", "Text."),
    "spaced directive": ("::: details Read on\nText.\n:::", "**Read on**\n\nText."),
    "alert": ("> [!NOTE]\n> Text.", ">\n> Text."),
    "tasks": ("- [ ] a\n- [x] b", "- a\n- b"),
    # links
    "relative": ("[a](b.md) [c](/d#e \"f\") [ g ](#h)", "[a](b.md) [c](/d#e)  [g](#h)"),
    "strange": ("[a](javascript:b) [c](//d) [e](<f g.md>) [](h.md)", "a c e"),
    "absolute": ("[a](https://x.example/b_(c) \"d\")", "[a](https://x.example/b_(c))"),
    "over lines": ("[a\nb](../c.md) <b\nclass='x'>d</b>", "[a\nb](../c.md) d"),
    "references": ("[a][r] [r] [b][R] [s]\n\n[r]: https://x.example\n[s]: ../y.md 'z'",
        "[a](https://x.example) [r](https://x.example) [b](https://x.example) [s](../y.md)"),
    "reference that is none": ("array [i] of [x]", "array [i] of [x]"),
    "image": ("![a](b.png){ width=1 } ![c][d] [![e](f)](https://x.example)", "a c [e](https://x.example)"),
    "footnote": ("Text[^1].\n\n[^1]: Note.\n    More.", "Text.\n\nNote.\nMore."),
    # HTML
    "details": ("<details>\n<summary>A <b>b</b></summary>\n\nText.\n\n</details>", "**A b**\n\nText."),
    "table": ("<table>\n  <tr>\n    <td>a</td><td>b</td>\n  </tr>\n</table>", "|  |  |\n| --- | --- |\n| a | b |"),
    "table with a head and blank lines": (
        "<div><TABLE class='x>y'>\n<caption>C</caption><thead>\n\n<tr><th>A<th>B</thead>\n"
        "\n<!--<tr><td>no</td></tr>-->\n"
        "<tr><td>\n\n`a|b`<br/>**c**</td>\n\n<td><ul><li>d</li><li>[e](f.md)</li></ul></td></tr></table></div>",
        "**C**\n\n| A | B |\n| --- | --- |\n| `a\\|b` **c** | d [e](f.md) |",
    ),
    "table with spans": (
        "<table><tr><th>A</th><th>B</th><th>C</th></tr><tr><td rowspan=2>x</td><td colspan='2'>y</td></tr>"
        "<tr><td>1</td><td>2</td></tr></table>",
        "| A | B | C |\n| --- | --- | --- |\n| x | y |  |\n| x | 1 | 2 |",
    ),
    "table in an item": ("- x\n\n  <table><tr><td>a<td>b</table>\n\n- y",
        "- x\n\n  |  |  |\n  | --- | --- |\n  | a | b |\n\n- y"),
    "table for layout": ("<table><tr><td>\n\n```\na\n```\n\n<td>b</table>", "```\na\n```\n\nb"),
    "table of one column": ("<table><tr><td>a</td></tr></table>b", "a  \n\nb"),
    "table that never ends": ("<table><tr><td>a<td>b\n\nc", "a b\n\nc"),
    "powers": ("2<sup>32</sup> 2<sup>n-1</sup> 10<sup>-9</sup> 1<sup>st</sup> \\<sup>2</sup>",
        "2^32 2^(n-1) 10^-9 1st \\<sup>2"),
    "powers with blanks": ("2<sup> 32\n</sup> H<sub>\t2 </sub>O 1<sup>  st</sup>", "2^32 H2O 1st"),
    "lowered": ("H<sub>2</sub>O 101<sub>2</sub>", "H2O 101_2"),
    "deletions": ("<s>v1</s> v2 <del>a\nb</del>c ~~d `e`~~f `~~g~~` \\~~h~~", "v2 c f `~~g~~` \\~~h~~"),
    "deletion in a heading": ("## ~~a()~~ <del>b</del>", "## ~~a()~~ b"),
    "keys and code": ("<kbd>A</kbd><kbd>*</kbd> <code>__a__</code> <code>&lt;T&gt;</code>", "`A` `*` `__a__` `<T>`"),
    "heading": ('<h2 align="center" id="x">A</h2>', "## A { #x }"),
    "entity": ("a &lt; b", "a &lt; b"),
    "anchor": ("<a class='x' href='b.md'>a</a> <a href=\"c.md\"><b>d</b></a> <a id='e'></a>", "[a](b.md) d"),
    "alt": ("<p><img src='x' alt='Shot > 1'/> <kbd>A</kbd></p>", "Shot > 1 `A`"),
    "placeholder": ("Replace <your-key> with <T>.", "Replace \\<your-key> with ."),
    "comment": ("a <!-- b --> c\n\n<!--\n\n# d\n```\n-->\n\ne", "a  c\n\ne"),
    "comment that never ends": ("a\n\n<!-- b\n\nc", "a\n\n<!-- b\n\nc"),
    "style": ("<style>\n\na { b }\n</style>\n\nc <svg><path d='x'/></svg>", "c"),
    # code
    "code spans": ("`<T>` ``a ` [b](c)`` <i>d</i>", "`<T>` ``a ` [b](c)`` d"),
    "code span over lines": ("`a <b>\n<c>`", "`a <b>\n<c>`"),
    "fence": ("```\n<!-- a -->\n\t[b](c) :d:\n!!! e\n```", "```\n<!-- a -->\n\t[b](c) :d:\n!!! e\n```"),
    "fence in a quote": ("> ```\n> <a>\n> ```\n> <i>b</i>", "> ```\n> <a>\n> ```\n> b"),
    "fence in an item": ("- ```\n  <a>\n  ```\n- <i>b</i>", "- ```\n  <a>\n  ```\n- b"),
    "fence within a fence": ("````\n```\n<a>\n```\n````\n<i>b</i>", "````\n```\n<a>\n```\n````\nb"),
    "fence that ends with its admonition": ("!!! a\n    ```\n    <a>\n\n<i>b</i>", "```\n<a>\n\nb"),
    "three ticks in a line": ("```a``` <i>b</i>", "```a``` b"),
    "indented code": ("Text:\n\n    a <b>\n\n- <i>c</i>", "Text:\n\n    a <b>\n\n- c"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), CLEANED.values(), ids=CLEANED)
def test_syntax_of_sites_becomes_plain_markdown(source, expected):
    lines = clean(source).strip("\n").split("\n")
    squeezed = [line for at, line in enumerate(lines) if line or lines[at - 1]]
    assert "\n".join(squeezed) == expected


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("a **b** *c* `d*` _e_ f_g_h", "a b c d* e f_g_h"),
        ("***a*** **b `c`** ~~d~~ \\*e\\*", "a b c d *e*"),
        ("[a `b`](https://x.example) <https://y.example> ![c](https://z.example)", "a b https://y.example c"),
        ("a &lt;b&gt; &amp; c", "a <b> & c"),
        ("a  \nb\nc", "a b c"),
        ("2 * 3 * 4 and **", "2 * 3 * 4 and **"),
        ("a\n===\n\n> b\n> # c\n\n- # d\n\n    e", "a\nb\nc\nd\ne"),
        ("| a | b |\n|---|---|\n| `c` | d |", "a\nb\nc\nd"),
        ('```py title="a b.py" linenums="1"\nx\n```', "a b.py\nx"),
        ('```console\n$ a <font color="#4E9A06"><b>b</b></font> <c>\n```', "$ a b <c>"),
        ("```js src/a.js {1,3}\nx\n```", "src/a.js\nx"),
        ("```js showLineNumbers\nx\n```", "x"),
    ],
)
def test_plain_is_what_a_reader_sees(markdown, text):
    assert plain(markdown) == text


@pytest.mark.parametrize(
    "cells",
    [
        "<td colspan=100 rowspan=100>a" * 500,
        "<td colspan=100 rowspan=100>a" * 2,
        "<td colspan=100>a<td rowspan=100>a" * 150,
        "<td colspan=100>a" * 500,
        ("<td rowspan=100>" + "a" * 200) * 11,
    ],
)
def test_a_table_grows_little_by_what_its_cells_span(cells):
    source = f"<table><tr>{cells}{'<tr><td>b' * 100}</table>"
    assert len(clean(source)) < 10 * len(source)


def test_cells_of_a_table_of_a_usual_size_are_repeated():
    first = "<td rowspan=20>" + "a" * 50
    rows = "".join(f"<tr>{'' if at % 20 else first}<td>b<td>c" for at in range(400))
    assert clean(f"<table>{rows}</table>").count("a" * 50) == 400


def test_headings_are_found_however_they_are_written():
    page = "Title\n=====\n\nA\n-\n\n## B [#own]\n\n```\n# no\n```\n\n"
    page += "> ## no\n\n- ## no\n\n# Second title\n\n## `c_d` *e*\n"
    assert [(part.heading, part.anchor, part.trail) for part in split(page)] == [
        ("A", "a", ("A",)),
        ("B", "own", ("B",)),
        ("Second title", "second-title", ("Second title",)),
        ("c_d e", "c_d-e", ("Second title", "c_d e")),
    ]


def test_a_definition_below_another_heading_serves_the_whole_page():
    first, second = split("## A\n\n[x]\n\n## B\n\ny\n\n[x]: https://x.example\n")
    assert (first.body, first.text) == ("[x](https://x.example)", "x")
    assert second.body == "y"


LONG = {
    "list": "\n".join(f"- item {n} " + "word " * 20 for n in range(60)),
    "paragraph": "One short sentence of seven words only. " * 200,
    "paragraph without sentences": "word " * 1500,
    "table": "| a | b |\n|---|---|\n" + "\n".join(f"| row{n} | " + "word " * 20 + "|" for n in range(60)),
}


@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
def test_a_long_block_is_cut_where_it_may_be(body):
    parts = split("## H\n\n" + body)
    assert len(parts) > 2
    assert max(len(part.body.split()) for part in parts) < MAX_WORDS * 1.5
    assert {part.anchor for part in parts} == {"h"}
    words = " ".join(part.text for part in parts).split()
    assert [word for word in words if word not in "ab"] == [word for word in plain(body).split() if word not in "ab"]
    for part in parts:
        assert plain(part.body).split() == part.text.split()


def test_a_cut_table_stays_a_table():
    for part in split(LONG["table"]):
        assert part.body.startswith("| a | b |\n|---|---|\n| row")


def table(columns: int, rows: int) -> str:
    return "|" + "a|" * columns + "\n|" + "-|" * columns + "\n" + ("|" + "x|" * columns + "\n") * rows


def test_cells_without_blanks_count_as_words():
    parts = split(table(20, 200))
    assert len(parts) > 8
    assert max(part.body.count("|") for part in parts) < MAX_WORDS * 1.5
    assert sum(part.text.count("x") for part in parts) == 4000


@pytest.mark.parametrize("within", ["", "> ", "- "])
@pytest.mark.parametrize(("columns", "rows"), [(3000, 30), (10, MAX_CELLS // 10), (1000, 0)])
def test_a_huge_table_has_no_token_for_each_cell(columns, rows, within):
    lines = table(columns, rows).splitlines()
    source = "\n".join(
        (within if not at or within == "> " else " " * len(within)) + row for at, row in enumerate(lines)
    )
    tokens = parse(source + "\n\nAfter.")
    assert len(tokens) < 10
    assert plain(source).count("x") == columns * rows


@pytest.mark.parametrize(("columns", "rows"), first_of([(3000, 30), (10, MAX_CELLS // 10)], 1))
def test_a_huge_table_is_split(columns, rows):
    parts = split("## H\n\nBefore.\n" + table(columns, rows) + "\nAfter.")
    assert len(parts) >= columns * rows // MAX_WORDS
    assert max(len(part.body) for part in parts) < MAX_WORDS * 5
    assert sum(part.text.count("x") for part in parts) == columns * rows
    assert (parts[0].text.split()[0], parts[-1].text.split()[-1]) == ("Before.", "After.")
    for part in parts:
        assert plain(part.body).split() == part.text.split()


@pytest.mark.matrix
def test_a_long_head_is_not_repeated_for_every_few_rows():
    source = "| " + "head " * 20_000 + "| b |\n|---|---|\n" + "| x | y |\n" * 5000
    assert sum(len(part.body) for part in split(source)) < len(source) * 6


@pytest.mark.parametrize("markdown", [PAGE, *(source for source, _ in CLEANED.values())])
def test_text_is_that_of_the_body(markdown):
    for part in split(markdown):
        assert part.text == plain(part.body)


def test_blocks_are_as_they_are_written():
    assert blocks(["a", "b", "", "---", "", "```", "c", "", "d", "```", "- e", "- f"]) == [
        *("a\nb", "```\nc\n\nd\n```", "- e\n- f"),
    ]


@pytest.mark.parametrize("heading", ["## {} {{#x}}", "{} {{#x}}\n---"])
def test_a_long_heading_is_cut_and_stands_in_the_text(heading):
    words = " ".join(["`a_b` word"] * 15)
    first, second = split(f"# Title\n\n{heading.format(words)}\n\nText.\n\n### Below\n\nMore.")
    assert (len(first.heading) <= LONG_HEADING, first.heading[-6:], first.anchor) == (True, " word…", "x")
    assert first.text == words.replace("`", "") + "\nText."
    assert plain(first.body) == first.text
    assert second.trail == (first.heading, "Below")


@pytest.mark.parametrize("line", ["__PLACEHOLDER__", "  __TITLE_PLACEHOLDER__", "\\_\\_APP\\_NAME\\_\\_"])
def test_a_placeholder_that_a_template_left_is_no_text(line):
    assert [(part.body, part.text) for part in split(f"One.\n\n{line}\n\nTwo.")] == [("One.\n\nTwo.", "One.\nTwo.")]


@pytest.mark.parametrize(
    "line", ["__NOTE__", "\\_\\_init\\_\\_", "Set `__PLACEHOLDER__`.", "```\n__PLACEHOLDER__\n```"]
)
def test_bold_text_and_code_are_no_placeholders(line):
    assert [part.body for part in split(line)] == [line]

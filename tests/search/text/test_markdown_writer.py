"""Text and code written as Markdown come back unchanged when Markdown is read."""

import pytest

from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import plain
from search.text.markdown.writer import code_span, escape_line_start, escape_text, superscript


@pytest.mark.parametrize(
    "text",
    [
        *("a * b * c", "_init_", "snake_case", "[link](x)", "`code`", "<b>bold</b>", "a < b", "&lt;", "~~no~~"),
        *("{{ name }}", "{% raw %}", "{#anchor}", "::: note", ":smile:", "\\", "!!! note", "--8<-- 'a'"),
    ],
)
def test_escaped_text_reads_as_it_was(text):
    assert plain(clean(escape_line_start(escape_text(text)))) == text


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("# title", "\\# title"),
        ("=== tab", "\\=== tab"),
        ("-f option", "-f option"),
        ("#1", "#1"),
        ("1.5 seconds", "1.5 seconds"),
    ],
)
def test_a_line_begins_no_block(line, escaped):
    assert escape_line_start(line) == escaped


@pytest.mark.parametrize(
    ("text", "span"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("  a\n b ", " `a b` "), (" ", " "), ("", "")],
)
def test_a_code_span_has_enough_backticks(text, span):
    assert code_span(text) == span


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *(("32", "^32"), ("−1", "^−1"), ("n", "^n"), ("n-1", "^(n-1)"), ("n − 1", "^(n − 1)"), ("a+−b", "^(a+−b)")),
        *(("th", "th"), ("TM", "TM"), ("a-", "a-"), ("−−−", "−−−")),
    ],
)
def test_a_raised_text_is_a_power_or_stays(text, line):
    assert superscript(text) == line

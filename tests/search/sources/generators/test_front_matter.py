"""Front matter: read entry by entry where it is not valid, and never a reason to lose a page."""

import pytest

from search.sources import Page, Problem, UnreadablePage
from search.sources.markdown.folder import read_folder
from search.sources.markdown.front_matter import split_front_matter
from tests.drafts import build_drafts

INVALID = {
    "a sign that YAML reserves": ("---\ntitle: @acme/kit: why\n---", {"title": "@acme/kit: why"}, [2]),
    "a colon in a title": ("---\nid: a\ntitle: Foo: bar\n---", {"id": "a", "title": "Foo: bar"}, [3]),
    "tabs": ("---\ntitle:\tA\ntags:\n\t- a\n\t- b\n---", {"title": "A", "tags": ["a", "b"]}, []),
    "a date that does not exist": ("---\ndate: 2024-02-31\n---", {"date": "2024-02-31"}, []),
    "a name twice": ("---\ntitle: A\ntitle: B\n---", {"title": "B"}, []),
    "a name twice in TOML": ("+++\ntitle = 'A'\ntitle = 'B'\n+++", {"title": "B"}, []),
    "quotes in quotes": ('---\ntitle: \'It\'s\'\nurl: "a "b""\n---', {"title": "It's", "url": 'a "b"'}, [2, 3]),
    "more lines": (
        "---\ndescription: a: b\n  and c\ntags: [x]\n---",
        {"description": "a: b and c", "tags": ["x"]},
        [2],
    ),
    "signs": ("---\na: {{ x }}\nb: *c\nd: %e\nf: `g`\n---", {"b": "*c", "d": "%e", "f": "`g`"}, [2, 3, 4, 5]),
    "what is not closed": ("---\ntitle: A\ntags: [a\n---", {"title": "A"}, [3]),
    "a line that names nothing": ("---\ntitle: A\nwhat?\n---", {"title": "A"}, [2]),
    "only such a line": ("---\n@what: ?\n---", {}, [2]),
    "a list": ("---\n- a\n---", {}, [None]),
    "TOML": ("+++\ntitle = \ndraft = false\n[params]\nx = 1\n+++", {"draft": "false", "params": {}}, [2]),
    "JSON": ('{\n  "title": "A",\n  "slug": b,\n}', {"title": "A", "slug": "b,"}, [3]),
    "nested without end": (f"---\ntitle: A\nx: {'[' * 3000}\n---", {"title": "A"}, [3]),
}


@pytest.mark.parametrize(("front", "expected", "numbers"), INVALID.values(), ids=INVALID)
def test_the_valid_part_is_read_and_the_rest_is_named_with_its_line(front, expected, numbers):
    problems = []
    assert split_front_matter(f"{front}\nText", problems) == (expected, "Text")
    assert [kind for kind, _ in problems] == ["front matter"] * len(numbers)
    for (_, detail), number in zip(problems, numbers, strict=True):
        assert detail.startswith(f"line {number} is n" if number else "is not a list")


@pytest.mark.parametrize(
    "front", ["---\ngroups: [staff\n---", "---\ntitle: a: b\n groups: staff\n---", "+++\ngroups = staff\n+++"]
)
def test_a_page_whose_groups_cannot_be_read_is_not_shown_to_anybody(write, front):
    (item,) = read_folder(write({"a.md": f"{front}\nText"}))
    assert isinstance(item, UnreadablePage)
    assert "`groups` cannot be read" in item.reason


def test_values_that_a_field_cannot_have_cost_only_themselves(write):
    front = "---\ntitle: {a: b}\ntags: {a: b}\nboost: -1\nkeywords: [[a]]\ndescription: Fine\n---\n# Name"
    (page,) = build_drafts(read_folder(write({"a.md": front})))
    assert isinstance(page, Page)
    assert (page.title, page.tags, page.boost, page.description) == ("", (), 1.0, "Fine")
    assert page.problems == tuple(
        Problem("front matter", detail)
        for detail in (
            "`title` is not text",
            "tags are not a list",
            "`keywords` are not a list of words",
            "boost is not a positive number",
        )
    )

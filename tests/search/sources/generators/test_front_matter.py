"""Front matter: read entry by entry where it is not valid, and never a reason to lose a page."""

import pytest

from search.sources import Page, Problem, UnreadablePage
from search.sources.markdown.folder import read_folder
from search.sources.markdown.front_matter import split_front_matter
from tests.drafts import build_drafts
from tests.variants import first_of

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


@pytest.mark.parametrize(("front", "expected", "numbers"), first_of(INVALID.values(), 5, ids=INVALID))
def test_the_valid_part_is_read_and_the_rest_is_named_with_its_line(front, expected, numbers):
    problems = []
    assert split_front_matter(f"{front}\nText", problems) == (expected, "Text")
    assert [kind for kind, _ in problems] == ["front matter"] * len(numbers)
    for (_, detail), number in zip(problems, numbers, strict=True):
        assert detail.startswith(f"line {number} is n" if number else "is not a list")


UNKNOWN_GROUPS = {
    "a list without end": "---\ngroups: [staff\n---",
    "below an entry": "---\ntitle: a: b\n groups: staff\n---",
    "text in TOML": "+++\ngroups = staff\n+++",
    "behind a line in brackets": '---\ntitle: "a" b\n[note]\ngroups staff\n---',
    "behind a list in JSON": '{\n"tags":\n["a"],\n"groups" ["staff"]\n}',
    "behind a list in TOML": "+++\ntags =\n['a']\ngroups = ['staff']\n+++",
    "parameters that say something else": "---\ngroups: [all]\nparams: {groups: [staff]}\n---",
    "parameters with a capital letter that say something else": "---\ngroups: [all]\nParams: {groups: [staff]}\n---",
    "a capital letter and a list without end": "---\nGroups: [staff\n---",
    "another name that says something else": "---\ngroups: [all]\nGroups: [staff]\n---",
    "two entries on a line": '{\n"title": "x" "y", "groups": ["staff"]\n}',
    "a mapping on a line": "---\n{title: a: b, groups: [staff]}\n---",
    "such a mapping without a colon": "---\n{title: a, b: c: d, groups [staff]}\n---",
    "a question mark": "---\nno name\n? groups\n: [staff]\n---",
    "a missing blank": "---\ngroups:staff\n---",
    "a missing blank below": "---\ntitle: A\ngroups:staff\n---",
    "an entry in a list": "---\n- groups: [staff]\n---",
    "no end": "---\ngroups: [staff]\n\n# Title\n",
    "another end": "---\ntitle: A\ngroups: [staff]\n----\n",
    "a line above": "\n---\ngroups: [staff]\n---",
    "words behind the beginning": "--- # YAML\ngroups: [staff]\n---",
    "JSON on one line": '{"title": "A", "groups": ["staff"]}',
    "JSON that begins at once": '{"title": "A",\n"groups": ["staff"]\n}',
}
READ_GROUPS = {
    "a capital letter": "---\nGroups: [staff]\n---",
    "in parameters": "---\nparams: {groups: [staff]}\n---",
    "in parameters under another name": "+++\n[params]\nGroups = ['staff']\n+++",
    "in parameters with a capital letter": "---\nParams: {groups: [staff]}\n---",
    "also in parameters": "---\ngroups: [staff]\nparams: {groups: [staff]}\n---",
    "a character that nobody sees": "---\n\u200bgroups: [staff]\n---",
    "behind a line in brackets": '---\ntitle: "a" b\n[note]\ngroups: [staff]\n---',
    "behind a list in JSON": '{\n"title": x,\n"tags":\n["a"],\n"groups": ["staff"]\n}',
}
NO_GROUPS = {
    "a word of a title": "---\ntitle: Users: groups and more\n---",
    "a word of a list": '---\ntags: [groups, "groups", a\ntitle: A: b\n---',
    "a comment": "---\n# groups: [staff]\n---",
    "a rule": "---\n\nText\n\ngroups: [staff]\n",
    "a shortcode": "{{< x >}}\ngroups: [staff]\n",
}


@pytest.mark.parametrize("front", READ_GROUPS.values(), ids=READ_GROUPS)
def test_groups_are_read_beside_what_is_not_valid(front):
    assert split_front_matter(f"{front}\nText")[0]["groups"] == ["staff"]


@pytest.mark.parametrize("front", NO_GROUPS.values(), ids=NO_GROUPS)
def test_the_word_groups_alone_loses_no_page(front):
    assert "groups" not in split_front_matter(f"{front}\nText")[0]


@pytest.mark.parametrize("front", first_of(UNKNOWN_GROUPS.values(), 10, ids=UNKNOWN_GROUPS))
def test_a_page_whose_groups_cannot_be_read_is_not_shown_to_anybody(write, front):
    (item,) = read_folder(write({"a.md": f"{front}\nText"}))
    assert isinstance(item, UnreadablePage)
    assert "`groups`" in item.reason
    assert "cannot be read" in item.reason


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


def test_tags_that_are_too_many_are_said(write):
    (page,) = read_folder(write({"a.md": f"---\ntags: [{', '.join(f't{n}' for n in range(101))}]\n---\nText"}))
    built = page.build()
    assert (len(built.tags), [one.detail for one in built.problems]) == (100, ["has 101 tags, of which 100 are read"])

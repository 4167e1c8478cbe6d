"""What counts as quoted, and what as a link that leads wrong; tables mark what misses its target."""

import pytest

from tests.bench.answers import checks, table
from tests.bench.answers.measure import Answer, Figures
from tests.training.data import Query

PAGE = """
# Guide

{/* How do I begin? */}
<Accordion title="How do I begin?" icon="flag">
{/* checked in May */}

  Run [the `acme` command](/acme) in an **empty** folder &amp; wait for it.
</Accordion>

```mdx
## Can I stop?
Code says nothing to readers.
```

## Why does it wait? { #waiting }

It waits.

**Working with a team?** Share the folder with everyone who needs to read it.
"""


@pytest.mark.parametrize(
    ("question", "answer", "quoted"),
    [
        ("How do I begin?", "**Guide** [1](/x)\n\nRun [the acme command](/x/acme) in an empty folder", True),
        ("How do I begin?", "Run the acme command in a folder", False),
        ("how do I BEGIN", "run the `acme` command in an _empty_ folder", True),
        ("Why does it wait?", "> It waits.", True),
        ("Why does it wait?", "It awaits.", False),
        ("Working with a team?", "Share the folder with everyone who needs to read", True),
        ("Working with a team?", "", False),
        ("Can I stop?", "Code says nothing to readers.", None),
        ("Who are you?", "It waits.", None),
    ],
)  # fmt: skip
def test_an_answer_quotes_what_follows_the_question_on_the_page(question, answer, quoted):
    assert checks.quotes(answer, question, PAGE) is quoted


SITE = "https://docs.example"
PAGES = {
    "/guide": checks.Page(
        "Guide",
        [
            ("", "", "All about it.\nThe end comes last."),
            ("Begin here", "begin", "Run the command-line tool, and wait.\nIt says “done”."),
            ("Begin here", "begin", "Its second part waits, too."),
            ("The end", "end", "Begin here again. The end comes last."),
        ],
    ),
    "/": checks.Page("Home", [("", "", "Welcome.")]),
    "/a b": checks.Page("Blank", [("Größe", "größe", "So groß.")]),
}


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        ("/guide", ""),
        ("", ""),
        ("/a%20b#gr%C3%B6%C3%9Fe:~:text=so%20gro%C3%9F", ""),
        ("/nowhere", "no such page"),
        ("/guide#middle", "no such anchor"),
        ("/guide#begin:~:text=RUN%20the%20command%2Dline%20tool%2C%20and", ""),
        ("/guide#begin:~:text=Run%20the,says%20%E2%80%9Cdone%E2%80%9D", ""),
        ("/guide#begin:~:text=says%20%E2%80%9Cdone%E2%80%9D,Run%20the", "words not on the page"),
        ("/guide#begin:~:text=un%20the%20command", "words not on the page"),
        ("/guide#begin:~:text=here-,Run%20the%20command", ""),
        ("/guide#begin:~:text=here-,Its%20second", "words not on the page"),  # the heading stands above the first part
        ("/guide#end:~:text=The%20end%20comes", "words first elsewhere"),
        ("/guide#end:~:text=again.-,The%20end%20comes", ""),
        ("/guide#end:~:text=Begin%20here", "words first elsewhere"),  # that heading
        ("/guide#end:~:text=Begin%20here,-again", ""),
        ("/guide#:~:text=All%20about", ""),
    ],
)
def test_a_citation_leads_to_its_words(place, fault):
    url = SITE + place
    assert list(checks.faults(f"So it is [1]({url}). See [the guide]({SITE}/no).", SITE, PAGES)) == [(url, fault)]


def test_a_citation_of_another_site_leads_wrong():
    assert [fault for _, fault in checks.faults("[1](https://evil.example/guide)", SITE, PAGES)] == ["no such page"]


def answer(set: str, sources: str, searched: str) -> Answer:
    query = Query("q", "s", "question", "How?", {"/a": 1, "/b": 1}, None, "", source="qa")
    return Answer(set, query, "**A** [1](https://docs.example/a)", sources.split(), searched.split(), [("/a", "")])


def rows(text: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines()]
    return {row[0]: row[1:] for row in cells}


def test_sources_that_miss_what_search_finds_are_marked():
    found = rows(table.sources(Figures([answer("s", "/a", "/a /b"), answer("s", "", "/x /a")])))
    assert found["all questions"] == ["2", "1", "0.250 !", "0.750", "0.500", "1.000", "0.500", "0.500"]
    assert "faq" not in found
    assert rows(table.sources(Figures([answer("s", "/a", "/a")])))["qa"][2] == "0.500"


def test_precision_weighs_foreign_and_own_queries_alike():
    own = [answer("s", "/a", "/a")] * 3 + [answer("s", "", "/a")]
    foreign = [answer("t", "", "/x")] * 1 + [answer("t", "/x", "/x")]
    found = rows(table.refusals(Figures(own + foreign)))
    assert found["questions"] == ["4", "0.250 !", "2", "0.500", "0.667 !"]


def test_citations_that_lead_wrong_are_counted():
    good, bad = answer("s", "/a", "/a"), answer("s", "/a", "/a")
    bad.faults.append(("/b#c:~:text=d", "no such anchor"))
    found = rows(table.links(Figures([good, bad])))
    assert found["that lead wrong"][:2] == ["1 !", "0.3333"]
    assert found["- no such anchor"][0] == "1"
    assert rows(table.links(Figures([good])))["that lead wrong"][0] == "0"


def test_what_a_page_shows_in_code_is_no_citation():
    shown = "It cites like `[1](https://a.example/b#c)`:\n\n```md\n[2](https://a.example/d)\n```\n\nSo [3](https://a.example/e)."
    assert [url for url, _ in checks.faults(shown, "https://a.example", {})] == ["https://a.example/e"]

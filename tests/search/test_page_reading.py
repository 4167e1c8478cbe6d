"""A page, section by section, for a model that wants to read it."""

import pytest

from search.hits import Filters
from search.indexing.ingest import ingest
from search.models import Document, Redirect
from search.retrieval import page_reading
from search.retrieval.page_reading import read_page
from search.sources import Page
from tests.variants import first_of


def headings(page) -> list[str]:
    return [hit.section for hit in page.sections]


def test_a_page_has_its_sections_in_order(project):
    page = read_page(project.project, "/install")
    assert page.path == "/install"
    assert headings(page) == ["Installing acme", "With pip", "From source"]
    pip = page.sections[1]
    assert pip.url == "https://docs.acme.example/install#with-pip"
    assert "pip install acme" in pip.body
    assert pip.breadcrumb == ("Installing acme", "With pip")
    assert pip.excerpt.startswith("Run this command")
    assert pip.above == ("You need Python 3.11 to install acme.", "With pip")
    assert page.further_headings == ()


@pytest.mark.parametrize(
    "address",
    ["install", "/install/", "install.md", "https://docs.acme.example/install?x=1#with-pip", "/old-install"],
)
def test_a_page_is_found_by_any_of_its_addresses(project, address):
    Redirect.objects.create(project=project.project, path="/old-install", target="/install")
    assert read_page(project.project, address).path == "/install"


@pytest.mark.parametrize(
    "address", first_of(["/nowhere", "", "x" * 5000, "http://[", "\x00", "\ud800", "../../etc/passwd", "%00"], 3)
)
def test_what_is_no_page_is_none(make_project, project, address):
    empty = make_project().project
    assert read_page(empty, address) is None
    assert read_page(empty, "/install") is None, "a page of another project"


def test_hidden_pages_are_not_read(project):
    Document.every.filter(project=project.project, path="/install").update(build="staged")
    assert read_page(project.project, "/install") is None


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(version="2.0"), True),
        (Filters(version="latest"), True),
        (Filters(version="1.0"), False),
        (Filters(tag="Settings"), True),
        (Filters(tag="other"), False),
        (Filters(language="de"), True),
    ],
)
def test_filters_hold_for_a_page(project, filters, found):
    assert bool(read_page(project.project, "/configure", filters)) == found


def test_the_headings_of_what_does_not_fit_are_named(make_project, monkeypatch):
    monkeypatch.setattr(page_reading, "MAX_CHARACTERS", 200)
    project = make_project().project
    parts = [f"## Part {number}\n\n{'word ' * 10}[Next](other.md)." for number in range(9)]
    long = "# Long\n\nIntro.\n\n" + "\n\n".join(parts)
    ingest(project, [Page("long.md", "/long", long), Page("other.md", "/other", "# Other\n\nHi.")])
    page = read_page(project, "/long")
    assert headings(page) == ["Long", "Part 0", "Part 1"]
    assert page.further_headings == tuple(f"Part {number}" for number in range(2, 9))
    assert "(https://docs.acme.example/other)" in page.sections[1].body

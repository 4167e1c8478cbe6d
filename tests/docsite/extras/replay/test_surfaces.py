"""Surfaces: where the fact of a golden question gets lost between the page and the answer. The site is a real one."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from assistant.improving.golden_questions import checks
from assistant.models import GoldenQuestion
from docsite.extras.mcp.tools import search_docs
from docsite.extras.replay.surfaces import audit, finding, service, site
from search.indexing.ingest import ingest
from search.sources import Page
from tests.conftest import Tenant, logged_in
from tests.docsite.setup import small_site

ORDER = ["page", "Markdown", "llms.txt", "search", "MCP", "answer"]
INSTALL, FEED = "pip install heron", "Set FEED_TIME"
FILLER = "A pond is a small lake. " * 300  # 7,200 characters
FILES = {
    "/llms.txt": "# Heron\n\n- [Install](/install.md)\n- [Depth](/depth)\n- [Feed](/feed)\n",
    "/install.md": "# Install heron\n\nTo install heron, run the command `pip install heron`.\n",
    "/depth.md": f"# Depth\n\n{FILLER}\n\nA heron pond is 63 cm deep.\n",
    "/feed/index.md": "# Feed the fish\n\nHeron feeds the fish at noon.\n",
}


@pytest.fixture
def heron(make_project: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tenant]:
    """A project whose site is served on loopback."""
    monkeypatch.setitem(small_site.PAGES, "/depth", ("Depth", f"{FILLER}\n\nA heron pond is 63 cm deep."))
    with small_site.serve_site(files=FILES) as address:
        settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": (address.removeprefix("http://"),)})
        tenant = make_project(docs_url=address)
        pages = [(path, *page) for path, page in small_site.PAGES.items() if path != "/gone"]
        ingest(tenant.project, [Page(path, path, f"# {title}\n\n{text}\n", title) for path, title, text in pages])
        yield tenant


def look(tenant: Tenant, text: str, paths: list[str], fact: str) -> tuple[str, dict[str, tuple[str, str]]]:
    """Run a question. Returns what its column says, and what each surface has."""
    question = GoldenQuestion.objects.create(project=tenant.project, text=text, paths=paths, fact=fact)
    checks.run(tenant.project, [question])
    question.refresh_from_db()
    found = audit.load(question)
    assert [one.surface for one in found] == ORDER
    return audit.summarize(found), {one.surface: (str(one.state), one.detail) for one in found}


def test_each_surface_is_asked_and_the_first_that_loses_the_fact_is_shown(heron: Tenant) -> None:
    said, found = look(heron, "How do I install heron?", ["/install"], INSTALL)
    assert said == "none"
    assert set(found.values()) == {("tells", "")}

    said, found = look(heron, "When does heron feed the fish?", ["/feed"], FEED)
    assert said == "Markdown: does not have these words"
    assert [found[name][0] for name in ORDER] == ["tells", "lost", "tells", "tells", "tells", "tells"]

    said, found = look(heron, "How many fish has a pond at most?", ["/limits"], "ninety fish")
    assert said == "Markdown: is not served"
    assert found["llms.txt"] == ("lost", "does not list the page")

    said, found = look(heron, "How deep is a heron pond?", ["/depth"], "63 cm")
    assert said == "late in page: after 7,230 characters"
    assert (found["page"][0], found["Markdown"]) == ("late", ("late", "after 7,232 characters"))

    said, found = look(heron, "What is gone?", ["/gone"], "everything")
    assert said == "nowhere in these words"
    assert found["page"] == ("lost", "answers 404")


def test_a_question_without_a_fact_asks_for_no_page(heron: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "Fetcher", None)
    question = GoldenQuestion.objects.create(project=heron.project, text="How do I install heron?", paths=["/install"])
    checks.run(heron.project, [question])
    assert (question.passed, question.surfaces) == (True, [])
    assert audit.summarize(audit.load(question)) == ""


@pytest.mark.slow
def test_the_owner_sees_it_in_the_list_and_on_the_page_of_the_question(heron: Tenant) -> None:
    look(heron, "When does heron feed the fish?", ["/feed"], FEED)
    owner = logged_in(f"owner of {heron.domain}", heron.project.organization)
    changelist = reverse("admin:assistant_goldenquestion_changelist")
    assert "Markdown: does not have these words" in owner.get(changelist).content.decode()
    question = GoldenQuestion.objects.get(project=heron.project)
    page = owner.get(reverse("admin:assistant_goldenquestion_change", args=[question.pk])).content.decode()
    assert "<div>Markdown: ✗ loses it (does not have these words)</div><div>llms.txt: ✓ tells it</div>" in page
    checks.reset(question)
    assert question.surfaces == []


def test_a_site_that_cannot_be_reached_is_no_loss(heron: Tenant, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"crawl_private_hosts": ()})
    said, found = look(heron, "How do I install heron?", ["/install"], INSTALL)
    assert said == "none (not looked at: page, Markdown, llms.txt)"
    assert "which is no public address" in found["page"][1]
    assert [found[name][0] for name in ORDER] == [*["unknown"] * 3, *["tells"] * 3]


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("Run `pip install` in a _new_ [folder](https://docs.example/new), please.", True),
        ("| Run | pip **install** | in a new folder", True),
        ("run PIP-install: in a\nnew folder", True),
        ("Run pip install in a new holder or folder.", False),
        ("Rerun pip install in a new folder", False),
        ("", False),
    ],
)
def test_markup_and_signs_do_not_matter(text: str, tells: bool) -> None:
    fact = finding.Fact("Run `pip install` in a new folder.")
    assert fact.find_end(text) == (text.index("folder") + len("folder") if tells else -1)
    assert not finding.Fact("–").is_in(text)


def test_a_fact_after_the_longest_cut_is_lost() -> None:
    assert finding.place("page", finding.LAST_CUT).state == "late"
    assert finding.place("page", finding.LAST_CUT + 1).state == "lost"
    long_menu = finding.place("page", finding.LAST_CUT - 1, read_end=finding.FIRST_CUT)
    assert long_menu.state == "tells"  # who looks for the main content finds it at once
    assert finding.place("page", finding.LAST_CUT + 1, read_end=1).state == "lost"


@pytest.mark.parametrize(
    ("address", "first"),
    [
        ("https://docs.example/guide/install", "https://docs.example/guide/install.md"),
        ("https://docs.example/guide/", "https://docs.example/guide.md"),
        ("https://docs.example/guide.html", "https://docs.example/guide.md"),
        ("https://docs.example/", "https://docs.example/index.md"),
    ],
)
def test_the_markdown_of_a_page_is_looked_for_where_sites_serve_it(address: str, first: str) -> None:
    assert next(site._list_markdown_addresses(address)) == first


def test_the_tools_are_those_of_the_mcp_server() -> None:
    assert service.TOOL_SECTION == search_docs.MAX_SECTION
    assert search_docs.Arguments(query="heron").limit == service.TOOL_RESULTS

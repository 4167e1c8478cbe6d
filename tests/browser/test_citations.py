"""A citation's link brings a browser to the sentence that it names: the fragment is found, not only the anchor."""

import json
import re
from collections.abc import Iterator
from functools import cache
from urllib.parse import unquote

import httpx
import pytest
from playwright.sync_api import Browser, Page

from assistant.citations.link_checker import CitationChecker
from search.hits import Hit
from search.text.markdown.plain_text import plain
from search.text.markdown.reader import blocks
from search.text.sections import split
from tests.conftest import ROOT, Service, Tenant, question, wait_for

pytestmark = pytest.mark.browser

DOCS = "https://docs.example.com"
# Where the innermost elements with these words stand, as shares of the window's height, and how far the page has moved.
PLACE = """(words) => {
  const flat = (text) => text.replace(/\\s+/g, " ").toLowerCase();
  const found = [...document.querySelectorAll("main *")].filter((e) => flat(e.textContent).includes(flat(words)));
  const innermost = found.filter((e) => !found.some((other) => other !== e && e.contains(other)));
  const boxes = innermost.map((e) => e.getBoundingClientRect());
  return [boxes.map((box) => [box.top / innerHeight, box.bottom / innerHeight]), scrollY];
}"""


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1000, "height": 500}, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def assert_found(tab: Page, site: tuple[Service, Tenant], link: str) -> None:
    """Without the anchor, only the fragment can have moved the page."""
    base, directive = link.split(":~:text=")
    words = unquote(re.sub(r"^[^,]*-,", "", directive).partition(",")[0])
    tab.goto("about:blank")
    tab.goto(f"{site[0].url}{base.removeprefix(DOCS).partition('#')[0]}#:~:text={directive}")
    tab.wait_for_function("document.readyState === 'complete'")
    assert tab.evaluate(PLACE, words)[0], (link, words)

    def is_there() -> bool:
        places, moved = tab.evaluate(PLACE, words)
        return moved > 0 and any(top < 1 and bottom > 0 for top, bottom in places)

    wait_for(is_there, f"{words!r} of {link} to come into view")


@pytest.mark.matrix
def test_the_links_of_a_quoted_answer_lead_to_their_sentences(site: tuple[Service, Tenant], tab: Page) -> None:
    links: list[str] = []
    service, tenant = site
    url = f"{service.url}/discovery/v1/assistant/{tenant.domain}/message"
    asked = ("Which limits apply to the assistant?", "How are visitors counted?", "Which origins may use the widget?")
    for text in asked:
        answer = httpx.post(url, json=question(text), headers=tenant.assistant)
        said = "".join(json.loads(line[2:]) for line in answer.text.splitlines() if line.startswith("0:"))
        links += re.findall(r"\[\d\]\((https://[^)]+:~:text=[^)]+)\)", said)
    assert len(links) >= 3
    for link in links[:6]:
        assert_found(tab, site, link)


@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["code", "table", "list", "text"])
def test_code_cells_items_and_sentences_are_found(site: tuple[Service, Tenant], tab: Page, kind: str) -> None:
    links = []
    for path, hit in far_down():
        quoted = next((line for line in of_kind(kind, hit.body) if line in hit.text.split("\n")), "")
        if quoted and path not in [link.partition("#")[0] for link in links]:
            link = CitationChecker([hit]).cite(0, quoted)[0]
            if ":~:text=" in link:  # the same line may stand on a page so often that no few words lead to it
                links.append(link.partition("(")[2].removesuffix(")"))
    assert len(links) >= 3
    for link in links[:4]:
        assert_found(tab, site, link)


@cache
def far_down() -> list[tuple[str, Hit]]:
    """Sections that begin below the first screen."""
    found = []
    for file in sorted((ROOT / "docsite" / "site" / "content").glob("*.md")):
        source = file.read_text()
        title = source.partition("# ")[2].partition("\n")[0]
        above = ""
        for part in split(source, title):
            url = f"{DOCS}/{file.stem}#{part.anchor}"
            if len(above) > 2_500 and file.stem != "index":
                hit = Hit(
                    f"/{file.stem}", url, title, part.heading, (title, *part.trail), part.body, "", 0.9, part.anchor,
                    text=part.text, above=(above,),
                )  # fmt: skip
                found.append((url.partition("#")[0], hit))
            above += f"{part.text}\n"
    return found


def of_kind(kind: str, body: str) -> Iterator[str]:
    """What a reader sees of some blocks, line by line."""
    for block in blocks(body.split("\n")):
        code, table, item = block.startswith("```"), block.startswith("|"), block.startswith("- ")
        if kind == ("code" if code else "table" if table else "list" if item else "text"):
            yield from (line for line in plain(block).split("\n") if len(line.split()) > 3)

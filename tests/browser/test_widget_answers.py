"""How answers of the widget look and behave: text as it comes, code, citations, sources, feedback, states of a turn."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, WebSocketRoute, expect

from tests.browser.conftest import box_of
from tests.browser.test_widget import FINISH, PHONE, START, Event, Host, delta, host, make_host, send, source
from tests.conftest import wait_for

__all__ = ["host", "make_host"]  # fixtures

pytestmark = pytest.mark.browser

WORDS = "ten questions per minute"
TEXT = f"Every key has a limit. Each address may ask {WORDS} and no more, whoever asks."
TALL = "<p>Filler.</p>" * 120
LONG = "\n\n".join(f"Paragraph {n}." for n in range(60))
HOSTILE = "[1](https://docs.example.com@evil.example/) [2](//evil.example/x) ![x](https://evil.example/p.png)"
# The contrast of each kind of token with what it stands on, by the formula of WCAG 2.
CONTRAST = """(code) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = light(getComputedStyle(code.closest("figure")).backgroundColor);
  return ["kwd", "str", "cmnt", "num", "func", "class", "var", "oper", "deleted"].map((kind) => {
    const token = Object.assign(document.createElement("span"), { className: `t-${kind}` });
    code.append(token);
    const front = light(getComputedStyle(token).color);
    token.remove();
    return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  });
}"""


def found(url: str, text: str = TEXT) -> Event:
    """What a search found: one passage."""
    hit = {"content": text, "path": "/limits", "url": url, "metadata": {"title": "Limits", "section": "Per address"}}
    return {"type": "tool-output-available", "toolCallId": "c", "output": [hit]}


def fence(lang: str, code: str) -> str:
    return f"```{lang}\n{code}\n```\n\n"


def answered(host: Host, text: str, *events: Event, page: str = "", path: str = "/host") -> Any:
    """The answer of a page's widget, when it is complete."""
    host.answer(START, *events, delta(text), FINISH).open(body=page, path=path).ask("How?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    return host.answers


def cited(host: Host, *links: str) -> str:
    return " ".join(f"Said so [1]({link})." for link in links)


# Text as it comes


@pytest.mark.matrix
def test_a_burst_is_spread_over_frames_and_its_end_comes_last(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("How?")
    host.panel.evaluate(
        """(panel) => {
            const now = performance.now.bind(performance);
            performance.now = () => now() / 5; // as on a machine with frames to spare
            window.seen = [];
            const look = () => {
                const answer = panel.querySelector(".answer");
                const shown = [panel.querySelector(".prose").textContent.length, answer.dataset.phase];
                if (String(shown) !== String(seen.at(-1))) seen.push(shown);
                requestAnimationFrame(look);
            };
            look();
        }"""
    )
    text = "All of this arrives in one burst. " * 20 + "End."
    for event in (START, delta(text), FINISH):
        send(host.sockets[0], event)
    expect(host.answers).to_have_attribute("data-phase", "done")
    host.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    seen = host.page.evaluate("seen")
    lengths = [length for length, _ in seen]
    assert lengths == sorted(lengths)
    assert len({length for length in lengths if 0 < length < len(text)}) >= 3
    assert {length for length, phase in seen if phase == "done"} == {len(text)}


@pytest.mark.matrix
def test_without_motion_text_is_there_at_once_and_no_caret_blinks(make_host: Callable[..., Host]) -> None:
    host = make_host(reduced_motion="reduce")
    host.script(lambda socket, message: None).open().ask("How?")
    host.panel.evaluate(
        """(panel) => {
            window.lengths = new Set();
            new MutationObserver(() => lengths.add(panel.querySelector(".prose").textContent.length))
                .observe(panel.querySelector(".prose"), { childList: true, subtree: true, characterData: true });
        }"""
    )
    text = "word " * 200 + "end"
    send(host.sockets[0], delta(text))
    expect(host.prose).to_contain_text("end")
    assert host.page.evaluate("[...lengths]") == [len(text)]
    caret = host.prose.locator(".caret")
    expect(caret).to_have_count(1)
    assert caret.evaluate("(caret) => getComputedStyle(caret, '::after').animationName") == "none"


@pytest.mark.matrix
def test_the_caret_stands_where_the_text_goes_on_and_leaves_with_the_end(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("How?")
    for text, place in (("One", "p"), ("\n\n- item", "span"), ("\n\n```js\nconst a", "code")):
        send(host.sockets[0], delta(text))
        expect(host.prose).to_contain_text(re.sub(r"^\W*(js\n)?", "", text))
        expect(host.prose.locator(f"{place} > .caret:last-child")).to_have_count(1)
    send(host.sockets[0], FINISH)
    expect(host.answers).to_have_attribute("data-phase", "done")
    expect(host.prose.locator(".caret")).to_have_count(0)


@pytest.mark.matrix
def test_what_is_there_stays_while_its_block_grows(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("How?")
    send(host.sockets[0], delta("- **one**\n- two"))
    expect(host.prose.locator("li")).to_have_count(2)
    host.prose.locator("strong").evaluate("(one) => (one.mark = true)")
    send(host.sockets[0], delta(" more\n- three"))
    expect(host.prose.locator("li")).to_have_text(["one", "two more", "three"])
    assert host.prose.locator("strong").evaluate("(one) => one.mark") is True


@pytest.mark.matrix
def test_a_long_answer_in_many_pieces_is_built_once(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("Tell me all.")
    host.panel.evaluate(
        """(panel) => {
            window.built = 0;
            const elements = ({ addedNodes }) => [...addedNodes].filter(({ className }) => className !== "caret");
            new MutationObserver((changes) => (built += changes.flatMap(elements).length))
                .observe(panel.querySelector(".prose"), { childList: true });
        }"""
    )
    part = "## Part {n}\n\nA paragraph with **bold** words and `code` in it, and a [link](/host/x). " + "More. " * 9
    part += "\n\n- one\n- two\n  - deep\n\n" + fence("py", "def run(n):\n    return n + 1") + "| a | b |\n|--|--|\n"
    part += "| 1 | 2 |\n" * 10
    text = "\n\n".join(part.replace("{n}", str(n)) for n in range(40))
    for at in range(0, len(text), 25):
        send(host.sockets[0], delta(text[at : at + 25]))
    send(host.sockets[0], FINISH)
    expect(host.answers).to_have_attribute("data-phase", "done")
    blocks = host.prose.locator("> *").count()
    assert blocks == 40 * 5
    # A block is built a second time where its first line read like another kind: a table begins as a paragraph.
    assert host.page.evaluate("built") <= 2 * blocks


# Code


@pytest.mark.matrix
def test_code_is_coloured_once_it_is_closed(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("How?")
    send(host.sockets[0], delta("```python\ndef run():\n    return 1"))
    expect(host.prose.locator("code")).to_contain_text("return 1")
    expect(host.prose.locator("code > [class]:not(.caret)")).to_have_count(0)
    send(host.sockets[0], delta("\n```\n\nThat is it."))
    expect(host.prose).to_contain_text("That is it.")
    expect(host.prose.locator(".t-kwd")).to_have_text(["def", "return"])
    expect(host.prose.locator("code")).to_have_text("def run():\n    return 1")
    expect(host.prose.locator("figcaption")).to_contain_text("Python")


@pytest.mark.matrix
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_of_code_can_be_read(make_host: Callable[..., Host], scheme: str) -> None:
    host = make_host(color_scheme=scheme)
    answered(host, fence("js", "let a = 1;"))
    contrasts = host.prose.locator("code").evaluate(CONTRAST)
    assert min(contrasts) >= 4.5, contrasts
    assert len(set(contrasts)) > 5


@pytest.mark.matrix
def test_long_lines_scroll_until_they_are_wrapped(host: Host) -> None:
    answered(host, fence("text", "a long line " * 30))
    pre = host.prose.locator("pre")
    overflows = "(pre) => pre.scrollWidth > pre.clientWidth"
    assert pre.evaluate(overflows)
    host.prose.locator("figure").hover()
    host.button("Wrap lines").click()
    expect(host.button("Wrap lines")).to_have_attribute("aria-pressed", "true")
    assert not pre.evaluate(overflows)


@pytest.mark.matrix
def test_one_task_in_several_languages_has_tabs(make_host: Callable[..., Host]) -> None:
    host = make_host(permissions=("clipboard-read", "clipboard-write"))
    answered(host, fence("python", "print(1)") + fence("js", "console.log(1)") + fence("go", "fmt.Println(1)"))
    tabs = host.prose.get_by_role("tab")
    expect(tabs).to_have_text(["Python", "JavaScript", "Go"])
    expect(host.prose.locator("pre:visible")).to_have_text("print(1)")
    tabs.first.focus()
    for key, text in (("ArrowRight", "console.log(1)"), ("End", "fmt.Println(1)"), ("ArrowRight", "print(1)")):
        host.page.keyboard.press(key)
        expect(host.prose.locator("pre:visible")).to_have_text(text)
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    host.button("Copy code").click()
    expect(host.panel.get_by_role("status")).to_have_text("Copied")
    assert host.page.evaluate("navigator.clipboard.readText()") == "console.log(1)"


@pytest.mark.matrix
def test_the_tools_of_code_are_seen_on_hover_focus_and_touch(make_host: Callable[..., Host]) -> None:
    seen = "(tools) => getComputedStyle(tools).opacity"
    host = make_host(reduced_motion="reduce")
    answered(host, fence("js", "1"))
    tools = host.prose.locator(".tools")
    host.field.hover()
    assert tools.evaluate(seen) == "0"
    host.prose.locator("pre").focus()
    assert tools.evaluate(seen) == "1"
    touch = make_host(has_touch=True, is_mobile=True)
    answered(touch, fence("js", "1"))
    assert touch.prose.locator(".tools").evaluate(seen) == "1"


# Citations


@pytest.mark.matrix
def test_a_citation_opens_a_card_with_the_words_that_matter(host: Host) -> None:
    link = host.url + "/limits#address:~:text=" + WORDS.replace(" ", "%20")
    answered(host, cited(host, link), found(host.url + "/limits#address"), source(host.url + "/limits", "Limits"))
    card = host.panel.locator(".card")
    expect(card).to_be_hidden()
    host.prose.get_by_role("link", name="Source 1: Limits").hover()
    expect(card).to_be_visible()
    expect(card).to_contain_text("Limits")
    expect(card.locator("mark")).to_have_text(WORDS)
    expect(card.locator("blockquote")).to_contain_text("Each address may ask")
    expect(card.get_by_role("link", name="Open")).to_have_attribute("href", link)
    card.hover()
    host.page.wait_for_timeout(400)  # longer than it takes to close
    expect(card).to_be_visible()
    box, frame = box_of(card), box_of(host.panel)
    assert frame["x"] <= box["x"]
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]
    host.page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(host.panel).to_be_visible()


@pytest.mark.matrix
def test_the_card_of_a_focused_citation_traps_nobody(host: Host) -> None:
    link = host.url + "/limits#address:~:text=other%20words,entirely"
    answered(host, cited(host, link, link), found(host.url + "/limits#address"), source(host.url + "/limits", "Limits"))
    cites = host.prose.get_by_role("link", name="Source 1: Limits")
    host.panel.get_by_role("log").focus()
    host.page.keyboard.press("Tab")
    card = host.panel.locator(".card")
    expect(card.locator("mark")).to_have_text("other words … entirely")
    expect(cites.first).to_have_attribute("aria-describedby", "card")
    host.page.keyboard.press("Tab")
    assert cites.nth(1).evaluate("(cite) => cite.getRootNode().activeElement === cite")
    expect(card).to_be_visible()
    host.page.keyboard.press("Tab")
    expect(card).to_be_hidden()


@pytest.mark.matrix
def test_a_finger_that_holds_a_citation_opens_its_card(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    link = host.url + "/limits#address"
    answered(host, cited(host, link), found(link), source(host.url + "/limits", "Limits"))
    box = box_of(host.prose.locator(".cite"))
    spot = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session = host.page.context.new_cdp_session(host.page)
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [spot]})
    card = host.panel.locator(".card")
    expect(card).to_be_visible()
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(card).to_be_visible()
    assert host.page.url.endswith("/host")
    place = box_of(card)
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= 390


@pytest.mark.matrix
def test_a_citation_of_the_same_page_scrolls_to_its_sentence_each_time(host: Host) -> None:
    link = host.url + "/host#:~:text=" + WORDS.replace(" ", "%20")
    answered(host, cited(host, link), source(host.url + "/host", "Limits"), page=f"{TALL}<p>{TEXT}</p>{TALL}")
    for _ in range(2):
        host.page.evaluate("scrollTo(0, 0)")
        host.prose.locator(".cite").click()
        host.page.wait_for_function("scrollY > 500")
        expect(host.page.get_by_text(WORDS)).to_be_in_viewport()
        expect(host.panel).not_to_be_visible()  # it would lie over the sentence
        host.launcher.click()
        expect(host.panel).to_be_visible()
    assert host.page.locator("docs-assistant").count() == 1


@pytest.mark.matrix
def test_a_number_that_leads_elsewhere_says_where(host: Host) -> None:
    answered(host, "So [1](https://evil.example/a) " + HOSTILE)
    expect(host.prose.locator(".cite")).to_have_count(0)
    links = host.prose.locator("a")
    expect(links).to_have_text(["1 (evil.example)", "2 (evil.example)"])
    assert {link.get_attribute("target") for link in links.all()} == {"_blank"}
    expect(host.prose.locator("img")).to_have_count(0)


def test_sources_are_pages_and_lead_to_the_first_cited_place(host: Host) -> None:
    pages = [f"{host.url}/page{n}" for n in range(1, 8)]
    text = " ".join(f"[{n}]({page}#first) [{n}]({page}#second)" for n, page in enumerate(pages, 1))
    sources = [source(page, f"Page {n}") for n, page in enumerate(pages, 1)]
    answered(host, text, *sources, source(pages[0] + "#second", "Page 1"))
    links = host.panel.locator(".sources a")
    expect(links).to_have_count(5)
    host.button("Show 2 more").click()
    expect(links).to_have_count(7)
    assert links.nth(5).evaluate("(link) => link.getRootNode().activeElement === link")
    assert [link.get_attribute("href") for link in links.all()] == [page + "#first" for page in pages]


@pytest.mark.matrix
def test_images_come_from_the_documentation_alone(host: Host) -> None:
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
    wanted: list[str] = []
    host.page.on("request", lambda request: request.resource_type == "image" and wanted.append(request.url))
    host.answer(
        START, delta("![Good](/host/good.svg) ![Gone](/host/gone.png) ![Far](https://evil.example/x.png)"), FINISH
    )
    host.open()
    host.page.route("**/host/good.svg", lambda route: route.fulfill(body=drawing, content_type="image/svg+xml"))
    host.page.route("**/host/gone.png", lambda route: route.abort())
    host.ask("Show me.")
    image = host.prose.get_by_role("img")
    expect(image).to_have_count(1)
    expect(image).to_have_attribute("alt", "Good")
    assert image.evaluate("(image) => [image.loading, image.referrerPolicy]") == ["lazy", "no-referrer"]
    expect(host.prose).to_contain_text("Gone")
    expect(host.prose).to_contain_text("Far")
    assert [url for url in wanted if not url.startswith(host.url)] == []


@pytest.mark.matrix
def test_each_block_has_the_direction_of_most_of_its_letters(host: Host) -> None:
    arabic = "`docker compose` Docker هو الطريقة الأسهل لتشغيل الخدمة على خادم واحد."
    answered(host, f"{arabic}\n\n- First restart it.\n\n```sh\nmake demo\n```\n")
    directions = "(one) => [...one.querySelectorAll('p, ul, pre')].map((it) => getComputedStyle(it).direction)"
    assert host.prose.evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    assert host.prose.evaluate(directions) == ["rtl", "ltr", "ltr"]


# Scrolling


@pytest.mark.matrix
def test_a_button_leads_on_until_the_end_of_the_answer_was_seen(host: Host) -> None:
    page = f"{host.url}/limits"
    answered(host, LONG.replace("Paragraph 1.", f"Paragraph 1. [1]({page})"), found(page), source(page, "Limits"))
    log, latest = host.panel.get_by_role("log"), host.button("Jump to latest")
    expect(log.locator(".card")).to_be_attached()
    assert log.evaluate("(log) => [log.scrollTop, log.scrollHeight > 2 * log.clientHeight]") == [0, True]
    expect(latest).to_be_visible()
    log.hover()
    host.page.mouse.wheel(0, 200)
    expect(latest).to_be_visible()
    host.prose.get_by_text("Paragraph 59.").scroll_into_view_if_needed()
    expect(latest).to_be_hidden()  # or it would cover what stands below the text


@pytest.mark.matrix
def test_how_a_long_answer_ended_comes_into_view(host: Host) -> None:
    host.script(lambda socket, message: send(socket, START) or send(socket, delta(LONG))).open().ask("How?")
    expect(host.prose).to_contain_text("Paragraph 59.")
    outcome = host.answers.locator(".outcome")
    host.button("Stop").click()
    expect(outcome).to_be_in_viewport(ratio=1)
    expect(host.button("Jump to latest")).to_be_hidden()
    host.button("Continue").click()


@pytest.mark.matrix
def test_an_answer_that_goes_on_after_a_reload_is_followed(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("How?")
    for event in (START, delta(LONG)):
        send(host.sockets[0], event)
    expect(host.prose).to_contain_text("Paragraph 59.")
    host.page.reload()
    expect(host.prose).to_contain_text("Paragraph 59.")
    if not host.panel.is_visible():
        host.show()
    wait_for(lambda: host.page.wait_for_timeout(20) or len(host.sockets) > 1, "a second socket")
    for n in range(3):
        send(host.sockets[-1], delta(f"\n\nMore {n}." * 10))
        expect(host.prose).to_contain_text(f"More {n}.")
    expect(host.prose.get_by_text("More 2.").last).to_be_in_viewport()


@pytest.mark.matrix
@pytest.mark.parametrize("touch", [True, False])
def test_citations_and_nearest_pages_are_large_enough_to_press(make_host: Callable[..., Host], touch: bool) -> None:
    host = make_host(has_touch=touch, is_mobile=touch)
    status = {"type": "data-status", "data": {"rung": "nearest_pages", "reason": ""}, "transient": True}
    nothing = {"type": "tool-output-available", "toolCallId": "c", "output": []}
    page = host.url + "/limits"
    answered(host, f"Not found.\n\n- [Limits]({page})\n\nSo [1]({page}).", nothing, status, source(page, "Limits"))
    row = box_of(host.prose.locator("li a"))
    assert row["height"] >= (44 if touch else 24)
    # What is hit around the citation: nothing of its look is this large.
    reach = host.prose.locator(".cite").evaluate(
        """(cite) => {
            const { left, top, width, height } = cite.getBoundingClientRect();
            const at = (x, y) => cite.getRootNode().elementFromPoint(left + width / 2 + x, top + height / 2 + y);
            const hits = (x, y) => at(x, y) === cite;
            return [...Array(60).keys()].reduce(([x, y], n) => [x + hits(n - 30, 0), y + hits(0, n - 30)], [0, 0]);
        }"""
    )
    assert reach[0] >= 24
    assert reach[1] >= (44 if touch else 24)


# Searches of the model's own

QUERY = "what happens when a key asks more than its limit"
SEARCHED = f"Searched for “{QUERY}”"


def search(call_id: str, **details: str) -> Event:
    name = "read_page" if "path" in details else "search"
    return {"type": "tool-input-available", "toolCallId": call_id, "toolName": name, "input": details}


def result(call_id: str) -> Event:
    return {**found("https://docs.example.com/limits"), "toolCallId": call_id}


@pytest.mark.matrix
def test_each_search_is_shown_while_it_runs_and_stays_as_a_quiet_line(host: Host) -> None:
    host.script(lambda socket, message: None).open().ask("How?")
    host.panel.evaluate(
        """(panel) => {
            window.announced = [];
            const announcer = panel.querySelector("[role=status]");
            new MutationObserver(() => announced.push(announcer.textContent)).observe(announcer, { childList: true });
        }"""
    )
    progress, lines = host.panel.locator(".status"), host.panel.locator(".searches li")
    socket = host.sockets[0]

    def play(*events: Event) -> None:
        for event in events:
            send(socket, event)

    play(START, search("c1", query="How?"))
    expect(progress).to_have_text("Searching the docs…")
    play(result("c1"), search("c2", query=QUERY))
    expect(progress).to_have_text(f"Searching for “{QUERY}”")
    play(result("c2"), {"type": "text-start", "id": "txt_1"}, delta("Let me read that."))
    expect(host.prose).to_have_text("Let me read that.")
    play({"type": "text-end", "id": "txt_1"}, search("c3", path="/limits"))
    expect(progress).to_have_text("Reading Limits")
    expect(progress).to_be_visible()
    link = "https://docs.example.com/limits"
    play(result("c3"), source(link, "Limits"), {"type": "text-start", "id": "txt_2"}, delta(f"It waits [1]({link})."))
    expect(host.prose.locator("p")).to_have_text(["Let me read that.", "It waits\u20601."])
    expect(host.panel.locator(".sources li")).to_have_count(1)
    expect(lines).to_have_count(0)
    place = "(element) => element.getBoundingClientRect().top"
    before = [host.panel.locator(part).evaluate(place) for part in (".prose", ".sources")]
    play(FINISH)
    expect(lines).to_have_text([SEARCHED, "Read Limits"])
    expect(progress).to_be_hidden()
    assert [host.panel.locator(part).evaluate(place) for part in (".prose", ".sources")] == before, "nothing moves"
    announced = host.page.evaluate("announced")
    assert announced[:2] == ["Searching the docs…", "Answering…"], "later searches are no news"
    assert len(announced) == 3

    host.open()  # the panel was open, and the conversation is stored
    expect(lines).to_have_text([SEARCHED, "Read Limits"])
    assert host.errors == []


@pytest.mark.matrix
def test_a_long_search_is_one_line_on_a_phone(make_host: Callable[..., Host]) -> None:
    host = make_host(viewport=PHONE)
    events = (search("c1", query="How?"), result("c1"), search("c2", query=QUERY * 3), result("c2"))
    answered(host, "It waits.", *events)
    line = host.panel.locator(".searches li")
    assert box_of(line)["height"] < 24
    assert host.panel.locator(".transcript").evaluate("(log) => log.scrollWidth <= log.clientWidth")


# Feedback


class Ratings:
    """What was said of answers."""

    def __init__(self, host: Host) -> None:
        self.page = host.page
        self.said: list[dict[str, Any]] = []
        host.page.route("**/discovery/v1/feedback/**", self.receive)

    def receive(self, route: Route) -> None:
        self.said.append(json.loads(route.request.post_data or "{}"))
        route.fulfill(status=204)

    def so_far(self, number: int) -> list[dict[str, Any]]:
        """All of it, once there is so much: a thumb shows before the service has heard of it."""
        wait_for(lambda: self.page.wait_for_timeout(20) or len(self.said) >= number, f"{number} ratings")
        return self.said


@pytest.mark.matrix
def test_a_thumb_counts_at_once_and_more_can_be_said(host: Host) -> None:
    ratings = Ratings(host)
    answered(host, "Yes.")
    down, live = host.button("Not helpful"), host.panel.get_by_role("status")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "true")
    expect(live).to_have_text("Thanks for your feedback.")
    assert host.focused() == "Not helpful"
    host.page.keyboard.press("Tab")
    host.page.keyboard.press("ArrowDown")  # the second reason
    host.page.keyboard.press("Tab")
    host.page.keyboard.insert_text("x" * 1_200)
    host.page.keyboard.press("Tab")
    host.page.keyboard.press("Tab")
    host.page.keyboard.press("Enter")
    expect(host.answers).to_contain_text("Thanks for your feedback.")
    assert host.focused() == "Not helpful"
    first, second = ratings.so_far(2)
    assert (first["helpful"], first["messageId"]) == (False, START["messageId"])
    assert second["helpful"] is False
    assert second["reason"] == "incomplete"
    assert second["comment"] == "x" * 1_000


@pytest.mark.matrix
def test_the_same_thumb_again_takes_it_back(host: Host) -> None:
    Ratings(host)
    answered(host, "Yes.")
    up = host.button("Helpful")
    up.click()
    expect(up).to_have_attribute("aria-pressed", "true")
    form = host.answers.locator("form")
    expect(form).to_be_visible()
    expect(form.get_by_role("radio")).to_have_count(0)
    form.get_by_role("textbox").focus()
    host.page.keyboard.press("Escape")
    expect(form).to_be_hidden()
    expect(host.panel).to_be_visible()
    assert host.focused() == "Helpful"
    up.click()
    expect(up).to_have_attribute("aria-pressed", "false")
    expect(host.panel.get_by_role("status")).to_have_text("Feedback taken back.")
    assert host.focused() == "Helpful"


@pytest.mark.matrix
def test_an_answer_the_service_has_no_name_for_cannot_be_rated(host: Host) -> None:
    host.answer(delta("Yes."), FINISH).open().ask("Is it?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    expect(host.button("Try again")).to_be_visible()
    expect(host.button("Helpful")).to_be_hidden()


# States of a turn


@pytest.mark.matrix
def test_a_question_shows_what_it_is_about(host: Host) -> None:
    host.answer(START, delta("Yes."), FINISH).open()
    host.launcher.click()
    context = {"type": "code", "value": "x = 1", "label": "app.py · 12 lines"}
    panel = host.page.locator("docs-assistant-panel")
    panel.evaluate("(panel, context) => panel.ask('Why?', [context])", context)
    expect(host.panel.locator(".question").get_by_role("list", name="About")).to_contain_text("app.py · 12 lines")


@pytest.mark.matrix
def test_a_stopped_answer_can_be_gone_on_with_or_asked_again(host: Host) -> None:
    host.script(lambda socket, message: send(socket, START) or send(socket, delta("Half an"))).open().ask("How?")
    expect(host.prose).to_have_text("Half an")
    host.button("Stop").click()
    expect(host.answers).to_contain_text("Stopped")
    expect(host.button("Continue")).to_be_visible()
    expect(host.button("Try again")).to_be_visible()
    host.button("Continue").click()
    expect(host.button("Continue")).to_be_hidden()


@pytest.mark.matrix
def test_a_cut_answer_says_so_and_can_be_gone_on_with(host: Host) -> None:
    cut = {**FINISH, "finishReason": "length"}
    host.answer(START, delta("Half an"), cut).open().ask("How?")
    expect(host.panel.locator(".outcome")).to_contain_text("The answer was cut at its length limit.")
    expect(host.panel.get_by_role("status")).to_contain_text("The answer was cut at its length limit.")
    host.button("Continue").click()
    expect(host.answers).to_have_count(2)
    _, second = host.asked
    assert second["messages"][0]["parts"][0]["text"] == "Continue"
    assert (second["threadId"], second["trigger"]) == (START["messageMetadata"]["threadId"], "submit-message")
    expect(host.button("Continue")).to_have_count(1)  # of the new answer, which is cut, too


@pytest.mark.matrix
def test_tags_call_outs_and_emphasis_that_models_write_are_shown(host: Host) -> None:
    note = "> \\[!WARNING]\n> 再起動の前に**保存（必須）。**次へ"
    answered(
        host,
        f"Press \\<kbd>Ctrl\\</kbd> in H\\<sub>2\\</sub>O.\n\n{note}\n\n| a |\n|-|\n| one\\<br>two |\n\n\\<img src=x>",
    )
    for selector, text in (("kbd", "Ctrl"), ("sub", "2"), ("blockquote.warning p >> nth=0", "Warning")):
        expect(host.prose.locator(selector)).to_have_text(text)
    expect(host.prose.locator("blockquote strong").last).to_have_text("保存（必須）。")
    expect(host.prose.locator("td br")).to_have_count(1)
    expect(host.prose.locator("img")).to_have_count(0)
    expect(host.prose).to_contain_text("<img src=x>")


def test_a_refusal_has_no_sources_and_can_be_rated(host: Host) -> None:
    status = {"type": "data-status", "data": {"rung": "nearest_pages", "reason": "no match"}, "transient": True}
    nothing = {"type": "tool-output-available", "toolCallId": "c", "output": []}
    answered(host, "I couldn't find this.", nothing, status, source(host.url + "/x", "X"))
    expect(host.panel.locator(".sources")).to_have_count(0)
    expect(host.panel.locator(".banner")).to_have_count(0)
    expect(host.button("Not helpful")).to_be_visible()


@pytest.mark.matrix
def test_a_lower_rung_is_told_without_its_reason(host: Host) -> None:
    status = {"type": "data-status", "data": {"rung": "extractive", "reason": "daily_budget_spent"}, "transient": True}
    answered(host, "A passage.", found(host.url + "/limits"), status)
    banner = "AI answers are paused. Showing the best passages from the docs."
    expect(host.panel.locator(".banner")).to_have_text(banner)  # why is the owner's business
    expect(host.panel.get_by_role("status")).to_contain_text(banner)


@pytest.mark.matrix
def test_the_panel_opens_before_what_shows_answers_has_loaded(host: Host) -> None:
    held: list[Route] = []
    host.page.route("**/markdown.js", lambda route: held.append(route))
    host.answer(START, delta("Use **it**."), FINISH).open()
    with host.page.expect_request("**/markdown.js"):
        host.show()
    host.ask("How?")
    expect(host.answers).to_have_attribute("data-phase", "done")
    expect(host.prose).to_be_hidden()
    held[0].continue_()
    expect(host.prose.locator("strong")).to_have_text("it")
    expect(host.prose).to_have_text("Use it.")


@pytest.mark.matrix
def test_without_the_script_for_answers_they_are_plain_text_until_it_loads(host: Host) -> None:
    host.page.route("**/markdown.js*", lambda route: route.abort())
    answered(host, "Use **it**.\n\nOr not.")
    expect(host.prose).to_have_text("Use **it**. Or not.")
    host.page.unroute("**/markdown.js*")
    host.ask("Again?")
    expect(host.prose.nth(0).locator("strong")).to_have_text("it")


@pytest.mark.matrix
def test_further_quotes_fold_to_a_heading_and_a_line_and_open_by_key(host: Host) -> None:
    quotes = [f"**Part {name}**\n\nText {name}. [{name}]({host.url}/{name})" for name in (1, 2, 3)]
    status = {"type": "data-status", "data": {"rung": "extractive"}, "transient": True}
    answered(host, "\n\n".join([*quotes, "See also:"]), status)
    expect(host.prose.locator("> p")).to_have_text(["Part 1", re.compile("Text 1"), "See also:"])
    folded = host.prose.locator("details")
    expect(folded.locator("summary")).to_have_text(["Part 2Text 2.", "Part 3Text 3."])
    expect(folded.first.locator("p")).to_be_hidden()
    folded.first.locator("summary").focus()
    host.page.keyboard.press("Enter")
    expect(folded.first.locator("p")).to_be_visible()
    expect(folded.first.locator("summary span")).to_be_hidden()
    folded.last.locator("summary").click()
    expect(folded.last.locator(".cite")).to_be_visible()


def test_a_lost_connection_is_told_and_the_text_stays(host: Host) -> None:
    def play(socket: WebSocketRoute, message: dict[str, Any]) -> None:
        if message["type"] == "ask":
            send(socket, START)
            send(socket, delta("Half"))
            socket.close(code=1011)

    host.script(play).open().ask("How?")
    expect(host.answers.locator(".status")).to_contain_text("Reconnecting")
    expect(host.prose).to_have_text("Half")
    expect(host.answers.locator(".caret")).to_have_count(0)


@pytest.mark.matrix
def test_alt_and_an_arrow_lead_from_turn_to_turn(host: Host) -> None:
    answered(host, "Yes.")
    host.panel.get_by_role("log").focus()
    for key, role in (("ArrowUp", "answer"), ("ArrowUp", "question"), ("ArrowUp", "question"), ("ArrowDown", "answer")):
        host.page.keyboard.press(f"Alt+{key}")
        expect(host.panel.locator(f"article.{role}")).to_be_focused()
    expect(host.panel.get_by_role("article")).to_have_count(2)
    expect(host.panel.locator("article h3")).to_have_count(2)
